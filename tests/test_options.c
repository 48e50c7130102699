/* test_options.c: structs that cross the boundary between a library and a program of different age. */
#include "common/options.h"
#include "support/suite.h"
#include <stdint.h>
#include <stdio.h>

/* The same struct in its first release, as the library knows it, and as a newer program has it. */
typedef struct first {
    size_t struct_size;
    double rate;
} first;

typedef struct known {
    size_t struct_size;
    double rate;
    uint64_t steps;
    int32_t kind;
    int32_t reserved;
} known;

typedef struct newer {
    size_t struct_size;
    double rate;
    uint64_t steps;
    int32_t kind;
    int32_t reserved;
    double extra[2];
} newer;

static const known defaults = {.struct_size = sizeof(known), .rate = 0.5, .steps = 100, .kind = 3};
static const linattn__struct type = {"linattn_test_options", sizeof(known), sizeof(first), &defaults};
static const linattn__struct result_type = {"linattn_test_result", sizeof(known), sizeof(first), NULL};

START_TEST(init_gives_the_defaults) {
    known o;
    memset(&o, 0xee, sizeof o);
    ck_assert_ok(linattn__options_init(&type, &o, sizeof o));
    ck_assert_uint_eq(o.struct_size, sizeof o);
    ck_assert_double_eq(o.rate, 0.5);
    ck_assert_uint_eq(o.steps, 100);
    ck_assert_int_eq(o.kind, 3);
    ck_assert_int_eq(o.reserved, 0);
}
END_TEST

START_TEST(init_never_writes_past_an_older_struct) {
    struct {
        first options;
        unsigned char beyond[64];
    } o;
    memset(&o, 0xee, sizeof o);
    ck_assert_ok(linattn__options_init(&type, &o.options, sizeof o.options));
    ck_assert_uint_eq(o.options.struct_size, sizeof(first));
    ck_assert_double_eq(o.options.rate, 0.5);
    for (size_t i = 0; i < sizeof o.beyond; i++) ck_assert_int_eq(o.beyond[i], 0xee);
}
END_TEST

START_TEST(init_zeroes_what_only_a_newer_program_knows) {
    newer o;
    memset(&o, 0xee, sizeof o);
    ck_assert_ok(linattn__options_init(&type, &o, sizeof o));
    ck_assert_uint_eq(o.struct_size, sizeof(newer));
    ck_assert_uint_eq(o.steps, 100);
    ck_assert_double_eq(o.extra[0], 0);
    ck_assert_double_eq(o.extra[1], 0);
}
END_TEST

START_TEST(init_refuses_absurd_sizes) {
    static const size_t sizes[] = {0, 1, sizeof(first) - 1, 65537, SIZE_MAX};
    known o;
    memset(&o, 0xee, sizeof o);
    const known before = o;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ck_assert_status(linattn__options_init(&type, &o, sizes[i]), LINATTN_EINVAL, "struct_size of linattn_test_options is ");
        ck_assert_mem_eq(&o, &before, sizeof o);
    }
    ck_assert_status(linattn__options_init(&type, NULL, sizeof o), LINATTN_EINVAL, "linattn_test_options is NULL");
}
END_TEST

START_TEST(read_copies_the_programs_options) {
    known o, copy;
    ck_assert_ok(linattn__options_init(&type, &o, sizeof o));
    o.rate = 2;
    o.kind = -7;
    o.reserved = 9;
    ck_assert_ok(linattn__options_read(&type, &copy, &o));
    ck_assert_mem_eq(&copy, &o, sizeof o);
}
END_TEST

START_TEST(an_older_program_keeps_the_defaults_it_cannot_know) {
    first o;
    known copy;
    ck_assert_ok(linattn__options_init(&type, &o, sizeof o));
    o.rate = 2;
    memset(&copy, 0xee, sizeof copy);
    ck_assert_ok(linattn__options_read(&type, &copy, &o));
    ck_assert_uint_eq(copy.struct_size, sizeof(known));
    ck_assert_double_eq(copy.rate, 2);
    ck_assert_uint_eq(copy.steps, 100);
    ck_assert_int_eq(copy.kind, 3);
    ck_assert_int_eq(copy.reserved, 0);
}
END_TEST

START_TEST(a_newer_program_is_served_while_it_asks_for_nothing_new) {
    newer o;
    known copy;
    ck_assert_ok(linattn__options_init(&type, &o, sizeof o));
    o.steps = 5;
    ck_assert_ok(linattn__options_read(&type, &copy, &o));
    ck_assert_uint_eq(copy.struct_size, sizeof(known));
    ck_assert_uint_eq(copy.steps, 5);
}
END_TEST

START_TEST(unknown_bytes_that_are_set_are_refused) {
    for (size_t i = sizeof(known); i < sizeof(newer); i++) {
        newer o;
        known copy;
        char text[64];
        ck_assert_ok(linattn__options_init(&type, &o, sizeof o));
        ((unsigned char *)&o)[i] = 0x80;
        memset(&copy, 0xee, sizeof copy);
        const known before = copy;
        snprintf(text, sizeof text, "byte %zu of linattn_test_options is set", i);
        ck_assert_status(linattn__options_read(&type, &copy, &o), LINATTN_EVERSION, text);
        ck_assert_mem_eq(&copy, &before, sizeof copy);
    }
}
END_TEST

START_TEST(read_refuses_absurd_sizes) {
    static const size_t sizes[] = {0, 8, sizeof(first) - 1, 65537, SIZE_MAX, 0xeeeeeeeeu};
    known o = defaults, copy;
    memset(&copy, 0xee, sizeof copy);
    const known before = copy;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        o.struct_size = sizes[i];
        ck_assert_status(linattn__options_read(&type, &copy, &o), LINATTN_EINVAL, "struct_size of linattn_test_options is ");
        ck_assert_mem_eq(&copy, &before, sizeof copy);
    }
    ck_assert_status(linattn__options_read(&type, &copy, NULL), LINATTN_EINVAL, "linattn_test_options is NULL");
}
END_TEST

START_TEST(results_fill_what_the_program_has) {
    const known result = {.struct_size = sizeof result, .rate = 1.25, .steps = 6, .kind = 4};
    struct {
        first out;
        unsigned char beyond[64];
    } old;
    memset(&old, 0xee, sizeof old);
    old.out.struct_size = sizeof old.out;
    ck_assert_ok(linattn__result_check(&result_type, &old.out));
    linattn__result_write(&result_type, &old.out, &result);
    ck_assert_uint_eq(old.out.struct_size, sizeof(first));
    ck_assert_double_eq(old.out.rate, 1.25);
    for (size_t i = 0; i < sizeof old.beyond; i++) ck_assert_int_eq(old.beyond[i], 0xee);

    newer young;
    memset(&young, 0xee, sizeof young); /* what it holds before need not be zero */
    young.struct_size = sizeof young;
    ck_assert_ok(linattn__result_check(&result_type, &young));
    linattn__result_write(&result_type, &young, &result);
    ck_assert_uint_eq(young.struct_size, sizeof(newer));
    ck_assert_uint_eq(young.steps, 6);
    ck_assert_int_eq(young.kind, 4);
    ck_assert_double_eq(young.extra[0], 0);
    ck_assert_double_eq(young.extra[1], 0);
}
END_TEST

START_TEST(results_without_a_size_are_refused) {
    known out = {0};
    ck_assert_status(linattn__result_check(&result_type, &out), LINATTN_EINVAL, "struct_size of linattn_test_result is 0");
    out.struct_size = sizeof(first) - 1;
    ck_assert_status(linattn__result_check(&result_type, &out), LINATTN_EINVAL, "linattn_test_result");
    out.struct_size = SIZE_MAX;
    ck_assert_status(linattn__result_check(&result_type, &out), LINATTN_EINVAL, "linattn_test_result");
    ck_assert_status(linattn__result_check(&result_type, NULL), LINATTN_EINVAL, "linattn_test_result is NULL");
}
END_TEST

static Suite *options_suite(void) {
    Suite *suite = suite_create("options");
    TCase *tc = tcase_create("options");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, init_gives_the_defaults);
    tcase_add_test(tc, init_never_writes_past_an_older_struct);
    tcase_add_test(tc, init_zeroes_what_only_a_newer_program_knows);
    tcase_add_test(tc, init_refuses_absurd_sizes);
    tcase_add_test(tc, read_copies_the_programs_options);
    tcase_add_test(tc, an_older_program_keeps_the_defaults_it_cannot_know);
    tcase_add_test(tc, a_newer_program_is_served_while_it_asks_for_nothing_new);
    tcase_add_test(tc, unknown_bytes_that_are_set_are_refused);
    tcase_add_test(tc, read_refuses_absurd_sizes);
    tcase_add_test(tc, results_fill_what_the_program_has);
    tcase_add_test(tc, results_without_a_size_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(options_suite)
