/* gamma_lanes.h: gamma variates for LINATTN__LANES prompts at a time.
 *
 * A vector would have to wait for its slowest lane at each test and each attempt, so lanes that fail the squeeze leave it: the
 * first attempt of all variates is made in vectors; those refused (about 8 in 100) go into a queue, whose entries are tested
 * exactly, and drawn again, in vectors packed from any variates and lanes. A variate is its first accepted attempt however it is
 * come by, so the bits are those of random.c. */
#ifndef LINATTN_SAMPLER_GAMMA_LANES_H
#define LINATTN_SAMPLER_GAMMA_LANES_H

#include "sampler/lanes.h"

enum { LANES_GAMMA_CHUNK = 32 }; /* variates at a time; even */

/* One distribution for all variates (step 0) or one for each (step 1). */
typedef struct lanes_gamma {
    const linattn__stream *stream;
    unsigned kind;
    uint32_t prompt;
    uint64_t first; /* variate */
    const linattn__gamma *gamma;
    size_t step;
} lanes_gamma;

/* Entries are (variate, lane), at place = (variate - first) * LINATTN__LANES + lane. */
typedef struct gamma_queue {
    size_t count;
    double x[(LANES_GAMMA_CHUNK + 1) * LINATTN__LANES];
    double u[(LANES_GAMMA_CHUNK + 1) * LINATTN__LANES];
    uint32_t place[(LANES_GAMMA_CHUNK + 1) * LINATTN__LANES];
} gamma_queue;

LINATTN__INLINE const linattn__gamma *gamma_of(const lanes_gamma *g, uint64_t variate) { return g->gamma + variate * g->step; }

/* The first attempt of a chunk: proposals d v into out, accepted or not; what the squeeze refuses into the queue. */
LINATTN__INLINE void gamma_first(const lanes_gamma *g, size_t count, double *out, gamma_queue *queue) {
    const vword prompts = lanes_prompts(g->prompt);
    queue->count = 0;
    for (size_t i = 0; i < count; i += 2) {
        vreal x[2], u[2];
        gamma_attempt(g->stream, g->kind, vword_all((g->first + i) / 2), vword_all(0), prompts, x, u);
        for (size_t half = 0; half < 2 && i + half < count; half++) {
            const linattn__gamma *gamma = gamma_of(g, g->first + i + half);
            const uint32_t place = (uint32_t)((i + half) * LINATTN__LANES);
            vreal_store(out + place, gamma->d * gamma_proposal(vreal_all(gamma->c), x[half]));
            unsigned refused = vmask_bits(~gamma_squeeze(vreal_all(gamma->squeeze), x[half], u[half]));
            for (; refused != 0; refused &= refused - 1) {
                const int lane = __builtin_ctz(refused);
                queue->x[queue->count] = x[half][lane];
                queue->u[queue->count] = u[half][lane];
                queue->place[queue->count++] = place + (uint32_t)lane;
            }
        }
    }
}

/* Tests the LINATTN__LANES entries from `at` on; accepted ones go to out, the places of the others to place[kept...]. Returns the
 * new kept, never more than at + LINATTN__LANES. */
LINATTN__INLINE size_t gamma_test(const lanes_gamma *g, gamma_queue *queue, size_t at, size_t kept, double *out) {
    vreal x, u, c, d, squeeze;
    for (int lane = 0; lane < LINATTN__LANES; lane++) {
        const linattn__gamma *gamma = gamma_of(g, g->first + queue->place[at + (size_t)lane] / LINATTN__LANES);
        x[lane] = queue->x[at + (size_t)lane];
        u[lane] = queue->u[at + (size_t)lane];
        c[lane] = gamma->c;
        d[lane] = gamma->d;
        squeeze[lane] = gamma->squeeze;
    }
    const vreal v = gamma_proposal(c, x), proposal = d * v;
    const unsigned accepted = vmask_bits(gamma_squeeze(squeeze, x, u) | gamma_exact(d, x, u, v));
    for (size_t lane = 0; lane < LINATTN__LANES && at + lane < queue->count; lane++) {
        const uint32_t place = queue->place[at + lane];
        if (accepted >> lane & 1)
            out[place] = proposal[lane];
        else
            queue->place[kept++] = place;
    }
    return kept;
}

/* Attempt number `attempt` of the LINATTN__LANES entries from `at` on. */
LINATTN__INLINE void gamma_again(const lanes_gamma *g, gamma_queue *queue, size_t at, uint64_t attempt) {
    vword pair, prompt;
    vmask second;
    vreal x[2], u[2];
    for (int lane = 0; lane < LINATTN__LANES; lane++) {
        const uint32_t place = queue->place[at + (size_t)lane];
        const uint64_t variate = g->first + place / LINATTN__LANES;
        pair[lane] = variate / 2;
        prompt[lane] = g->prompt + place % LINATTN__LANES;
        second[lane] = -(int64_t)(variate % 2);
    }
    gamma_attempt(g->stream, g->kind, pair, vword_all(attempt), prompt, x, u);
    x[0] = vreal_select(second, x[1], x[0]);
    u[0] = vreal_select(second, u[1], u[0]);
    for (int lane = 0; lane < LINATTN__LANES; lane++) {
        queue->x[at + (size_t)lane] = x[0][lane];
        queue->u[at + (size_t)lane] = u[0][lane];
    }
}

/* Fills the last vector up with copies of an entry. */
LINATTN__INLINE void gamma_pad(gamma_queue *queue) {
    for (size_t i = queue->count; i < queue->count + LINATTN__LANES; i++) {
        queue->x[i] = queue->x[0];
        queue->u[i] = queue->u[0];
        queue->place[i] = queue->place[0];
    }
}

LINATTN__INLINE void gamma_chunk(const lanes_gamma *g, size_t count, double *out) {
    gamma_queue queue;
    gamma_first(g, count, out, &queue);
    for (uint64_t attempt = 1; queue.count > 0; attempt++) {
        size_t kept = 0;
        gamma_pad(&queue);
        for (size_t at = 0; at < queue.count; at += LINATTN__LANES) kept = gamma_test(g, &queue, at, kept, out);
        queue.count = kept;
        if (attempt == LINATTN__GAMMA_ATTEMPTS) break;
        gamma_pad(&queue);
        for (size_t at = 0; at < queue.count; at += LINATTN__LANES) gamma_again(g, &queue, at, attempt);
    }
    for (size_t i = 0; i < queue.count; i++) out[queue.place[i]] = gamma_of(g, g->first + queue.place[i] / LINATTN__LANES)->d;
}

/* Gamma variates of shape k (or k + 1 when k < 1, still without the power of a uniform): out (count, lanes). g->first even. */
LINATTN__INLINE void lanes_gammas(lanes_gamma g, size_t count, double *out) {
    for (size_t done = 0; done < count; done += LANES_GAMMA_CHUNK) {
        const size_t left = count - done;
        gamma_chunk(&g, left < LANES_GAMMA_CHUNK ? left : LANES_GAMMA_CHUNK, out + done * LINATTN__LANES);
        g.first += LANES_GAMMA_CHUNK;
    }
}

/* Multiplies variate v by U^(scale * boost) where it has a boost: scale 1 for a gamma variate, 1/2 for its square root. */
LINATTN__INLINE void lanes_boost(const linattn__stream *stream, unsigned kind, uint32_t prompt, const linattn__gamma *gamma,
                                 size_t step, double scale, uint64_t first, size_t count, double *values) {
    for (size_t i = 0; i < count; i += 2) {
        const linattn__gamma *even = gamma + (first + i) * step, *odd = i + 1 < count ? even + step : even;
        if (even->boost == 0 && odd->boost == 0) continue;
        vreal u[2];
        uniform_pair(stream, kind, vword_all((first + i) / 2), lanes_prompts(prompt), u);
        for (size_t half = 0; half < 2 && i + half < count; half++) {
            const double boost = half == 0 ? even->boost : odd->boost;
            double *at = values + (i + half) * LINATTN__LANES;
            if (boost > 0) vreal_store(at, vreal_load(at) * uniform_power(u[half], scale * boost));
        }
    }
}

#endif
