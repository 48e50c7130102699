/* number.c: doubles as decimal text, exactly and in no locale.
 *
 * The C library converts; what depends on the locale (the separator, and what a number may look like) is kept from it. */
#include "common/fail.h"
#include <fenv.h>
#include <float.h>
#include <linattn/number.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

enum { MOST_DIGITS = 17 }; /* tell any two doubles apart */

/* digits[0].digits[1]... * 10^exponent, count digits as characters. */
typedef struct decimal {
    char digits[MOST_DIGITS + 1];
    int count;
    int exponent;
} decimal;

/* x > 0 rounded to `count` digits. The separator may be any string, so the digits are found from the end. */
static decimal round_decimal(double x, int count) {
    char text[64];
    decimal d = {.count = count};
    snprintf(text, sizeof text, "%.*e", count - 1, x);
    const char *e = strrchr(text, 'e');
    d.digits[0] = text[0];
    memcpy(d.digits + 1, e - (count - 1), (size_t)(count - 1));
    d.exponent = atoi(e + 1);
    return d;
}

/* The decimal with one more unit in its last digit. */
static decimal next_decimal(decimal d) {
    int i = d.count - 1;
    while (i >= 0 && d.digits[i] == '9') d.digits[i--] = '0';
    if (i >= 0) {
        d.digits[i]++;
        return d;
    }
    d.digits[0] = '1'; /* 9.99 -> 10.0 */
    d.exponent++;
    return d;
}

static int reads_as(const decimal *d, double x) {
    char text[64];
    double back = 0;
    snprintf(text, sizeof text, "%se%d", d->digits, d->exponent - (d->count - 1));
    return linattn_number_read(text, &back, NULL) == LINATTN_OK && back == x;
}

/* The shortest decimal that reads back to x > 0, finite; its last digit is not 0 unless it is the only one.
 * A normal double that any decimal of at most DBL_DIG digits reads to is told by its rounding to DBL_DIG, zeros dropped; below the
 * normal range there are fewer digits to go by, so all counts are tried. Above a power of two the doubles lie twice as wide as
 * below it, so a decimal above may read back where the nearer one below does not. */
static decimal shortest_decimal(double x) {
    int exponent;
    const int power_of_two = frexp(x, &exponent) == 0.5;
    decimal d = {.count = 0};
    for (int count = x < DBL_MIN ? 1 : DBL_DIG; count <= MOST_DIGITS; count++) {
        d = round_decimal(x, count);
        if (reads_as(&d, x)) break;
        const decimal above = next_decimal(d);
        if (power_of_two && reads_as(&above, x)) {
            d = above;
            break;
        }
    }
    while (d.count > 1 && d.digits[d.count - 1] == '0') d.digits[--d.count] = '\0';
    return d;
}

/* Appends count characters, or count zeros where from is NULL. */
static char *put(char *to, const char *from, int count) {
    if (from)
        memcpy(to, from, (size_t)count);
    else
        memset(to, '0', (size_t)count);
    return to + count;
}

/* Plain decimals where they are easy to read, d.ddde-N elsewhere. At most 24 characters with the sign. */
static void lay_out(const decimal *d, char *text) {
    const int plain = d->exponent >= -5 && d->exponent <= 16;
    const int whole = plain ? d->exponent + 1 : 1; /* digits before the separator */
    const int shown = whole < 0 ? 0 : whole < d->count ? whole : d->count;
    text = whole > 0 ? put(text, d->digits, shown) : put(text, NULL, 1);
    if (whole > d->count) text = put(text, NULL, whole - d->count);
    if (whole < d->count) {
        text = put(text, ".", 1);
        if (whole < 0) text = put(text, NULL, -whole);
        text = put(text, d->digits + shown, d->count - shown);
    }
    *text = '\0';
    if (!plain) snprintf(text, sizeof "e-1234", "e%d", d->exponent);
}

int linattn_number_write(double number, char *text) {
    if (!text) return linattn__fail_null("text");
    if (isnan(number)) {
        strcpy(text, "nan");
        return LINATTN_OK;
    }
    if (signbit(number)) *text++ = '-';
    const double size = fabs(number);
    if (isinf(size))
        strcpy(text, "inf");
    else if (size == 0)
        strcpy(text, "0");
    else {
        const int rounding = fegetround(); /* the C library converts by it */
        fesetround(FE_TONEAREST);
        const decimal d = shortest_decimal(size);
        fesetround(rounding);
        lay_out(&d, text);
    }
    return LINATTN_OK;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* The length of `word` (small letters) when text begins with it in any case, otherwise 0. */
static size_t match_word(const char *text, const char *word) {
    size_t i = 0;
    while (word[i] && (text[i] | 0x20) == word[i]) i++;
    return word[i] ? 0 : i;
}

/* The length of the unsigned decimal that text begins with, 0 when there is none. */
static size_t match_decimal(const char *text) {
    size_t i = 0, digits = 0;
    for (; is_digit(text[i]); i++) digits++;
    if (text[i] == '.') {
        for (i++; is_digit(text[i]); i++) digits++;
    }
    if (digits == 0) return 0;
    if ((text[i] | 0x20) == 'e') {
        const size_t sign = text[i + 1] == '+' || text[i + 1] == '-';
        size_t end = i + 1 + sign;
        if (!is_digit(text[end])) return i; /* the e belongs to what follows */
        while (is_digit(text[end])) end++;
        i = end;
    }
    return i;
}

/* The value of the unsigned decimal of `length` characters at text. Never asks the thread's locale. */
static int convert_decimal(const char *text, size_t length, double *value) {
    char *end = NULL;
    if (length == 1) { /* "0x1" is the number 0 here, but hexadecimal to strtod */
        *value = text[0] - '0';
        return LINATTN_OK;
    }
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return linattn__fail(LINATTN_ENOMEM, "no memory for reading a number");
    const int rounding = fegetround();
    fesetround(FE_TONEAREST);
    *value = strtod_l(text, &end, c);
    fesetround(rounding);
    freelocale(c);
    if (end != text + length) return linattn__fail(LINATTN_EFORMAT, "\"%.40s\" was not understood as a number", text);
    return LINATTN_OK;
}

int linattn_number_read(const char *text, double *out, size_t *used) {
    if (!text) return linattn__fail_null("text");
    if (!out) return linattn__fail_null("out");
    const size_t sign = *text == '-' || *text == '+';
    const char *body = text + sign;
    double value = 0;
    size_t length = match_decimal(body);
    if (length > 0) {
        const int status = convert_decimal(body, length, &value);
        if (status) return status;
    } else if ((length = match_word(body, "infinity")) > 0 || (length = match_word(body, "inf")) > 0) {
        value = HUGE_VAL;
    } else if ((length = match_word(body, "nan")) > 0) {
        value = NAN;
    }
    if (length == 0 || (!used && body[length])) {
        return linattn__fail(LINATTN_EFORMAT, "\"%.40s\" is not a number; allowed: digits with a '.' and an exponent, inf or nan",
                             text);
    }
    *out = *text == '-' ? -value : value;
    if (used) *used = sign + length;
    return LINATTN_OK;
}
