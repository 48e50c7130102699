#include "trajectory.h"

#include "complain.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEASURING_WORK = 45 /* a point in training steps, for the progress bar */ };

/* Private to a run's thread. */
typedef struct judge {
    const trajectory_plan *plan;
    trajectory *out;
    linattn_objective *loss, *measured;
    linattn_diagnostics *diagnostics;
    double *weights; /* (prompts, n+1, n+1) */
} judge;

static int make_judge(judge *j) {
    const linattn_model *model = j->plan->path.experiment->model;
    const size_t rows = linattn_batch_context(j->plan->measured) + 1;
    linattn_diagnostics_options options;
    int status = linattn_diagnostics_options_init(&options, sizeof options);
    options.progress = path_go_on;
    j->weights = calloc(linattn_batch_prompts(j->plan->measured) * rows, rows * sizeof *j->weights);
    j->out->points = calloc(j->plan->path.stop_count, sizeof *j->out->points);
    if (j->weights == NULL || j->out->points == NULL) return complain(EXIT_FAILED, "no memory for a run");
    if (status == LINATTN_OK) status = linattn_objective_create_fixed(&j->loss, model, j->plan->judges, NULL);
    if (status == LINATTN_OK) status = linattn_objective_create_fixed(&j->measured, model, j->plan->measured, NULL);
    if (status == LINATTN_OK) status = linattn_diagnostics_create(&j->diagnostics, j->measured, &options);
    return status == LINATTN_OK ? 0 : complain(EXIT_FAILED, "%s", linattn_last_message());
}

static void unmake_judge(judge *j) {
    linattn_diagnostics_destroy(j->diagnostics);
    linattn_objective_destroy(j->measured);
    linattn_objective_destroy(j->loss);
    free(j->weights);
}

/* Of the first head of a layer; recipes have one. */
static int measure_attention(const judge *j, const double *theta, size_t layer, trajectory_attention *out) {
    const size_t n = linattn_batch_context(j->plan->measured), prompts = linattn_batch_prompts(j->plan->measured);
    const size_t top = n < TRAJECTORY_TOP ? n : TRAJECTORY_TOP;
    linattn_concentration c = {.struct_size = sizeof c};
    int status = linattn_model_attention(j->plan->path.experiment->model, j->plan->measured, theta, layer, 0, j->weights);
    if (status == LINATTN_OK)
        status = linattn_attention_concentration(j->weights + n * (n + 1), prompts, n, (n + 1) * (n + 1), top, &c);
    if (status != LINATTN_OK && status != LINATTN_EDEGENERATE) return status; /* of weights that are all 0: NaN */
    *out = (trajectory_attention){c.entropy, c.largest, c.top_share, c.ratio_median, c.ratio_smallest};
    return LINATTN_OK;
}

/* product (columns, columns) = sum over rows of a^T b. */
static void multiply(const double *a, const double *b, size_t rows, size_t columns, double *product) {
    memset(product, 0, columns * columns * sizeof *product);
    for (size_t t = 0; t < rows; t++)
        for (size_t i = 0; i < columns; i++)
            for (size_t k = 0; k < columns; k++) product[i * columns + k] += a[t * columns + i] * b[t * columns + k];
}

/* |Q|_F^2 / |Q|_2^2, by the eigenvalues of Q^T Q. Q: (side, side); room: as much. */
static int stable_rank(const double *Q, size_t side, double *room, double *out) {
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    multiply(Q, Q, side, side, room);
    for (size_t i = 0; i < side; i++)
        for (size_t k = 0; k < i; k++) room[k * side + i] = room[i * side + k];
    const int status = linattn_matrix_spectrum(room, side, NULL, NULL, &spectrum);
    *out = spectrum.trace / spectrum.largest;
    return status;
}

/* The mean over layers and heads; Q is W_Q^T W_K where it is factored, W_K being the tensor after W_Q. */
static int measure_rank(const linattn_model *model, const double *theta, double *out) {
    linattn_tensor tensor = {.struct_size = sizeof tensor};
    size_t found = 0;
    int status = LINATTN_OK;
    *out = 0;
    for (size_t i = 0; status == LINATTN_OK && i < linattn_model_tensor_count(model); i++) {
        status = linattn_model_get_tensor(model, i, &tensor);
        if (tensor.kind != LINATTN_TENSOR_Q && tensor.kind != LINATTN_TENSOR_WQ) continue;
        const size_t side = tensor.columns;
        const double *at = theta + tensor.offset;
        double *Q = calloc(2 * side * side, sizeof *Q), rank = 0;
        if (Q == NULL) return LINATTN_ENOMEM;
        if (tensor.kind == LINATTN_TENSOR_Q)
            memcpy(Q, at, side * side * sizeof *Q);
        else
            multiply(at, at + tensor.rows * side, tensor.rows, side, Q);
        status = stable_rank(Q, side, Q + side * side, &rank);
        free(Q);
        *out += rank;
        found++;
    }
    *out /= (double)found;
    return status;
}

static int measure(const path_point *at, void *user) {
    judge *j = user;
    const experiment *e = j->plan->path.experiment;
    linattn_condition eigenvalues = {.struct_size = sizeof eigenvalues}, diagonal = {.struct_size = sizeof diagonal};
    trajectory_point point = {.step = at->step, .gradient_norm = at->record->gradient_norm};
    int status = linattn_objective_value(j->loss, 0, at->theta, &point.loss);
    if (status == LINATTN_OK)
        status = linattn_diagnostics_robust_condition(j->diagnostics, 0, at->theta, NULL, &eigenvalues, &diagonal);
    if (status == LINATTN_OK)
        status = linattn_diagnostics_directional_smoothness(j->diagnostics, 0, at->theta, at->next, &point.smoothness);
    if (status == LINATTN_OK) status = measure_rank(e->model, at->theta, &point.stable_rank);
    for (size_t l = 0; status == LINATTN_OK && l < e->recipe.layers && l < TRAJECTORY_LAYERS; l++)
        status = measure_attention(j, at->theta, l, &point.attention[l]);
    progress_add(j->plan->path.bar, MEASURING_WORK);
    if (status != LINATTN_OK) return status;
    point.condition_diagonal = diagonal.value;
    point.condition_eigenvalues = eigenvalues.value;
    j->out->points[j->out->count++] = point;
    return LINATTN_OK;
}

uint64_t trajectory_work(const trajectory_plan *plan) { return path_work(&plan->path) + MEASURING_WORK * plan->path.stop_count; }

int trajectory_run(const trajectory_plan *plan, size_t optimizer, uint64_t seed, trajectory *out) {
    judge j = {.plan = plan, .out = out};
    *out = (trajectory){.points = NULL};
    int status = make_judge(&j);
    if (status == 0) status = path_run(&plan->path, optimizer, seed, measure, &j, &out->end);
    unmake_judge(&j);
    return status;
}

void trajectory_forget(trajectory *t) {
    free(t->points);
    *t = (trajectory){.points = NULL};
}
