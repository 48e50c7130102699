/* objective.h: the function to be minimised.
 *
 * An *objective* is f(theta; draw): theta (p) are parameters, and draw says which random batch is meant. It is the one thing that
 * optimizers, the trainer and diagnostics know. A model on a fixed batch ignores draw; a model on a sampler draws batch number
 * `draw`, and one on a data set takes its minibatch number `draw`; the caller's own functions are an objective too. The value of a
 * model is the mean over the batch of (prediction - target)^2, without a factor 1/2.
 *
 * An objective owns scratch memory and worker threads: use it from one thread at a time, and clone it for another. A callback of
 * value, gradient, hvp or hessian must not use the objective that called it (LINATTN_EINVAL). */
#ifndef LINATTN_OBJECTIVE_H
#define LINATTN_OBJECTIVE_H

#include <linattn/export.h>
#include <linattn/model.h>
#include <linattn/sampler.h>
#include <linattn/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linattn_objective linattn_objective;

enum { LINATTN_MAX_THREADS = 256 };

typedef struct linattn_objective_options {
    size_t struct_size;        /* set by linattn_objective_options_init */
    size_t threads;            /* 1 to LINATTN_MAX_THREADS; results do not depend on it; 1 */
    int32_t kernel;            /* enum linattn_kernel (version.h); auto */
    int32_t reserved;          /* 0 */
    linattn_progress progress; /* NULL */
    void *user;                /* handed to progress; NULL */
} linattn_objective_options;

/* Fills *options with the defaults named above. size: sizeof *options.
 * Returns LINATTN_EINVAL when options is NULL or size is smaller than in the first release. */
LINATTN_API int linattn_objective_options_init(linattn_objective_options *options, size_t size);

/* A model on a fixed batch, which is retained; every draw means this batch. options may be NULL for the defaults, here and below.
 * *out is the caller's to destroy, NULL on failure.
 * Returns LINATTN_EINVAL, LINATTN_EMISMATCH (another d), LINATTN_EUNSUPPORTED (the machine lacks the kernel; the model needs
 * tokens, which a batch of moments has not), LINATTN_EVERSION or LINATTN_ENOMEM. */
LINATTN_API int linattn_objective_create_fixed(linattn_objective **out, const linattn_model *model, const linattn_batch *batch,
                                               const linattn_objective_options *options);

/* A model on fresh batches of `prompts` prompts from a sampler, both retained. Returns the same statuses, and LINATTN_EOVERFLOW. */
LINATTN_API int linattn_objective_create_sampled(linattn_objective **out, const linattn_model *model,
                                                 const linattn_sampler *sampler, size_t prompts,
                                                 const linattn_objective_options *options);

/* How the prompts of a draw are taken from N given ones. Since 0.3. */
enum linattn_minibatch {
    LINATTN_MINIBATCH_EPOCHS = 0,     /* without replacement: draw t is minibatch t mod m of epoch floor(t / m), m = floor(N /
                                         prompts); every epoch has a permutation of its own, and what N / prompts leaves over is
                                         not used in it. prompts = N: all, in their order, whatever the draw */
    LINATTN_MINIBATCH_REPLACEMENT = 1 /* each prompt of each draw any of the N, all equally likely */
};

/* Since 0.3. A model on minibatches of `prompts` prompts, 1 to N, taken from a fixed batch of N, which is retained. mode: enum
 * linattn_minibatch. seed: any value; draw t of a seed is always the same minibatch. Returns the statuses of
 * linattn_objective_create_fixed. */
LINATTN_API int linattn_objective_create_dataset(linattn_objective **out, const linattn_model *model, const linattn_batch *batch,
                                                 size_t prompts, int32_t mode, uint64_t seed,
                                                 const linattn_objective_options *options);

/* The caller's own functions. Each returns 0, or LINATTN_STOP or a negative status, which the library's call then returns
 * unchanged. They run on the thread that called the library. Outputs are filled with NaN beforehand, so a function that returns 0
 * without writing them is caught as LINATTN_ENONFINITE. */
typedef struct linattn_objective_callbacks {
    size_t struct_size;     /* set by linattn_objective_callbacks_init */
    size_t parameter_count; /* p >= 1; to be set */
    int (*value)(uint64_t draw, const double *theta, double *value, void *user); /* NULL: taken from gradient */
    int (*gradient)(uint64_t draw, const double *theta, double *value, double *gradient, void *user); /* gradient (p); to be set */
    /* H u for directions (count, p) into out (count, p); NULL: see difference_step. */
    int (*hvp)(uint64_t draw, const double *theta, const double *directions, size_t count, double *out, void *user);
    /* Without hvp: 0: there are no Hessian-vector products; s > 0: they are made from two gradients each,
       (g(theta + h u) - g(theta - h u)) / (2 h), h = s max(1, |theta|) / |u|, s at most 1; 1e-5 is a good choice; 0 */
    double difference_step;
} linattn_objective_callbacks;

/* Fills *callbacks with the defaults named above. size: sizeof *callbacks. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_objective_callbacks_init(linattn_objective_callbacks *callbacks, size_t size);

/* An objective of the caller's functions; user is handed to each of them and must outlive the objective and its clones, which
 * share it. threads and kernel of the options are not used. Returns LINATTN_EINVAL, LINATTN_EVERSION or LINATTN_ENOMEM. */
LINATTN_API int linattn_objective_create_callbacks(linattn_objective **out, const linattn_objective_callbacks *callbacks,
                                                   const linattn_objective_options *options, void *user);

/* A second objective of the same function, with scratch memory and threads of its own; what is immutable is shared.
 * Returns LINATTN_EINVAL or LINATTN_ENOMEM. */
LINATTN_API int linattn_objective_clone(linattn_objective **out, const linattn_objective *objective);
LINATTN_API void linattn_objective_destroy(linattn_objective *objective);

/* p; 0 when objective is NULL. */
LINATTN_API size_t linattn_objective_parameter_count(const linattn_objective *objective);

/* f(theta; draw). theta: (p), finite. *value is unchanged on failure.
 * Returns LINATTN_EINVAL, LINATTN_ENONFINITE (theta, or the value), LINATTN_ENOMEM, LINATTN_ESYSTEM (a thread could not be
 * started), or what a callback returned. */
LINATTN_API int linattn_objective_value(linattn_objective *objective, uint64_t draw, const double *theta, double *value);

/* f(theta; draw) and its gradient (p). value may be NULL. Both outputs are unchanged on failure. gradient must not overlap theta.
 * Returns the same statuses; LINATTN_ENONFINITE also for an entry of the gradient, which the message names. */
LINATTN_API int linattn_objective_gradient(linattn_objective *objective, uint64_t draw, const double *theta, double *value,
                                           double *gradient);

/* What Hessian-vector products of an objective are. */
enum linattn_hvp_kind {
    LINATTN_HVP_NONE = 0,
    LINATTN_HVP_EXACT = 1,      /* as exact as the gradient: every model, and callbacks with hvp */
    LINATTN_HVP_DIFFERENCES = 2 /* central differences of gradients */
};
LINATTN_API int linattn_objective_hvp_kind(const linattn_objective *objective);

/* out (count, p) = H u for each of `count` directions u (count, p), H (p, p) being the Hessian of f(.; draw) at theta. Directions
 * share a forward and a backward pass. out must overlap neither theta nor directions, and may hold anything after a failure.
 * Returns the statuses of linattn_objective_gradient, LINATTN_EUNSUPPORTED (LINATTN_HVP_NONE) or LINATTN_EINVAL (count 0). */
LINATTN_API int linattn_objective_hvp(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions,
                                      size_t count, double *out);

/* The Hessian, out (p, p), symmetric bit for bit; what is 0 in exact arithmetic is 0 (of a model). out may hold anything after a
 * failure. Returns the statuses of linattn_objective_hvp, and LINATTN_EOVERFLOW. */
LINATTN_API int linattn_objective_hessian(linattn_objective *objective, uint64_t draw, const double *theta, double *out);

/* Rows and columns first .. first+count-1 of the Hessian, out (count, count), count >= 1, first + count <= p: a tensor's or a
 * layer's block has the offset and the size that the model's tensor table tells. The same bits as in the whole Hessian, of which no
 * more than a few rows are ever held. out may hold anything after a failure. Returns the statuses of linattn_objective_hessian. */
LINATTN_API int linattn_objective_hessian_block(linattn_objective *objective, uint64_t draw, const double *theta, size_t first,
                                                size_t count, double *out);

/* Entries first .. first+count-1 of the Hessian's diagonal, out (count); likewise. */
LINATTN_API int linattn_objective_hessian_diagonal(linattn_objective *objective, uint64_t draw, const double *theta, size_t first,
                                                   size_t count, double *out);

/* Bytes that Hessian-vector products, Hessians, blocks and diagonals together take beside their outputs: taken by the first that
 * needs them and kept until the objective is destroyed. So the peak of a Hessian is p^2 doubles and this. What callbacks take
 * themselves is not counted. 0 when objective is NULL or has no products (LINATTN_HVP_NONE); SIZE_MAX when there cannot be so
 * many. */
LINATTN_API size_t linattn_objective_hessian_workspace(const linattn_objective *objective);

/* How far the gradient is from central differences of the value. */
typedef struct linattn_derivative_report {
    size_t struct_size;    /* sizeof(linattn_derivative_report), set by the caller */
    double gradient_error; /* max over i of |g_i - difference_i|, divided by max over i of |g_i| (not divided when that is 0) */
    size_t worst;          /* the i of that maximum */
    double analytic;       /* g_worst */
    double difference;     /* (f(theta + h e) - f(theta - h e)) / (2 h) at worst */
    double step;           /* the h used there */
    uint64_t kinks;        /* arguments of ReLU (scores, units of networks) that are exactly 0 at theta: the derivative there
                              is 0 by convention, and differences across such a kink tell something else; 0 for other models */
} linattn_derivative_report;

/* Checks the gradient (not hvp): compares every entry with a central difference of step h = step * max(1, |theta_i|); step > 0,
 * 1e-5 is a good choice. Costs 2 p values and a gradient; progress of the options is called. *out is unchanged on failure.
 * Returns the statuses of linattn_objective_gradient, and LINATTN_EDEGENERATE when theta_i + h and theta_i - h are the same
 * number. */
LINATTN_API int linattn_objective_check_derivatives(linattn_objective *objective, uint64_t draw, const double *theta,
                                                    double step, linattn_derivative_report *out);

#ifdef __cplusplus
}
#endif
#endif
