/* table.h: a table of numbers from a CSV file. */
#ifndef EXAMPLES_TABLE_H
#define EXAMPLES_TABLE_H

#include <stddef.h>

typedef struct table {
    size_t rows;
    size_t columns;
    char **names;  /* (columns), from the header line */
    double *cells; /* (rows, columns), finite */
} table;

/* Reads a file of comma-separated values: a line of names, then lines of finite numbers with '.' as decimal separator, whatever the
 * locale. Lines end in LF or CRLF, the last one need not; empty lines may follow it. A UTF-8 byte-order mark is skipped, and so are
 * blanks around cells. A cell may stand in double quotes, in which "" is a quote; it ends on its line. Everything else is refused,
 * with line and column: other separators, decimal commas, text, missing values, rows of another length, NUL bytes, lines of more
 * than a mebibyte. Returns 0, or EXIT_FAILED after a complaint; *out is then empty. */
int table_read(table *out, const char *path);
void table_forget(table *t);

#endif
