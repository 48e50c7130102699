/* test_locale.c: numbers in files are the same where the decimal separator is a comma. */
#include "support/doubles.h"
#include "support/suite.h"
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Compiles a locale of our own that differs from "C" in its comma alone. 0 when this system cannot. */
static int make_comma_locale(const char *folder) {
    char path[512], command[2048];
    snprintf(path, sizeof path, "%s/charmap", folder);
    FILE *file = fopen(path, "w");
    if (!file) return 0;
    fprintf(file, "<code_set_name> ASCII\n<mb_cur_min> 1\n<mb_cur_max> 1\nCHARMAP\n");
    for (unsigned i = 0; i < 128; i++) fprintf(file, "<U%04X> \\x%02x CODE%u\n", i, i, i);
    fprintf(file, "END CHARMAP\n");
    fclose(file);
    snprintf(path, sizeof path, "%s/source", folder);
    file = fopen(path, "w");
    if (!file) return 0;
    fprintf(file, "comment_char %%\nescape_char /\nLC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"<U002E>\"\ngrouping 3;3\n"
                  "END LC_NUMERIC\n");
    fclose(file);
    snprintf(command, sizeof command, "localedef -c -i '%s/source' -f '%s/charmap' '%s/comma' >'%s/log' 2>&1", folder, folder,
             folder, folder);
    const int ignored = system(command); /* its exit code counts warnings; whether the locale works is asked below */
    (void)ignored;
    return setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_NUMERIC, "comma") != NULL;
}

/* Puts the process into a locale whose decimal separator is a comma. 0 when there is none. */
static int enter_comma_locale(const char *folder) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0) return 1;
    }
    return make_comma_locale(folder) && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* Runs in a process of its own, as it changes the locale and the environment. 0 when all is well, 77 where no such locale exists.
 */
static int numbers_under_a_comma(const char *folder) {
    char text[LINATTN_NUMBER_SIZE], line[256], path[512], name[256], probe[32];
    double x = 0, y = 0;
    size_t used = 0;
    if (!enter_comma_locale(folder)) return 77;
    snprintf(name, sizeof name, "%s", setlocale(LC_ALL, NULL));
    snprintf(probe, sizeof probe, "%.1f", 1.5);
    if (strcmp(probe, "1,5") != 0) return 1; /* the C library itself must be affected, else this shows nothing */

    if (linattn_number_read("0.02", &x, NULL) != LINATTN_OK || x != 0.02) return 2;
    if (linattn_number_read("0,02", &x, &used) != LINATTN_OK || x != 0 || used != 1) return 3;
    if (linattn_number_read("1234567.5", &x, NULL) != LINATTN_OK || x != 1234567.5) return 4;
    if (linattn_number_write(0.02, text) != LINATTN_OK || strcmp(text, "0.02") != 0) return 5;
    if (linattn_number_write(1234567.5, text) != LINATTN_OK || strcmp(text, "1234567.5") != 0) return 6;

    snprintf(path, sizeof path, "%s/table.csv", folder); /* write a table, read it back */
    FILE *file = fopen(path, "w");
    if (!file) return 7;
    uint64_t state = 5;
    for (int i = 0; i < 500; i++) {
        linattn_number_write(from_bits(random_bits(&state) & ~((uint64_t)1 << 62)), text);
        fprintf(file, "%d,%s\n", i, text);
    }
    fclose(file);
    file = fopen(path, "r");
    if (!file) return 8;
    state = 5;
    for (int i = 0; i < 500; i++) {
        if (!fgets(line, sizeof line, file)) return 9;
        if (linattn_number_read(line, &x, &used) != LINATTN_OK || x != i || line[used] != ',') return 10;
        if (linattn_number_read(line + used + 1, &y, &used) != LINATTN_OK) return 11;
        if (bits_of(y) != (random_bits(&state) & ~((uint64_t)1 << 62))) return 12;
    }
    fclose(file);

    snprintf(probe, sizeof probe, "%.1f", 1.5);
    if (strcmp(probe, "1,5") != 0 || strcmp(setlocale(LC_ALL, NULL), name) != 0) return 13; /* the locale is as it was */
    return 0;
}

static void remove_folder(const char *folder) {
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    const int ignored = system(command);
    (void)ignored;
}

START_TEST(case_K1_comma_locale) {
    char folder[] = "/tmp/linattn_locale_XXXXXX";
    int result = -1;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    fflush(NULL);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) _exit(numbers_under_a_comma(folder));
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    remove_folder(folder);
    ck_assert(WIFEXITED(result));
    if (WEXITSTATUS(result) == 77) {
        fprintf(stderr, "case K1: this system has no locale with a comma and cannot make one; not tested\n");
        return;
    }
    ck_assert_int_eq(WEXITSTATUS(result), 0);
}
END_TEST

static Suite *locale_suite(void) {
    Suite *suite = suite_create("locale");
    TCase *tc = tcase_create("locale");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, case_K1_comma_locale);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(locale_suite)
