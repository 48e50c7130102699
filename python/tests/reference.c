/* reference.c: the numbers that Python must get too, bit for bit: a run of setting 1, a gradient and a Hessian, one hexadecimal
 * number a line. Built by `make check-python`; python/tests/test_reference.py reads what it prints. */
#include <linattn/linattn.h>
#include <stdio.h>
#include <stdlib.h>

enum { P = 150, STEPS = 200 };

static void check(int status) {
    if (status == LINATTN_OK) return;
    fprintf(stderr, "reference: %s\n", linattn_last_message());
    exit(EXIT_FAILURE);
}

static void print(const char *name, const double *numbers, size_t count) {
    printf("%s %zu\n", name, count);
    for (size_t i = 0; i < count; i++) printf("%a\n", numbers[i]);
}

int main(void) {
    static double theta[P], gradient[P], hessian[P * P];
    double value;
    linattn_recipe recipe = {.struct_size = sizeof recipe};
    linattn_sampler_options data;
    linattn_model_options shape;
    linattn_optimizer_options rule;
    linattn_sampler *sampler;
    linattn_model *model;
    linattn_objective *objective;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    check(linattn_recipe_find("setting1", &recipe));
    check(linattn_recipe_sampler_options(&recipe, &data, sizeof data));
    check(linattn_recipe_model_options(&recipe, &shape, sizeof shape));
    check(linattn_recipe_optimizer_options(&recipe, LINATTN_RULE_ADAM, &rule, sizeof rule));
    data.seed = 11;
    check(linattn_sampler_create(&sampler, &data));
    check(linattn_model_create(&model, &shape));
    check(linattn_objective_create_sampled(&objective, model, sampler, recipe.prompts, NULL));
    check(linattn_model_init_parameters(model, 11, theta));
    check(linattn_optimizer_create(&optimizer, &rule, NULL, 0, P));
    check(linattn_trainer_create(&trainer, objective, optimizer, theta, NULL));
    check(linattn_trainer_run(trainer, STEPS, NULL));
    check(linattn_trainer_get_parameters(trainer, theta));
    check(linattn_objective_gradient(objective, STEPS, theta, &value, gradient));
    check(linattn_objective_hessian(objective, STEPS, theta, hessian));
    print("theta", theta, P);
    print("value", &value, 1);
    print("gradient", gradient, P);
    print("hessian", hessian, (size_t)P * P);
    linattn_trainer_destroy(trainer);
    linattn_optimizer_destroy(optimizer);
    linattn_objective_destroy(objective);
    linattn_model_destroy(model);
    linattn_sampler_destroy(sampler);
}
