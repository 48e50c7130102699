/* doubles.h: doubles as their bits, and bits that look random and are the same every time. */
#ifndef LINATTN_TESTS_DOUBLES_H
#define LINATTN_TESTS_DOUBLES_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* splitmix64 */
static inline uint64_t random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
