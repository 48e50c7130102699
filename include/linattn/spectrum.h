/* spectrum.h: what a symmetric matrix says, above all a Hessian.
 *
 * Plain functions on numbers: no handle, no state. The simplest first: eigenvalues, robust condition numbers, a density for
 * plotting, how far two spectra are apart, and the matrix that Adam's preconditioner makes. For the Hessian of an objective see
 * objective.h, and diagnostics.h, which puts the two together. Formulas and sources: docs/diagnostics.md.
 *
 * For every function: arrays must be finite, are never changed, and must not overlap an output. Outputs are written only when the
 * call returns LINATTN_OK, unless a comment says more. Returns LINATTN_EINVAL (NULL, an argument out of range),
 * LINATTN_ENONFINITE (NaN or Inf; the message gives the index), LINATTN_EVERSION, LINATTN_EOVERFLOW or LINATTN_ENOMEM, and what
 * its comment adds. Result structs: the caller sets struct_size = sizeof first. */
#ifndef LINATTN_SPECTRUM_H
#define LINATTN_SPECTRUM_H

#include <linattn/export.h>
#include <linattn/statistics.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Eigenvalues ------------------------------------------------------------------------------------------------------------- */

/* LAPACK's methods for symmetric matrices. The second is tried when the first does not converge. */
enum linattn_eigen_driver {
    LINATTN_DRIVER_DSYEVD = 0, /* divide and conquer */
    LINATTN_DRIVER_DSYEVR = 1  /* relatively robust representations */
};

typedef struct linattn_spectrum {
    size_t struct_size;        /* sizeof(linattn_spectrum), set by the caller */
    size_t count;              /* p eigenvalues */
    double smallest;           /* by value: negative where the function curves downwards */
    double largest;            /* by value */
    double smallest_magnitude; /* min |lambda| */
    double spectral_norm;      /* max |lambda| */
    double trace;              /* sum of the matrix's diagonal */
    double frobenius;          /* sqrt(sum of the squares of all its entries) */
    size_t zeros;              /* |lambda| <= p epsilon max |lambda|, epsilon = 2^-52: as good as 0 */
    size_t negatives;          /* lambda < 0 that are not such zeros */
    int32_t driver;            /* enum linattn_eigen_driver: the one that gave the answer */
    int32_t reserved;          /* 0 */
} linattn_spectrum;

/* The spectrum of a symmetric matrix (p, p), p >= 1, of which both triangles are read: they must be the same numbers, as
 * linattn_objective_hessian makes them, else LINATTN_EINVAL names the first pair that differs.
 * eigenvalues: (p), ascending; vectors: (p, p), row i the unit eigenvector of eigenvalue i, its entry of largest magnitude (the
 * first of those equal to 1e-8) positive; either may be NULL. Takes about p^2 doubles of memory, 4 p^2 with vectors. Entries may be
 * of any magnitude; a result too large for a double is Inf.
 * Returns LINATTN_EOVERFLOW, before any work, when p is too large for LAPACK's integers, and LINATTN_ENOTCONVERGED when neither
 * driver converges (the message has what LAPACK said). Agrees to about 1e-12 between BLAS libraries and their numbers of threads;
 * the same bits for the same ones. */
LINATTN_API int linattn_matrix_spectrum(const double *matrix, size_t p, double *eigenvalues, double *vectors,
                                        linattn_spectrum *out);

/* ---- Robust condition numbers ------------------------------------------------------------------------------------------------ */

/* What the numbers are. Both forms are in use: Ahn et al. (2024), after Jiang et al. (2022), define the robust condition number by
 * eigenvalues, and measure it by the diagonal. */
enum linattn_condition_kind {
    LINATTN_CONDITION_EIGENVALUES = 0, /* those with |x| <= p epsilon max |x| count as 0 */
    LINATTN_CONDITION_DIAGONAL = 1     /* the diagonal of the matrix: taken as they are */
};

enum linattn_condition_flag {
    LINATTN_CONDITION_ZERO_MEDIAN = 1, /* the median is 0: the condition number is Inf */
    LINATTN_CONDITION_ALL_ZERO = 2     /* every number is 0: it is NaN; ZERO_MEDIAN is set too */
};

typedef struct linattn_condition {
    size_t struct_size; /* sizeof(linattn_condition), set by the caller */
    double value;       /* max |x| / median |x| */
    double largest;     /* max |x| */
    double median;      /* of |x| */
    size_t count;
    size_t zeros;     /* counted in the median like all others */
    size_t negatives; /* x < 0, zeros left out */
    int32_t kind;     /* enum linattn_condition_kind */
    int32_t rule;     /* enum linattn_median_rule */
    int32_t flags;    /* of enum linattn_condition_flag */
    int32_t reserved; /* 0 */
} linattn_condition;

/* The robust condition number of values (count), count >= 1, in any order. kind: enum linattn_condition_kind; rule: enum
 * linattn_median_rule, the lower middle value being what the published numbers use. */
LINATTN_API int linattn_robust_condition(const double *values, size_t count, int32_t kind, int32_t rule, linattn_condition *out);

/* ---- Densities --------------------------------------------------------------------------------------------------------------- */

/* A density for plotting: out_j = sum over i of w_i N(x_j; lambda_i, width^2), with weights w (count) >= 0 that sum to 1, or
 * 1/count each when weights is NULL. It integrates to 1. eigenvalues: (count), in any order; x, out: (points); width > 0. */
LINATTN_API int linattn_spectrum_density(const double *eigenvalues, const double *weights, size_t count, double width,
                                         const double *x, size_t points, double *out);

typedef struct linattn_spectra_distance {
    size_t struct_size; /* sizeof(linattn_spectra_distance), set by the caller */
    double divergence;  /* Jensen and Shannon's, in bits: 0 for equal densities, 1 for disjoint ones */
    double distance;    /* its root, which is a metric */
    double low;         /* the range of both spectra together */
    double high;
    double width; /* sd of the smoothing, in the units of the eigenvalues */
} linattn_spectra_distance;

/* How far two spectra a (a_count) and b (b_count), both >= 1, are apart: the Jensen-Shannon distance of their densities, smoothed
 * as above by a width of relative_width, in [0.001, 1], times the range of both together (0.02 is a good choice). Spectra of equal
 * numbers throughout, up to rounding ((a_count + b_count) epsilon of the largest magnitude), are at distance 0. Eigenvalues are
 * compared as they are: scale them first to compare shapes alone. */
LINATTN_API int linattn_spectra_compare(const double *a, size_t a_count, const double *b, size_t b_count, double relative_width,
                                        linattn_spectra_distance *out);

/* ---- Preconditioning --------------------------------------------------------------------------------------------------------- */

/* out (p, p) = D^(-1/2) M D^(-1/2) for a symmetric matrix M (p, p) and a diagonal D (p) > 0, such as
 * linattn_optimizer_preconditioner tells it: the curvature that the optimizer sees. Symmetric bit for bit when M is. An entry too
 * large for a double is Inf. out may be matrix itself. */
LINATTN_API int linattn_matrix_precondition(const double *matrix, size_t p, const double *diagonal, double *out);

#ifdef __cplusplus
}
#endif
#endif
