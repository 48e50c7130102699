/* sampler.h: where prompts come from.
 *
 * A prompt has n context tokens and one query token. Token i is the row (x_i, y_i), x_i of d covariates and y_i a response; the
 * query row is (x_query, 0), and the target is the query's response. A *sampler* says how prompts are drawn; a *batch* holds
 * prompts, drawn by a sampler or given as arrays. Both are immutable and reference-counted: share them between threads, destroy
 * them in any order.
 *
 * Same seed, same bits: prompt i of draw t is the same on every machine, for every batch size, compiler and instruction set, and
 * a longer context extends a shorter one. Formulas: docs/numerics.md, "Randomness" and "Data". */
#ifndef LINATTN_SAMPLER_H
#define LINATTN_SAMPLER_H

#include <linattn/export.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linattn_sampler linattn_sampler;
typedef struct linattn_batch linattn_batch;

/* Limits on sizes; beyond them create returns LINATTN_EINVAL. */
enum {
    LINATTN_MAX_DIM = 1024,         /* d */
    LINATTN_MAX_CONTEXT = 1 << 22,  /* n */
    LINATTN_MAX_HIDDEN = 4096       /* width of a network: of a task, or of a model */
};

/* How the covariates of a token are distributed, independently for every token. */
enum linattn_covariates {
    LINATTN_COVARIATES_NORMAL = 0,  /* N(0, I_d) */
    LINATTN_COVARIATES_SPHERE = 1,  /* uniform on the unit sphere */
    LINATTN_COVARIATES_GAMMA = 2,   /* sqrt(g) u, u uniform on the unit sphere, g ~ Gamma(gamma_shape, gamma_scale) */
    LINATTN_COVARIATES_ROTATED = 3, /* F x0, x0 ~ N(0, I_d), F = covariate_factor: covariance F F^T */
    LINATTN_COVARIATES_TABLE = 4    /* a row of covariate_table, all rows equally likely, drawn with replacement */
};

/* How responses follow from covariates. Each prompt has weights of its own: w ~ N(0, I_d), or G w0 with w0 ~ N(0, I_d) and
 * G = task_factor. E y^2 = d for standard normal covariates and G the identity, unless it is said otherwise. */
enum linattn_task {
    LINATTN_TASK_LINEAR = 0,        /* y = <w, x> */
    LINATTN_TASK_SPARSE_LINEAR = 1, /* y = <w, x>, of w0 only `sparsity` entries, at uniform places, not 0: E y^2 = sparsity */
    LINATTN_TASK_SINE = 2,          /* y = sin <w, x>, in radians: E y^2 < 1 */
    LINATTN_TASK_QUADRATIC = 3,     /* y = <w, x>^2 / sqrt(3 (d + 2)) */
    LINATTN_TASK_FIXED_MLP = 4,     /* y = <w, g(x)>, g(x) = W2 relu(W1 x + b1) + b2 with `hidden` units, the same g for all prompts,
                                       draws and streams: weights and biases uniform on +-1/sqrt(fan-in), from network_seed. Not
                                       normalised. Tokens carry x, not g(x) */
    LINATTN_TASK_RELU_NETWORK = 5   /* y = sqrt(2/h) sum_j v_j relu(<u_j, x>), h = `hidden`, a network for each prompt: v_j and the
                                       entries of u_j are N(0, 1); task_factor is not read. Garg et al., arXiv:2208.01066 */
};

/* What a drawn batch holds. */
enum linattn_batch_kind {
    LINATTN_BATCH_TOKENS = 0,       /* every token */
    LINATTN_BATCH_MOMENTS = 1       /* only what linear attention needs: the second moments of the context tokens, drawn directly
                                       (Bartlett's decomposition), the query and the target. The cost does not grow with n.
                                       Exact in distribution for Gaussian covariates (normal, rotated, gamma with shape d/2) and
                                       tasks linear in x (linear, sparse linear). */
};

/* Independent random streams of one seed: what is drawn from one tells nothing about another. */
enum linattn_stream {
    LINATTN_STREAM_TRAINING = 0,
    LINATTN_STREAM_EVALUATION = 1,
    LINATTN_STREAM_NOISE = 2        /* fresh batches for measuring gradient noise */
};

typedef struct linattn_sampler_options {
    size_t struct_size;             /* set by linattn_sampler_options_init */
    size_t dim;                     /* d, 1 to LINATTN_MAX_DIM; to be set */
    size_t context;                 /* n, 1 to LINATTN_MAX_CONTEXT; to be set */
    uint64_t seed;                  /* any value; 0 */
    int32_t covariates;             /* enum linattn_covariates; normal */
    int32_t task;                   /* enum linattn_task; linear */
    int32_t kind;                   /* enum linattn_batch_kind; tokens */
    int32_t stream;                 /* enum linattn_stream; training */
    double gamma_shape;             /* k > 0, finite; read for gamma covariates; 1 */
    double gamma_scale;             /* theta > 0, finite; read for gamma covariates; 1 */
    double noise_std;               /* standard deviation of normal noise on the context's responses, >= 0, finite; 0 */
    int32_t noisy_target;           /* 1: the target carries noise of the same standard deviation; 0: it does not; 0 */
    int32_t reserved;               /* 0 */
    const double *covariate_factor; /* F (d, d), finite, copied; read for rotated covariates, where it is needed; NULL */
    const double *task_factor;      /* G (d, d), finite, copied; NULL means the identity */
    /* Since 0.2: */
    size_t sparsity;                /* s, 1 to dim; read for the sparse linear task, where it is to be set; 0 */
    size_t hidden;                  /* h, 1 to LINATTN_MAX_HIDDEN; read for fixed MLP and ReLU network; 10 */
    uint64_t network_seed;          /* any value; read for the fixed MLP; 0 */
    /* Since 0.3: */
    const double *covariate_table;  /* (table_rows, d), finite, copied; read for table covariates, where it is needed; NULL */
    size_t table_rows;              /* 1 to 2^32 - 1; read for table covariates, where it is to be set; 0 */
    int32_t standardise;            /* 1: the mean of each column is taken off and the rest divided by its standard deviation
                                       (divisor table_rows), so that no column may be constant; read for table covariates; 0 */
    int32_t reserved_2;             /* 0 */
} linattn_sampler_options;

/* Fills *options with the defaults named above. size: sizeof *options.
 * Returns LINATTN_EINVAL when options is NULL or size is smaller than in the first release. */
LINATTN_API int linattn_sampler_options_init(linattn_sampler_options *options, size_t size);

/* Makes a sampler; *out is the caller's to destroy, NULL on failure.
 * Returns LINATTN_EINVAL (an option is outside what is allowed), LINATTN_ENONFINITE (a factor or the table holds NaN or Inf),
 * LINATTN_EUNSUPPORTED (moments of covariates that are not Gaussian, or of a task that is not linear), LINATTN_EDEGENERATE (a
 * constant column is to be standardised), LINATTN_EVERSION (a newer struct with unknown options set), LINATTN_EOVERFLOW (a table
 * larger than the address space) or LINATTN_ENOMEM. */
LINATTN_API int linattn_sampler_create(linattn_sampler **out, const linattn_sampler_options *options);

/* The caller's own prompts. Writes prompts first .. first+prompts-1 of draw `draw`: tokens (prompts, context+1, dim+1), the last
 * row of each prompt being the query with 0 in the place of its response, and targets (prompts). Both are full of NaN beforehand,
 * so that what is left out is caught as LINATTN_ENONFINITE; the message tells prompt, row and entry. A prompt must depend on its
 * number and on the draw alone: a batch may be asked for in pieces. Returns 0, or LINATTN_STOP or a negative status, which the
 * library's call then returns unchanged. */
typedef int (*linattn_fill)(uint64_t draw, size_t first, size_t prompts, double *tokens, double *targets, void *user);

/* Since 0.3. Makes a sampler of the caller's function, which runs on the thread that called the library, before the kernels do;
 * user is handed to it and must outlive whatever keeps the sampler alive. Objects shared between threads call it from each of them.
 * A checkpoint knows of it no more than dim and context. Returns LINATTN_EINVAL, LINATTN_EOVERFLOW (a prompt larger than the
 * address space) or LINATTN_ENOMEM. */
LINATTN_API int linattn_sampler_create_custom(linattn_sampler **out, size_t dim, size_t context, linattn_fill fill, void *user);
LINATTN_API void linattn_sampler_destroy(linattn_sampler *sampler);

/* d and n; 0 when sampler is NULL. */
LINATTN_API size_t linattn_sampler_dim(const linattn_sampler *sampler);
LINATTN_API size_t linattn_sampler_context(const linattn_sampler *sampler);

/* Draws a batch: prompts 0 .. prompts-1 of draw number `draw` (any value). 1 <= prompts < 2^32. *out is the caller's to destroy,
 * NULL on failure. Returns LINATTN_EINVAL, LINATTN_EOVERFLOW (the tokens would not fit in the address space),
 * LINATTN_ENOMEM, or of a custom sampler LINATTN_ENONFINITE and what its function returned. */
LINATTN_API int linattn_batch_create_from_sampler(linattn_batch **out, const linattn_sampler *sampler, size_t prompts,
                                                  uint64_t draw);

/* Makes a batch of the caller's prompts; the arrays are copied and must be finite.
 * tokens: (prompts, context+1, dim+1), the last row of each prompt being the query, whose last entry, the place of the response
 * that is asked for, should be 0: whatever is there is subtracted from the prediction. targets: (prompts).
 * Returns LINATTN_EINVAL, LINATTN_ENONFINITE (the message gives the index), LINATTN_EOVERFLOW or LINATTN_ENOMEM. */
LINATTN_API int linattn_batch_create_from_arrays(linattn_batch **out, const double *tokens, const double *targets, size_t prompts,
                                                 size_t context, size_t dim);
LINATTN_API void linattn_batch_destroy(linattn_batch *batch);

/* The shape of a batch: B, n, d; 0 when batch is NULL. */
LINATTN_API size_t linattn_batch_prompts(const linattn_batch *batch);
LINATTN_API size_t linattn_batch_context(const linattn_batch *batch);
LINATTN_API size_t linattn_batch_dim(const linattn_batch *batch);

/* Copies out tokens (prompts, context+1, dim+1) and targets (prompts); either may be NULL.
 * Returns LINATTN_EINVAL, or LINATTN_EUNSUPPORTED when tokens are asked of a batch of moments. */
LINATTN_API int linattn_batch_get_arrays(const linattn_batch *batch, double *tokens, double *targets);

/* Copies out C_0 = sum over the context tokens of z z^T: moments (prompts, dim+1, dim+1), and the query rows: queries
 * (prompts, dim+1); either may be NULL. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_batch_get_moments(const linattn_batch *batch, double *moments, double *queries);

#ifdef __cplusplus
}
#endif
#endif
