/* model.h: the transformer.
 *
 * L layers of H heads over the tokens Z (n+1, d+1) of a prompt; a layer is
 *     Z <- Z + (1/n) sum over heads of (M A) (Z P^T),    A = act(S),    S = Z Q Z^T (row: query token, column: key token),
 * where act is the attention kind's, row by row, and M leaves out the query token as a key. The prediction is minus the last entry
 * of the query's row after the last layer.
 *
 * A front MLP, if there is one, first makes of every token's covariates x, the query's included,
 *     x <- W_2 relu(W_1 x + b_1) + b_2,    W_1 (h, d), b_1 (h), W_2 (d, h), b_2 (d).
 * A feed-forward block, if there is one after each layer, changes every token z, the query's included and all d+1 entries of it, to
 *     z <- z + W_2 relu(W_1 z + b_1) + b_2,    W_1 (h, d+1), b_1 (h), W_2 (d+1, h), b_2 (d+1).
 * Like any attention but linear both need every token of a prompt: batches of moments are refused.
 *
 * A *model* is an architecture: it holds no parameters. Parameters are the caller's array theta (p); the tensor table names its
 * parts. A model is immutable and reference-counted: share it between threads, destroy it in any order. */
#ifndef LINATTN_MODEL_H
#define LINATTN_MODEL_H

#include <linattn/export.h>
#include <linattn/sampler.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linattn_model linattn_model;

enum {
    LINATTN_MAX_LAYERS = 256, /* L */
    LINATTN_MAX_HEADS = 64,   /* H */
    LINATTN_MAX_RANK = 1024   /* r */
};

/* What a row of scores becomes before it weighs the context's values; 1/n stays in all of them. Any but linear needs every token of
 * a prompt: batches of moments are refused. */
enum linattn_attention {
    LINATTN_ATTENTION_LINEAR = 0,          /* scores are used as they are */
    LINATTN_ATTENTION_SOFTMAX = 1,         /* softmax over all n+1 keys; then the query's share is left out */
    LINATTN_ATTENTION_SOFTMAX_CONTEXT = 2, /* softmax over the n context keys */
    LINATTN_ATTENTION_RELU = 3             /* max(s, 0), whose derivative at 0 is 0 */
};

/* What of P and Q is free. */
enum linattn_form {
    LINATTN_FORM_BLOCK = 0, /* P = [[P_x, 0], [0, 1]], Q = [[Q_x, 0], [0, 0]]: the parameters are P_x and Q_x, (d, d) each */
    LINATTN_FORM_FULL = 1   /* P and Q are free, (d+1, d+1) each */
};

typedef struct linattn_model_options {
    size_t struct_size; /* set by linattn_model_options_init */
    size_t dim;         /* d, 1 to LINATTN_MAX_DIM; to be set */
    size_t layers;      /* L, 1 to LINATTN_MAX_LAYERS; to be set */
    size_t heads;       /* H, 1 to LINATTN_MAX_HEADS; 1 */
    int32_t attention;  /* enum linattn_attention; linear */
    int32_t form;       /* enum linattn_form; block */
    double init_std;    /* standard deviation (not variance) of the initial parameters, 0 to 1e300; 0.05 */
    size_t qk_rank;     /* r: Q = W_Q^T W_K, W_Q and W_K (r, rows of Q) being the parameters, 1 to LINATTN_MAX_RANK; 0 (Q is one) */
    size_t mlp_hidden;  /* h: units of a front MLP, 1 to LINATTN_MAX_HIDDEN; 0 (there is none) */
    size_t ff_hidden;   /* h: units of a feed-forward block after each layer, 1 to LINATTN_MAX_HIDDEN; 0 (there is none) */
} linattn_model_options;

/* Fills *options with the defaults named above. size: sizeof *options.
 * Returns LINATTN_EINVAL when options is NULL or size is smaller than in the first release. */
LINATTN_API int linattn_model_options_init(linattn_model_options *options, size_t size);

/* Makes a model; *out is the caller's to destroy, NULL on failure.
 * Returns LINATTN_EINVAL, LINATTN_EVERSION or LINATTN_ENOMEM. */
LINATTN_API int linattn_model_create(linattn_model **out, const linattn_model_options *options);
LINATTN_API void linattn_model_destroy(linattn_model *model);

/* p, the length of theta; 0 when model is NULL. */
LINATTN_API size_t linattn_model_parameter_count(const linattn_model *model);

/* What a tensor of parameters is. */
enum linattn_tensor_kind {
    LINATTN_TENSOR_P = 0,
    LINATTN_TENSOR_Q = 1,
    LINATTN_TENSOR_WQ = 2, /* the factors of Q = W_Q^T W_K, which then is no parameter */
    LINATTN_TENSOR_WK = 3,
    LINATTN_TENSOR_W1 = 4, /* of the front MLP: (h, d), (h, 1), (d, h), (d, 1) */
    LINATTN_TENSOR_B1 = 5,
    LINATTN_TENSOR_W2 = 6,
    LINATTN_TENSOR_B2 = 7,
    LINATTN_TENSOR_FF_W1 = 8, /* of a layer's feed-forward block: (h, d+1), (h, 1), (d+1, h), (d+1, 1) */
    LINATTN_TENSOR_FF_B1 = 9,
    LINATTN_TENSOR_FF_W2 = 10,
    LINATTN_TENSOR_FF_B2 = 11
};

/* One row of the tensor table: theta[offset .. offset + rows * columns) is this matrix, row-major. */
typedef struct linattn_tensor {
    size_t struct_size; /* sizeof(linattn_tensor), set by the caller */
    char name[40];      /* such as "layer0.head0.P" (P, Q, WQ, WK), "front.W1" or "layer0.ff.W1" (W1, b1, W2, b2) */
    size_t rows;
    size_t columns;
    size_t offset;      /* in doubles from the beginning of theta */
    size_t layer;       /* 0 for the front MLP, which comes first in theta */
    size_t head;        /* 0 for the front MLP and for feed-forward blocks, which come after the heads of their layer */
    int32_t kind;       /* enum linattn_tensor_kind */
    int32_t reserved;   /* 0 */
} linattn_tensor;

/* The number of tensors: 2 L H, or 3 L H when Q is factored, 4 more for a front MLP and 4 L more for feed-forward blocks; 0 when
 * model is NULL. */
LINATTN_API size_t linattn_model_tensor_count(const linattn_model *model);

/* Fills *out, whose struct_size the caller has set, with row `index` of the tensor table, in the order of theta.
 * Returns LINATTN_EINVAL. */
LINATTN_API int linattn_model_get_tensor(const linattn_model *model, size_t index, linattn_tensor *out);

/* Fills theta (p) with independent normals of standard deviation init_std; parameters of a front MLP and of feed-forward blocks are
 * uniform between +-1/sqrt(inputs of the unit), as PyTorch's Linear has them. The same seed gives the same bits on every machine,
 * and P, Q and factors begin alike with and without networks.
 * Returns LINATTN_EINVAL. */
LINATTN_API int linattn_model_init_parameters(const linattn_model *model, uint64_t seed, double *theta);

/* Predictions of a batch, sign applied: out (prompts) estimates the targets. theta: (p), finite.
 * Returns LINATTN_EINVAL, LINATTN_EMISMATCH (the batch has another d), LINATTN_EUNSUPPORTED (the model needs tokens, which a batch
 * of moments has not), LINATTN_ENONFINITE (theta holds NaN or Inf) or LINATTN_ENOMEM. Predictions that overflow are returned as
 * they are. */
LINATTN_API int linattn_model_predict(const linattn_model *model, const linattn_batch *batch, const double *theta, double *out);

/* Attention weights of one layer and head, before 1/n: out (prompts, n+1, n+1), row: query token, column: key token, the query
 * last. They are M A, but for softmax over all keys A itself: elsewhere the last column, which weighs no value, is 0. theta: (p),
 * finite. linattn_attention_concentration says how unevenly weights spread.
 * Returns LINATTN_EINVAL, LINATTN_EMISMATCH (the batch has another d), LINATTN_EUNSUPPORTED (a batch of moments, whatever the
 * model), LINATTN_ENONFINITE (theta holds NaN or Inf), LINATTN_EOVERFLOW or LINATTN_ENOMEM. Weights that overflow are returned as
 * they are. */
LINATTN_API int linattn_model_attention(const linattn_model *model, const linattn_batch *batch, const double *theta, size_t layer,
                                        size_t head, double *out);

#ifdef __cplusplus
}
#endif
#endif
