/* recipe.h: training recipes, the published ones, as a table.
 *
 * Rows: setting1, setting2, setting3, sphere, depth2, depth4, depth6, depth8, wide, nonlinear, softmax; docs/adam-vs-sgd.md shows
 * them side by side.
 * Each row is an experiment of Ahn et al., "Linear attention is (maybe) all you need (to understand transformer optimization)",
 * ICLR 2024, arXiv:2310.01082; the learning rates of depth2 to depth8, wide and softmax, which are not published, were tuned here
 * (docs/tuning.md). Every field has a source: linattn_recipe_source. */
#ifndef LINATTN_RECIPE_H
#define LINATTN_RECIPE_H

#include <linattn/export.h>
#include <linattn/model.h>
#include <linattn/optimizer.h>
#include <linattn/sampler.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linattn_recipe {
    size_t struct_size;        /* sizeof(linattn_recipe), set by the caller */
    char name[24];             /* such as "setting1" */
    size_t layers;             /* L */
    size_t dim;                /* d */
    size_t context;            /* n */
    size_t prompts;            /* B, prompts of a batch */
    size_t seeds;              /* runs that are averaged */
    uint64_t steps;
    int32_t covariates;        /* enum linattn_covariates */
    int32_t form;              /* enum linattn_form */
    double gamma_shape;        /* read for gamma covariates */
    double gamma_scale;        /* read for gamma covariates */
    double init_std;
    double clip_threshold;     /* of the global norm */
    double sgd_learning_rate;  /* NaN, in a recipe of the user's: not tuned */
    double sgd_momentum;
    double adam_learning_rate; /* NaN, in a recipe of the user's: not tuned */
    double adam_beta1;
    double adam_beta2;
    double adam_epsilon;
    /* Since 0.3: */
    int32_t attention;         /* enum linattn_attention */
    int32_t task;              /* enum linattn_task */
    size_t mlp_hidden;         /* units of the model's front MLP; 0: there is none */
    size_t hidden;             /* units of the fixed MLP task's network; read for that task */
} linattn_recipe;

/* The number of recipes. */
LINATTN_API size_t linattn_recipe_count(void);

/* Fills *out, whose struct_size the caller has set, with recipe `index`, or the one called `name`.
 * Returns LINATTN_EINVAL; for an unknown name the message lists the known ones. */
LINATTN_API int linattn_recipe_get(size_t index, linattn_recipe *out);
LINATTN_API int linattn_recipe_find(const char *name, linattn_recipe *out);

/* Where a field of recipe `index` comes from, in one line; `field` is its name above, such as "sgd_learning_rate". NULL when there
 * is no such recipe or field. The text lives as long as the library. */
LINATTN_API const char *linattn_recipe_source(size_t index, const char *field);

/* Options as the recipe has them. *options is initialised first (size: sizeof *options), then what the recipe says is set; a seed,
 * a stream or another size can be put in afterwards. rule: LINATTN_RULE_SGD or LINATTN_RULE_ADAM.
 * Return LINATTN_EINVAL or LINATTN_EVERSION. A learning rate that is NaN stays NaN, which linattn_optimizer_create refuses. */
LINATTN_API int linattn_recipe_sampler_options(const linattn_recipe *recipe, linattn_sampler_options *options, size_t size);
LINATTN_API int linattn_recipe_model_options(const linattn_recipe *recipe, linattn_model_options *options, size_t size);
LINATTN_API int linattn_recipe_optimizer_options(const linattn_recipe *recipe, int32_t rule, linattn_optimizer_options *options,
                                                 size_t size);

#ifdef __cplusplus
}
#endif
#endif
