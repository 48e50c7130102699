/* gamma_lanes.h: gamma variates for the prompts of a span.
 *
 * A vector would have to wait for its slowest lane at each test and each attempt, so lanes that fail the squeeze leave it: the
 * first attempt of all variates is made in vectors; those refused (about 8 in 100) go into a queue, whose entries are tested
 * exactly, and drawn again, in vectors packed from any variates and prompts. A variate is its first accepted attempt however it is
 * come by, so the bits are those of random.c. */
#ifndef LINATTN_SAMPLER_GAMMA_LANES_H
#define LINATTN_SAMPLER_GAMMA_LANES_H

#include "sampler/lanes.h"

enum { GAMMA_CHUNK = 32, GAMMA_ROOM = (GAMMA_CHUNK + 1) * LINATTN__LANES }; /* vectors of a chunk, even; entries of a queue */

/* What is drawn: one distribution for all variates (step 0) or one for each (step 1). */
typedef struct gamma_draw {
    const linattn__span *span;
    unsigned kind;
    const linattn__gamma *gamma;
    size_t step;
} gamma_draw;

/* The vectors of a chunk, and the entries that were refused: entry i is lane place[i] % lanes of vector place[i] / lanes. */
typedef struct gamma_queue {
    uint64_t variate[GAMMA_CHUNK];
    uint32_t prompt[GAMMA_CHUNK]; /* of lane 0 */
    double *out[GAMMA_CHUNK];
    size_t vectors;
    size_t count;
    double x[GAMMA_ROOM] __attribute__((aligned(64)));
    double u[GAMMA_ROOM] __attribute__((aligned(64)));
    uint64_t place[GAMMA_ROOM] __attribute__((aligned(64)));
} gamma_queue;

LINATTN__INLINE const linattn__gamma *gamma_of(const gamma_draw *g, uint64_t variate) { return g->gamma + variate * g->step; }

/* Appends the lanes where `refused` is set; writes up to LINATTN__LANES entries beyond the end. */
LINATTN__INLINE void gamma_append(gamma_queue *queue, vmask refused, vreal x, vreal u, size_t vector) {
#if LINATTN__LANES == 8 && defined(__AVX512DQ__)
    const __mmask8 mask = _mm512_movepi64_mask((__m512i)refused);
    const vword place = vword_all(vector * LINATTN__LANES) + (vword){0, 1, 2, 3, 4, 5, 6, 7};
    _mm512_storeu_pd(queue->x + queue->count, _mm512_maskz_compress_pd(mask, (__m512d)x));
    _mm512_storeu_pd(queue->u + queue->count, _mm512_maskz_compress_pd(mask, (__m512d)u));
    _mm512_storeu_si512(queue->place + queue->count, _mm512_maskz_compress_epi64(mask, (__m512i)place));
    queue->count += (size_t)__builtin_popcount(mask);
#else
    if (!vmask_any(refused)) return;
    for (size_t lane = 0; lane < LINATTN__LANES; lane++) {
        queue->x[queue->count] = x[lane];
        queue->u[queue->count] = u[lane];
        queue->place[queue->count] = vector * LINATTN__LANES + lane;
        queue->count += refused[lane] != 0;
    }
#endif
}

/* The first attempt of up to GAMMA_CHUNK/2 pairs from the cursor on: proposals d v to their places, accepted or not; what the
 * squeeze refuses into the queue. */
LINATTN__INLINE void gamma_first(const gamma_draw *g, lanes_cursor *cursor, double *out, gamma_queue *queue) {
    vreal angles[GAMMA_CHUNK], tests[GAMMA_CHUNK]; /* the uniforms of both blocks of each pair */
    lanes_cursor back = *cursor;
    size_t pairs = 0;
    for (; cursor->group < g->span->groups && pairs < GAMMA_CHUNK / 2; pairs++, lanes_advance(cursor)) {
        const vword prompts = lanes_prompts(g->span, cursor->group), index = gamma_block(lanes_pair(cursor), vword_all(0));
        vreal u[4];
        uniform_blocks(g->span->stream, g->kind, index, prompts, 2, u);
        for (size_t i = 0; i < 2; i++) {
            angles[2 * pairs + i] = u[i];
            tests[2 * pairs + i] = u[2 + i];
        }
    }
    for (size_t pair = 0; pair < pairs; pair++) angles[2 * pair] = vreal_log(angles[2 * pair]);
    queue->vectors = queue->count = 0;
    for (size_t pair = 0; pair < pairs; pair++, lanes_advance(&back)) {
        vreal x[2];
        box_muller(angles[2 * pair], angles[2 * pair + 1], x);
        for (size_t half = 0; half < lanes_halves(&back); half++) {
            const size_t vector = queue->vectors++;
            const uint64_t variate = back.first + back.at + half;
            const linattn__gamma *gamma = gamma_of(g, variate);
            queue->variate[vector] = variate;
            queue->prompt[vector] = g->span->prompt + (uint32_t)(back.group * LINATTN__LANES);
            queue->out[vector] = lanes_place(&back, out) + half * LINATTN__LANES;
            vreal_store(queue->out[vector], gamma->d * gamma_proposal(vreal_all(gamma->c), x[half]));
            gamma_append(queue, ~gamma_squeeze(vreal_all(gamma->squeeze), x[half], tests[2 * pair + half]), x[half],
                         tests[2 * pair + half], vector);
        }
    }
}

/* Tests the LINATTN__LANES entries from `at` on; accepted ones go to their places, the others to place[kept...]. Returns the new
 * kept, never more than at + LINATTN__LANES. */
LINATTN__INLINE size_t gamma_test(const gamma_draw *g, gamma_queue *queue, size_t at, size_t kept) {
    const vreal x = vreal_load(queue->x + at), u = vreal_load(queue->u + at);
    vreal c = vreal_all(g->gamma->c), d = vreal_all(g->gamma->d), squeeze = vreal_all(g->gamma->squeeze);
    for (size_t lane = 0; g->step != 0 && lane < LINATTN__LANES; lane++) {
        const linattn__gamma *gamma = gamma_of(g, queue->variate[queue->place[at + lane] / LINATTN__LANES]);
        c[lane] = gamma->c;
        d[lane] = gamma->d;
        squeeze[lane] = gamma->squeeze;
    }
    const vreal v = gamma_proposal(c, x), proposal = d * v;
    const vmask accepted = gamma_squeeze(squeeze, x, u) | gamma_exact(d, x, u, v);
    for (size_t lane = 0; lane < LINATTN__LANES && at + lane < queue->count; lane++) {
        const uint64_t place = queue->place[at + lane];
        if (accepted[lane])
            queue->out[place / LINATTN__LANES][place % LINATTN__LANES] = proposal[lane];
        else
            queue->place[kept++] = place;
    }
    return kept;
}

/* Attempt number `attempt` of the LINATTN__LANES entries from `at` on. */
LINATTN__INLINE void gamma_again(const gamma_draw *g, gamma_queue *queue, size_t at, uint64_t attempt) {
    vword pair = vword_all(0), prompt = pair;
    vmask second = (vmask)pair;
    vreal x[2], u[2];
    for (size_t lane = 0; lane < LINATTN__LANES; lane++) {
        const uint64_t place = queue->place[at + lane], vector = place / LINATTN__LANES;
        pair[lane] = queue->variate[vector] / 2;
        prompt[lane] = queue->prompt[vector] + place % LINATTN__LANES;
        second[lane] = -(int64_t)(queue->variate[vector] % 2);
    }
    gamma_attempt(g->span->stream, g->kind, pair, vword_all(attempt), prompt, x, u);
    vreal_store(queue->x + at, vreal_select(second, x[1], x[0]));
    vreal_store(queue->u + at, vreal_select(second, u[1], u[0]));
}

/* Fills the last vector up with copies of an entry. */
LINATTN__INLINE void gamma_pad(gamma_queue *queue) {
    for (size_t i = queue->count; i % LINATTN__LANES != 0; i++) {
        queue->x[i] = queue->x[0];
        queue->u[i] = queue->u[0];
        queue->place[i] = queue->place[0];
    }
}

LINATTN__INLINE void gamma_rest(const gamma_draw *g, gamma_queue *queue) {
    for (uint64_t attempt = 1; queue->count > 0; attempt++) {
        size_t kept = 0;
        gamma_pad(queue);
        for (size_t at = 0; at < queue->count; at += LINATTN__LANES) kept = gamma_test(g, queue, at, kept);
        queue->count = kept;
        if (attempt == LINATTN__GAMMA_ATTEMPTS) break;
        gamma_pad(queue);
        for (size_t at = 0; at < queue->count; at += LINATTN__LANES) gamma_again(g, queue, at, attempt);
    }
    for (size_t i = 0; i < queue->count; i++) {
        const uint64_t vector = queue->place[i] / LINATTN__LANES;
        queue->out[vector][queue->place[i] % LINATTN__LANES] = gamma_of(g, queue->variate[vector])->d;
    }
}

/* Gamma variates first .. first+count-1, first even, of shape k (or k + 1 when k < 1, still without the power of a uniform): out
 * (groups, count, lanes). */
LINATTN__INLINE void lanes_gammas(const gamma_draw *g, uint64_t first, size_t count, double *out) {
    lanes_cursor cursor = {g->span, first, count, 0, 0};
    gamma_queue queue;
    while (cursor.group < g->span->groups) {
        gamma_first(g, &cursor, out, &queue);
        gamma_rest(g, &queue);
    }
}

/* Multiplies these variates by U^(scale / k) where k < 1, U from stream `kind`: scale 1 for a gamma variate, 1/2 for its root. */
LINATTN__INLINE void lanes_boost(const gamma_draw *g, unsigned kind, double scale, uint64_t first, size_t count, double *values) {
    double chunk[LANES_CHUNK * LINATTN__LANES] __attribute__((aligned(64)));
    lanes_cursor cursor = {g->span, first, count, 0, 0};
    int any = g->gamma->boost > 0;
    for (size_t i = 1; g->step != 0 && i < count; i++) any |= gamma_of(g, first + i)->boost > 0;
    while (any && cursor.group < g->span->groups) {
        lanes_cursor back = cursor;
        const size_t pairs = lanes_uniform_chunk(kind, &cursor, chunk);
        for (size_t i = 0; i < 2 * pairs * LINATTN__LANES; i += LINATTN__LANES)
            vreal_store(chunk + i, vreal_log(vreal_load(chunk + i)));
        for (size_t i = 0; i < pairs; i++, lanes_advance(&back))
            for (size_t half = 0; half < lanes_halves(&back); half++) {
                const double boost = gamma_of(g, first + back.at + half)->boost;
                double *at = lanes_place(&back, values) + half * LINATTN__LANES;
                const vreal log_u = vreal_load(chunk + (2 * i + half) * LINATTN__LANES);
                if (boost > 0) vreal_store(at, vreal_load(at) * vreal_exp(log_u * (scale * boost)));
            }
    }
}

#endif
