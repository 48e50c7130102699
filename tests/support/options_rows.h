/* options_rows.h: every options struct, with a call that takes it. */
#ifndef LINATTN_TESTS_OPTIONS_ROWS_H
#define LINATTN_TESTS_OPTIONS_ROWS_H

#include "support/world.h"

typedef struct options_row {
    const char *name;
    size_t size;
    int (*init)(void *options, size_t size);
    void (*prepare)(void *options); /* sets what has no default */
    /* Calls with the options. On success *made is a number that depends on them; otherwise it is untouched. */
    int (*use)(const void *options, double *made);
} options_row;

enum { OPTIONS_ROWS = 14 };
extern const options_row options_rows[OPTIONS_ROWS];
const options_row *options_row_of(const char *name); /* or NULL */

/* What the calls work on: a test's fixture opens and closes it. */
extern world options_world;

#endif
