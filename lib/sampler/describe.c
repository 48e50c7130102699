/* What a sampler draws, told field by field for checkpoints. */
#include "sampler/prompts.h"

/* A factor (d, d) by a digest of its numbers; 0 for none. */
static uint64_t factor_digest(const double *factor, size_t d) {
    return factor ? linattn__digest_reals(LINATTN__DIGEST_BEGIN, factor, d * d) : 0;
}

static uint64_t table_digest(const linattn_sampler_options *o) {
    return linattn__digest_reals(LINATTN__DIGEST_BEGIN, o->covariate_table, o->table_rows * o->dim);
}

int linattn__sampler_describe(const linattn_sampler *sampler, linattn__describe visit, void *user) {
    const linattn_sampler_options *o = linattn__sampler_get_options(sampler);
    const int custom = linattn__sampler_is_custom(sampler);
    const int gamma = o->covariates == LINATTN_COVARIATES_GAMMA;
    const int table = o->covariates == LINATTN_COVARIATES_TABLE;
    const int network = o->task == LINATTN_TASK_FIXED_MLP || o->task == LINATTN_TASK_RELU_NETWORK;
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {{"sampler.dim", o->dim},
                  {"sampler.context", o->context},
                  {"sampler.seed", o->seed},
                  {"sampler.covariates", (uint64_t)o->covariates},
                  {"sampler.task", (uint64_t)o->task},
                  {"sampler.kind", (uint64_t)o->kind},
                  {"sampler.stream", (uint64_t)o->stream},
                  {"sampler.gamma_shape", gamma ? linattn__real_bits(o->gamma_shape) : 0},
                  {"sampler.gamma_scale", gamma ? linattn__real_bits(o->gamma_scale) : 0},
                  {"sampler.noise_std", linattn__real_bits(o->noise_std + 0.0) /* -0 is 0 */},
                  {"sampler.noisy_target", (uint64_t)o->noisy_target},
                  {"sampler.covariate_factor.digest", factor_digest(o->covariate_factor, o->dim)},
                  {"sampler.task_factor.digest", factor_digest(o->task_factor, o->dim)},
                  /* The following only where they are read: a checkpoint of before they were there can then still be continued. */
                  {o->task == LINATTN_TASK_SPARSE_LINEAR ? "sampler.sparsity" : NULL, o->sparsity},
                  {network ? "sampler.hidden" : NULL, o->hidden},
                  {o->task == LINATTN_TASK_FIXED_MLP ? "sampler.network_seed" : NULL, o->network_seed},
                  {custom ? "sampler.custom" : NULL, 1},
                  {table ? "sampler.table_rows" : NULL, o->table_rows},
                  {table ? "sampler.covariate_table.digest" : NULL, table ? table_digest(o) : 0} /* standardised */};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const int status = fields[i].name != NULL ? visit(fields[i].name, fields[i].value, user) : 0;
        if (status != 0) return status;
    }
    return 0;
}
