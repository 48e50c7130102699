/* optimizer.h: update rules over a flat parameter vector.
 *
 * An optimizer takes a gradient, clips it, picks the step's learning rate from a schedule and moves theta by its rule. It knows
 * nothing about where the gradient came from. The defaults are PyTorch's conventions; docs/conventions.md has the table of names.
 * Use an optimizer from one thread at a time. */
#ifndef LINATTN_OPTIMIZER_H
#define LINATTN_OPTIMIZER_H

#include <linattn/export.h>
#include <linattn/model.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linattn_optimizer linattn_optimizer;

/* g is the gradient after clipping, t = 1, 2, ... counts updates, lr is the learning rate of the step. */
enum linattn_rule {
    LINATTN_RULE_SGD = 0,           /* g += weight_decay theta; v = momentum v + (1 - dampening) g, v_1 = g;
                                       theta -= lr v, or lr (g + momentum v) with nesterov */
    LINATTN_RULE_ADAM = 1,          /* g += weight_decay theta; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
                                       theta -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon) */
    LINATTN_RULE_ADAMW = 2,         /* theta -= lr weight_decay theta, then Adam without weight decay */
    LINATTN_RULE_SIGN = 3,          /* v as for SGD; theta -= lr sign(v), sign(0) = 0 */
    LINATTN_RULE_NORMALIZED_GD = 4, /* theta -= lr g / |g|; g = 0 moves nothing */
    LINATTN_RULE_CUSTOM = 5,        /* made by linattn_optimizer_create_custom */
    LINATTN_RULE_POLYAK = 6         /* Polyak's step, since 0.4: theta -= lr (f - minimum_value) / |g|^2 g; lr 1 is his; f at or below
                                       the minimum, or g = 0, moves nothing */
};

enum linattn_clip {
    LINATTN_CLIP_NONE = 0,
    LINATTN_CLIP_GLOBAL_NORM = 1, /* if |g| > c: g <- g (c / |g|), the exact ratio */
    LINATTN_CLIP_TENSOR_NORM = 2, /* the same for each tensor's part of g by its own norm; without a tensor table: all of g */
    LINATTN_CLIP_COORDINATE = 3   /* g_i <- max(-c, min(c, g_i)), after Pan & Li 2023, who choose c anew at each step so that a
                                     given share of the coordinates is clipped */
};

/* The learning rate of the step with index t = 0, 1, ...; lr is learning_rate, w = warmup_steps. For t < w it is lr (t + 1) / w
 * whatever the schedule. */
enum linattn_schedule {
    LINATTN_SCHEDULE_CONSTANT = 0, /* lr */
    LINATTN_SCHEDULE_STEP = 1,     /* lr decay_factor^floor(t / decay_steps) */
    LINATTN_SCHEDULE_COSINE = 2    /* with s = min(1, (t - w) / (decay_steps - w)):
                                      min_learning_rate + (lr - min_learning_rate) (1 + cos(pi s)) / 2 */
};

/* What to do with a gradient that holds NaN or Inf. */
enum linattn_nonfinite {
    LINATTN_NONFINITE_FAIL = 0, /* LINATTN_ENONFINITE, nothing is moved */
    LINATTN_NONFINITE_SKIP = 1  /* the step is skipped and counted: nothing is moved, the schedule goes on */
};

typedef struct linattn_optimizer_options {
    size_t struct_size;       /* set by linattn_optimizer_options_init */
    int32_t rule;             /* enum linattn_rule; SGD */
    int32_t clip;             /* enum linattn_clip; none */
    int32_t schedule;         /* enum linattn_schedule; constant */
    int32_t nonfinite;        /* enum linattn_nonfinite; fail */
    int32_t nesterov;         /* 0 or 1; 1 needs momentum > 0 and dampening 0; read by SGD; 0 */
    int32_t reserved;         /* 0 */
    double learning_rate;     /* >= 0, finite; to be set (it is NaN until then) */
    double momentum;          /* [0, 1); read by SGD and sign descent; 0 */
    double dampening;         /* [0, 1]; read by SGD and sign descent; without effect at momentum 0; 0 */
    double beta1;             /* [0, 1); read by Adam and AdamW; 0.9 */
    double beta2;             /* [0, 1); read by Adam and AdamW; 0.999 */
    double epsilon;           /* >= 0, finite; added after the bias correction; at 0 an entry whose v is 0 is moved by AdamW's
                                 weight decay only; 1e-8 */
    double weight_decay;      /* >= 0, finite; read by SGD, Adam and AdamW; 0 */
    double clip_threshold;    /* c > 0, finite; read when clipping; 1 */
    uint64_t warmup_steps;    /* w; 0 */
    uint64_t decay_steps;     /* step: >= 1; cosine: > w; 1 */
    double decay_factor;      /* (0, 1]; read by the step schedule; 0.1 */
    double min_learning_rate; /* [0, learning_rate]; read by the cosine schedule; 0 */
    double minimum_value;     /* what f is at its minimum, finite; read by Polyak's step; 0. Since 0.4 */
} linattn_optimizer_options;

/* Fills *options with the defaults named above. size: sizeof *options.
 * Returns LINATTN_EINVAL when options is NULL or size is smaller than in the first release. */
LINATTN_API int linattn_optimizer_options_init(linattn_optimizer_options *options, size_t size);

/* Makes an optimizer for p parameters. tensors: the tensor table (tensor_count), such as linattn_model_get_tensor tells it,
 * copied, each row inside [0, p) and as long as the first one's struct_size; NULL with tensor_count 0 means one tensor of p
 * parameters. Rows come in the order of their offsets and do not overlap. *out is the caller's to destroy, NULL on failure.
 * Returns LINATTN_EINVAL, LINATTN_EVERSION, LINATTN_EOVERFLOW or LINATTN_ENOMEM. */
LINATTN_API int linattn_optimizer_create(linattn_optimizer **out, const linattn_optimizer_options *options,
                                         const linattn_tensor *tensors, size_t tensor_count, size_t p);

/* What a rule sees of a step. Pointers are valid during the call only. */
typedef struct linattn_update {
    size_t struct_size;
    size_t p;                      /* parameters */
    uint64_t step;                 /* t = 1, 2, ...: this update's number; skipped steps do not count */
    double learning_rate;          /* of this step */
    double value;                  /* f(theta), as handed to linattn_optimizer_step */
    const double *gradient;        /* (p), clipped, finite */
    double *theta;                 /* (p), to be moved */
    double *state;                 /* (state_count), the rule's memory: zero at first, kept and saved by the library */
    const linattn_tensor *tensors; /* (tensor_count) */
    size_t tensor_count;
} linattn_update;

/* The caller's own rule. Return 0, or LINATTN_STOP or a negative status, which linattn_optimizer_step returns after putting theta
 * and state back as they were. So it does with LINATTN_ENONFINITE when a rule, built-in or not, leaves NaN or Inf in theta or
 * state. */
typedef struct linattn_custom_rule {
    size_t struct_size; /* set by linattn_custom_rule_init */
    size_t state_count; /* doubles of state; 0 */
    const char *name;   /* kept in checkpoints to tell rules apart, copied, at most 39 characters; "custom" */
    int (*update)(const linattn_update *update, void *user); /* to be set */
} linattn_custom_rule;

/* Fills *rule with the defaults named above. size: sizeof *rule. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_custom_rule_init(linattn_custom_rule *rule, size_t size);

/* Makes an optimizer of the caller's rule; user is handed to it and must outlive the optimizer. Clipping, schedule, learning rate
 * and nonfinite of the options apply; rule, nesterov, momentum, dampening, beta1, beta2, epsilon and weight_decay are ignored. A
 * checkpoint tells custom rules apart by name alone: put numbers that matter into it. Returns the same statuses. */
LINATTN_API int linattn_optimizer_create_custom(linattn_optimizer **out, const linattn_optimizer_options *options,
                                                const linattn_custom_rule *rule, void *user, const linattn_tensor *tensors,
                                                size_t tensor_count, size_t p);
LINATTN_API void linattn_optimizer_destroy(linattn_optimizer *optimizer);

/* What happened at a step. */
typedef struct linattn_step_record {
    size_t struct_size;   /* sizeof(linattn_step_record), set by the caller */
    uint64_t step;        /* t = 0, 1, ...: how many steps were taken before this one */
    double value;         /* f(theta_t; draw t) */
    double gradient_norm; /* before clipping; Inf when it exceeds the largest double, NaN or Inf when the gradient holds one */
    double clipped_norm;  /* after clipping */
    double learning_rate;
    int32_t clipped;      /* 1 when clipping changed the gradient */
    int32_t skipped;      /* 1 when a non-finite gradient was skipped */
} linattn_step_record;

/* Moves theta (p) by one step. gradient: (p), left alone. record: NULL, or filled; on LINATTN_ENONFINITE too, where it tells the
 * norm. On failure theta and the optimizer are as they were.
 * Returns LINATTN_EINVAL, LINATTN_ENONFINITE (the gradient holds NaN or Inf and nonfinite is fail; or value is NaN; or the
 * update overflows) or what a custom rule returned. */
LINATTN_API int linattn_optimizer_step(linattn_optimizer *optimizer, double value, const double *gradient, double *theta,
                                       linattn_step_record *record);

/* Steps taken so far, skipped ones included, and how many were skipped; 0 when optimizer is NULL. */
LINATTN_API uint64_t linattn_optimizer_step_count(const linattn_optimizer *optimizer);
LINATTN_API uint64_t linattn_optimizer_skip_count(const linattn_optimizer *optimizer);

/* The learning rate that the schedule gives to the step with index t = 0, 1, ...; NaN when optimizer is NULL. */
LINATTN_API double linattn_optimizer_learning_rate(const linattn_optimizer *optimizer, uint64_t step);

/* The rule's memory as one array of state_count doubles: parts of p doubles for built-in rules (SGD and sign descent: velocity;
 * Adam and AdamW: first moment m, then second moment v, neither bias-corrected), the custom rule's own otherwise. */
LINATTN_API size_t linattn_optimizer_state_count(const linattn_optimizer *optimizer);

/* Copies the memory out: state (state_count), and the counts of steps and skips; each may be NULL. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_optimizer_get_state(const linattn_optimizer *optimizer, double *state, uint64_t *steps, uint64_t *skips);

/* Puts it back: state (state_count), finite, not NULL unless state_count is 0; skips <= steps.
 * Returns LINATTN_EINVAL or LINATTN_ENONFINITE; the optimizer is then as it was. */
LINATTN_API int linattn_optimizer_set_state(linattn_optimizer *optimizer, const double *state, uint64_t steps, uint64_t skips);

/* The diagonal D by which the rule divides its direction, theta -= lr D^-1 (...), as its last update left it: out (p).
 *     Adam, AdamW: D = sqrt(v / (1 - beta2^t)) + epsilon after t updates, skipped steps not counted
 *     SGD: D = 1
 * So D^-1/2 H D^-1/2 is the curvature that the rule sees (linattn_matrix_precondition). With epsilon 0 an entry whose v is 0 has
 * D = 0. *out is unchanged on failure.
 * Returns LINATTN_EINVAL, LINATTN_EUNSUPPORTED (a rule without such a diagonal: sign descent, normalised GD, Polyak's step, a custom rule),
 * LINATTN_EDEGENERATE (Adam before its first update) or LINATTN_ENONFINITE (v was set below 0, or is too large). */
LINATTN_API int linattn_optimizer_preconditioner(const linattn_optimizer *optimizer, double *out);

#ifdef __cplusplus
}
#endif
#endif
