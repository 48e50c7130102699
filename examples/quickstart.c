/* quickstart: trains the smallest transformer with Adam for 2000 steps and prints its loss on a batch it has not seen.
 *
 * The lines of C in README.md are from here: after a change, tests/test_examples.sh says what differs. */
#include <linattn/linattn.h>
#include <stdio.h>
#include <stdlib.h>

enum { P = 150 }; /* parameters of setting 1: 2 L d^2 with L = 3 layers and d = 5 covariates */

/* Every call that fails returns a negative status, and leaves one line that says what was wrong. */
static void check(int status) {
    if (status >= 0) return;
    fprintf(stderr, "%s\n", linattn_last_message());
    exit(1);
}

int main(void) {
    /* Structs carry their size, so that either side may be newer: result structs as here, options structs through init calls. */
    linattn_recipe recipe = {.struct_size = sizeof recipe};
    linattn_sampler_options data;
    linattn_model_options shape;
    linattn_optimizer_options rule;
    check(linattn_recipe_find("setting1", &recipe));
    check(linattn_recipe_sampler_options(&recipe, &data, sizeof data));
    check(linattn_recipe_model_options(&recipe, &shape, sizeof shape));
    check(linattn_recipe_optimizer_options(&recipe, LINATTN_RULE_ADAM, &rule, sizeof rule));

    linattn_sampler *sampler;
    linattn_model *model;
    linattn_objective *objective;
    linattn_optimizer *adam;
    linattn_trainer *trainer;
    double theta[P], loss; /* the model itself holds no parameters */

    check(linattn_sampler_create(&sampler, &data));
    check(linattn_model_create(&model, &shape));
    /* f(theta; draw): the mean squared error over batch number `draw`, drawn by the sampler */
    check(linattn_objective_create_sampled(&objective, model, sampler, recipe.prompts, NULL));
    /* no tensor table (NULL, 0): Adam and clipping by the global norm do not need it */
    check(linattn_optimizer_create(&adam, &rule, NULL, 0, P));
    check(linattn_model_init_parameters(model, 1, theta));
    check(linattn_trainer_create(&trainer, objective, adam, theta, NULL));
    check(linattn_trainer_run(trainer, 2000, NULL));
    check(linattn_trainer_get_parameters(trainer, theta));
    /* steps 0 to 1999 took draws 0 to 1999, so draw 2000 is new */
    check(linattn_objective_value(objective, 2000, theta, &loss));
    printf("loss after 2000 steps: %.3g\n", loss);

    /* What is still used by another object lives on inside it: any order will do. */
    linattn_trainer_destroy(trainer);
    linattn_optimizer_destroy(adam);
    linattn_objective_destroy(objective);
    linattn_model_destroy(model);
    linattn_sampler_destroy(sampler);
}
