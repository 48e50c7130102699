/* test_table.c: the CSV reader of the examples: what it takes, and what it refuses with line and column. */
#include "../examples/common/table.c"
#include "support/suite.h"
#include <locale.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the reader complains of, in place of a line on stderr. */
static char complaint[1024];

int complain(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint, sizeof complaint, format, arguments);
    va_end(arguments);
    return status;
}

static char path[64];

static void write_file(const char *text, size_t length) {
    snprintf(path, sizeof path, "/tmp/linattn_table_%ld.csv", (long)getpid());
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static table read_good(const char *text) {
    table t;
    write_file(text, strlen(text));
    complaint[0] = '\0';
    ck_assert_msg(table_read(&t, path) == 0, "%s", complaint);
    unlink(path);
    return t;
}

/* Refused, with these words; nothing is left in the table. */
static void refuse_bytes(const char *text, size_t length, const char *words) {
    table t = {.rows = 7};
    write_file(text, length);
    complaint[0] = '\0';
    ck_assert_int_eq(table_read(&t, path), EXIT_FAILED);
    unlink(path);
    ck_assert_msg(strstr(complaint, words) != NULL, "wanted \"%s\" in \"%s\"", words, complaint);
    ck_assert(t.rows == 0 && t.columns == 0 && t.names == NULL && t.cells == NULL);
}

static void refuse(const char *text, const char *words) { refuse_bytes(text, strlen(text), words); }

/* All of these files are the same table: a, "b, c", say "d"; 1 -2.5 3000; 0.125 0 -0. */
START_TEST(the_same_table_in_many_spellings) {
    const char *const texts[] = {
        "a,\"b, c\",\"say \"\"d\"\"\"\n1,-2.5,3e3\n.125,0,-0\n", "a,\"b, c\",\"say \"\"d\"\"\"\r\n1,-2.5,3e3\r\n.125,0,-0\r\n",
        "\357\273\277a,\"b, c\",\"say \"\"d\"\"\"\n1,-2.5,3e3\n.125,0,-0",
        "\357\273\277\"a\" , \"b, c\",\"say \"\"d\"\"\"\r\n \"1\" ,\t-2.5 ,\"+3000\"\r\n0.125,0.0,-0e5\r\n\r\n\n",
        "a,\"b, c\",\"say \"\"d\"\"\"\n1.,-25E-1,3000.00\n125e-3,0,-0\n\n\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        table t = read_good(texts[i]);
        const double wanted[] = {1, -2.5, 3000, 0.125, 0, -0.0};
        ck_assert_uint_eq(t.rows, 2);
        ck_assert_uint_eq(t.columns, 3);
        ck_assert_str_eq(t.names[0], "a");
        ck_assert_str_eq(t.names[1], "b, c");
        ck_assert_str_eq(t.names[2], "say \"d\"");
        ck_assert_mem_eq(t.cells, wanted, sizeof wanted);
        table_forget(&t);
    }
}
END_TEST

/* More rows than there is room for at first, and numbers that read back to the same bits. */
START_TEST(many_rows) {
    enum { ROWS = 1000 };
    char *text = malloc(ROWS * 2 * LINATTN_NUMBER_SIZE + 16);
    size_t length = (size_t)sprintf(text, "x,y\n");
    for (int i = 0; i < ROWS; i++) {
        char x[LINATTN_NUMBER_SIZE];
        linattn_number_write(i / 7.0, x);
        length += (size_t)sprintf(text + length, "%s,%d\n", x, i);
    }
    table t = read_good(text);
    ck_assert_uint_eq(t.rows, ROWS);
    for (int i = 0; i < ROWS; i++) ck_assert(t.cells[2 * i] == i / 7.0 && t.cells[2 * i + 1] == i);
    table_forget(&t);
    free(text);
}
END_TEST

START_TEST(the_locale_does_not_matter) {
    const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        if (setlocale(LC_ALL, locales[i]) == NULL) continue;
        table t = read_good("x\n1.5\n");
        ck_assert_double_eq(t.cells[0], 1.5);
        table_forget(&t);
        refuse("x\n\"1,5\"\n", "line 2, column 1 (x): not a number (the decimal separator is \".\"): \"1,5\"");
    }
}
END_TEST

START_TEST(bad_cells) {
    refuse("a,b\n1,2\n3,\n", "line 3, column 2 (b): the value is missing");
    refuse("a,b\n,2\n", "line 2, column 1 (a): the value is missing");
    refuse("a,b\n1,\"\"\n", "line 2, column 2 (b): the value is missing");
    refuse("a,b\n1,  \n", "line 2, column 2 (b): the value is missing");
    const char *const texts[] = {"red", "NA", "?", "1x", "0x10", "1 2", "--1", "1e", "1\xc2\xa0", "1;5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char file[64], words[96];
        snprintf(file, sizeof file, "a,b\n1,2\n3,%s\n", texts[i]);
        snprintf(words, sizeof words, "line 3, column 2 (b): not a number: \"%s\"", texts[i]);
        refuse(file, words);
    }
    const char *const not_finite[] = {"nan", "NaN", "inf", "-Infinity", "1e999"};
    for (size_t i = 0; i < sizeof not_finite / sizeof *not_finite; i++) {
        char file[64], words[96];
        snprintf(file, sizeof file, "a,b\n%s,2\n", not_finite[i]);
        snprintf(words, sizeof words, "line 2, column 1 (a): not a finite number: \"%s\"", not_finite[i]);
        refuse(file, words);
    }
}
END_TEST

START_TEST(bad_lines) {
    refuse("a,b\n1,2\n3\n", "line 3 has 1 cells, the header 2");
    refuse("a,b\n1,2,\n", "line 2 has 3 cells, the header 2");
    refuse("a,b\n1,5,2,5\n", "line 2 has 4 cells, the header 2 (decimal commas?");
    refuse("a;b\n1;2\n", "line 1: the separator is \";\"; allowed: \",\"");
    refuse("a;b\n1,5;2,5\n", "line 1: the separator is \";\"");
    refuse("a\tb\n1\t2\n", "line 1: the separator is \"tab\"");
    refuse("a,b\n1,2\n\n3,4\n", "line 3 is empty, and more follows");
    refuse("a,b\n1,2\n\"3,4\n", "line 3 has 1 cells");
    refuse("a\n\"3\n", "line 2, column 1 (a): the quote is not closed");
    refuse("a\n\"3\"4\n", "line 2, column 1 (a): text after the closing quote: \"4\"");
    refuse("a\n1\"2\n", "not a number: \"1\"2\"");
    refuse("a\r1\r2\r", "line 1 has a carriage return inside");
}
END_TEST

START_TEST(bad_headers) {
    refuse("", "the file is empty; a header line is needed");
    refuse("\n1,2\n", "line 1, column 1: the column has no name");
    refuse("a,,c\n1,2,3\n", "line 1, column 2: the column has no name");
    refuse("a,\"b\n1,2\n", "line 1, column 2: the quote is not closed");
    refuse("a\"b,c\n1,2\n", "line 1: quotes out of place");
    refuse("1,2\n3,4\n", "line 1 holds numbers; a line of names must come first");
    refuse("a,b\n", "there are no rows after the header");
    refuse("a,b\n\n\n", "there are no rows after the header");
    table t = read_good("2019,b\n1,2\n"); /* a name may look like a number as long as not all do */
    ck_assert_str_eq(t.names[0], "2019");
    table_forget(&t);
}
END_TEST

START_TEST(no_text) {
    refuse_bytes("a,b\n1,2\n3\0,4\n", 14, "line 3 has a NUL at byte 2");
    refuse_bytes("\xff\xfe"
                 "a\0,\0b\0\n\0",
                 10, "line 1 has a NUL at byte 4");
    char *line = malloc(MOST_LINE + 2);
    memset(line, 'a', MOST_LINE + 2);
    refuse_bytes(line, MOST_LINE + 1, "line 1 is longer than 1048576 bytes");
    memcpy(line, "a\n", 2);
    memset(line + 2, '1', MOST_LINE - 2);
    refuse_bytes(line, MOST_LINE, "line 2, column 1 (a): not a finite number"); /* long, and allowed to be */
    free(line);
}
END_TEST

START_TEST(files_that_are_none) {
    table t;
    ck_assert_int_eq(table_read(&t, "/tmp"), EXIT_FAILED);
    ck_assert_ptr_nonnull(strstr(complaint, "cannot read \"/tmp\": Is a directory"));
    ck_assert_int_eq(table_read(&t, "/nowhere/at/all.csv"), EXIT_FAILED);
    ck_assert_ptr_nonnull(strstr(complaint, "cannot read \"/nowhere/at/all.csv\": No such file or directory"));
    if (access("/dev/zero", R_OK) != 0) return;
    ck_assert_int_eq(table_read(&t, "/dev/zero"), EXIT_FAILED);
    ck_assert_ptr_nonnull(strstr(complaint, "line 1 has a NUL at byte 1"));
}
END_TEST

/* The table that comes with the examples, against the means that scikit-learn publishes with its copy, to their digits. */
START_TEST(the_wines) {
    const double means[] = {13.0, 2.34, 2.36, 19.5, 99.7, 2.29, 2.03, 0.36, 1.59, 5.1, 0.96, 2.61, 746};
    const double lows[] = {11.0, 0.74, 1.36, 10.6, 70, 0.98, 0.34, 0.13, 0.41, 1.3, 0.48, 1.27, 278};
    const double highs[] = {14.8, 5.80, 3.23, 30.0, 162, 3.88, 5.08, 0.66, 3.58, 13.0, 1.71, 4.00, 1680};
    const double digits[] = {0.1, 0.01, 0.01, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.1, 0.01, 0.01, 1};
    table t;
    ck_assert_msg(table_read(&t, "examples/data/wine.csv") == 0, "%s (run from the top folder)", complaint);
    ck_assert_uint_eq(t.rows, 178);
    ck_assert_uint_eq(t.columns, 13);
    for (size_t j = 0; j < 13; j++) {
        double sum = 0, low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < 178; i++) {
            const double x = t.cells[i * 13 + j];
            sum += x;
            low = fmin(low, x);
            high = fmax(high, x);
        }
        ck_assert_msg(fabs(sum / 178 - means[j]) < digits[j], "mean of %s: %g", t.names[j],
                      sum / 178); /* some are cut, not rounded */
        ck_assert(fabs(low - lows[j]) <= digits[j] && fabs(high - highs[j]) <= digits[j]);
    }
    table_forget(&t);
}
END_TEST

static Suite *table_suite(void) {
    Suite *suite = suite_create("table");
    TCase *tcase = tcase_create("table");
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, the_same_table_in_many_spellings);
    tcase_add_test(tcase, many_rows);
    tcase_add_test(tcase, the_locale_does_not_matter);
    tcase_add_test(tcase, bad_cells);
    tcase_add_test(tcase, bad_lines);
    tcase_add_test(tcase, bad_headers);
    tcase_add_test(tcase, no_text);
    tcase_add_test(tcase, files_that_are_none);
    tcase_add_test(tcase, the_wines);
    suite_add_tcase(suite, tcase);
    return suite;
}

LINATTN_TEST_MAIN(table_suite)
