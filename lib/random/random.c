/* random.c: the scalar definition of every random number. */
#define LINATTN__LANES 1
#include "random/random.h"
#include "random/variates.h"

static void stream_key(linattn__stream *stream, uint32_t k0, uint32_t k1) {
    for (int round = 0; round < LINATTN__PHILOX_ROUNDS; round++) {
        stream->key[round][0] = k0;
        stream->key[round][1] = k1;
        k0 += LINATTN__PHILOX_W0;
        k1 += LINATTN__PHILOX_W1;
    }
}

void linattn__philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]) {
    linattn__stream stream;
    vword c[4], pair[2];
    stream_key(&stream, key[0], key[1]);
    for (int i = 0; i < 4; i++) c[i] = vword_all(counter[i]);
    for (int round = 0; round < LINATTN__PHILOX_ROUNDS - 1; round++) philox_round(&stream, round, c);
    philox_last_round(&stream, c, pair);
    for (int i = 0; i < 2; i++) {
        out[2 * i] = (uint32_t)(pair[i][0] >> 32);
        out[2 * i + 1] = (uint32_t)pair[i][0];
    }
}

void linattn__stream_open(linattn__stream *stream, uint64_t seed, uint64_t draw, unsigned purpose) {
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    if (draw >> 48 != 0) {
        /* The counter has room for 48 bits of a draw; the other 16 choose another key. */
        const uint32_t counter[4] = {(uint32_t)(draw >> 48), 0, 0, 0xffff0000u};
        uint32_t derived[4];
        linattn__philox(key, counter, derived);
        key[0] = derived[0];
        key[1] = derived[1];
    }
    stream_key(stream, key[0], key[1]);
    stream->draw_low = (uint32_t)draw;
    stream->draw_high = (uint32_t)(draw >> 32 & 0xffff) | (uint64_t)purpose << 20;
}

/* Block v / 2 in the words index and prompt. */
typedef void pair_function(const linattn__stream *, unsigned, vword, vword, vreal[2]);

LINATTN__INLINE void fill_pairs(pair_function *draw, const linattn__stream *stream, unsigned kind, uint32_t prompt, uint64_t first,
                                size_t count, double *out) {
    vreal pair[2] = {{0}, {0}};
    for (size_t i = 0; i < count; i++) {
        const uint64_t v = first + i, block = v / 2;
        if (i == 0 || v % 2 == 0)
            draw(stream, kind, vword_all((uint32_t)block), vword_all((uint32_t)(prompt + (block >> 32))), pair);
        out[i] = pair[v % 2][0];
    }
}

void linattn__random_uniforms(const linattn__stream *stream, unsigned kind, uint32_t prompt, uint64_t first, size_t count,
                              double *out) {
    fill_pairs(uniform_pair, stream, kind, prompt, first, count, out);
}

void linattn__random_normals(const linattn__stream *stream, unsigned kind, uint32_t prompt, uint64_t first, size_t count,
                             double *out) {
    fill_pairs(normal_pair, stream, kind, prompt, first, count, out);
}

void linattn__gamma_open(linattn__gamma *gamma, double shape) {
    const double a = shape < 1 ? shape + 1 : shape, d = a - 1.0 / 3.0;
    gamma->d = d;
    gamma->c = 1.0 / vreal_sqrt(vreal_all(9.0 * d))[0];
    /* For large d the logarithm of the acceptance ratio is -x^4/(108 d) > -1e-10, while the exact test suffers from cancellation
     * in d (1 - v + log v): accept always. */
    gamma->squeeze = d > 0x1p40 ? 0.0 : 0.0331;
    gamma->boost = shape < 1 ? 1.0 / shape : 0.0;
}

/* Half `half` of pair m: the first attempt that is accepted; after the last one, which has probability below 1e-80, the mode-like
 * d. */
static double gamma_variate(const linattn__stream *stream, unsigned kind, vword prompt, const linattn__gamma *gamma, uint64_t m,
                            int half) {
    for (uint64_t a = 0; a < LINATTN__GAMMA_ATTEMPTS; a++) {
        vreal x[2], u[2];
        gamma_attempt(stream, kind, vword_all(m), vword_all(a), prompt, x, u);
        const vreal v = gamma_proposal(vreal_all(gamma->c), x[half]);
        const vmask accept =
            gamma_squeeze(vreal_all(gamma->squeeze), x[half], u[half]) | gamma_exact(vreal_all(gamma->d), x[half], u[half], v);
        if (accept[0]) return gamma->d * v[0];
    }
    return gamma->d;
}

void linattn__random_gammas(const linattn__stream *stream, unsigned kind, unsigned boosts, uint32_t prompt,
                            const linattn__gamma *gamma, uint64_t first, size_t count, double *out) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t m = (first + i) / 2;
        const int half = (int)((first + i) % 2);
        out[i] = gamma_variate(stream, kind, vword_all(prompt), gamma, m, half);
        if (gamma->boost > 0) {
            vreal u[2];
            uniform_pair(stream, boosts, vword_all(m), vword_all(prompt), u);
            out[i] *= uniform_power(u[half], gamma->boost)[0];
        }
    }
}

double linattn__random_log(double x) { return vreal_log(vreal_all(x))[0]; }
double linattn__random_exp(double x) { return vreal_exp(vreal_all(x))[0]; }
double linattn__random_sin(double x) { return vreal_sin(vreal_all(x))[0]; }

void linattn__random_cos_sin(double u, double *cosine, double *sine) {
    vreal c, s;
    vreal_cos_sin(vreal_all(u), &c, &s);
    *cosine = c[0];
    *sine = s[0];
}
