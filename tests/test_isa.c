/* test_isa.c: which kernels there are, and which may run here. */
#include "kernels/isa.h"
#include "support/suite.h"
#include <stdio.h>

START_TEST(kernels_have_names) {
    ck_assert_str_eq(linattn_kernel_name(LINATTN_KERNEL_AUTO), "auto");
    ck_assert_str_eq(linattn_kernel_name(LINATTN_KERNEL_BASELINE), "baseline");
    ck_assert_str_eq(linattn_kernel_name(LINATTN_KERNEL_AVX2), "avx2");
    ck_assert_str_eq(linattn_kernel_name(LINATTN_KERNEL_AVX512), "avx512");
    ck_assert_str_eq(linattn_kernel_name(4), "unknown");
    ck_assert_str_eq(linattn_kernel_name(-1), "unknown");
}
END_TEST

START_TEST(auto_and_baseline_run_everywhere) {
    enum linattn__isa isa = LINATTN__ISA_COUNT;
    ck_assert_int_eq(linattn_kernel_available(LINATTN_KERNEL_AUTO), 1);
    ck_assert_int_eq(linattn_kernel_available(LINATTN_KERNEL_BASELINE), 1);
    ck_assert_ok(linattn__isa_resolve(LINATTN_KERNEL_BASELINE, &isa));
    ck_assert_int_eq(isa, LINATTN__ISA_BASELINE);
    ck_assert_ok(linattn__isa_resolve(LINATTN_KERNEL_AUTO, &isa));
    ck_assert_int_eq(isa, linattn__isa_best());
}
END_TEST

START_TEST(unknown_kernels_are_refused) {
    static const int32_t unknown[] = {-1, 4, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        enum linattn__isa isa = LINATTN__ISA_COUNT;
        ck_assert_int_eq(linattn_kernel_available(unknown[i]), 0);
        ck_assert_status(linattn__isa_resolve(unknown[i], &isa), LINATTN_EINVAL, "kernel is ");
        ck_assert_int_eq(isa, LINATTN__ISA_COUNT);
    }
}
END_TEST

/* A machine that lacks a kernel says so; one that has it has all slower ones, and the best is the last it has. */
START_TEST(kernels_form_a_ladder) {
    static const struct {
        int32_t kernel;
        enum linattn__isa isa;
        const char *name;
    } rows[] = {{LINATTN_KERNEL_BASELINE, LINATTN__ISA_BASELINE, "baseline"},
                {LINATTN_KERNEL_AVX2, LINATTN__ISA_AVX2, "(avx2)"},
                {LINATTN_KERNEL_AVX512, LINATTN__ISA_AVX512, "(avx512)"}};
    enum linattn__isa best = LINATTN__ISA_COUNT;
    int before = 1;
    for (size_t i = 0; i < 3; i++) {
        enum linattn__isa isa = LINATTN__ISA_COUNT;
        const int available = linattn_kernel_available(rows[i].kernel);
        ck_assert(before || !available);
        before = available;
        if (available) {
            ck_assert_ok(linattn__isa_resolve(rows[i].kernel, &isa));
            ck_assert_int_eq(isa, rows[i].isa);
            best = isa;
        } else {
            ck_assert_status(linattn__isa_resolve(rows[i].kernel, &isa), LINATTN_EUNSUPPORTED, rows[i].name);
            ck_assert_int_eq(isa, LINATTN__ISA_COUNT);
        }
    }
    ck_assert_int_eq(best, linattn__isa_best());
}
END_TEST

/* The second opinion: the system's own list of the processor's features, where there is one. */
START_TEST(availability_is_what_the_system_says) {
    static char line[65536];
    int found = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    while (!found && fgets(line, sizeof line, file)) found = strncmp(line, "flags", 5) == 0;
    fclose(file);
    if (!found) return; /* another architecture */
    /* An emulator may hide features from the program, never add any. */
    if (!strstr(line, " avx2")) ck_assert_int_eq(linattn_kernel_available(LINATTN_KERNEL_AVX2), 0);
    if (!strstr(line, " fma")) ck_assert_int_eq(linattn_kernel_available(LINATTN_KERNEL_AVX2), 0);
    if (!strstr(line, " avx512dq")) ck_assert_int_eq(linattn_kernel_available(LINATTN_KERNEL_AVX512), 0);
    if (!strstr(line, " avx512vl")) ck_assert_int_eq(linattn_kernel_available(LINATTN_KERNEL_AVX512), 0);
}
END_TEST

static Suite *isa_suite(void) {
    Suite *suite = suite_create("isa");
    TCase *tc = tcase_create("isa");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, kernels_have_names);
    tcase_add_test(tc, auto_and_baseline_run_everywhere);
    tcase_add_test(tc, unknown_kernels_are_refused);
    tcase_add_test(tc, kernels_form_a_ladder);
    tcase_add_test(tc, availability_is_what_the_system_says);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(isa_suite)
