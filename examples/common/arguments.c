#include "arguments.h"

#include "complain.h"
#include <inttypes.h>
#include <linattn/number.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *placeholder(enum argument_kind kind) {
    switch (kind) {
    case ARGUMENT_COUNT:
        return " N";
    case ARGUMENT_REAL:
        return " X";
    case ARGUMENT_TEXT:
        return " TEXT";
    case ARGUMENT_FLAG:
        break;
    }
    return "";
}

static int print_help(const argument *table, size_t count, const char *purpose, const char *program) {
    printf("usage: %s [options]\n%s\n\n", program, purpose);
    for (size_t i = 0; i < count; i++) {
        char left[40];
        snprintf(left, sizeof left, "%s%s", table[i].name, placeholder(table[i].kind));
        printf("  %-18s %s\n", left, table[i].help);
    }
    printf("  %-18s %s\n", "--help", "this text");
    if (fflush(stdout) != 0 || ferror(stdout)) return complain(EXIT_FAILED, "standard output cannot be written");
    return EXIT_SUCCESS;
}

/* Digits only: strtoull alone would take "-1", " 7" and "0x10". */
static int read_count(const argument *option, const char *text) {
    uint64_t number = 0;
    int good = text[0] != '\0';
    for (const char *c = text; *c != '\0' && good; c++) {
        const unsigned digit = (unsigned)(*c - '0');
        good = digit <= 9 && number <= (UINT64_MAX - digit) / 10;
        if (good) number = 10 * number + digit;
    }
    if (!good || number < 1 || number > option->most)
        return complain(EXIT_USAGE, "%s is \"%.60s\"; allowed: a whole number from 1 to %" PRIu64, option->name, text,
                        option->most);
    *(uint64_t *)option->value = number;
    return ARGUMENTS_GO_ON;
}

static int read_real(const argument *option, const char *text) {
    double number;
    if (linattn_number_read(text, &number, NULL) != 0 || !isfinite(number) || number <= 0)
        return complain(EXIT_USAGE, "%s is \"%.60s\"; allowed: a number above 0", option->name, text);
    *(double *)option->value = number;
    return ARGUMENTS_GO_ON;
}

static int read_value(const argument *option, const char *text) {
    switch (option->kind) {
    case ARGUMENT_COUNT:
        return read_count(option, text);
    case ARGUMENT_REAL:
        return read_real(option, text);
    case ARGUMENT_TEXT:
        if (text[0] == '\0') return complain(EXIT_USAGE, "%s is empty", option->name);
        *(const char **)option->value = text;
        return ARGUMENTS_GO_ON;
    case ARGUMENT_FLAG:
        break;
    }
    *(int *)option->value = 1;
    return ARGUMENTS_GO_ON;
}

static const argument *find(const argument *table, size_t count, const char *name, size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0) return &table[i];
    return NULL;
}

int arguments_read(const argument *table, size_t count, const char *purpose, int argc, char **argv) {
    const char *program = argc > 0 ? argv[0] : NULL;
    complain_as(program);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) return print_help(table, count, purpose, program);
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i], *equals = strncmp(text, "--", 2) == 0 ? strchr(text, '=') : NULL;
        const size_t length = equals == NULL ? strlen(text) : (size_t)(equals - text);
        const argument *option = find(table, count, text, length);
        if (option == NULL) return complain(EXIT_USAGE, "unknown option \"%.60s\"; see --help", text);
        const char *value = equals == NULL ? NULL : equals + 1;
        if (option->kind == ARGUMENT_FLAG) {
            if (value != NULL) return complain(EXIT_USAGE, "%s takes no value", option->name);
        } else if (value == NULL) {
            if (i + 1 == argc) return complain(EXIT_USAGE, "%s needs a value; see --help", option->name);
            value = argv[++i];
        }
        const int status = read_value(option, value);
        if (status != ARGUMENTS_GO_ON) return status;
    }
    return ARGUMENTS_GO_ON;
}
