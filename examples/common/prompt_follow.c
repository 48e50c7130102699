#include "prompt_follow.h"

#include "runs.h"
#include <math.h>
#include <stdlib.h>

/* The losses of the window, the only ones that are kept. */
typedef struct series {
    double *losses;
    size_t count;
    size_t room;
} series;

static int keep(series *kept, double loss) {
    if (kept->count == kept->room) {
        const size_t room = kept->room == 0 ? 1024 : 2 * kept->room;
        double *more = realloc(kept->losses, room * sizeof *more);
        if (more == NULL) return LINATTN_ENOMEM;
        kept->losses = more;
        kept->room = room;
    }
    kept->losses[kept->count++] = loss;
    return LINATTN_OK;
}

/* theta, g: (d); theta = 0 at first. */
static int descend(uint64_t most, linattn_objective *f, size_t dim, double *theta, double *g, prompt_descent *out, series *kept) {
    for (out->steps = 0;; out->steps++) {
        int status = linattn_objective_gradient(f, 0, theta, &out->loss, g);
        if (status == LINATTN_OK && out->loss <= prompt_window_high) status = keep(kept, out->loss);
        out->converged = out->loss < prompt_window_low;
        if (status != LINATTN_OK || out->converged || out->steps == most) return status;
        if (out->steps % 4096 == 0 && runs_ending()) return LINATTN_OK;
        for (size_t j = 0; j < dim; j++) theta[j] -= out->learning_rate * g[j];
    }
}

/* Condition number, R and predicted rate at theta. weights: (N, n), scratch. */
static int look(const linattn_prompt *prompt, const prompt_descent *d, const double *theta, double *weights, double *condition,
                double *ratio, double *rate) {
    const size_t examples = d->system.sizes->examples, tokens = d->system.sizes->tokens;
    linattn_prompt_condition c = {.struct_size = sizeof c};
    linattn_concentration a = {.struct_size = sizeof a, .ratio_median = NAN};
    int status = linattn_prompt_measure_condition(prompt, theta, NULL, &c);
    if (status == LINATTN_OK) status = linattn_prompt_evaluate(prompt, theta, NULL, weights, NULL, NULL);
    if (status == LINATTN_OK && d->system.profile != LINEAR)
        status = linattn_attention_concentration(weights, examples, tokens, tokens, 1, &a);
    if (status == LINATTN_OK) status = linattn_prompt_predict_rate(prompt, theta, d->learning_rate, rate);
    *condition = c.condition;
    *ratio = a.ratio_median;
    return status;
}

int prompt_follow(const linattn_prompt *prompt, uint64_t most, double *room, prompt_descent *d) {
    series kept = {NULL, 0, 0};
    const size_t dim = d->system.sizes->dim;
    double *theta = room, *teacher = room + dim, *g = room + 2 * dim, *weights = room + 3 * dim;
    linattn_objective *f = NULL;
    linattn_line line = {.struct_size = sizeof line};
    int status = linattn_prompt_get_arrays(prompt, NULL, NULL, NULL, teacher, NULL);
    if (status == LINATTN_OK) status = prompt_step(prompt, teacher, &d->learning_rate);
    if (status == LINATTN_OK) status = linattn_objective_create_prompt(&f, prompt, NULL);
    if (status == LINATTN_OK) status = descend(most, f, dim, theta, g, d, &kept);
    if (status == LINATTN_OK) status = look(prompt, d, theta, weights, &d->condition, &d->ratio, &d->predicted);
    if (status == LINATTN_OK)
        status = look(prompt, d, teacher, weights, &d->condition_teacher, &d->ratio_teacher, &d->predicted_teacher);
    linattn_objective_destroy(f);
    d->rate = NAN;
    if (status == LINATTN_OK && d->converged) {
        status = linattn_series_rate(kept.losses, kept.count, prompt_window_high, prompt_window_low, &line);
        d->rate = -line.slope;
    }
    free(kept.losses);
    return status;
}
