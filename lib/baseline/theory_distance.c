/* theory_distance.c: how far a trained head is from the best one of one layer. */
#include "baseline/theory.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "common/norm.h"
#include "common/options.h"
#include "model/model.h"

#include <math.h>

static const linattn__struct TYPE = {"linattn_theory_distance", sizeof(linattn_theory_distance), sizeof(linattn_theory_distance),
                                     NULL};

static double norm_of(const double *x, size_t count) { return linattn__norm_value(linattn__norm_of(x, count)); }

/* s for which |x - s y| is smallest, y not 0, and |x - s y| / |x|. room: (count). */
static double scale_along(const double *x, const double *y, size_t count, double *room, double *distance) {
    const double x_norm = norm_of(x, count), y_norm = norm_of(y, count);
    double product = 0;
    for (size_t i = 0; i < count && x_norm > 0; i++) product += x[i] / x_norm * (y[i] / y_norm);
    const double scale = product * x_norm / y_norm;
    for (size_t i = 0; i < count; i++) room[i] = x[i] - scale * y[i];
    *distance = norm_of(room, count) / x_norm;
    return scale;
}

/* out (d, d): the part of M (side, side) that block form has; M's other entries to `rest`. Returns how many these are. */
static size_t split(const double *M, size_t side, size_t d, double *out, double *rest) {
    size_t others = 0;
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            if (i < d && j < d)
                out[i * d + j] = M[i * side + j];
            else
                rest[others++] = M[i * side + j];
        }
    return others;
}

/* P, Q (side, side); best (d, d); room: (3, side, side) and more. */
static linattn_theory_distance compare(const double *P, const double *Q, size_t side, size_t d, const double *best, double *room) {
    double *x = room, *spare = x + side * side, *rest = spare + side * side;
    const int full = side > d;
    const double corner = full ? P[side * side - 1] : 1;
    linattn_theory_distance out = {0};
    size_t others = split(P, side, d, x, rest);
    if (others > 0) others--; /* the corner, which comes last, is part of block form */
    double trace = 0;
    for (size_t i = 0; i < d; i++) trace += x[i * d + i];
    const double norm = norm_of(x, d * d);
    out.p_scale = trace / (double)d;
    for (size_t i = 0; i < d * d; i++) spare[i] = x[i] - (i % (d + 1) == 0 ? out.p_scale : 0);
    out.p_distance = norm_of(spare, d * d) / norm;
    others += split(Q, side, d, x, rest + others);
    const double all[] = {norm_of(P, side * side), norm_of(Q, side * side)};
    out.outside = others > 0 && (all[0] > 0 || all[1] > 0) ? norm_of(rest, others) / norm_of(all, 2) : 0;
    for (size_t i = 0; i < d * d; i++) x[i] *= corner;
    for (size_t i = 0; i < d * d; i++) spare[i] = x[i] - best[i];
    out.q_error = norm_of(spare, d * d) / norm_of(best, d * d);
    out.q_scale = scale_along(x, best, d * d, spare, &out.q_distance);
    return out;
}

static int check(const linattn_model *model, const linattn_sampler *sampler, const double *theta, size_t layer, size_t head) {
    if (!model) return linattn__fail_null("model");
    if (!sampler) return linattn__fail_null("sampler");
    if (!theta) return linattn__fail_null("theta");
    int status = linattn__model_check_head(model, layer, head);
    if (status == LINATTN_OK) status = linattn__model_check_dim(model, "sampler", linattn_sampler_dim(sampler));
    return status == LINATTN_OK ? linattn__check_finite("theta", theta, model->parameters) : status;
}

int linattn_theory_compare(const linattn_model *model, const linattn_sampler *sampler, const double *theta, size_t layer,
                           size_t head, linattn_theory_distance *out) {
    int status = check(model, sampler, theta, layer, head);
    if (status == LINATTN_OK) status = linattn__result_check(&TYPE, out);
    if (status != LINATTN_OK) return status;
    const size_t d = model->options.dim, side = linattn__model_side(model), square = side * side;
    const int direct = linattn__model_is_direct(model);
    double *composed = linattn__allocate(direct ? 0 : model->effective, sizeof *composed), loss;
    double *room = linattn__allocate(d * d + 4 * square, sizeof *room);
    status = composed && room ? linattn__theory_one_layer(sampler, room, &loss) : linattn__fail_memory("a comparison with theory");
    if (status == LINATTN_OK && norm_of(room, d * d) == 0)
        status =
            linattn__fail(LINATTN_EDEGENERATE, "the theory's Q is 0, to which nothing is compared; allowed: a task_factor not 0");
    if (status == LINATTN_OK) {
        if (!direct) linattn__model_compose(model, theta, NULL, composed);
        const double *P = (direct ? theta : composed) + linattn__model_effective_place(model, layer, head);
        const linattn_theory_distance distance = compare(P, P + square, side, d, room, room + d * d);
        linattn__result_write(&TYPE, out, &distance);
    }
    linattn__release(composed);
    linattn__release(room);
    return status;
}
