/* test_worst_options.c: each option of each options struct, set in turn to its worst values where it is read: exactly those that its
 * comment in the header does not allow are refused, by a message that names the field, and nothing is then made. */
#include "support/options_rows.h"
#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define w options_world
static void open_world(void) { w = world_open(); }
static void close_world(void) { world_close(&w); }

/* ---- Settings under which a field is read -------------------------------------------------------------------------------------- */
static void as_prepared(void *options) { (void)options; }

#define SETTING(name, type, ...)                                                                                                   \
    static void name(void *options) {                                                                                              \
        type *const o = options;                                                                                                   \
        __VA_ARGS__;                                                                                                               \
    }
static const double rows[4] = {1, 2, 3, 5}, rates[2] = {0.1, 0.2};
SETTING(drawn_by_gamma, linattn_sampler_options, o->covariates = LINATTN_COVARIATES_GAMMA)
SETTING(rotated, linattn_sampler_options, o->covariates = LINATTN_COVARIATES_ROTATED, o->covariate_factor = rows)
SETTING(sparse, linattn_sampler_options, o->task = LINATTN_TASK_SPARSE_LINEAR, o->sparsity = 1)
SETTING(fixed_mlp, linattn_sampler_options, o->task = LINATTN_TASK_FIXED_MLP)
SETTING(table, linattn_sampler_options, o->covariates = LINATTN_COVARIATES_TABLE, o->covariate_table = rows, o->table_rows = 2)
SETTING(sgd, linattn_optimizer_options, o->momentum = 0.5)
SETTING(adam, linattn_optimizer_options, o->rule = LINATTN_RULE_ADAM)
SETTING(clipping, linattn_optimizer_options, o->clip = LINATTN_CLIP_GLOBAL_NORM)
SETTING(steps, linattn_optimizer_options, o->schedule = LINATTN_SCHEDULE_STEP)
SETTING(cosine, linattn_optimizer_options, o->schedule = LINATTN_SCHEDULE_COSINE)
SETTING(polyak, linattn_optimizer_options, o->rule = LINATTN_RULE_POLYAK)
SETTING(descent, linattn_baseline_options, o->baseline = LINATTN_BASELINE_GRADIENT_DESCENT, o->rates = rates)
SETTING(orthonormal, linattn_prompt_options, o->token_kind = LINATTN_PROMPT_ORTHONORMAL)
SETTING(even, linattn_prompt_options, o->sparsity = 1)
SETTING(active, linattn_prompt_options, o->profile = LINATTN_PROMPT_ACTIVE)

/* ---- The options: what the headers allow ---------------------------------------------------------------------------------------- */
enum kind { ENUMERATION, COUNT, ANY_INTEGER, REAL, POINTER, CALLBACK };

typedef struct option {
    const char *type, *field;
    size_t offset, width;
    void (*setting)(void *options);
    enum kind kind;
    double low, high;        /* the least and the largest that are allowed; COUNT: high SIZE_MAX: what there is memory for */
    int open_low, open_high; /* low, high itself is not */
    int needed;              /* POINTER, CALLBACK: NULL is refused */
    const char *says;        /* what a refusal names; NULL: the field */
} option;

#define OPTION(type, field, setting, ...)                                                                                          \
    { #type, #field, offsetof(type, field), sizeof(((type *)0)->field), setting, __VA_ARGS__ }
#define VALUES(count)       ENUMERATION, 0, (count)-1, 0, 0, 0, NULL
#define FROM_TO(low, high)  COUNT, low, high, 0, 0, 0, NULL
#define ANY                 ANY_INTEGER, 0, 0, 0, 0, 0, NULL
#define REALS(low, high)    REAL, low, high, 0, 0, 0, NULL
#define ABOVE(low)          REAL, low, DBL_MAX, 1, 0, 0, NULL
#define BELOW(low, high)    REAL, low, high, 0, 1, 0, NULL
#define ABOVE_TO(low, high) REAL, low, high, 1, 0, 0, NULL
#define NEEDED              POINTER, 0, 0, 0, 0, 1, NULL
#define MAY_BE_NULL         POINTER, 0, 0, 0, 0, 0, NULL
#define CALLED              CALLBACK, 0, 0, 0, 0, 1, NULL
#define MAY_BE_CALLED       CALLBACK, 0, 0, 0, 0, 0, NULL

/* clang-format off */
static const option options[] = {
    OPTION(linattn_sampler_options, dim, as_prepared, FROM_TO(1, LINATTN_MAX_DIM)),
    OPTION(linattn_sampler_options, context, as_prepared, FROM_TO(1, LINATTN_MAX_CONTEXT)),
    OPTION(linattn_sampler_options, seed, as_prepared, ANY),
    OPTION(linattn_sampler_options, covariates, as_prepared, VALUES(5)),
    OPTION(linattn_sampler_options, task, as_prepared, VALUES(6)),
    OPTION(linattn_sampler_options, kind, as_prepared, VALUES(2)),
    OPTION(linattn_sampler_options, stream, as_prepared, VALUES(3)),
    OPTION(linattn_sampler_options, gamma_shape, drawn_by_gamma, ABOVE(0)),
    OPTION(linattn_sampler_options, gamma_scale, drawn_by_gamma, ABOVE(0)),
    OPTION(linattn_sampler_options, noise_std, as_prepared, REALS(0, DBL_MAX)),
    OPTION(linattn_sampler_options, noisy_target, as_prepared, VALUES(2)),
    OPTION(linattn_sampler_options, reserved, as_prepared, VALUES(1)),
    OPTION(linattn_sampler_options, covariate_factor, rotated, NEEDED),
    OPTION(linattn_sampler_options, task_factor, as_prepared, MAY_BE_NULL),
    OPTION(linattn_sampler_options, sparsity, sparse, FROM_TO(1, WORLD_D)),
    OPTION(linattn_sampler_options, hidden, fixed_mlp, FROM_TO(1, LINATTN_MAX_HIDDEN)),
    OPTION(linattn_sampler_options, network_seed, fixed_mlp, ANY),
    OPTION(linattn_sampler_options, covariate_table, table, NEEDED),
    OPTION(linattn_sampler_options, table_rows, table, FROM_TO(1, UINT32_MAX)),
    OPTION(linattn_sampler_options, standardise, table, VALUES(2)),
    OPTION(linattn_sampler_options, reserved_2, as_prepared, VALUES(1)),
    OPTION(linattn_model_options, dim, as_prepared, FROM_TO(1, LINATTN_MAX_DIM)),
    OPTION(linattn_model_options, layers, as_prepared, FROM_TO(1, LINATTN_MAX_LAYERS)),
    OPTION(linattn_model_options, heads, as_prepared, FROM_TO(1, LINATTN_MAX_HEADS)),
    OPTION(linattn_model_options, attention, as_prepared, VALUES(4)),
    OPTION(linattn_model_options, form, as_prepared, VALUES(2)),
    OPTION(linattn_model_options, init_std, as_prepared, REALS(0, 1e300)),
    OPTION(linattn_model_options, qk_rank, as_prepared, FROM_TO(0, LINATTN_MAX_RANK)),
    OPTION(linattn_model_options, mlp_hidden, as_prepared, FROM_TO(0, LINATTN_MAX_HIDDEN)),
    OPTION(linattn_model_options, ff_hidden, as_prepared, FROM_TO(0, LINATTN_MAX_HIDDEN)),
    OPTION(linattn_objective_options, threads, as_prepared, FROM_TO(1, LINATTN_MAX_THREADS)),
    OPTION(linattn_objective_options, kernel, as_prepared, VALUES(4)),
    OPTION(linattn_objective_options, reserved, as_prepared, VALUES(1)),
    OPTION(linattn_objective_options, progress, as_prepared, MAY_BE_CALLED),
    OPTION(linattn_objective_options, user, as_prepared, MAY_BE_NULL),
    OPTION(linattn_objective_callbacks, parameter_count, as_prepared, FROM_TO(1, (double)SIZE_MAX)),
    OPTION(linattn_objective_callbacks, value, as_prepared, MAY_BE_CALLED),
    OPTION(linattn_objective_callbacks, gradient, as_prepared, CALLED),
    OPTION(linattn_objective_callbacks, hvp, as_prepared, MAY_BE_CALLED),
    OPTION(linattn_objective_callbacks, difference_step, as_prepared, REALS(0, 1)),
    OPTION(linattn_optimizer_options, rule, as_prepared, VALUES(7)),
    OPTION(linattn_optimizer_options, clip, as_prepared, VALUES(4)),
    OPTION(linattn_optimizer_options, schedule, as_prepared, VALUES(3)),
    OPTION(linattn_optimizer_options, nonfinite, as_prepared, VALUES(2)),
    OPTION(linattn_optimizer_options, nesterov, sgd, VALUES(2)),
    OPTION(linattn_optimizer_options, reserved, as_prepared, VALUES(1)),
    OPTION(linattn_optimizer_options, learning_rate, as_prepared, REALS(0, DBL_MAX)),
    OPTION(linattn_optimizer_options, momentum, as_prepared, BELOW(0, 1)),
    OPTION(linattn_optimizer_options, dampening, sgd, REALS(0, 1)),
    OPTION(linattn_optimizer_options, beta1, adam, BELOW(0, 1)),
    OPTION(linattn_optimizer_options, beta2, adam, BELOW(0, 1)),
    OPTION(linattn_optimizer_options, epsilon, adam, REALS(0, DBL_MAX)),
    OPTION(linattn_optimizer_options, weight_decay, as_prepared, REALS(0, DBL_MAX)),
    OPTION(linattn_optimizer_options, clip_threshold, clipping, ABOVE(0)),
    OPTION(linattn_optimizer_options, warmup_steps, as_prepared, ANY),
    OPTION(linattn_optimizer_options, decay_steps, steps, FROM_TO(1, (double)UINT64_MAX)),
    OPTION(linattn_optimizer_options, decay_factor, steps, ABOVE_TO(0, 1)),
    OPTION(linattn_optimizer_options, min_learning_rate, cosine, REALS(0, 0.5)), /* which is the learning rate here */
    OPTION(linattn_optimizer_options, minimum_value, polyak, REALS(-DBL_MAX, DBL_MAX)),
    OPTION(linattn_custom_rule, state_count, as_prepared, FROM_TO(0, (double)SIZE_MAX)),
    OPTION(linattn_custom_rule, name, as_prepared, NEEDED),
    OPTION(linattn_custom_rule, update, as_prepared, CALLED),
    OPTION(linattn_trainer_options, record_stride, as_prepared, ANY),
    OPTION(linattn_trainer_options, observer_stride, as_prepared, FROM_TO(1, (double)UINT64_MAX)),
    OPTION(linattn_trainer_options, observer, as_prepared, MAY_BE_CALLED),
    OPTION(linattn_trainer_options, user, as_prepared, MAY_BE_NULL),
    OPTION(linattn_baseline_options, baseline, descent, VALUES(2)),
    OPTION(linattn_baseline_options, reserved, as_prepared, VALUES(1)),
    OPTION(linattn_baseline_options, lambda, as_prepared, REALS(0, DBL_MAX)),
    OPTION(linattn_baseline_options, task_factor, as_prepared, MAY_BE_NULL),
    OPTION(linattn_baseline_options, steps, descent, FROM_TO(1, LINATTN_MAX_BASELINE_STEPS)),
    OPTION(linattn_baseline_options, rates, descent, NEEDED),
    OPTION(linattn_baseline_options, preconditioner, descent, MAY_BE_NULL),
    OPTION(linattn_baseline_options, progress, as_prepared, MAY_BE_CALLED),
    OPTION(linattn_baseline_options, user, as_prepared, MAY_BE_NULL),
    OPTION(linattn_diagnostics_options, threads, as_prepared, FROM_TO(1, LINATTN_MAX_THREADS)),
    OPTION(linattn_diagnostics_options, progress, as_prepared, MAY_BE_CALLED),
    OPTION(linattn_diagnostics_options, user, as_prepared, MAY_BE_NULL),
    OPTION(linattn_curvature_options, first, as_prepared, FROM_TO(0, WORLD_P - 1)),
    OPTION(linattn_curvature_options, count, as_prepared, FROM_TO(0, WORLD_P)),
    OPTION(linattn_curvature_options, preconditioner, as_prepared, MAY_BE_NULL),
    OPTION(linattn_curvature_options, median_rule, as_prepared, VALUES(2)),
    OPTION(linattn_curvature_options, reserved, as_prepared, VALUES(1)),
    OPTION(linattn_lanczos_options, steps, as_prepared, FROM_TO(1, 4096)),
    OPTION(linattn_lanczos_options, tolerance, as_prepared, REALS(0, 1)),
    OPTION(linattn_lanczos_options, seed, as_prepared, ANY),
    OPTION(linattn_lanczos_options, preconditioner, as_prepared, MAY_BE_NULL),
    OPTION(linattn_gradient_error_options, samples, as_prepared, FROM_TO(1, 4294967296.0)),
    OPTION(linattn_gradient_error_options, reference_draws, as_prepared, FROM_TO(1, 4294967296.0)),
    OPTION(linattn_gradient_error_options, first_draw, as_prepared, ANY),
    OPTION(linattn_gradient_error_options, measure, as_prepared, VALUES(2)),
    OPTION(linattn_gradient_error_options, reserved, as_prepared, VALUES(1)),
    OPTION(linattn_gradient_error_options, reference, as_prepared, MAY_BE_NULL),
    OPTION(linattn_gradient_error_options, directions, as_prepared, MAY_BE_NULL),
    OPTION(linattn_gradient_error_options, direction_count, as_prepared, COUNT, 0, 0, 0, 0, 0, "directions"), /* of which there are none */
    OPTION(linattn_gradient_error_options, surrogates, as_prepared, FROM_TO(0, 4294967296.0)),
    OPTION(linattn_gradient_error_options, seed, as_prepared, ANY),
    OPTION(linattn_resampling_options, resamples, as_prepared, FROM_TO(100, LINATTN_MAX_RESAMPLES)), /* of an interval */
    OPTION(linattn_resampling_options, seed, as_prepared, ANY),
    OPTION(linattn_resampling_options, progress, as_prepared, MAY_BE_CALLED),
    OPTION(linattn_resampling_options, user, as_prepared, MAY_BE_NULL),
    OPTION(linattn_prompt_options, examples, as_prepared, FROM_TO(1, (double)SIZE_MAX)),
    OPTION(linattn_prompt_options, tokens, even, FROM_TO(1, (double)SIZE_MAX)),
    OPTION(linattn_prompt_options, dim, orthonormal, FROM_TO(WORLD_EXAMPLES *WORLD_TOKENS, (double)SIZE_MAX)),
    OPTION(linattn_prompt_options, seed, as_prepared, ANY),
    OPTION(linattn_prompt_options, attention, as_prepared, VALUES(2)),
    OPTION(linattn_prompt_options, loss, as_prepared, VALUES(2)),
    OPTION(linattn_prompt_options, train_value, as_prepared, VALUES(2)),
    OPTION(linattn_prompt_options, token_kind, as_prepared, VALUES(2)),
    OPTION(linattn_prompt_options, key_map, as_prepared, VALUES(2)),
    OPTION(linattn_prompt_options, profile, as_prepared, VALUES(3)),
    OPTION(linattn_prompt_options, active, active, FROM_TO(1, WORLD_TOKENS - 1)),
    OPTION(linattn_prompt_options, sparsity, as_prepared, REALS(1e-300, 1)),
    OPTION(linattn_prompt_options, temperature, as_prepared, ABOVE(0)),
    OPTION(linattn_prompt_options, noise, as_prepared, REALS(0, DBL_MAX)),
    OPTION(linattn_prompt_options, progress, as_prepared, MAY_BE_CALLED),
    OPTION(linattn_prompt_options, user, as_prepared, MAY_BE_NULL),
};
/* clang-format on */
enum { OPTIONS = sizeof options / sizeof *options, ROOM = 512 };

/* ---- The tests ------------------------------------------------------------------------------------------------------------------ */
/* Good options, the field being read. */
static const options_row *prepare(const option *o, unsigned char *room) {
    const options_row *row = options_row_of(o->type);
    ck_assert_msg(row && row->size <= ROOM, "%s", o->type);
    ck_assert_ok(row->init(room, row->size));
    row->prepare(room);
    o->setting(room);
    return row;
}

/* The call refuses the value, makes nothing, and takes good options after it. shown: the value in words, for complaints. */
static void refused(const option *o, const void *value, const char *shown) {
    unsigned char room[ROOM];
    const options_row *row = prepare(o, room);
    double made = 7;
    memcpy(room + o->offset, value, o->width);
    const int status = row->use(room, &made);
    const char *message = linattn_last_message();
    ck_assert_msg(status == LINATTN_EINVAL, "%s.%s = %s: %s (%s)", o->type, o->field, shown, linattn_status_name(status), message);
    ck_assert_msg(strstr(message, o->says ? o->says : o->field) != NULL, "%s.%s = %s: \"%s\"", o->type, o->field, shown, message);
    ck_assert_msg(!strpbrk(message, "\n\r\t") && strlen(message) < 512, "%s.%s = %s: \"%s\"", o->type, o->field, shown, message);
    ck_assert_double_eq(made, 7);
    row = prepare(o, room);
    ck_assert_ok(row->use(room, &made));
}

/* The call takes the value, or says that what it asks for does not fit into this machine, overflows on the way, or ends too soon. */
static void taken(const option *o, const void *value, const char *shown) {
    unsigned char room[ROOM];
    const options_row *row = prepare(o, room);
    double made = 7;
    memcpy(room + o->offset, value, o->width);
    const int status = row->use(room, &made);
    ck_assert_msg(status == LINATTN_OK || status == LINATTN_ENOMEM || status == LINATTN_EOVERFLOW || status == LINATTN_ENONFINITE ||
                      status == LINATTN_ENOTCONVERGED,
                  "%s.%s = %s: %s (%s)", o->type, o->field, shown, linattn_status_name(status), linattn_last_message());
    if (status) ck_assert_double_eq(made, 7);
}

static void real(const option *o, double x) {
    char shown[40];
    snprintf(shown, sizeof shown, "%g", x);
    const int allowed = (o->open_low ? x > o->low : x >= o->low) && (o->open_high ? x < o->high : x <= o->high);
    (allowed ? taken : refused)(o, &x, shown);
}

static void integer(const option *o, int32_t x) {
    char shown[40];
    snprintf(shown, sizeof shown, "%d", (int)x);
    if (x < o->low || x > o->high) refused(o, &x, shown);
}

/* Allowed counts may be too large for a test: only the ends of short ranges are tried. */
static void count(const option *o, uint64_t x) {
    char shown[40];
    snprintf(shown, sizeof shown, "%llu", (unsigned long long)x);
    if ((double)x < o->low || (double)x > o->high)
        refused(o, &x, shown);
    else if (x <= WORLD_P)
        taken(o, &x, shown);
}

START_TEST(worst_values) {
    static const double reals[] = {NAN, INFINITY, -INFINITY, -1, -5e-324, 0, 5e-324, 1, 1 + 2e-16, 2, 1e300, DBL_MAX, -DBL_MAX};
    static const uint64_t counts[] = {0, 1, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINT64_MAX / 2 + 1, UINT64_MAX};
    const option *o = &options[_i];
    void *const none = NULL;
    switch (o->kind) {
    case ENUMERATION:
        ck_assert_uint_eq(o->width, sizeof(int32_t));
        integer(o, -1), integer(o, (int32_t)o->high + 1), integer(o, INT32_MAX), integer(o, INT32_MIN);
        break;
    case COUNT:
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) count(o, counts[i]);
        if (o->low > 0) count(o, (uint64_t)o->low - 1);
        if (o->high < 1e19) count(o, (uint64_t)o->high), count(o, (uint64_t)o->high + 1);
        break;
    case ANY_INTEGER:
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) taken(o, &counts[i], "any");
        break;
    case REAL:
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) real(o, reals[i]);
        break;
    default:
        ck_assert_uint_eq(o->width, sizeof none);
        (o->needed ? refused : taken)(o, &none, "NULL");
    }
}
END_TEST

/* The ledger lists every field of every public struct. */
START_TEST(no_option_is_missing_here) {
    char line[256], type[64], field[64];
    size_t found = 0;
    FILE *ledger = fopen("tests/abi/interface.c", "r");
    ck_assert_msg(ledger != NULL, "run from the top folder");
    while (fgets(line, sizeof line, ledger)) {
        if (sscanf(line, "AT(%*u, %63[a-z_0-9], %63[a-z_0-9]", type, field) != 2 &&
            sscanf(line, "CALL(%*u, %63[a-z_0-9], %63[a-z_0-9]", type, field) != 2)
            continue;
        if (!options_row_of(type) || strcmp(field, "struct_size") == 0) continue;
        int known = 0;
        for (size_t i = 0; i < OPTIONS; i++) known |= strcmp(options[i].type, type) == 0 && strcmp(options[i].field, field) == 0;
        ck_assert_msg(known, "%s.%s has no row in this file", type, field);
        found++;
    }
    fclose(ledger);
    ck_assert_uint_eq(found, OPTIONS);
}
END_TEST

static Suite *worst_options_suite(void) {
    Suite *suite = suite_create("worst options");
    TCase *tc = tcase_create("options");
    tcase_add_checked_fixture(tc, open_world, close_world);
    tcase_add_loop_test(tc, worst_values, 0, OPTIONS);
    tcase_add_test(tc, no_option_is_missing_here);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(worst_options_suite)
