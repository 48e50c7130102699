/* quickstart: trains the smallest transformer with Adam for 2000 steps and prints its loss on a batch it has not seen.
 *
 * The first program of README.md, with remarks. */
#include <linattn/linattn.h>
#include <stdio.h>

int main(void) {
    /* Structs carry their size, so that either side may be newer: result structs as here, options structs through init calls. */
    linattn_recipe r = {.struct_size = sizeof r};
    double theta[150], loss; /* 2 L d^2 parameters; the model itself holds none */

    linattn_sampler_options data;
    linattn_model_options shape;
    linattn_optimizer_options rule;

    linattn_sampler *s;
    linattn_model *m;
    linattn_objective *f;
    linattn_optimizer *o;
    linattn_trainer *t;

    /* Every call returns 0 or a negative status, and then leaves one line that says what was wrong. */
    if (linattn_recipe_find("setting1", &r) || linattn_recipe_sampler_options(&r, &data, sizeof data) ||
        linattn_recipe_model_options(&r, &shape, sizeof shape) || linattn_sampler_create(&s, &data) ||
        linattn_recipe_optimizer_options(&r, LINATTN_RULE_ADAM, &rule, sizeof rule) || linattn_model_create(&m, &shape) ||
        /* f(theta; draw): the mean squared error over batch number `draw`, r.prompts prompts drawn by s */
        linattn_objective_create_sampled(&f, m, s, r.prompts, NULL) ||
        /* theta above is as long as this recipe needs */
        linattn_model_parameter_count(m) != 150 || linattn_model_init_parameters(m, 1, theta) ||
        /* no tensor table (NULL, 0): Adam and clipping by the global norm do not need it */
        linattn_optimizer_create(&o, &rule, NULL, 0, 150) || linattn_trainer_create(&t, f, o, theta, NULL) ||
        linattn_trainer_run(t, 2000, NULL) || linattn_trainer_get_parameters(t, theta) ||
        /* steps 0 to 1999 took draws 0 to 1999, so draw 2000 is new */
        linattn_objective_value(f, 2000, theta, &loss))
        return puts(linattn_last_message()), 1;

    printf("loss after 2000 steps: %.3g\n", loss);
    /* What is still used by another object lives on inside it: any order will do. */
    linattn_trainer_destroy(t);
    linattn_optimizer_destroy(o);
    linattn_objective_destroy(f);
    linattn_model_destroy(m);
    linattn_sampler_destroy(s);
}
