/* lanes.h: arrays of variates for LINATTN__LANES prompts at a time; the kernels of the sampler are made of these.
 *
 * Arrays are (groups, count, lanes) over the prompts of a span. Each number equals the scalar definition of random.c bit for bit.
 * Work is done in passes over a chunk that stays in the cache (Philox, the logarithm, the rest of Box-Muller): together they are one
 * long chain of dependent operations, and in one loop the processor's window would hold little more than one of them. Blocks of Philox
 * go side by side for the same reason. */
#ifndef LINATTN_SAMPLER_LANES_H
#define LINATTN_SAMPLER_LANES_H

#include "random/variates.h"
#include "sampler/distribution.h"

enum { LANES_CHUNK = 64 }; /* vectors of a chunk; even */

/* The prompts of group g: prompt + g lanes, and following. */
LINATTN__INLINE vword lanes_prompts(const linattn__span *span, size_t group) {
    vword lanes = vword_all(span->prompt + (uint32_t)(group * LINATTN__LANES));
    for (int i = 0; i < LINATTN__LANES; i++) lanes[i] += (uint64_t)i;
    return lanes;
}

/* Pairs of variates in the order of the array: all pairs of group 0, then of group 1, ... */
typedef struct lanes_cursor {
    const linattn__span *span;
    uint64_t first; /* variate of each group */
    size_t count;   /* variates of each group */
    size_t group;
    size_t at; /* 0 .. count-1, even */
} lanes_cursor;

LINATTN__INLINE void lanes_advance(lanes_cursor *cursor) {
    cursor->at += 2;
    if (cursor->at >= cursor->count) {
        cursor->at = 0;
        cursor->group++;
    }
}

LINATTN__INLINE vword lanes_pair(const lanes_cursor *cursor) { return vword_all((cursor->first + cursor->at) / 2); }

/* Where the pair's variates go in the array, and how many of the two there are. */
LINATTN__INLINE double *lanes_place(const lanes_cursor *cursor, double *out) {
    return out + (cursor->group * cursor->count + cursor->at) * LINATTN__LANES;
}
LINATTN__INLINE size_t lanes_halves(const lanes_cursor *cursor) { return cursor->at + 1 < cursor->count ? 2 : 1; }

/* Moves on by up to `room` pairs, not beyond the group; returns how many. */
LINATTN__INLINE size_t lanes_run(lanes_cursor *cursor, size_t room) {
    const size_t left = (cursor->count - cursor->at + 1) / 2, run = left < room ? left : room;
    cursor->at += 2 * run;
    if (run == left) {
        cursor->at = 0;
        cursor->group++;
    }
    return run;
}

/* Uniforms of `count` blocks into out (2 count, lanes). */
LINATTN__INLINE void lanes_uniform_blocks(const linattn__span *span, unsigned kind, uint64_t index, vword prompts, size_t count,
                                          double *out) {
    vreal u[2 * PHILOX_BESIDE];
    uniform_blocks(span->stream, kind, vword_all(index), prompts, count, u);
    LINATTN__UNROLL
    for (size_t i = 0; i < 2 * count; i++) vreal_store(out + i * LINATTN__LANES, u[i]);
}

/* Uniforms of up to LANES_CHUNK/2 pairs from the cursor on, into chunk; returns the number of pairs and moves the cursor. */
LINATTN__INLINE size_t lanes_uniform_chunk(unsigned kind, lanes_cursor *cursor, double *chunk) {
    size_t pairs = 0;
    while (cursor->group < cursor->span->groups && pairs < LANES_CHUNK / 2) {
        const vword prompts = lanes_prompts(cursor->span, cursor->group);
        uint64_t index = (cursor->first + cursor->at) / 2;
        const size_t end = pairs + lanes_run(cursor, LANES_CHUNK / 2 - pairs);
        for (; pairs + PHILOX_BESIDE <= end; pairs += PHILOX_BESIDE, index += PHILOX_BESIDE)
            lanes_uniform_blocks(cursor->span, kind, index, prompts, PHILOX_BESIDE, chunk + 2 * pairs * LINATTN__LANES);
        for (; pairs < end; pairs++, index++)
            lanes_uniform_blocks(cursor->span, kind, index, prompts, 1, chunk + 2 * pairs * LINATTN__LANES);
    }
    return pairs;
}

/* Uniforms v = first .. first+count-1, first even. */
LINATTN__INLINE void lanes_uniforms(const linattn__span *span, unsigned kind, uint64_t first, size_t count, double *out) {
    lanes_cursor cursor = {span, first, count, 0, 0};
    for (; count > 0 && cursor.group < span->groups; lanes_advance(&cursor)) {
        vreal u[2];
        uniform_pair(span->stream, kind, lanes_pair(&cursor), lanes_prompts(span, cursor.group), u);
        double *place = lanes_place(&cursor, out);
        vreal_store(place, u[0]);
        if (lanes_halves(&cursor) == 2) vreal_store(place + LINATTN__LANES, u[1]);
    }
}

/* Normals v = first .. first+count-1, first even. */
LINATTN__INLINE void lanes_normals(const linattn__span *span, unsigned kind, uint64_t first, size_t count, double *out) {
    double chunk[LANES_CHUNK * LINATTN__LANES] __attribute__((aligned(64)));
    lanes_cursor cursor = {span, first, count, 0, 0};
    if (count == 0) return;
    while (cursor.group < span->groups) {
        lanes_cursor back = cursor;
        const size_t pairs = lanes_uniform_chunk(kind, &cursor, chunk);
        for (size_t i = 0; i < pairs; i++) {
            double *u = chunk + 2 * i * LINATTN__LANES;
            vreal_store(u, vreal_log(vreal_load(u)));
        }
        for (size_t i = 0; i < pairs; i++, lanes_advance(&back)) {
            const double *u = chunk + 2 * i * LINATTN__LANES;
            vreal pair[2];
            box_muller(vreal_load(u), vreal_load(u + LINATTN__LANES), pair);
            double *place = lanes_place(&back, out);
            vreal_store(place, pair[0]);
            if (lanes_halves(&back) == 2) vreal_store(place + LINATTN__LANES, pair[1]);
        }
    }
}

/* |z|^2, z (count, lanes). */
LINATTN__INLINE vreal lanes_square_norm(const double *z, size_t count) {
    vreal sum = vreal_all(0.0);
    for (size_t j = 0; j < count; j++) {
        const vreal entry = vreal_load(z + j * LINATTN__LANES);
        sum += entry * entry;
    }
    return sum;
}

/* y = A x, A (rows, columns) shared by the lanes, x (columns, lanes). */
LINATTN__INLINE void lanes_multiply(const double *a, size_t rows, size_t columns, const double *x, double *y) {
    for (size_t i = 0; i < rows; i++) {
        vreal sum = vreal_all(0.0);
        for (size_t j = 0; j < columns; j++) sum += a[i * columns + j] * vreal_load(x + j * LINATTN__LANES);
        vreal_store(y + i * LINATTN__LANES, sum);
    }
}

#endif
