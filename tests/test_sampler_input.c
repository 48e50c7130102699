/* test_sampler_input.c: every wrong argument of sampler.h has a status and a message of its own, and changes nothing. */
#include "common/allocate.h"
#include "support/suite.h"
#include <math.h>
#include <stdio.h>

static linattn_sampler_options good(void) {
    linattn_sampler_options o;
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    o.dim = 2;
    o.context = 3;
    return o;
}

static void refuse(const linattn_sampler_options *options, int status, const char *text) {
    linattn_sampler *sampler = (linattn_sampler *)(uintptr_t)1;
    ck_assert_status(linattn_sampler_create(&sampler, options), status, text);
    ck_assert_ptr_null(sampler);
}

START_TEST(defaults) {
    linattn_sampler_options o = good();
    ck_assert_uint_eq(o.struct_size, sizeof o);
    ck_assert(o.gamma_shape == 1 && o.gamma_scale == 1 && o.noise_std == 0 && o.covariate_factor == NULL && o.task_factor == NULL);
    ck_assert(o.seed == 0 && o.covariates == 0 && o.task == 0 && o.kind == 0 && o.stream == 0 && o.noisy_target == 0 &&
              o.reserved == 0);
    ck_assert(o.sparsity == 0 && o.hidden == 10 && o.network_seed == 0);
    ck_assert(o.covariate_table == NULL && o.table_rows == 0 && o.standardise == 0 && o.reserved_2 == 0);
    ck_assert_ok(linattn_sampler_options_init(&o, sizeof o));
    ck_assert_uint_eq(o.dim + o.context, 0); /* to be set */
    refuse(&o, LINATTN_EINVAL, "dim is 0");
    ck_assert_status(linattn_sampler_options_init(NULL, sizeof o), LINATTN_EINVAL, "NULL");
    ck_assert_status(linattn_sampler_options_init(&o, 8), LINATTN_EINVAL, "linattn_sampler_options");
}
END_TEST

START_TEST(null_and_versions) {
    linattn_sampler_options o = good();
    ck_assert_status(linattn_sampler_create(NULL, &o), LINATTN_EINVAL, "out is NULL");
    refuse(NULL, LINATTN_EINVAL, "NULL");
    o.struct_size = 0;
    refuse(&o, LINATTN_EINVAL, "struct_size");
    o.struct_size = 8;
    refuse(&o, LINATTN_EINVAL, "struct_size");
    struct {
        linattn_sampler_options known;
        uint64_t unknown;
    } newer = {good(), 0};
    newer.known.struct_size = sizeof newer;
    linattn_sampler *sampler;
    ck_assert_ok(linattn_sampler_create(&sampler, &newer.known));
    linattn_sampler_destroy(sampler);
    newer.unknown = 1;
    refuse(&newer.known, LINATTN_EVERSION, "linattn_sampler_options");
}
END_TEST

#define REFUSE(field, value, status, text)                                                                                         \
    do {                                                                                                                           \
        linattn_sampler_options wrong = good();                                                                                    \
        wrong.field = (value);                                                                                                     \
        refuse(&wrong, status, text);                                                                                              \
    } while (0)

START_TEST(each_option_wrong) {
    REFUSE(dim, 0, LINATTN_EINVAL, "dim is 0");
    REFUSE(dim, LINATTN_MAX_DIM + 1, LINATTN_EINVAL, "dim is 1025; allowed: 1 to 1024");
    REFUSE(dim, SIZE_MAX, LINATTN_EINVAL, "dim is 18446744073709551615");
    REFUSE(context, 0, LINATTN_EINVAL, "context is 0");
    REFUSE(context, (size_t)LINATTN_MAX_CONTEXT + 1, LINATTN_EINVAL, "context is 4194305; allowed: 1 to 4194304");
    REFUSE(covariates, -1, LINATTN_EINVAL, "covariates is -1");
    REFUSE(covariates, 5, LINATTN_EINVAL, "covariates is 5; allowed: the values 0 to 4 of enum linattn_covariates");
    REFUSE(task, 6, LINATTN_EINVAL, "task is 6; allowed: the values 0 to 5 of enum linattn_task");
    REFUSE(task, INT32_MIN, LINATTN_EINVAL, "task is -2147483648");
    REFUSE(kind, 2, LINATTN_EINVAL, "kind is 2");
    REFUSE(kind, -1, LINATTN_EINVAL, "kind is -1");
    REFUSE(stream, 3, LINATTN_EINVAL, "stream is 3");
    REFUSE(stream, -1, LINATTN_EINVAL, "stream is -1");
    REFUSE(noise_std, -0.5, LINATTN_EINVAL, "noise_std is -0.5");
    REFUSE(noise_std, NAN, LINATTN_EINVAL, "noise_std is nan");
    REFUSE(noise_std, INFINITY, LINATTN_EINVAL, "noise_std is inf");
    REFUSE(noisy_target, 2, LINATTN_EINVAL, "noisy_target is 2");
    REFUSE(reserved, 1, LINATTN_EINVAL, "reserved is 1");
    REFUSE(reserved_2, -1, LINATTN_EINVAL, "reserved_2 is -1");
}
END_TEST

START_TEST(options_of_distributions) {
    const double bad_numbers[] = {0, -1, NAN, INFINITY, -INFINITY}, factor[4] = {1, 2, NAN, 4};
    for (int i = 0; i < 5; i++) {
        linattn_sampler_options o = good();
        linattn_sampler *sampler;
        o.gamma_shape = o.gamma_scale = bad_numbers[i];
        ck_assert_ok(linattn_sampler_create(&sampler, &o)); /* not read by normal covariates */
        linattn_sampler_destroy(sampler);
        o.covariates = LINATTN_COVARIATES_GAMMA;
        refuse(&o, LINATTN_EINVAL, "gamma_shape is ");
        o.gamma_shape = 1;
        refuse(&o, LINATTN_EINVAL, "gamma_scale is ");
    }
    REFUSE(covariates, LINATTN_COVARIATES_ROTATED, LINATTN_EINVAL, "covariate_factor");
    REFUSE(task_factor, factor, LINATTN_ENONFINITE, "task_factor[2] is nan");
    linattn_sampler_options o = good();
    o.covariates = LINATTN_COVARIATES_ROTATED;
    o.covariate_factor = factor;
    refuse(&o, LINATTN_ENONFINITE, "covariate_factor[2] is nan");
}
END_TEST

START_TEST(options_of_tables) {
    const double table[6] = {1, 2, 3, 4, INFINITY, 6};
    linattn_sampler_options o = good();
    linattn_sampler *sampler;
    o.standardise = 2;
    ck_assert_ok(linattn_sampler_create(&sampler, &o)); /* not read by normal covariates */
    linattn_sampler_destroy(sampler);
    o.covariates = LINATTN_COVARIATES_TABLE;
    refuse(&o, LINATTN_EINVAL, "covariate_table (needed by table covariates) is NULL");
    o.covariate_table = table;
    refuse(&o, LINATTN_EINVAL, "table_rows is 0; allowed: 1 to 4294967295");
    o.table_rows = SIZE_MAX;
    refuse(&o, LINATTN_EINVAL, "table_rows is 18446744073709551615");
    o.table_rows = 2;
    refuse(&o, LINATTN_EINVAL, "standardise is 2; allowed: 0 and 1");
    o.standardise = -1;
    refuse(&o, LINATTN_EINVAL, "standardise is -1");
    o.standardise = 1;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    linattn_sampler_destroy(sampler);
    o.table_rows = 3;
    refuse(&o, LINATTN_ENONFINITE, "covariate_table[4] is inf");
    o.table_rows = 1; /* one row: every column is constant */
    refuse(&o, LINATTN_EDEGENERATE, "column 0 of covariate_table (counted from 0) is 1 in all rows (1)");
    const double constant[] = {1, 0.1, 2, 0.1, 5, 0.1};
    o.covariate_table = constant;
    o.table_rows = 3;
    refuse(&o, LINATTN_EDEGENERATE,
           "column 1 of covariate_table (counted from 0) is 0.1 in all rows (3); allowed with standardise");
    o.standardise = 0;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    linattn_sampler_destroy(sampler);
    o.covariate_table = table;
    o.table_rows = 2;
    o.kind = LINATTN_BATCH_MOMENTS;
    refuse(&o, LINATTN_EUNSUPPORTED, "kind is moments, which needs Gaussian covariates");
}
END_TEST

/* Each task reads its own options, and those alone. */
START_TEST(options_of_tasks) {
    for (int32_t task = LINATTN_TASK_LINEAR; task <= LINATTN_TASK_RELU_NETWORK; task++) {
        const int sparse = task == LINATTN_TASK_SPARSE_LINEAR;
        const int network = task == LINATTN_TASK_FIXED_MLP || task == LINATTN_TASK_RELU_NETWORK;
        const size_t bad_hidden[] = {0, LINATTN_MAX_HIDDEN + 1, SIZE_MAX}, bad_sparsity[] = {0, 3, SIZE_MAX};
        const double factor[4] = {1, 2, 3, NAN};
        linattn_sampler_options o = good();
        linattn_sampler *sampler;
        o.task = task;
        for (int i = 0; i < 3; i++) {
            o.hidden = network ? 10 : bad_hidden[i];
            o.sparsity = sparse ? 1 : bad_sparsity[i];
            ck_assert_ok(linattn_sampler_create(&sampler, &o));
            linattn_sampler_destroy(sampler);
            o.hidden = bad_hidden[i];
            if (network) refuse(&o, LINATTN_EINVAL, i == 1 ? "hidden is 4097; allowed: 1 to 4096" : "hidden is ");
            o.sparsity = bad_sparsity[i];
            if (sparse) refuse(&o, LINATTN_EINVAL, i == 1 ? "sparsity is 3; allowed: 1 to dim" : "sparsity is ");
        }
        o.sparsity = o.dim;
        o.hidden = LINATTN_MAX_HIDDEN;
        ck_assert_ok(linattn_sampler_create(&sampler, &o));
        linattn_sampler_destroy(sampler);
        o.task_factor = factor;
        if (task != LINATTN_TASK_RELU_NETWORK) refuse(&o, LINATTN_ENONFINITE, "task_factor[3] is nan");
    }
}
END_TEST

START_TEST(moments_need_a_linear_task) {
    for (int32_t task = LINATTN_TASK_LINEAR; task <= LINATTN_TASK_RELU_NETWORK; task++) {
        linattn_sampler_options o = good();
        linattn_sampler *sampler;
        o.kind = LINATTN_BATCH_MOMENTS;
        o.task = task;
        o.sparsity = 1;
        if (task > LINATTN_TASK_SPARSE_LINEAR) {
            char text[64];
            snprintf(text, sizeof text, "kind is moments and task is %d; allowed", (int)task);
            refuse(&o, LINATTN_EUNSUPPORTED, text);
        } else {
            ck_assert_ok(linattn_sampler_create(&sampler, &o));
            linattn_sampler_destroy(sampler);
        }
    }
}
END_TEST

/* The options as they were in the first release. */
typedef struct first_options {
    size_t struct_size, dim, context;
    uint64_t seed;
    int32_t covariates, task, kind, stream;
    double gamma_shape, gamma_scale, noise_std;
    int32_t noisy_target, reserved;
    const double *covariate_factor, *task_factor;
} first_options;

/* A program built for them hands over a shorter struct, and gets what it always got. */
START_TEST(the_first_struct_is_understood) {
    struct {
        first_options options;
        unsigned char beyond[64]; /* not the library's to read */
    } old;
    void *const old_options = &old.options;
    linattn_sampler_options whole = good();
    linattn_sampler *sampler;
    linattn_batch *batch;
    double targets[2][4];
    memset(&old, 0xee, sizeof old);
    ck_assert_ok(linattn_sampler_options_init(old_options, sizeof old.options));
    ck_assert_uint_eq(old.options.struct_size, sizeof old.options);
    for (size_t i = 0; i < sizeof old.beyond; i++) ck_assert_int_eq(old.beyond[i], 0xee);
    old.options.dim = whole.dim;
    old.options.context = whole.context;
    for (int i = 0; i < 2; i++) {
        ck_assert_ok(linattn_sampler_create(&sampler, i ? old_options : &whole));
        ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 4, 0));
        ck_assert_ok(linattn_batch_get_arrays(batch, NULL, targets[i]));
        linattn_batch_destroy(batch);
        linattn_sampler_destroy(sampler);
    }
    ck_assert_mem_eq(targets[0], targets[1], sizeof targets[0]);
    old.options.task = LINATTN_TASK_FIXED_MLP; /* with the defaults of the options that it cannot name */
    ck_assert_ok(linattn_sampler_create(&sampler, old_options));
    linattn_sampler_destroy(sampler);
    old.options.task = LINATTN_TASK_SPARSE_LINEAR;
    refuse(old_options, LINATTN_EINVAL, "sparsity is 0");
    old.options.struct_size--;
    refuse(old_options, LINATTN_EINVAL, "struct_size");
}
END_TEST

START_TEST(moments_need_gaussian_covariates) {
    linattn_sampler_options o = good();
    linattn_sampler *sampler;
    o.kind = LINATTN_BATCH_MOMENTS;
    o.covariates = LINATTN_COVARIATES_SPHERE;
    refuse(&o, LINATTN_EUNSUPPORTED, "kind is moments");
    o.covariates = LINATTN_COVARIATES_GAMMA;
    o.gamma_shape = 0.1;
    refuse(&o, LINATTN_EUNSUPPORTED, "gamma_shape = dim/2");
    o.gamma_shape = 1; /* d/2 */
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    linattn_batch *batch;
    double tokens[4 * 3], target;
    ck_assert_ok(linattn_batch_create_from_sampler(&batch, sampler, 1, 0));
    tokens[0] = target = 17;
    ck_assert_status(linattn_batch_get_arrays(batch, tokens, &target), LINATTN_EUNSUPPORTED, "tokens");
    ck_assert(tokens[0] == 17 && target == 17);
    ck_assert_ok(linattn_batch_get_arrays(batch, NULL, &target));
    ck_assert(target != 17);
    linattn_batch_destroy(batch);
    linattn_sampler_destroy(sampler);
}
END_TEST

START_TEST(batches_of_samplers) {
    linattn_sampler_options o = good();
    linattn_sampler *sampler;
    linattn_batch *batch = (linattn_batch *)(uintptr_t)1;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    ck_assert_status(linattn_batch_create_from_sampler(NULL, sampler, 1, 0), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_batch_create_from_sampler(&batch, NULL, 1, 0), LINATTN_EINVAL, "sampler is NULL");
    ck_assert_ptr_null(batch);
    ck_assert_status(linattn_batch_create_from_sampler(&batch, sampler, 0, 0), LINATTN_EINVAL, "prompts is 0");
    ck_assert_status(linattn_batch_create_from_sampler(&batch, sampler, SIZE_MAX, 0), LINATTN_EINVAL, "prompts is 1844");
#if SIZE_MAX > UINT32_MAX
    ck_assert_status(linattn_batch_create_from_sampler(&batch, sampler, (size_t)1 << 32, 0), LINATTN_EINVAL,
                     "allowed: 1 to 4294967295");
#endif
    linattn_sampler_destroy(sampler);
    o.dim = LINATTN_MAX_DIM;
    o.context = LINATTN_MAX_CONTEXT;
    ck_assert_ok(linattn_sampler_create(&sampler, &o));
    ck_assert_status(linattn_batch_create_from_sampler(&batch, sampler, UINT32_MAX, 0), LINATTN_EOVERFLOW, "tokens");
    ck_assert_ptr_null(batch);
    linattn_sampler_destroy(sampler);
    ck_assert_status(linattn_batch_get_arrays(NULL, NULL, NULL), LINATTN_EINVAL, "batch is NULL");
    ck_assert_status(linattn_batch_get_moments(NULL, NULL, NULL), LINATTN_EINVAL, "batch is NULL");
}
END_TEST

START_TEST(batches_of_arrays) {
    double tokens[2 * 2 * 2] = {1, 2, 3, 0, 5, 6, 7, 0}, targets[2] = {1, 2};
    linattn_batch *batch = (linattn_batch *)(uintptr_t)1;
    ck_assert_status(linattn_batch_create_from_arrays(NULL, tokens, targets, 2, 1, 1), LINATTN_EINVAL, "out is NULL");
    ck_assert_status(linattn_batch_create_from_arrays(&batch, NULL, targets, 2, 1, 1), LINATTN_EINVAL, "tokens is NULL");
    ck_assert_ptr_null(batch);
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, NULL, 2, 1, 1), LINATTN_EINVAL, "targets is NULL");
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, targets, 0, 1, 1), LINATTN_EINVAL, "prompts is 0");
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, targets, 2, 0, 1), LINATTN_EINVAL, "context is 0");
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, targets, 2, 1, 0), LINATTN_EINVAL, "dim is 0");
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, targets, 2, SIZE_MAX, 1), LINATTN_EINVAL, "context is");
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, targets, 2, 1, SIZE_MAX), LINATTN_EINVAL, "dim is");
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, targets, UINT32_MAX, LINATTN_MAX_CONTEXT, LINATTN_MAX_DIM),
                     LINATTN_EOVERFLOW, "tokens");
    tokens[5] = INFINITY;
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, targets, 2, 1, 1), LINATTN_ENONFINITE, "tokens[5] is inf");
    tokens[5] = 6;
    targets[1] = NAN;
    ck_assert_status(linattn_batch_create_from_arrays(&batch, tokens, targets, 2, 1, 1), LINATTN_ENONFINITE, "targets[1] is nan");
    ck_assert_ptr_null(batch);
}
END_TEST

#ifdef LINATTN_FAIL_ALLOCATION
/* Everything that takes memory; 0 when it went through. */
static int use_everything(void) {
    const double factor[4] = {1, 0, 0, 1}, targets[1] = {1}, tokens[2 * 3] = {1, 2, 3, 4, 5, 0};
    linattn_sampler *sampler = NULL;
    linattn_batch *drawn = NULL, *given = NULL;
    int status = LINATTN_OK;
    for (int32_t i = 0; i < 4 && status == LINATTN_OK; i++) {
        linattn_sampler_options o = good();
        o.kind = i == 1 ? LINATTN_BATCH_MOMENTS : LINATTN_BATCH_TOKENS;
        o.task = i == 2 ? LINATTN_TASK_FIXED_MLP : LINATTN_TASK_LINEAR;
        o.covariates = i == 3 ? LINATTN_COVARIATES_TABLE : LINATTN_COVARIATES_ROTATED;
        o.covariate_factor = o.task_factor = o.covariate_table = factor;
        o.table_rows = 2;
        status = linattn_sampler_create(&sampler, &o);
        if (status == LINATTN_OK) status = linattn_batch_create_from_sampler(&drawn, sampler, 9, 0);
        if (status == LINATTN_OK) status = linattn_batch_create_from_arrays(&given, tokens, targets, 1, 1, 2);
        ck_assert(status == LINATTN_OK || given == NULL);
        linattn_batch_destroy(given);
        linattn_batch_destroy(drawn);
        linattn_sampler_destroy(sampler);
        given = drawn = NULL;
        sampler = NULL;
    }
    return status;
}

START_TEST(each_allocation_fails) {
    long successes = 0;
    for (int status = LINATTN_ENOMEM; status != LINATTN_OK; successes++) {
        linattn__fail_allocation_after(successes);
        status = use_everything();
        linattn__fail_allocation_after(-1);
        if (status != LINATTN_OK) ck_assert_status(status, LINATTN_ENOMEM, "no memory for ");
    }
    ck_assert_int_gt(successes, 20);
}
END_TEST
#endif

static Suite *sampler_input_suite(void) {
    Suite *suite = suite_create("sampler_input");
    TCase *tc = tcase_create("sampler_input");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, defaults);
    tcase_add_test(tc, null_and_versions);
    tcase_add_test(tc, each_option_wrong);
    tcase_add_test(tc, options_of_distributions);
    tcase_add_test(tc, options_of_tables);
    tcase_add_test(tc, options_of_tasks);
    tcase_add_test(tc, moments_need_a_linear_task);
    tcase_add_test(tc, the_first_struct_is_understood);
    tcase_add_test(tc, moments_need_gaussian_covariates);
    tcase_add_test(tc, batches_of_samplers);
    tcase_add_test(tc, batches_of_arrays);
#ifdef LINATTN_FAIL_ALLOCATION
    tcase_add_test(tc, each_allocation_fails);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(sampler_input_suite)
