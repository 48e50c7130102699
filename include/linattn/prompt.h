/* prompt.h: prompt attention, the smallest model in which softmax slows gradient descent. Since 0.4.
 *
 * A *prompt-attention system* holds N examples. Example i has n tokens X_i (n, d), keys K_i = X_i W_K^T (n, d) and a label y_i. One
 * query token p (d) attends to the tokens of each example, and a value vector v (d) reads them out:
 *
 *     softmax:  a_i = softmax(K_i p / T)        linear:  a_i = K_i p / n         f_i = a_i^T u_i,  u_i = X_i v
 *     squared loss:   (1/2N) sum_i (f_i - y_i)^2
 *     logistic loss:  (1/N) sum_i ln(1 + exp(-y_i f_i)),  y_i = 1 or -1
 *
 * Parameters are p, or p and then v. The loss is an ordinary objective, so optimizers, the trainer and diagnostics serve it; the
 * factor 1/2 is this system's own. docs/prompt-attention.md has the formulas. A system is immutable and shared between threads. */
#ifndef LINATTN_PROMPT_H
#define LINATTN_PROMPT_H

#include <linattn/export.h>
#include <linattn/objective.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linattn_prompt linattn_prompt;

enum linattn_prompt_attention { LINATTN_PROMPT_SOFTMAX = 0, LINATTN_PROMPT_LINEAR = 1 };
enum linattn_prompt_loss { LINATTN_PROMPT_SQUARED = 0, LINATTN_PROMPT_LOGISTIC = 1 };

/* How keys are drawn; tokens are X_i = K_i W_K. */
enum linattn_prompt_tokens {
    LINATTN_PROMPT_GAUSSIAN = 0,   /* entries N(0, 1), and |v| = 1: responses u have variance 1 */
    LINATTN_PROMPT_ORTHONORMAL = 1 /* all n N keys orthonormal, d >= n N, and |v| = sqrt(d) */
};

/* W_K of drawn systems. */
enum linattn_prompt_key_map {
    LINATTN_PROMPT_IDENTITY = 0,
    LINATTN_PROMPT_ORTHOGONAL = 1 /* uniform over the orthogonal matrices */
};

/* How the teacher's attention is made sparse. R: the smallest over the largest coefficient of an example. */
enum linattn_prompt_profile {
    LINATTN_PROMPT_SCALED = 0,      /* keys are as drawn; p* is a Gaussian direction as long as makes the median of R over examples
                                       (the lower one) `sparsity` */
    LINATTN_PROMPT_LOG_UNIFORM = 1, /* R is `sparsity` in every example: scores are ln R k/(n-1), k = 0 .. n-1, permuted for each.
                                       Gaussian keys get these scores along p*, which is as long as leaves that component a mean
                                       square of 1, like every other; orthonormal keys are as drawn, p* = T sum of s_ik K_ik */
    LINATTN_PROMPT_ACTIVE = 2       /* in each example the coefficients of all but `active` tokens, any of them, are `sparsity` times
                                       what they were. Gaussian keys: |p*| = T, and the keys of those are moved by ln `sparsity`
                                       along p*, so R is lower by what the active ones differ among themselves; orthonormal keys are
                                       as drawn, p* = T sum of s_ik K_ik, s = 0 or ln `sparsity` */
};

typedef struct linattn_prompt_options {
    size_t struct_size;  /* set by linattn_prompt_options_init */
    size_t examples;     /* N >= 1; to be set */
    size_t tokens;       /* n >= 1; to be set */
    size_t dim;          /* d >= 1; to be set */
    uint64_t seed;       /* any value; 0 */
    int32_t attention;   /* enum linattn_prompt_attention; softmax */
    int32_t loss;        /* enum linattn_prompt_loss; squared */
    int32_t train_value; /* 0: theta is p (d); 1: theta is p, then v (2d); 0 */
    int32_t token_kind;  /* enum linattn_prompt_tokens; Gaussian */
    int32_t key_map;     /* enum linattn_prompt_key_map; identity */
    int32_t profile;     /* enum linattn_prompt_profile; scaled */
    size_t active;       /* 1 to n, below n unless sparsity is 1; read by the profile `active`; 1 */
    double sparsity;     /* of the teacher's attention, by the profile; 1e-300 to 1, and 1 when n = 1; 0.1 */
    double temperature;  /* T > 0, finite; read by softmax, and by profiles; 1 */
    double noise;        /* standard deviation of labels about f_i(p*), >= 0, finite; read with squared loss; 0 */
    linattn_progress progress; /* while orthonormal keys are made, which takes about 4 (n N)^2 d operations; NULL */
    void *user;                /* handed to progress; NULL */
} linattn_prompt_options;

/* Fills *options with the defaults named above. size: sizeof *options. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_prompt_options_init(linattn_prompt_options *options, size_t size);

/* Draws a system and its teacher p*. Labels are f_i(p*) plus noise, or, with logistic loss, 1 with probability
 * 1 / (1 + exp(-f_i(p*))) and else -1. What is drawn is the same on every machine. *out is the caller's to destroy, NULL on failure.
 * Returns LINATTN_EINVAL, LINATTN_EVERSION, LINATTN_EOVERFLOW or LINATTN_ENOMEM. */
LINATTN_API int linattn_prompt_create(linattn_prompt **out, const linattn_prompt_options *options);

/* A system of the caller's numbers, all finite and copied: tokens (N, n, d); key_map W_K (d, d), or NULL for the identity; value v
 * (d); labels (N), 1 or -1 with logistic loss, or NULL when they are to be made from teacher as above; teacher p* (d), or NULL when
 * there are labels. Of the options, those that say how to draw are not read, and seed and noise only when labels are made.
 * Returns the same statuses, and LINATTN_ENONFINITE. */
LINATTN_API int linattn_prompt_create_from_arrays(linattn_prompt **out, const linattn_prompt_options *options,
                                                  const double *tokens, const double *key_map, const double *value,
                                                  const double *teacher, const double *labels);
LINATTN_API void linattn_prompt_destroy(linattn_prompt *prompt);

/* N, n, d and the length of theta, d or 2 d; 0 when prompt is NULL. */
LINATTN_API size_t linattn_prompt_examples(const linattn_prompt *prompt);
LINATTN_API size_t linattn_prompt_tokens(const linattn_prompt *prompt);
LINATTN_API size_t linattn_prompt_dim(const linattn_prompt *prompt);
LINATTN_API size_t linattn_prompt_parameter_count(const linattn_prompt *prompt);

/* Copies out what the system holds: tokens (N, n, d), keys (N, n, d), value (d), teacher (d), labels (N); each may be NULL.
 * Returns LINATTN_EINVAL, or LINATTN_EUNSUPPORTED when a teacher is asked for and there is none; nothing is then written. */
LINATTN_API int linattn_prompt_get_arrays(const linattn_prompt *prompt, double *tokens, double *keys, double *value,
                                          double *teacher, double *labels);

/* ---- The loss, as an objective ----------------------------------------------------------------------------------------------- */

/* The loss over all N examples, whatever the draw; the system is retained. options may be NULL for the defaults.
 * Returns LINATTN_EINVAL, LINATTN_EVERSION, LINATTN_EUNSUPPORTED (the machine lacks the kernel) or LINATTN_ENOMEM. */
LINATTN_API int linattn_objective_create_prompt(linattn_objective **out, const linattn_prompt *prompt,
                                                const linattn_objective_options *options);

/* The mean loss over minibatches of `examples` examples, 1 to N, taken as linattn_objective_create_dataset takes prompts.
 * Returns the same statuses. */
LINATTN_API int linattn_objective_create_prompt_dataset(linattn_objective **out, const linattn_prompt *prompt, size_t examples,
                                                        int32_t mode, uint64_t seed, const linattn_objective_options *options);

/* ---- What the system does at theta ------------------------------------------------------------------------------------------- */

/* At theta: outputs f (N); weights a (N, n), for linattn_attention_concentration; sensitivities b (N, n), the derivatives of f_i by
 * the scores of example i, for softmax J_i u_i with J_i = diag(a_i) - a_i a_i^T; jacobian G (N, p), row i the gradient of f_i by
 * theta. Each may be NULL. Small coefficients are as accurate, relatively, as large ones.
 * Returns LINATTN_EINVAL or LINATTN_ENONFINITE (theta); outputs are then unchanged. */
LINATTN_API int linattn_prompt_evaluate(const linattn_prompt *prompt, const double *theta, double *outputs, double *weights,
                                        double *sensitivities, double *jacobian);

/* The Gauss-Newton matrix (1/N) sum_i l''(f_i) g_i g_i^T, out (p, p), symmetric bit for bit, l'' = 1 with squared loss: the Hessian
 * but for the curvature of f. Returns LINATTN_EINVAL, LINATTN_ENONFINITE, LINATTN_EOVERFLOW or LINATTN_ENOMEM. */
LINATTN_API int linattn_prompt_gauss_newton(const linattn_prompt *prompt, const double *theta, double *out);

/* Eigenvalues of the softmax Jacobian diag(a) - a a^T of one example, out (n), descending, the last one 0; each to a relative
 * accuracy, however small it is. Returns LINATTN_EINVAL, LINATTN_ENONFINITE, LINATTN_EUNSUPPORTED (linear attention) or
 * LINATTN_ENOMEM; out is then unchanged. */
LINATTN_API int linattn_prompt_softmax_spectrum(const linattn_prompt *prompt, const double *theta, size_t example, double *out);

/* How ill-conditioned the problem is near a solution, where with squared loss H = (1/N) G^T G, from singular values of G, which
 * reach far below what eigenvalues of H can show. */
typedef struct linattn_prompt_condition {
    size_t struct_size;     /* sizeof(linattn_prompt_condition), set by the caller */
    size_t rank;            /* r of G: singular values that are not 0, judged after its rows are given length 1 */
    double largest;         /* eigenvalue of (1/N) G^T G: s_1^2 / N */
    double smallest;        /* s_r^2 / N */
    double condition;       /* (s_1 / s_r)^2 */
    double spread_smallest; /* of |b_i|^2 over examples, for softmax sum_k a_k^2 (u_k - f)^2 */
    double spread_largest;
    double key_condition;   /* ratio of the largest to the smallest eigenvalue of K K^T, K (n N, d) all keys; Inf when these are
                               not linearly independent, as always when d < n N */
    double bound;           /* key_condition spread_largest / spread_smallest >= condition; theta = p only, otherwise NaN */
    double ratio_bound;     /* key_condition rho n^2 / (4 R^2) >= bound, rho the largest over the smallest |u - mean u|^2, R the
                               smallest ratio of coefficients; softmax with theta = p only, otherwise NaN */
} linattn_prompt_condition;

/* Measures at theta. singular (min(N, p)): the singular values of G, descending; may be NULL. With a G of zeros alone (n = 1)
 * LINATTN_EDEGENERATE: *out and singular are written, with rank 0 and NaN. Returns also LINATTN_EINVAL, LINATTN_ENONFINITE,
 * LINATTN_EVERSION, LINATTN_EOVERFLOW, LINATTN_ENOMEM or LINATTN_ENOTCONVERGED. */
LINATTN_API int linattn_prompt_measure_condition(const linattn_prompt *prompt, const double *theta, double *singular,
                                                 linattn_prompt_condition *out);

/* *distance = |p - p*|; *seen: the same without the directions that no example sees, the kernel of all keys, each example's less
 * their mean (softmax), or of the vectors K_i^T u_i (linear). Either may be NULL. Returns LINATTN_EINVAL, LINATTN_ENONFINITE,
 * LINATTN_EUNSUPPORTED (no teacher), LINATTN_EOVERFLOW, LINATTN_ENOMEM or LINATTN_ENOTCONVERGED. */
LINATTN_API int linattn_prompt_distance(const linattn_prompt *prompt, const double *theta, double *distance, double *seen);

/* The rate at which gradient descent with this learning rate ends, ln(loss_t / loss_(t+1)) in the limit, when theta is where it
 * ends and the loss there is 0: *rate = -2 ln max_i |1 - learning_rate s_i^2 / N| over the singular values of G that are not 0. Below
 * 0 it diverges. Squared loss only. Returns the statuses of linattn_prompt_measure_condition, and LINATTN_EUNSUPPORTED. */
LINATTN_API int linattn_prompt_predict_rate(const linattn_prompt *prompt, const double *theta, double learning_rate, double *rate);

#ifdef __cplusplus
}
#endif
#endif
