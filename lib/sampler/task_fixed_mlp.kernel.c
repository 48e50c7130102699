/* task_fixed_mlp.kernel.c: y = <w, g(x)>, g(x) = W2 relu(W1 x + b1) + b2, w = G w0, w0 ~ N(0, I_d).
 *
 * One network g for all prompts and draws: W1 (h, d), b1 (h), W2 (d, h), b2 (d), each uniform on +-1/sqrt(fan-in), the fan-in being
 * d in the first layer and h in the second. A prompt's weights are W2^T w (h) and <w, b2>, so that
 *     y = sum_k (W2^T w)_k relu(<W1_k, x> + b1_k) + <w, b2>. */
#include "common/allocate.h"
#include "common/fail.h"
#include "sampler/distribution.h"
#include "sampler/task_lanes.h"

/* The network's arrays, which follow each other in the plan's. */
typedef struct mlp {
    double *w1, *b1, *w2, *b2;
} mlp;

static mlp parts(const linattn__plan *plan) {
    const size_t d = plan->dim, h = plan->hidden;
    double *w1 = plan->network;
    return (mlp){w1, w1 + h * d, w1 + h * d + h, w1 + h * d + h + d * h};
}

/* count numbers uniform on +-1/sqrt(fan_in). */
static void draw_part(const linattn__stream *stream, unsigned kind, size_t fan_in, size_t count, double *out) {
    const double bound = 1.0 / vreal_sqrt(vreal_all((double)fan_in))[0];
    linattn__random_uniforms(stream, kind, 0, 0, count, out);
    for (size_t i = 0; i < count; i++) out[i] = (2.0 * out[i] - 1.0) * bound;
}

static int prepare(const linattn_sampler_options *options, linattn__plan *plan) {
    const size_t d = plan->dim, h = options->hidden;
    if (h < 1 || h > LINATTN_MAX_HIDDEN) return linattn__fail_count("hidden", h, "1 to 4096");
    plan->hidden = h;
    plan->weights = h + 1;
    plan->network = linattn__allocate(2 * h * d + h + d, sizeof *plan->network);
    if (plan->network == NULL) return linattn__fail_memory("the task's network");
    const mlp g = parts(plan);
    linattn__stream stream;
    linattn__stream_open(&stream, options->network_seed, 0, LINATTN__PURPOSE_NETWORK);
    draw_part(&stream, LINATTN__KIND_WEIGHTS_1, d, h * d, g.w1);
    draw_part(&stream, LINATTN__KIND_BIASES_1, d, h, g.b1);
    draw_part(&stream, LINATTN__KIND_WEIGHTS_2, h, d * h, g.w2);
    draw_part(&stream, LINATTN__KIND_BIASES_2, h, d, g.b2);
    return LINATTN_OK;
}

static void weights(const linattn__plan *plan, const linattn__span *span, double *w, double *scratch) {
    const size_t d = plan->dim, h = plan->hidden;
    const mlp g = parts(plan);
    lanes_normal_weights(plan, span, scratch, scratch + d * LINATTN__LANES);
    for (size_t k = 0; k <= h; k++) {
        vreal sum = vreal_all(0.0);
        for (size_t i = 0; i < d; i++) sum += vreal_load(scratch + i * LINATTN__LANES) * (k < h ? g.w2[i * h + k] : g.b2[i]);
        vreal_store(w + k * LINATTN__LANES, sum);
    }
}

static void respond(const linattn__plan *plan, const double *w, const double *x, size_t count, double *y) {
    const size_t d = plan->dim, h = plan->hidden;
    const mlp g = parts(plan);
    for (size_t t = 0; t < count; t++) {
        const double *token = x + t * d * LINATTN__LANES;
        vreal sum = vreal_load(w + h * LINATTN__LANES);
        for (size_t k = 0; k < h; k++) {
            vreal unit = vreal_all(g.b1[k]);
            for (size_t j = 0; j < d; j++) unit += g.w1[k * d + j] * vreal_load(token + j * LINATTN__LANES);
            sum += vreal_load(w + k * LINATTN__LANES) * vreal_relu(unit);
        }
        vreal_store(y + t * LINATTN__LANES, sum);
    }
}

extern const linattn__task LINATTN__ISA_NAME(task_fixed_mlp);
const linattn__task LINATTN__ISA_NAME(task_fixed_mlp) = {0, prepare, weights, respond};
