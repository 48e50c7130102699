/* suite.h: one test program a concept; each file tests/test_X.c defines x_suite and ends with LINATTN_TEST_MAIN(x_suite). */
#ifndef LINATTN_TESTS_SUITE_H
#define LINATTN_TESTS_SUITE_H

#include <check.h>
#include <linattn/linattn.h>
#include <stdlib.h>
#include <string.h>

/* Tag of tests that emulators of a processor cannot run: they fork while threads are alive, or start a program of their own. */
#define LINATTN_TEST_PROCESSES "processes"

#define LINATTN_TEST_MAIN(suite)                                                                                                   \
    int main(void) {                                                                                                               \
        setenv("CK_DEFAULT_TIMEOUT", "600", 0); /* of a test; 4 s are not enough on a machine at work */                           \
        SRunner *runner = srunner_create(suite());                                                                                 \
        srunner_run_all(runner, CK_NORMAL);                                                                                        \
        const int failed = srunner_ntests_failed(runner);                                                                          \
        srunner_free(runner);                                                                                                      \
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;                                                                          \
    }

/* Asserts that a call returned `wanted` and left a message that holds `text`. */
#define ck_assert_status(call, wanted, text)                                                                                       \
    do {                                                                                                                           \
        const int status_ = (call);                                                                                                \
        ck_assert_msg(status_ == (wanted), "%s is %s (%s), wanted %s", #call, linattn_status_name(status_),                        \
                      linattn_last_message(), linattn_status_name(wanted));                                                        \
        ck_assert_msg(strstr(linattn_last_message(), (text)) != NULL, "%s says \"%s\", wanted \"%s\"", #call,                      \
                      linattn_last_message(), (text));                                                                             \
    } while (0)

/* Asserts that a call succeeded. */
#define ck_assert_ok(call)                                                                                                         \
    do {                                                                                                                           \
        const int status_ = (call);                                                                                                \
        ck_assert_msg(status_ == LINATTN_OK, "%s is %s: %s", #call, linattn_status_name(status_), linattn_last_message());         \
    } while (0)

#endif
