/* test_number.c: numbers as text, in every locale and to the last bit.
 *
 * The other method is the C library's strtod and printf in the "C" locale, where these tests run. */
#include "support/doubles.h"
#include "support/suite.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

START_TEST(numbers_look_as_people_write_them) {
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.02, "0.02"},
        {150, "150"},
        {1e-300, "1e-300"},
        {1.5e20, "1.5e20"},
        {1e-5, "0.00001"},
        {1.25e-5, "0.0000125"},
        {9.5e-6, "9.5e-6"},
        {1e16, "10000000000000000"},
        {1e17, "1e17"},
        {1234.5678, "1234.5678"},
        {9007199254740993.0, "9007199254740992"}, /* 2^53 + 1 is no double */
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {4.9406564584124654e-324, "5e-324"},
        {-DBL_MAX, "-1.7976931348623157e308"},
        {0x1p-44, "5.684341886080802e-14"}, /* 2^-44: the nearer ...801 is another double, ...802 is not */
        {9.5, "9.5"},
        {99999999.0, "99999999"},
    };
    char text[LINATTN_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_ok(linattn_number_write(rows[i].number, text));
        ck_assert_str_eq(text, rows[i].text);
    }
    ck_assert_ok(linattn_number_write(HUGE_VAL, text));
    ck_assert_str_eq(text, "inf");
    ck_assert_ok(linattn_number_write(-HUGE_VAL, text));
    ck_assert_str_eq(text, "-inf");
    ck_assert_ok(linattn_number_write((double)NAN, text));
    ck_assert_str_eq(text, "nan");
    ck_assert_ok(linattn_number_write(-(double)NAN, text));
    ck_assert_str_eq(text, "nan");
    ck_assert_status(linattn_number_write(1, NULL), LINATTN_EINVAL, "text is NULL");
}
END_TEST

/* The significant digits of a number's text. */
static int count_digits(const char *text) {
    int digits = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '0') zeros++; /* counted only when another digit follows */
        if (*text < '1' || *text > '9') continue;
        digits += (digits > 0 ? zeros : 0) + 1;
        zeros = 0;
    }
    return digits;
}

/* Writes x and asserts that our reader and strtod read it back to the same bits, and that rounding to one digit less does not. */
static void round_trip(double x) {
    char text[LINATTN_NUMBER_SIZE + 8], shorter[64];
    double back = 0;
    memset(text, '#', sizeof text);
    ck_assert_ok(linattn_number_write(x, text));
    for (size_t i = LINATTN_NUMBER_SIZE; i < sizeof text; i++) ck_assert_int_eq(text[i], '#');
    ck_assert_ok(linattn_number_read(text, &back, NULL));
    ck_assert_msg(bits_of(back) == bits_of(x), "%a was written as %s and read as %a", x, text, back);
    ck_assert_msg(bits_of(strtod(text, NULL)) == bits_of(x), "%a was written as %s, which is another number", x, text);
    const int digits = count_digits(text);
    if (digits < 2) return;
    snprintf(shorter, sizeof shorter, "%.*e", digits - 2, x);
    ck_assert_msg(bits_of(strtod(shorter, NULL)) != bits_of(x), "%s does where %s was written", shorter, text);
}

START_TEST(random_doubles_survive) {
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        const double x = from_bits(random_bits(&state));
        if (isfinite(x)) round_trip(x);
    }
}
END_TEST

START_TEST(subnormals_survive) {
    uint64_t state = 2;
    for (uint64_t i = 1; i < 300; i++) round_trip(from_bits(i));
    for (int i = 0; i < 1000; i++) round_trip(-from_bits(random_bits(&state) >> (12 + i % 50)));
    round_trip(from_bits(0x000fffffffffffffu));
}
END_TEST

START_TEST(powers_of_two_and_their_neighbours_survive) {
    for (int e = -1074; e < 1024; e++) {
        const double x = ldexp(1, e);
        round_trip(x);
        if (e % 5 == 0) {
            round_trip(nextafter(x, 0) > 0 ? nextafter(x, 0) : x);
            round_trip(nextafter(x, HUGE_VAL));
        }
    }
    round_trip(DBL_MAX);
    round_trip(nextafter(DBL_MAX, 0));
}
END_TEST

START_TEST(short_decimals_come_back_as_they_were) {
    uint64_t state = 3;
    for (int i = 0; i < 5000; i++) { /* what people type: at most 15 digits, and powers of ten near 1 */
        const uint64_t number = random_bits(&state) % 1000000000000000u / (i % 3 ? 1 : 1000000000u) + 1;
        const int places = (int)(random_bits(&state) % 6);
        char typed[64], written[LINATTN_NUMBER_SIZE];
        uint64_t scale = 1;
        for (int j = 0; j < places; j++) scale *= 10;
        const int length = snprintf(typed, sizeof typed, "%llu.%0*llu", (unsigned long long)(number / scale), places ? places : 1,
                                    (unsigned long long)(number % scale));
        for (int end = length - 1; typed[end] == '0'; end--) typed[end] = '\0';
        if (typed[strlen(typed) - 1] == '.') typed[strlen(typed) - 1] = '\0';
        if (number < scale / 100000 || strtod(typed, NULL) < 1e-5) continue;
        double x = 0;
        ck_assert_ok(linattn_number_read(typed, &x, NULL));
        ck_assert_ok(linattn_number_write(x, written));
        ck_assert_str_eq(written, typed);
    }
}
END_TEST

START_TEST(reading_is_correctly_rounded) {
    static const struct {
        const char *text;
        double number;
    } rows[] = {
        {"9007199254740993", 9007199254740992.0}, /* halfway: to even */
        {"9007199254740993.0000000000000000000001", 9007199254740994.0},
        {"9007199254740995", 9007199254740996.0}, /* halfway: to even */
        {"9007199254740994.9999999999999999999999", 9007199254740994.0},
        {"2.4703282292062327e-324", 0},                       /* below half of the least */
        {"2.4703282292062328e-324", 4.9406564584124654e-324}, /* above it */
        {"1.7976931348623158e308", DBL_MAX},                  /* below the halfway to 2^1024 */
        {"1.7976931348623159e308", HUGE_VAL},
        {"1e400", HUGE_VAL},
        {"-1e400", -HUGE_VAL},
        {"1e-400", 0},
        {"-1e-400", -0.0},
        {"1e99999999999999999999", HUGE_VAL},
        {"1e-99999999999999999999", 0},
        {"0e99999999999999999999", 0},
        {"-0", -0.0},
        {"+2.5", 2.5},
        {".5", 0.5},
        {"5.", 5},
        {"5.e1", 50},
        {"00012", 12},
        {"1E+2", 100},
        {"1e-2", 0.01},
        {"1e002", 100},
        {"inf", HUGE_VAL},
        {"-Infinity", -HUGE_VAL},
        {"+INF", HUGE_VAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double x = 77;
        size_t used = 77;
        ck_assert_ok(linattn_number_read(rows[i].text, &x, NULL));
        ck_assert_msg(bits_of(x) == bits_of(rows[i].number), "%s was read as %a", rows[i].text, x);
        ck_assert_ok(linattn_number_read(rows[i].text, &x, &used));
        ck_assert_uint_eq(used, strlen(rows[i].text));
    }
    static const char *const nans[] = {"nan", "NaN", "-NAN", "+nan"};
    for (size_t i = 0; i < sizeof nans / sizeof nans[0]; i++) {
        double x = 77;
        ck_assert_ok(linattn_number_read(nans[i], &x, NULL));
        ck_assert(isnan(x));
    }
}
END_TEST

START_TEST(random_texts_are_read_as_strtod_reads_them) {
    uint64_t state = 4;
    for (int i = 0; i < 5000; i++) {
        char text[128];
        const int digits = 1 + (int)(random_bits(&state) % 40), point = (int)(random_bits(&state) % 41);
        int length = 0;
        if (i % 4 == 0) text[length++] = '-';
        for (int j = 0; j < digits; j++) {
            if (j == point) text[length++] = '.';
            text[length++] = (char)('0' + random_bits(&state) % 10);
        }
        snprintf(text + length, sizeof text - (size_t)length, "e%d", (int)(random_bits(&state) % 700) - 350);
        double x = 77;
        ck_assert_ok(linattn_number_read(text, &x, NULL));
        ck_assert_msg(bits_of(x) == bits_of(strtod(text, NULL)), "%s was read as %a", text, x);
    }
}
END_TEST

START_TEST(very_long_numbers_are_read) {
    enum { LONG = 100000 };
    char *text = malloc(LONG + 64);
    double x = 77;
    size_t used = 0;
    ck_assert_ptr_nonnull(text);
    text[0] = '1';
    memset(text + 1, '0', LONG);
    strcpy(text + 1 + LONG, "e-100000");
    ck_assert_ok(linattn_number_read(text, &x, &used)); /* 10^100000 / 10^100000 */
    ck_assert_double_eq(x, 1);
    ck_assert_uint_eq(used, LONG + 9);
    text[1 + LONG] = '\0';
    ck_assert_ok(linattn_number_read(text, &x, NULL));
    ck_assert(isinf(x) && x > 0);

    memset(text, '0', LONG);
    memcpy(text, "0.", 2);
    strcpy(text + LONG, "25e99999"); /* 0.00...0025, the 2 at place 99999 */
    ck_assert_ok(linattn_number_read(text, &x, NULL));
    ck_assert_double_eq(x, 2.5);

    memset(text, '3', LONG);
    memcpy(text, "0.", 2);
    text[LONG] = '\0';
    ck_assert_ok(linattn_number_read(text, &x, NULL));
    ck_assert_double_eq(x, 1.0 / 3);

    memset(text, '0', LONG); /* 2^53 + 1 and a little more, which only the last digit says */
    memcpy(text, "9007199254740993.", 17);
    text[LONG] = '\0';
    ck_assert_ok(linattn_number_read(text, &x, NULL));
    ck_assert_double_eq(x, 9007199254740992.0);
    text[LONG - 1] = '1';
    ck_assert_ok(linattn_number_read(text, &x, NULL));
    ck_assert_double_eq(x, 9007199254740994.0);

    memset(text, 'x', LONG);
    text[LONG] = '\0';
    ck_assert_status(linattn_number_read(text, &x, NULL), LINATTN_EFORMAT, "xxxx");
    ck_assert_uint_lt(strlen(linattn_last_message()), 200);
    free(text);
}
END_TEST

START_TEST(what_is_no_number_is_refused) {
    static const struct {
        const char *text;
        size_t used;   /* of the number it begins with, 0 when there is none */
        double number; /* that number */
    } rows[] = {
        {"", 0, 0},
        {" 1", 0, 0},
        {"\t1", 0, 0},
        {"+", 0, 0},
        {"-", 0, 0},
        {".", 0, 0},
        {"-.", 0, 0},
        {"e5", 0, 0},
        {".e5", 0, 0},
        {"--1", 0, 0},
        {"+-1", 0, 0},
        {",5", 0, 0},
        {"i", 0, 0},
        {"in", 0, 0},
        {"na", 0, 0},
        {"x", 0, 0},
        {"$1", 0, 0},
        {"- 1", 0, 0},
        {"\xd9\xa3", 0, 0}, /* an Arabic-Indic three */
        {"1 ", 1, 1},
        {"1\n", 1, 1},
        {"1,5", 1, 1},
        {"1.5.2", 3, 1.5},
        {"1e", 1, 1},
        {"1e+", 1, 1},
        {"1.5e-x", 3, 1.5},
        {"1e5.0", 3, 1e5},
        {"0x10", 1, 0},
        {"-0x1p3", 2, -0.0},
        {"00x1", 2, 0},
        {"0X1", 1, 0},
        {"infinit", 3, HUGE_VAL},
        {"-infx", 4, -HUGE_VAL},
        {"infinityy", 8, HUGE_VAL},
        {"1_000", 1, 1},
        {"1'000", 1, 1},
        {"5x", 1, 5},
        {"1d5", 1, 1},
        {"1.5f", 3, 1.5},
        {"1;2", 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double x = 77;
        size_t used = 88;
        ck_assert_status(linattn_number_read(rows[i].text, &x, NULL), LINATTN_EFORMAT, "not a number");
        ck_assert_double_eq(x, 77);
        if (rows[i].used == 0) {
            ck_assert_status(linattn_number_read(rows[i].text, &x, &used), LINATTN_EFORMAT, "not a number");
            ck_assert_double_eq(x, 77);
            ck_assert_uint_eq(used, 88);
        } else {
            ck_assert_ok(linattn_number_read(rows[i].text, &x, &used));
            ck_assert_uint_eq(used, rows[i].used);
            ck_assert_msg(bits_of(x) == bits_of(rows[i].number), "\"%s\" was read as %a", rows[i].text, x);
        }
    }
    double x = 77;
    size_t used = 88;
    ck_assert_ok(linattn_number_read("nan(7)", &x, &used));
    ck_assert_uint_eq(used, 3);
    ck_assert_status(linattn_number_read("nan(7)", &x, NULL), LINATTN_EFORMAT, "nan(7)");
    ck_assert_status(linattn_number_read(NULL, &x, NULL), LINATTN_EINVAL, "text is NULL");
    ck_assert_status(linattn_number_read("1", NULL, NULL), LINATTN_EINVAL, "out is NULL");
}
END_TEST

static Suite *number_suite(void) {
    Suite *suite = suite_create("number");
    TCase *tc = tcase_create("number");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, numbers_look_as_people_write_them);
    tcase_add_test(tc, random_doubles_survive);
    tcase_add_test(tc, subnormals_survive);
    tcase_add_test(tc, powers_of_two_and_their_neighbours_survive);
    tcase_add_test(tc, short_decimals_come_back_as_they_were);
    tcase_add_test(tc, reading_is_correctly_rounded);
    tcase_add_test(tc, random_texts_are_read_as_strtod_reads_them);
    tcase_add_test(tc, very_long_numbers_are_read);
    tcase_add_test(tc, what_is_no_number_is_refused);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(number_suite)
