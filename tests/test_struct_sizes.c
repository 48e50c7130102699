/* test_struct_sizes.c: every public struct that carries its size, as programs of another age hand it over: cut short, which an older
 * program's is, and longer, which a newer one's is. Structs lie at the end of memory of just their size, so that checkers see the
 * library read or write beyond. docs/abi.md has the rules. */
#include "support/options_rows.h"
#include <stdint.h>
#include <stdio.h>

enum { LATER = 16, LARGEST = 65536 }; /* bytes that a newer struct has more; the largest size that is believed */

#define w options_world
static void open_world(void) { w = world_open(); }
static void close_world(void) { world_close(&w); }

/* ---- Options ------------------------------------------------------------------------------------------------------------------ */
/* The least size that init takes: the struct's in the first release. */
static size_t first_size(const options_row *row, void *room) {
    size_t size = 0;
    while (row->init(room, size) != LINATTN_OK) size++;
    return size;
}

START_TEST(options_of_an_older_program) {
    const options_row *row = &options_rows[_i];
    unsigned char *whole = malloc(row->size);
    double wanted = 0;
    const size_t first = first_size(row, whole);
    ck_assert(first > sizeof(size_t) && first <= row->size && first % 8 == 0);
    ck_assert_ok(row->init(whole, row->size));
    row->prepare(whole);
    ck_assert_ok(row->use(whole, &wanted));
    free(whole);
    for (size_t size = first; size <= row->size; size += 8) {
        unsigned char *cut = malloc(size);
        double made = 0;
        ck_assert_ok(row->init(cut, size));
        row->prepare(cut);
        ck_assert_ok(row->use(cut, &made)); /* what it does not know has its default */
        ck_assert_double_eq(made, wanted);
        free(cut);
    }
}
END_TEST

START_TEST(options_of_a_newer_program) {
    const options_row *row = &options_rows[_i];
    unsigned char *longer = malloc(row->size + LATER);
    double wanted = 0, made = 0;
    memset(longer, 0x5a, row->size + LATER);
    ck_assert_ok(row->init(longer, row->size));
    for (size_t i = row->size; i < row->size + LATER; i++) ck_assert_uint_eq(longer[i], 0x5a);
    row->prepare(longer);
    ck_assert_ok(row->use(longer, &wanted));
    ck_assert_ok(row->init(longer, row->size + LATER));
    row->prepare(longer);
    ck_assert_ok(row->use(longer, &made)); /* it asks for nothing that is new */
    ck_assert_double_eq(made, wanted);
    for (size_t i = row->size; i < row->size + LATER; i++) {
        longer[i] = 0x80;
        ck_assert_status(row->use(longer, &made), LINATTN_EVERSION, row->name);
        longer[i] = 0;
    }
    free(longer);
}
END_TEST

START_TEST(options_of_no_program) {
    const options_row *row = &options_rows[_i];
    unsigned char *options = malloc(row->size), *before = malloc(row->size);
    const size_t first = first_size(row, options), sizes[] = {0, 1, 7, 8, first - 1, LARGEST + 1, SIZE_MAX / 2 + 1, SIZE_MAX};
    char text[128];
    double made = 7;
    snprintf(text, sizeof text, "the struct_size of %s is ", row->name);
    ck_assert_ok(row->init(options, row->size));
    row->prepare(options);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memcpy(options, &sizes[i], sizeof(size_t));
        memcpy(before, options, row->size);
        ck_assert_status(row->use(options, &made), LINATTN_EINVAL, text);
        ck_assert_status(row->init(options, sizes[i]), LINATTN_EINVAL, text);
        ck_assert_mem_eq(options, before, row->size);
    }
    ck_assert_status(row->init(NULL, row->size), LINATTN_EINVAL, row->name);
    ck_assert_double_eq(made, 7);
    free(options);
    free(before);
}
END_TEST

/* ---- Results ------------------------------------------------------------------------------------------------------------------ */
typedef struct result_row {
    const char *name;
    size_t size;
    int (*call)(void *out);
} result_row;

static const double matrix[4] = {2, 1, 1, 3}, pair[2] = {1, 3}, weights[3] = {0.5, 0.25, 0.25};

static int call_tensor(void *out) { return linattn_model_get_tensor(w.model, 1, out); }
static int call_report(void *out) { return linattn_objective_check_derivatives(w.fixed, 0, w.theta, 1e-5, out); }
static int call_record(void *out) {
    double theta[WORLD_P] = {0};
    linattn_optimizer *optimizer;
    const linattn_optimizer_options adam = world_adam_options();
    ck_assert_ok(linattn_optimizer_create(&optimizer, &adam, NULL, 0, WORLD_P));
    const int status = linattn_optimizer_step(optimizer, 1, w.theta, theta, out);
    ck_assert_uint_eq(linattn_optimizer_step_count(optimizer), status == LINATTN_OK); /* a refused one takes no step */
    linattn_optimizer_destroy(optimizer);
    return status;
}
static int call_recipe(void *out) { return linattn_recipe_get(0, out); }
static int call_distance(void *out) { return linattn_theory_compare(w.model, w.sampler, w.theta, 0, 0, out); }
static int call_spectrum(void *out) {
    double eigenvalues[2];
    return linattn_matrix_spectrum(matrix, 2, eigenvalues, NULL, out);
}
static int call_condition(void *out) {
    return linattn_robust_condition(pair, 2, LINATTN_CONDITION_DIAGONAL, LINATTN_MEDIAN_LOWER, out);
}
static int call_spectra(void *out) { return linattn_spectra_compare(pair, 2, weights, 3, 0.1, out); }
static int call_heterogeneity(void *out) {
    const size_t boundaries[3] = {0, 8, WORLD_P};
    return linattn_diagnostics_heterogeneity(w.diagnostics, 0, w.theta, boundaries, 2, NULL, 0.1, NULL, out);
}
static int call_extremes(void *out) { return linattn_diagnostics_extremes(w.diagnostics, 0, w.theta, NULL, NULL, NULL, out); }
static int call_error(void *out) {
    linattn_gradient_error_options options;
    double errors[8];
    ck_assert_ok(linattn_gradient_error_options_init(&options, sizeof options));
    options.samples = 8;
    return linattn_diagnostics_gradient_error(w.diagnostics, w.theta, &options, errors, NULL, NULL, NULL, out);
}
static int call_smoothness(void *out) {
    return linattn_smoothness_fit(world_sample(), world_sample(), WORLD_SAMPLE, 2, 0.9, NULL, out);
}
static int call_concentration(void *out) { return linattn_attention_concentration(weights, 1, 3, 3, 1, out); }
static int call_line(void *out) { return linattn_line_fit(world_sample(), world_sample(), WORLD_SAMPLE, out); }
static int call_histogram(void *out) {
    uint64_t counts[4];
    return linattn_sample_histogram(world_sample(), WORLD_SAMPLE, 1, 2, 4, counts, NULL, out);
}
static int call_moments(void *out) { return linattn_sample_moments(world_sample(), WORLD_SAMPLE, NULL, out); }
static int call_interval(void *out) { return linattn_sample_interval(world_sample(), WORLD_SAMPLE, 0.9, out); }
static int call_plot(void *out) {
    double quantiles[WORLD_SAMPLE], ordered[WORLD_SAMPLE];
    return linattn_sample_normal_plot(world_sample(), WORLD_SAMPLE, quantiles, ordered, out);
}
static int call_normality(void *out) { return linattn_sample_normality(world_sample(), WORLD_SAMPLE, NULL, out); }
static int call_comparison(void *out) { return linattn_samples_compare(world_sample(), 20, world_sample() + 20, 20, NULL, out); }
static int call_tail(void *out) { return linattn_sample_tail(world_sample(), WORLD_SAMPLE, 5, 20, NULL, out); }
static int call_prompt(void *out) {
    const double theta[WORLD_PROMPT_D] = {1, 2};
    return linattn_prompt_measure_condition(w.prompt, theta, NULL, out);
}

#define RESULT(type, call)                                                                                                         \
    { #type, sizeof(type), call }
static const result_row result_rows[] = {
    RESULT(linattn_tensor, call_tensor),
    RESULT(linattn_derivative_report, call_report),
    RESULT(linattn_step_record, call_record),
    RESULT(linattn_recipe, call_recipe),
    RESULT(linattn_theory_distance, call_distance),
    RESULT(linattn_spectrum, call_spectrum),
    RESULT(linattn_condition, call_condition),
    RESULT(linattn_spectra_distance, call_spectra),
    RESULT(linattn_heterogeneity, call_heterogeneity),
    RESULT(linattn_extremes, call_extremes),
    RESULT(linattn_gradient_error, call_error),
    RESULT(linattn_smoothness, call_smoothness),
    RESULT(linattn_concentration, call_concentration),
    RESULT(linattn_line, call_line),
    RESULT(linattn_histogram, call_histogram),
    RESULT(linattn_moments, call_moments),
    RESULT(linattn_interval, call_interval),
    RESULT(linattn_normal_plot, call_plot),
    RESULT(linattn_normality, call_normality),
    RESULT(linattn_comparison, call_comparison),
    RESULT(linattn_tail, call_tail),
    RESULT(linattn_prompt_condition, call_prompt),
};
enum { RESULT_ROWS = sizeof result_rows / sizeof *result_rows };

/* Room of `size` bytes, all 0x5a but for its struct_size. */
static unsigned char *result_of(size_t size) {
    unsigned char *out = malloc(size);
    memset(out, 0x5a, size);
    memcpy(out, &size, sizeof size);
    return out;
}

START_TEST(results_of_any_size) {
    const result_row *row = &result_rows[_i];
    unsigned char *whole = result_of(row->size), *longer = result_of(row->size + LATER);
    size_t taken = 0; /* sizes that were */
    ck_assert_ok(row->call(whole));
    for (size_t size = sizeof(size_t); size < row->size; size += 8) {
        unsigned char *cut = result_of(size), *untouched = result_of(size);
        const int status = row->call(cut);
        if (status == LINATTN_OK) /* an older program gets what it knows */
            ck_assert_mem_eq(cut + sizeof(size_t), whole + sizeof(size_t), size - sizeof(size_t));
        else
            ck_assert_mem_eq(cut, untouched, size);
        ck_assert_msg(status == LINATTN_OK || (status == LINATTN_EINVAL && taken == 0 && strstr(linattn_last_message(), row->name)),
                      "%s of %zu bytes: %s", row->name, size, linattn_last_message());
        taken += status == LINATTN_OK;
        free(cut);
        free(untouched);
    }
    ck_assert_ok(row->call(longer)); /* a newer one gets zeros where nothing is known here */
    ck_assert_mem_eq(longer + sizeof(size_t), whole + sizeof(size_t), row->size - sizeof(size_t));
    for (size_t i = row->size; i < row->size + LATER; i++) ck_assert_uint_eq(longer[i], 0);
    const size_t none = 0;
    memcpy(whole, &none, sizeof none);
    ck_assert_status(row->call(whole), LINATTN_EINVAL, "set it to sizeof");
    free(whole);
    free(longer);
}
END_TEST

static int is_known(const char *name) {
    for (size_t i = 0; i < RESULT_ROWS; i++)
        if (strcmp(result_rows[i].name, name) == 0) return 1;
    return options_row_of(name) ||
           strcmp(name, "linattn_update") == 0; /* only the library makes it: test_optimizer.c reads its size */
}

/* The ledger lists every public struct. */
START_TEST(no_struct_is_missing_here) {
    char line[256], name[64];
    size_t found = 0;
    FILE *ledger = fopen("tests/abi/interface.c", "r");
    ck_assert_msg(ledger != NULL, "run from the top folder");
    while (fgets(line, sizeof line, ledger)) {
        if (sscanf(line, "AT(0, %63[a-z_], struct_size", name) != 1) continue;
        ck_assert_msg(is_known(name), "%s has no row in this file", name);
        found++;
    }
    fclose(ledger);
    ck_assert_uint_eq(found, (size_t)OPTIONS_ROWS + RESULT_ROWS + 1);
}
END_TEST

static Suite *struct_sizes_suite(void) {
    Suite *suite = suite_create("struct sizes");
    TCase *tc = tcase_create("sizes");
    tcase_add_checked_fixture(tc, open_world, close_world);
    tcase_add_loop_test(tc, options_of_an_older_program, 0, OPTIONS_ROWS);
    tcase_add_loop_test(tc, options_of_a_newer_program, 0, OPTIONS_ROWS);
    tcase_add_loop_test(tc, options_of_no_program, 0, OPTIONS_ROWS);
    tcase_add_loop_test(tc, results_of_any_size, 0, RESULT_ROWS);
    tcase_add_test(tc, no_struct_is_missing_here);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(struct_sizes_suite)
