/* baseline.h: what a trained model is to be compared with.
 *
 * *Baselines* learn from the n context tokens of each prompt by itself, all n of them, and predict its target: least squares,
 * ridge regression, gradient descent. *Theory* tells the best linear transformer of one layer, and how far a trained head is from
 * it. Formulas and sources: docs/numerics.md, "Baselines and theory". */
#ifndef LINATTN_BASELINE_H
#define LINATTN_BASELINE_H

#include <linattn/export.h>
#include <linattn/model.h>
#include <linattn/sampler.h>
#include <linattn/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LINATTN_MAX_BASELINE_STEPS = 1 << 20
};

/* A baseline predicts <w, x_query>, X (n, d) and y (n) being a prompt's context. */
enum linattn_baseline {
    LINATTN_BASELINE_LEAST_SQUARES = 0,   /* w = G v, v minimising |X G v - y|^2 + lambda |v|^2; the shortest such v. With
                                             lambda = 0 least squares, else ridge regression, which no predictor beats (in
                                             mean squared error) when the sampler's task is linear with task_factor G, y has
                                             noise of variance lambda, and G and lambda are known. Needs tokens. */
    LINATTN_BASELINE_GRADIENT_DESCENT = 1 /* w <- w - rate_t M X^T (X w - y) / n for t = 0 .. steps-1, from w = 0: gradient descent
                                             on |X w - y|^2 / (2 n), preconditioned by M. One layer of a linear transformer with
                                             P_x = 0 and Q_x = -rate M makes one such step. */
};

typedef struct linattn_baseline_options {
    size_t struct_size;           /* set by linattn_baseline_options_init */
    int32_t baseline;             /* enum linattn_baseline; least squares */
    int32_t reserved;             /* 0 */
    double lambda;                /* least squares: >= 0, finite; 0 */
    const double *task_factor;    /* least squares: G (d, d), finite, read during the call; NULL: the identity */
    size_t steps;                 /* gradient descent: 1 to LINATTN_MAX_BASELINE_STEPS; 1 */
    const double *rates;          /* gradient descent: (steps), finite, read during the call; to be set */
    const double *preconditioner; /* gradient descent: M (d, d), finite, read during the call; NULL: the identity */
    linattn_progress progress;    /* NULL */
    void *user;                   /* handed to progress; NULL */
} linattn_baseline_options;

/* Fills *options with the defaults named above. size: sizeof *options.
 * Returns LINATTN_EINVAL when options is NULL or size is smaller than in the first release. */
LINATTN_API int linattn_baseline_options_init(linattn_baseline_options *options, size_t size);

/* Predictions of a batch's targets: out (prompts), left alone on failure. Predictions that overflow are returned as they are.
 * Returns LINATTN_EINVAL, LINATTN_ENONFINITE (an array of the options; with least squares a prompt of a sampler that overflowed,
 * which the message names), LINATTN_EUNSUPPORTED (least squares of a batch of moments),
 * LINATTN_ENOTCONVERGED (LAPACK found no singular values; the message names the prompt), LINATTN_EVERSION, LINATTN_ENOMEM or what
 * progress returned. */
LINATTN_API int linattn_baseline_predict(const linattn_batch *batch, const linattn_baseline_options *options, double *out);

/* The best linear transformer of one layer and one head on a sampler's prompts, in block form: Q_x (d, d), and the mean squared
 * error it has (its P_x is never used). Q and loss may be NULL. For covariates that are normal, on the sphere, gamma or rotated,
 * and tasks linear or sparse linear. Returns LINATTN_EINVAL, LINATTN_EUNSUPPORTED (another distribution or task),
 * LINATTN_EDEGENERATE (covariate_factor is singular, so Q is not unique), LINATTN_ENONFINITE (the answer is too large for doubles),
 * LINATTN_ENOTCONVERGED or LINATTN_ENOMEM. */
LINATTN_API int linattn_theory_one_layer(const linattn_sampler *sampler, double *Q, double *loss);

/* A head beside theory: Q* is that of linattn_theory_one_layer. Layers of a deeper model that descend a gradient have Q_x along Q*
 * (when the weights' covariance is the inverse of the covariates', or both are multiples of I) and P_x along the identity. Norms
 * are Frobenius norms; c is P's corner: 1 in block form. */
typedef struct linattn_theory_distance {
    size_t struct_size; /* sizeof(linattn_theory_distance), set by the caller */
    double q_error;     /* |c Q_x - Q*| / |Q*| */
    double q_scale;     /* s, for which |c Q_x - s Q*| is smallest */
    double q_distance;  /* |c Q_x - s Q*| / |c Q_x|, 0 to 1; NaN when c Q_x is 0 */
    double p_scale;     /* s, for which |P_x - s I| is smallest */
    double p_distance;  /* |P_x - s I| / |P_x|, 0 to 1; NaN when P_x is 0 */
    double outside;     /* the norm of the entries of P and Q that block form has not, over that of all; 0 in block form */
} linattn_theory_distance;

/* Compares head `head` of layer `layer`; Q is composed when it is factored. The matrices are compared whatever the model's
 * attention and networks are, though theory speaks of linear attention without any. theta: (p), finite.
 * Returns the statuses of linattn_theory_one_layer, LINATTN_EDEGENERATE also when Q* is 0, LINATTN_EVERSION, and LINATTN_EMISMATCH
 * (the sampler has another d). */
LINATTN_API int linattn_theory_compare(const linattn_model *model, const linattn_sampler *sampler, const double *theta,
                                       size_t layer, size_t head, linattn_theory_distance *out);

#ifdef __cplusplus
}
#endif
#endif
