/* random.h: random numbers that are a function of where they are used.
 *
 * Philox 4x32-10 turns a key (the seed) and a counter (index, prompt, draw low 32 bits, draw bits 32-47 | stream << 16) into 128
 * random bits: a *block*. Nothing is carried from one number to the next, so any of them can be had alone, in any order, on any
 * thread. The functions here work on single numbers and *define* the bits; the vector code of variates.h equals them.
 *
 * Variate v of a (stream, prompt) is half v % 2 of block v / 2. Blocks number 2^32 and more continue in the prompt's word. */
#ifndef LINATTN_RANDOM_RANDOM_H
#define LINATTN_RANDOM_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* What a stream is for: (purpose, kind), 12 and 4 bits. The first purposes are enum linattn_stream; the library's own ones count
 * down from the last, of which 0xfff is taken by the derivation of keys (random.c). Never renumber: the bits depend on it. */
enum linattn__purpose {
    LINATTN__PURPOSE_INITIALISATION = 0xffe,
    LINATTN__PURPOSE_RESAMPLING = 0xffd,
    LINATTN__PURPOSE_DIAGNOSTICS = 0xffc,
    LINATTN__PURPOSE_NETWORK = 0xffb,
    LINATTN__PURPOSE_DATASET = 0xffa,
    LINATTN__PURPOSE_PROMPT = 0xff9
};

enum linattn__kind {
    LINATTN__KIND_COVARIATES = 0,       /* normals, v = token * d + coordinate; token 0 is the query, i + 1 context token i */
    LINATTN__KIND_RADII = 1,            /* gamma attempts, v = token */
    LINATTN__KIND_RADII_BOOST = 2,      /* uniforms, v = token */
    LINATTN__KIND_TASK = 3,             /* normals, v = coordinate */
    LINATTN__KIND_NOISE = 4,            /* normals, v = token */
    LINATTN__KIND_BARTLETT = 5,         /* normals below the diagonal, column by column */
    LINATTN__KIND_BARTLETT_CHI = 6,     /* gamma attempts, v = column */
    LINATTN__KIND_BARTLETT_BOOST = 7,   /* uniforms, v = column */
    LINATTN__KIND_PROJECTED_NOISE = 8,  /* normals, v = column: the noise within the span of the covariates */
    LINATTN__KIND_REMAINDER = 9,        /* a gamma attempt, v = 0: the squared norm of the rest of the noise */
    LINATTN__KIND_REMAINDER_BOOST = 10, /* a uniform, v = 0 */
    LINATTN__KIND_POSITIONS = 11,       /* uniforms, v = coordinate: where sparse weights are not 0 */
    LINATTN__KIND_HIDDEN = 12,          /* normals, v = unit * d + coordinate: the first layer of a prompt's network */
    LINATTN__KIND_ROWS = 13,            /* uniforms, v = token: rows of the caller's table */
    LINATTN__KIND_PARAMETERS = 0,       /* of the purpose INITIALISATION: normals, v = parameter */
    LINATTN__KIND_FRONT = 1,            /* of the purpose INITIALISATION: uniforms, v = parameter of the front MLP */
    LINATTN__KIND_FF = 2,               /* of the purpose INITIALISATION: uniforms, v = parameter of all feed-forward blocks */
    LINATTN__KIND_INDICES = 0,          /* of the purpose RESAMPLING: uniforms, for indices */
    LINATTN__KIND_SIMULATED = 1,        /* of the purpose RESAMPLING: normals, for simulated samples */
    LINATTN__KIND_START = 0,            /* of the purpose DIAGNOSTICS: normals, v = parameter: where Lanczos starts */
    LINATTN__KIND_SURROGATE = 1,        /* of the purpose DIAGNOSTICS: normals, prompt = number, v = eigenvector */
    LINATTN__KIND_WEIGHTS_1 = 0,        /* of the purpose NETWORK: uniforms, v = unit * d + coordinate */
    LINATTN__KIND_BIASES_1 = 1,         /* of the purpose NETWORK: uniforms, v = unit */
    LINATTN__KIND_WEIGHTS_2 = 2,        /* of the purpose NETWORK: uniforms, v = coordinate * hidden + unit */
    LINATTN__KIND_BIASES_2 = 3,         /* of the purpose NETWORK: uniforms, v = coordinate */
    LINATTN__KIND_ORDER = 0,            /* of the purpose DATASET: uniforms, draw = epoch, v = place */
    LINATTN__KIND_PICKS = 1,            /* of the purpose DATASET: uniforms, v = prompt of the minibatch */
    LINATTN__KIND_KEYS = 0,             /* of the purpose PROMPT: normals, prompt = example, v = token * d + coordinate */
    LINATTN__KIND_KEY_MAP = 1,          /* of the purpose PROMPT: normals, v = row * d + column */
    LINATTN__KIND_VALUE = 2,            /* of the purpose PROMPT: normals, v = coordinate */
    LINATTN__KIND_TEACHER = 3,          /* of the purpose PROMPT: normals, v = coordinate */
    LINATTN__KIND_PLACES = 4,           /* of the purpose PROMPT: uniforms, prompt = example, v = place: permuted scores */
    LINATTN__KIND_LABEL_NOISE = 5,      /* of the purpose PROMPT: normals, v = example */
    LINATTN__KIND_LABELS = 6            /* of the purpose PROMPT: uniforms, v = example */
};

enum { LINATTN__PHILOX_ROUNDS = 10 };

/* One purpose of one (seed, draw), words in 64 bits as the vector code wants them. */
typedef struct linattn__stream {
    uint64_t key[LINATTN__PHILOX_ROUNDS][2]; /* the key of each round */
    uint64_t draw_low;                       /* word 2 of the counter */
    uint64_t draw_high;                      /* word 3 for kind 0 */
} linattn__stream;

void linattn__stream_open(linattn__stream *stream, uint64_t seed, uint64_t draw, unsigned purpose);

/* Philox 4x32-10 itself: the four output words. */
void linattn__philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

/* Variates first .. first+count-1 of (stream, kind, prompt). */
void linattn__random_uniforms(const linattn__stream *stream, unsigned kind, uint32_t prompt, uint64_t first, size_t count,
                              double *out);
void linattn__random_normals(const linattn__stream *stream, unsigned kind, uint32_t prompt, uint64_t first, size_t count,
                             double *out);

/* A gamma distribution of shape k > 0 and scale 1, made ready for drawing: X = d v for the first accepted attempt of shape
 * a = k (k >= 1) or a = k + 1 (k < 1), then times U^(1/k) when k < 1. */
typedef struct linattn__gamma {
    double d;       /* a - 1/3 */
    double c;       /* 1/sqrt(9 d) */
    double squeeze; /* u < 1 - squeeze x^4 accepts at once */
    double boost;   /* 1/k when k < 1, otherwise 0 */
} linattn__gamma;

enum { LINATTN__GAMMA_ATTEMPTS = 64 };

void linattn__gamma_open(linattn__gamma *gamma, double shape);

/* Gamma variates of scale 1; `boosts` is the kind of the stream for U. */
void linattn__random_gammas(const linattn__stream *stream, unsigned kind, unsigned boosts, uint32_t prompt,
                            const linattn__gamma *gamma, uint64_t first, size_t count, double *out);

/* log x for normal x > 0, exp x for x <= 0, cos and sin of 2 pi u for 0 <= u <= 1, sin x: the ones that samples are made with. */
double linattn__random_log(double x);
double linattn__random_exp(double x);
void linattn__random_cos_sin(double u, double *cosine, double *sine);
double linattn__random_sin(double x);

#endif
