/* diagnostics.h: what an objective is like at a point, and along a path.
 *
 * A *diagnostics* handle clones an objective, of any kind, and measures it at parameters theta (p): curvature, its condition
 * numbers and its unevenness, the error of stochastic gradients, smoothness. Formulas, sources and how to read the results:
 * docs/diagnostics.md.
 *
 * `draw` is the batch that is meant: ignored by an objective on a fixed batch, which is what curvature is best measured on; nothing
 * is ever redrawn behind the caller's back. theta is finite; every array of p numbers has the objective's p.
 *
 * Use a handle from one thread at a time; a trainer's observer may use one, as long as it is not the trainer's own objective.
 * Outputs are written only when a call returns LINATTN_OK, unless a comment says more; result structs: the caller sets struct_size
 * = sizeof first; options may be NULL for the defaults. For every call: returns LINATTN_EINVAL, LINATTN_ENONFINITE (theta, another
 * input, or what was computed; the message gives the index), LINATTN_EUNSUPPORTED (Hessian-vector products are needed and the
 * objective has none), LINATTN_EVERSION, LINATTN_EOVERFLOW, LINATTN_ENOMEM, LINATTN_ESYSTEM, what a callback or progress
 * returned, and what its comment adds. */
#ifndef LINATTN_DIAGNOSTICS_H
#define LINATTN_DIAGNOSTICS_H

#include <linattn/export.h>
#include <linattn/objective.h>
#include <linattn/spectrum.h>
#include <linattn/statistics.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linattn_diagnostics linattn_diagnostics;

typedef struct linattn_diagnostics_options {
    size_t struct_size;        /* set by linattn_diagnostics_options_init */
    size_t threads;            /* 1 to LINATTN_MAX_THREADS; results do not depend on it; not used for callbacks; 1 */
    linattn_progress progress; /* NULL */
    void *user;                /* handed to progress; NULL */
} linattn_diagnostics_options;

/* Fills *options with the defaults named above. size: sizeof *options.
 * Returns LINATTN_EINVAL when options is NULL or size is smaller than in the first release. */
LINATTN_API int linattn_diagnostics_options_init(linattn_diagnostics_options *options, size_t size);

/* Makes a handle on a clone of the objective; threads and progress of these options replace those of the objective. *out is the
 * caller's to destroy, NULL on failure. Returns LINATTN_EINVAL, LINATTN_EVERSION or LINATTN_ENOMEM. */
LINATTN_API int linattn_diagnostics_create(linattn_diagnostics **out, const linattn_objective *objective,
                                           const linattn_diagnostics_options *options);
LINATTN_API void linattn_diagnostics_destroy(linattn_diagnostics *diagnostics);

/* p; 0 when diagnostics is NULL. */
LINATTN_API size_t linattn_diagnostics_parameter_count(const linattn_diagnostics *diagnostics);

/* How exact the second derivatives behind all results are: enum linattn_hvp_kind of the objective. */
LINATTN_API int linattn_diagnostics_hvp_kind(const linattn_diagnostics *diagnostics);

/* ---- Curvature --------------------------------------------------------------------------------------------------------------- */

/* Which matrix is meant: rows and columns first .. first+count-1 of H, the Hessian of f(.; draw) at theta, or of
 * D^(-1/2) H D^(-1/2). A tensor's or a layer's block has the offset and the size that the model's tensor table tells. */
typedef struct linattn_curvature_options {
    size_t struct_size;           /* set by linattn_curvature_options_init */
    size_t first;                 /* 0 */
    size_t count;                 /* q, first + q <= p; 0 stands for all the rest; 0 */
    const double *preconditioner; /* D (p), > 0 and finite, read during the call (linattn_optimizer_preconditioner); NULL: the
                                     identity */
    int32_t median_rule;          /* enum linattn_median_rule, of condition numbers; lower */
    int32_t reserved;             /* 0 */
} linattn_curvature_options;

/* Fills *options with the defaults named above. size: sizeof *options. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_curvature_options_init(linattn_curvature_options *options, size_t size);

/* The spectrum of that matrix. eigenvalues: (q), ascending; vectors: (q, q), in rows, signs as for linattn_matrix_spectrum; either
 * may be NULL. Takes q^2 doubles of memory, 4 q^2 with vectors, beside linattn_objective_hessian_workspace.
 * Returns also LINATTN_ENOTCONVERGED. */
LINATTN_API int linattn_diagnostics_spectrum(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                             const linattn_curvature_options *options, double *eigenvalues, double *vectors,
                                             linattn_spectrum *out);

/* Both robust condition numbers of that matrix, by its eigenvalues and by its diagonal. Either may be NULL, not both; without
 * by_eigenvalues no matrix is held. Where second derivatives are differences (linattn_diagnostics_hvp_kind), eigenvalues that are 0
 * come out as rounding and are not counted as such. Returns also LINATTN_ENOTCONVERGED. */
LINATTN_API int linattn_diagnostics_robust_condition(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                                     const linattn_curvature_options *options, linattn_condition *by_eigenvalues,
                                                     linattn_condition *by_diagonal);

typedef struct linattn_heterogeneity {
    size_t struct_size;      /* sizeof(linattn_heterogeneity), set by the caller */
    size_t blocks;           /* compared with each other */
    double mean_distance;    /* over pairs of blocks; NaN for one block */
    double largest_distance; /* NaN for one block */
} linattn_heterogeneity;

/* How differently the blocks of the Hessian's diagonal curve: Jensen-Shannon distances of their spectra (Zhang et al. 2024), as
 * linattn_spectra_compare makes them. Block i is boundaries_i .. boundaries_(i+1)-1; boundaries: (blocks + 1), ascending without
 * equals, the last one <= p: the offsets of tensors, or of layers. preconditioner: D (p) as above, or NULL. distances:
 * (blocks, blocks), symmetric, 0 on its diagonal; may be NULL. Returns also LINATTN_ENOTCONVERGED. */
LINATTN_API int linattn_diagnostics_heterogeneity(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                                  const size_t *boundaries, size_t blocks, const double *preconditioner,
                                                  double relative_width, double *distances, linattn_heterogeneity *out);

/* Extreme eigenvalues without the matrix: Lanczos' method on Hessian-vector products. */
typedef struct linattn_lanczos_options {
    size_t struct_size;           /* set by linattn_lanczos_options_init */
    size_t steps;                 /* at most so many products, 1 to 4096; at most p are taken; 200 */
    double tolerance;             /* ends when both errors are at most tolerance times the spectral norm; 0 to 1, 0: takes all
                                     steps; 1e-8 */
    uint64_t seed;                /* of the random direction to start from; any value; 0 */
    const double *preconditioner; /* as for linattn_curvature_options; NULL */
} linattn_lanczos_options;

/* Fills *options with the defaults named above. size: sizeof *options. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_lanczos_options_init(linattn_lanczos_options *options, size_t size);

typedef struct linattn_extremes {
    size_t struct_size;    /* sizeof(linattn_extremes), set by the caller */
    size_t steps;          /* products that were taken, and nodes that were written */
    double smallest;       /* by value; some eigenvalue is within smallest_error of it, and the smallest one is not above it */
    double largest;        /* by value */
    double spectral_norm;  /* max of their magnitudes */
    double smallest_error; /* norm of the residual H x - lambda x, |x| = 1, beside rounding and the products' own error */
    double largest_error;
} linattn_extremes;

/* Extreme eigenvalues of D^(-1/2) H D^(-1/2), and Lanczos' quadrature: nodes and weights (options->steps each, of which out->steps
 * are written; either may be NULL), whose sum of weights is 1 and which linattn_spectrum_density turns into an estimate of the
 * density of eigenvalues. Full reorthogonalisation; takes steps (p + 5 steps) doubles. Where the random start meets only part of
 * the space (equal eigenvalues, exact zeros) it may end early, what it met being exact; with a coarse tolerance an eigenvalue that
 * stands alone can be missed. Returns also LINATTN_ENOTCONVERGED when `steps` products were not enough (the message has the errors
 * reached). */
LINATTN_API int linattn_diagnostics_extremes(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                             const linattn_lanczos_options *options, double *nodes, double *weights,
                                             linattn_extremes *out);

/* ---- Gradient error ---------------------------------------------------------------------------------------------------------- */

enum linattn_error_measure {
    LINATTN_ERROR_NORM = 0,   /* |e| */
    LINATTN_ERROR_SQUARED = 1 /* |e|^2, Inf when it is too large for a double */
};

/* Gradient noise: e = g(theta; draw) - g_ref for `samples` draws. The reference g_ref is the mean over the draws first_draw, ...,
 * first_draw + reference_draws - 1, one batch being held at a time by each thread; the samples are the draws after those
 * (numbers wrap at 2^64). */
typedef struct linattn_gradient_error_options {
    size_t struct_size;       /* set by linattn_gradient_error_options_init */
    size_t samples;           /* N, 1 to 2^32; 1000 */
    size_t reference_draws;   /* 1 to 2^32; 100 */
    uint64_t first_draw;      /* any value; 0 */
    int32_t measure;          /* enum linattn_error_measure; norm */
    int32_t reserved;         /* 0 */
    const double *reference;  /* (p): the reference itself, no draw is then used for it; read during the call; NULL */
    const double *directions; /* (direction_count, p) to project the errors on, read during the call; NULL */
    size_t direction_count;   /* K; 0 */
    size_t surrogates;        /* S: numbers of the Gaussian surrogate, 0 to 2^32; S > 0 wants samples >= 2, and 5 p^2 doubles; 0 */
    uint64_t seed;            /* of the surrogate; any value; 0 */
} linattn_gradient_error_options;

/* Fills *options with the defaults named above. size: sizeof *options. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_gradient_error_options_init(linattn_gradient_error_options *options, size_t size);

typedef struct linattn_gradient_error {
    size_t struct_size; /* sizeof(linattn_gradient_error), set by the caller */
    size_t samples;          /* N */
    size_t reference_draws;  /* 0 when the reference was given */
    int32_t measure;         /* enum linattn_error_measure: what errors and surrogate hold */
    int32_t reserved;        /* 0 */
    double reference_norm;   /* |g_ref| */
    double mean_error_norm;  /* |mean of e|: how far the reference is from the samples' own mean */
    double covariance_trace; /* sum over samples of |e - mean of e|^2 / (N - 1): the variance of all entries together; NaN for
                                one sample, Inf when it is too large for a double */
} linattn_gradient_error;

/* errors: (samples); projections: (samples, K), e . u for directions u as they are, needed when K > 0, else not used; surrogate:
 * (S), the same measure of Gaussian noise of the errors' mean and covariance, needed when S > 0, else not used; reference: (p),
 * g_ref, may be NULL. statistics.h says what these numbers say.
 * The same bits for every number of threads; the surrogate's up to LAPACK (1e-12). Returns also LINATTN_ENOTCONVERGED. */
LINATTN_API int linattn_diagnostics_gradient_error(linattn_diagnostics *diagnostics, const double *theta,
                                                   const linattn_gradient_error_options *options, double *errors,
                                                   double *projections, double *surrogate, double *reference,
                                                   linattn_gradient_error *out);

/* ---- Smoothness -------------------------------------------------------------------------------------------------------------- */

/* Directional smoothness u^T H(theta) u with u = (next - theta) / |next - theta| (Pan & Li 2023): the curvature along a step, with
 * its sign. next: (p), finite. LINATTN_EDEGENERATE when next is theta; *out is then NaN. */
LINATTN_API int linattn_diagnostics_directional_smoothness(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                                           const double *next, double *out);

/* Gradient-difference ratios |g(theta + a s) - g(theta)| / |a s| with s = next - theta for each fraction a (Zhang et al. 2020 take
 * the largest one along a step): another quantity than the one above. fractions: (count), finite, not 0; out: (count). Differences
 * of gradients cancel: the ratio's error is about epsilon |g| / |a s|. LINATTN_EDEGENERATE when next, or theta + a s, is theta; all
 * of out is then NaN. */
LINATTN_API int linattn_diagnostics_gradient_ratios(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                                    const double *next, const double *fractions, size_t count, double *out);

/* Smoothness against gradient norm along a path. */
typedef struct linattn_smoothness {
    size_t struct_size;    /* sizeof(linattn_smoothness), set by the caller */
    size_t count;          /* points handed in */
    size_t zero_steps;     /* points whose smoothness is NaN: in neither fit */
    size_t nonpositive;    /* smoothness <= 0 (downward curvature): in the (L0, L1) fit, not in the log-log line */
    size_t zero_gradients; /* gradient norm 0: likewise; may count a point that nonpositive counts too */
    size_t log_count;      /* points of the log-log line */
    double slope;          /* ln smoothness = intercept + slope ln |g|; NaN, as the next four, when the line is not defined */
    double slope_low;      /* block bootstrap interval */
    double slope_high;
    double intercept;
    double correlation; /* of the logs */
    double l0;          /* smoothness = l0 + l1 |g| by least squares (Zhang et al. 2020 bound it by such a line) */
    double l0_low;      /* block bootstrap intervals */
    double l0_high;
    double l1;
    double l1_low;
    double l1_high;
    double r_squared; /* of that fit */
    double level;     /* of the intervals */
} linattn_smoothness;

/* gradient_norms: (count), finite, >= 0; smoothness: (count), directional smoothness or spectral norms, NaN where the step was
 * zero, else finite; both in the order of the path. block, level, resampling: as for linattn_line_bootstrap; with fewer points than
 * 2 * block, with block 0, or where most resamples have equal gradient norms, the intervals are NaN. The log-log line's blocks are
 * of the points that it has, one after the other over any gap. No handle needed. LINATTN_EDEGENERATE when fewer than two points
 * have a smoothness, or all of those have the same gradient norm. */
LINATTN_API int linattn_smoothness_fit(const double *gradient_norms, const double *smoothness, size_t count, size_t block,
                                       double level, const linattn_resampling_options *resampling, linattn_smoothness *out);

/* ---- Attention concentration ------------------------------------------------------------------------------------------------- */

/* How unevenly rows of attention weights spread over their keys. The weights a of a row count by their size: w = |a| / sum |a|. */
typedef struct linattn_concentration {
    size_t struct_size;     /* sizeof(linattn_concentration), set by the caller */
    size_t rows;            /* that count */
    size_t empty;           /* rows whose weights are all 0: left out */
    double entropy;         /* mean over rows of -sum w ln w, in nats: 0 (one key) to ln keys (all alike) */
    double largest;         /* mean over rows of the largest w: 1/keys to 1 */
    double top_share;       /* mean over rows of the sum of the `top` largest w */
    double ratio_median;    /* smallest w over largest w: the median over rows, the lower one of an even count */
    double ratio_smallest;  /* its smallest value over rows */
} linattn_concentration;

/* weights: row i begins at weights + i * stride and has `keys` of them, 1 <= keys <= stride; all finite. top: 1 to keys. No handle
 * needed: linattn_model_attention gives the weights of a model's head, (prompts, n+1, n+1), of which the query's rows over the
 * context are weights + n (n+1), keys n, stride (n+1)^2. Returns LINATTN_EINVAL, LINATTN_ENONFINITE (the message tells row and
 * key), LINATTN_EOVERFLOW, LINATTN_EVERSION, LINATTN_ENOMEM, or LINATTN_EDEGENERATE when all rows are empty: *out then has rows and
 * empty, and NaN. */
LINATTN_API int linattn_attention_concentration(const double *weights, size_t rows, size_t keys, size_t stride, size_t top,
                                                linattn_concentration *out);

#ifdef __cplusplus
}
#endif
#endif
