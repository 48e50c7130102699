/* describe.h: what an object was made of, told field by field, so that a checkpoint can say which option differs.
 *
 * An object that takes part in a run has a function linattn__x_describe(x, visit, user) that calls visit for every option on which
 * its numbers depend, always in the same order, and ends at once with what visit returned when that is not 0. Threads and kernels
 * are not described: results do not depend on them.
 *
 * A field is named like "sampler.seed", "model.layers", "optimizer.learning_rate" (at most LINATTN__FIELD - 1 characters; the text
 * need not outlive the call). Its value is an integer below 2^52, or the bits of a double (linattn__real_bits). Only fields whose
 * name ends in "seed" or "digest" may hold any 64 bits; messages show values by this rule. */
#ifndef LINATTN_COMMON_DESCRIBE_H
#define LINATTN_COMMON_DESCRIBE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LINATTN__FIELD = 64 };

typedef int (*linattn__describe)(const char *field, uint64_t value, void *user);

static inline uint64_t linattn__real_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double linattn__real_from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* FNV-1a over 64-bit words, lowest byte first whatever the machine: a digest that goes on from `digest`; begin with
 * LINATTN__DIGEST_BEGIN. For telling apart, not for checksums of files. */
#define LINATTN__DIGEST_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t linattn__digest_word(uint64_t digest, uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) digest = (digest ^ (word >> shift & 0xff)) * UINT64_C(0x100000001b3);
    return digest;
}

static inline uint64_t linattn__digest_reals(uint64_t digest, const double *x, size_t count) {
    for (size_t i = 0; i < count; i++) digest = linattn__digest_word(digest, linattn__real_bits(x[i]));
    return digest;
}

#endif
