/* dataset.c: minibatches of a fixed set: which ones a draw takes. */
#include "objective/dataset.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "random/random.h"

enum { PIECE = 256 }; /* uniforms drawn at a time */

/* A whole number below range < 2^52, uniform for a uniform u; u <= 1 - 2^-53 keeps the product below range. */
static size_t index_below(double u, size_t range) { return (size_t)(u * (double)range); }

/* Uniforms first .. first+count-1 of an epoch's permutation (kind ORDER) or of a draw (kind PICKS). */
static void draw_uniforms(const linattn__dataset *set, unsigned kind, uint64_t draw, size_t first, size_t count, double *out) {
    linattn__stream stream;
    linattn__stream_open(&stream, set->seed, draw, LINATTN__PURPOSE_DATASET);
    linattn__random_uniforms(&stream, kind, 0, first, count, out);
}

/* The permutation of an epoch (Fisher and Yates): place i changes with one of i .. N-1. */
static void shuffle(linattn__dataset *set, uint64_t epoch) {
    const size_t n = set->size;
    double u[PIECE];
    if (set->shuffled && set->epoch == epoch) return;
    for (size_t i = 0; i < n; i++) set->order[i] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        if (i % PIECE == 0) draw_uniforms(set, LINATTN__KIND_ORDER, epoch, i, n - i < PIECE ? n - i : PIECE, u);
        const size_t j = i + index_below(u[i % PIECE], n - i);
        const uint32_t kept = set->order[i];
        set->order[i] = set->order[j];
        set->order[j] = kept;
    }
    set->epoch = epoch;
    set->shuffled = 1;
}

int linattn__dataset_check(const linattn__dataset *set, const char *of) {
    if (set->prompts < 1 || set->prompts > set->size)
        return linattn__fail(LINATTN_EINVAL, "%s is %zu; allowed: 1 to %zu, all there are", of, set->prompts, set->size);
    if (set->mode != LINATTN_MINIBATCH_EPOCHS && set->mode != LINATTN_MINIBATCH_REPLACEMENT)
        return linattn__fail_integer("mode", set->mode, "the values 0 and 1 of enum linattn_minibatch");
    return LINATTN_OK;
}

int linattn__dataset_open(linattn__dataset *set) {
    set->shuffled = 0;
    set->order = NULL;
    if (set->mode != LINATTN_MINIBATCH_EPOCHS || set->prompts == set->size) return LINATTN_OK;
    set->order = linattn__allocate(set->size, sizeof *set->order);
    return set->order ? LINATTN_OK : linattn__fail_memory("the order of a data set");
}

void linattn__dataset_draw(linattn__dataset *set, uint64_t draw, void (*copy)(void *user, size_t from, size_t to), void *user) {
    const size_t n = set->size, minibatches = n / set->prompts;
    const size_t first = (size_t)(draw % minibatches) * set->prompts;
    double u[PIECE];
    if (set->order) shuffle(set, draw / minibatches);
    for (size_t i = 0; i < set->prompts; i++) {
        size_t from = set->order ? set->order[first + i] : i;
        if (set->mode == LINATTN_MINIBATCH_REPLACEMENT) {
            const size_t left = set->prompts - i;
            if (i % PIECE == 0) draw_uniforms(set, LINATTN__KIND_PICKS, draw, i, left < PIECE ? left : PIECE, u);
            from = index_below(u[i % PIECE], n);
        }
        copy(user, from, i);
    }
}

int linattn__dataset_describe(const linattn__dataset *set, linattn__describe visit, void *user) {
    int status = visit("dataset.size", set->size, user);
    if (status == LINATTN_OK) status = visit("dataset.mode", (uint64_t)set->mode, user);
    return status == LINATTN_OK ? visit("dataset.seed", set->seed, user) : status;
}
