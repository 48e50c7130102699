/* own_objective: the library's optimizers and trainer on a function of your own, and an update rule of your own.
 *
 * The function is the loss of logistic regression over random mini-batches; the rule is AdaGrad (Duchi, Hazan, Singer 2011), which
 * the library does not have. The gradient is compared with differences first. */
#include <linattn/linattn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { DIM = 4, ROWS = 512, BATCH = 64, STEPS = 3000 };

typedef struct data {
    double x[ROWS][DIM];
    double label[ROWS]; /* -1 or 1 */
} data;

/* f(theta; draw) = mean over the rows of batch `draw` of log(1 + exp(-label <x, theta>)) + 0.005 |theta|^2. The batch is a
 * function of draw and of nothing else: so a run can be repeated, resumed and retried. */
static int logistic_loss(uint64_t draw, const double *theta, double *value, double *gradient, void *user) {
    const data *all = user;
    double sum = 0;
    for (int j = 0; j < DIM; j++) gradient[j] = 0;
    for (uint64_t i = 0; i < BATCH; i++) {
        const uint64_t row = (draw * BATCH + i) * 167 % ROWS; /* 167 has no factor in common with ROWS */
        double margin = 0;
        for (int j = 0; j < DIM; j++) margin += all->x[row][j] * theta[j];
        margin *= all->label[row];
        /* log(1 + e^-m) without overflow for either sign of m */
        sum += log1p(exp(-fabs(margin))) + (margin < 0 ? -margin : 0);
        const double slope = -all->label[row] / (1 + exp(margin));
        for (int j = 0; j < DIM; j++) gradient[j] += slope * all->x[row][j] / BATCH;
    }
    *value = sum / BATCH;
    for (int j = 0; j < DIM; j++) {
        *value += 0.005 * theta[j] * theta[j];
        gradient[j] += 0.01 * theta[j];
    }
    return 0;
}

/* s += g^2, theta -= lr g / (sqrt(s) + 1e-10). The library keeps s, saves it in checkpoints and undoes a step that fails. */
static int adagrad(const linattn_update *update, void *user) {
    (void)user;
    for (size_t j = 0; j < update->p; j++) {
        const double g = update->gradient[j];
        update->state[j] += g * g;
        update->theta[j] -= update->learning_rate * g / (sqrt(update->state[j]) + 1e-10);
    }
    return 0;
}

/* Labels that a plane explains, but for every tenth. */
static void make_data(data *all) {
    const double plane[DIM] = {1, -2, 0.5, 0};
    for (int i = 0; i < ROWS; i++) {
        double side = 0;
        for (int j = 0; j < DIM; j++) {
            all->x[i][j] = (j + 1) * sin(1.7 * i * (j + 1) + j); /* scales from 1 to DIM: adaptive rules have something to do */
            side += plane[j] * all->x[i][j];
        }
        all->label[i] = (side > 0) != (i % 10 == 0) ? 1 : -1;
    }
}

/* Mean of f over the draws that together are all rows. */
static int full_loss(linattn_objective *f, const double *theta, double *loss) {
    *loss = 0;
    for (uint64_t draw = 0; draw < ROWS / BATCH; draw++) {
        double value;
        const int status = linattn_objective_value(f, draw, theta, &value);
        if (status != LINATTN_OK) return status;
        *loss += value / (ROWS / BATCH);
    }
    return LINATTN_OK;
}

/* Trains from 0 and prints the loss; the optimizer's handle is the trainer's from here on. */
static int train(linattn_objective *f, linattn_optimizer *optimizer, const char *name, double *loss) {
    double theta[DIM] = {0};
    linattn_trainer *trainer = NULL;
    int status = linattn_trainer_create(&trainer, f, optimizer, theta, NULL);
    linattn_optimizer_destroy(optimizer);
    if (status == LINATTN_OK) status = linattn_trainer_run(trainer, STEPS, NULL);
    if (status == LINATTN_OK) status = linattn_trainer_get_parameters(trainer, theta);
    if (status == LINATTN_OK) status = full_loss(f, theta, loss);
    if (status == LINATTN_OK)
        printf("%-8s loss %.6f at theta = (%.3f, %.3f, %.3f, %.3f)\n", name, *loss, theta[0], theta[1], theta[2], theta[3]);
    linattn_trainer_destroy(trainer);
    return status;
}

/* A wrong gradient trains too, only worse: so it is checked before anything else. */
static int check_gradient(linattn_objective *f, int *right) {
    const double theta[DIM] = {0.3, -0.2, 0.1, 0.4};
    linattn_derivative_report report = {.struct_size = sizeof report};
    const int status = linattn_objective_check_derivatives(f, 7, theta, 1e-5, &report);
    if (status != LINATTN_OK) return status;
    *right = report.gradient_error < 1e-6;
    printf("gradient against differences: relative error %.1e%s\n", report.gradient_error, *right ? "" : ", too much");
    return LINATTN_OK;
}

int main(void) {
    static data all;
    make_data(&all);

    linattn_objective *f = NULL;
    linattn_objective_callbacks callbacks;
    linattn_objective_callbacks_init(&callbacks, sizeof callbacks);
    callbacks.parameter_count = DIM;
    callbacks.gradient = logistic_loss;
    int status = linattn_objective_create_callbacks(&f, &callbacks, NULL, &all);
    int right = 0;
    if (status == LINATTN_OK) status = check_gradient(f, &right);

    /* A rate that falls along a cosine: the noise of mini-batches dies out. */
    linattn_optimizer_options options;
    linattn_optimizer_options_init(&options, sizeof options);
    options.rule = LINATTN_RULE_ADAM;
    options.learning_rate = 0.02;
    options.schedule = LINATTN_SCHEDULE_COSINE;
    options.decay_steps = STEPS;
    linattn_optimizer *adam = NULL, *own = NULL;
    double adam_loss, own_loss;
    if (status == LINATTN_OK) status = linattn_optimizer_create(&adam, &options, NULL, 0, DIM);
    if (status == LINATTN_OK) status = train(f, adam, "Adam", &adam_loss);

    linattn_custom_rule rule;
    linattn_custom_rule_init(&rule, sizeof rule);
    rule.name = "adagrad";
    rule.state_count = DIM;
    rule.update = adagrad;
    options.learning_rate = 0.5;
    if (status == LINATTN_OK) status = linattn_optimizer_create_custom(&own, &options, &rule, NULL, NULL, 0, DIM);
    if (status == LINATTN_OK) status = train(f, own, "AdaGrad", &own_loss);
    linattn_objective_destroy(f);

    if (status != LINATTN_OK) {
        fprintf(stderr, "own_objective: %s: %s\n", linattn_status_name(status), linattn_last_message());
        return 1;
    }
    return right ? 0 : 1;
}
