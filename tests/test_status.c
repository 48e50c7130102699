/* test_status.c: statuses, the thread's message, and what the functions of fail.h make of an argument. */
#include "common/fail.h"
#include "support/suite.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

START_TEST(names_are_those_of_the_header) {
    static const struct {
        int status, number;
        const char *name;
    } rows[] = {
        {LINATTN_STOP, 1, "LINATTN_STOP"},
        {LINATTN_OK, 0, "LINATTN_OK"},
        {LINATTN_EINVAL, -1, "LINATTN_EINVAL"},
        {LINATTN_ENOMEM, -2, "LINATTN_ENOMEM"},
        {LINATTN_EOVERFLOW, -3, "LINATTN_EOVERFLOW"},
        {LINATTN_ENONFINITE, -4, "LINATTN_ENONFINITE"},
        {LINATTN_EVERSION, -5, "LINATTN_EVERSION"},
        {LINATTN_EUNSUPPORTED, -6, "LINATTN_EUNSUPPORTED"},
        {LINATTN_EMISMATCH, -7, "LINATTN_EMISMATCH"},
        {LINATTN_EFORMAT, -8, "LINATTN_EFORMAT"},
        {LINATTN_EIO, -9, "LINATTN_EIO"},
        {LINATTN_ESYSTEM, -10, "LINATTN_ESYSTEM"},
        {LINATTN_EDEGENERATE, -11, "LINATTN_EDEGENERATE"},
        {LINATTN_ENOTCONVERGED, -12, "LINATTN_ENOTCONVERGED"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq(rows[i].status, rows[i].number); /* a number never changes its meaning */
        ck_assert_str_eq(linattn_status_name(rows[i].status), rows[i].name);
    }
    ck_assert_str_eq(linattn_status_name(2), "unknown status");
    ck_assert_str_eq(linattn_status_name(-13), "unknown status");
    ck_assert_str_eq(linattn_status_name(-2147483647 - 1), "unknown status");
}
END_TEST

static void *look_and_fail(void *first) {
    strcpy(first, linattn_last_message());
    linattn__fail(LINATTN_EINVAL, "of the other thread");
    return NULL;
}

START_TEST(each_thread_has_its_message) {
    pthread_t thread;
    char first[512] = "x";
    ck_assert_int_eq(linattn__fail(LINATTN_EIO, "of this thread"), LINATTN_EIO);
    ck_assert_int_eq(pthread_create(&thread, NULL, look_and_fail, first), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_str_eq(first, "");
    ck_assert_str_eq(linattn_last_message(), "of this thread");
}
END_TEST

START_TEST(arguments_are_named_with_value_and_range) {
    ck_assert_int_eq(linattn__fail_null("theta"), LINATTN_EINVAL);
    ck_assert_str_eq(linattn_last_message(), "theta is NULL");
    ck_assert_int_eq(linattn__fail_count("layers", UINT64_MAX, "1 to 256"), LINATTN_EINVAL);
    ck_assert_str_eq(linattn_last_message(), "layers is 18446744073709551615; allowed: 1 to 256");
    ck_assert_int_eq(linattn__fail_integer("form", INT64_MIN, "0 or 1"), LINATTN_EINVAL);
    ck_assert_str_eq(linattn_last_message(), "form is -9223372036854775808; allowed: 0 or 1");
    ck_assert_int_eq(linattn__fail_real("momentum", -0.5, "0 to below 1"), LINATTN_EINVAL);
    ck_assert_str_eq(linattn_last_message(), "momentum is -0.5; allowed: 0 to below 1");
    linattn__fail_real("momentum", (double)NAN, "0 to below 1");
    ck_assert_str_eq(linattn_last_message(), "momentum is nan; allowed: 0 to below 1");
}
END_TEST

START_TEST(the_first_number_that_is_not_finite_is_named) {
    double x[5] = {1, -0.0, 1.7976931348623157e308, 4.9e-324, 5};
    linattn__fail(LINATTN_EIO, "before");
    ck_assert_int_eq(linattn__check_finite("theta", x, 5), LINATTN_OK);
    ck_assert_int_eq(linattn__check_finite("theta", x, 0), LINATTN_OK);
    ck_assert_str_eq(linattn_last_message(), "before"); /* success leaves the message alone */
    x[3] = -(double)INFINITY;
    x[4] = (double)NAN;
    ck_assert_int_eq(linattn__check_finite("theta", x, 3), LINATTN_OK);
    ck_assert_int_eq(linattn__check_finite("theta", x, 5), LINATTN_ENONFINITE);
    ck_assert_str_eq(linattn_last_message(), "theta[3] is -inf; allowed: finite numbers");
}
END_TEST

START_TEST(a_message_is_one_line_of_utf8) {
    /* A line break, a tab, DEL, an escape, a stray continuation, an overlong "/", a sequence cut by the end. */
    linattn__fail(LINATTN_EIO, "%s",
                  "a\nb\tc\x7f"
                  "d\033e\x80"
                  "f\xc0\xaf"
                  "g \xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e \xe2\x82");
    ck_assert_str_eq(linattn_last_message(), "a?b?c?d?e?f??g \xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e ??");
}
END_TEST

/* 1 when no UTF-8 sequence is cut at the end. */
static int ends_whole(const char *text) {
    size_t end = strlen(text), tail = 0;
    while (tail < end && ((unsigned char)text[end - 1 - tail] & 0xc0) == 0x80) tail++;
    if (tail == 0) return (unsigned char)text[end - 1] < 0x80;
    return (unsigned char)text[end - 1 - tail] >= 0xc0;
}

START_TEST(a_long_message_is_cut_with_dots) {
    char path[4096];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(path, 'x', sizeof path);
        for (size_t i = shift; i + 1 < sizeof path; i += 2) memcpy(path + i, "\xc3\xa9", 2);
        path[sizeof path - 2 + (shift & 1)] = '\0';
        path[sizeof path - 1] = '\0';
        linattn__fail(LINATTN_EIO, "%s", path);
        ck_assert_uint_lt(strlen(linattn_last_message()), 512);
        ck_assert_uint_gt(strlen(linattn_last_message()), 500);
        ck_assert_ptr_nonnull(strstr(linattn_last_message(), "..."));
        ck_assert(ends_whole(linattn_last_message()));
    }
}
END_TEST

START_TEST(the_systems_reason_outlives_a_long_path) {
    char path[4096];
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    ck_assert_int_eq(linattn__fail_system(LINATTN_EIO, ENOENT, "%s cannot be opened", path), LINATTN_EIO);
    ck_assert_ptr_nonnull(strstr(linattn_last_message(), "ppp...: No such file"));
    linattn__fail_system(LINATTN_ESYSTEM, EAGAIN, "short");
    ck_assert_ptr_eq(strstr(linattn_last_message(), "short: "), linattn_last_message());
    ck_assert_uint_gt(strlen(linattn_last_message()), strlen("short: "));
    ck_assert_int_eq(linattn__fail_system(LINATTN_ESYSTEM, 987654, "short"), LINATTN_ESYSTEM); /* not an errno */
}
END_TEST

START_TEST(a_message_may_be_made_from_the_last_one) {
    linattn__fail(LINATTN_EIO, "inner");
    linattn__fail(LINATTN_EIO, "outer: %s", linattn_last_message());
    ck_assert_str_eq(linattn_last_message(), "outer: inner");
    linattn__fail_system(LINATTN_EIO, ENOENT, "%s, again", linattn_last_message());
    ck_assert_ptr_nonnull(strstr(linattn_last_message(), "outer: inner, again: "));
}
END_TEST

START_TEST(the_version_is_that_of_the_header) {
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", LINATTN_VERSION_MAJOR, LINATTN_VERSION_MINOR, LINATTN_VERSION_PATCH);
    ck_assert_str_eq(linattn_version_string(), text);
    ck_assert_int_eq(linattn_version_number(), LINATTN_VERSION_MAJOR * 10000 + LINATTN_VERSION_MINOR * 100 + LINATTN_VERSION_PATCH);
    ck_assert_ptr_nonnull(strstr(linattn_build_info(), text));
    ck_assert_ptr_nonnull(strstr(linattn_build_info(), "baseline"));
    ck_assert_ptr_null(strchr(linattn_build_info(), '\n'));
}
END_TEST

static Suite *status_suite(void) {
    Suite *suite = suite_create("status");
    TCase *tc = tcase_create("status");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, names_are_those_of_the_header);
    tcase_add_test(tc, each_thread_has_its_message);
    tcase_add_test(tc, arguments_are_named_with_value_and_range);
    tcase_add_test(tc, the_first_number_that_is_not_finite_is_named);
    tcase_add_test(tc, a_message_is_one_line_of_utf8);
    tcase_add_test(tc, a_long_message_is_cut_with_dots);
    tcase_add_test(tc, the_systems_reason_outlives_a_long_path);
    tcase_add_test(tc, a_message_may_be_made_from_the_last_one);
    tcase_add_test(tc, the_version_is_that_of_the_header);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(status_suite)
