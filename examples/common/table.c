#include "table.h"

#include "complain.h"
#include <errno.h>
#include <linattn/number.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 1 << 20 }; /* bytes; what is longer is no table */

enum { NO_LINE, LINE, FAILED }; /* what next_line found */

typedef struct reader {
    FILE *stream;
    const char *path;
    char *line;    /* the last line read, without its end; cells are cut out of it in place */
    size_t number; /* of that line, from 1 */
} reader;

static int complain_of_cell(const reader *r, const table *t, size_t column, const char *what, const char *text) {
    const char *name = column < t->columns && t->names != NULL ? t->names[column] : NULL;
    return complain(EXIT_FAILED, "%.200s: line %zu, column %zu%s%.40s%s: %s%s%.40s%s", r->path, r->number, column + 1,
                    name == NULL ? "" : " (", name == NULL ? "" : name, name == NULL ? "" : ")", what, text == NULL ? "" : ": \"",
                    text == NULL ? "" : text, text == NULL ? "" : "\"");
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------------- */
static int end_line(reader *r, size_t length) {
    if (length > 0 && r->line[length - 1] == '\r') length--;
    r->line[length] = '\0';
    if (strchr(r->line, '\r') == NULL) return LINE;
    complain(EXIT_FAILED, "%.200s: line %zu has a carriage return inside; lines end in LF or CRLF", r->path, r->number);
    return FAILED;
}

static int next_line(reader *r) {
    size_t length = 0;
    errno = 0;
    for (int c = getc(r->stream); c != EOF; c = getc(r->stream)) {
        if (length == 0) r->number++;
        if (c == '\n') return end_line(r, length);
        if (c == '\0') {
            complain(EXIT_FAILED, "%.200s: line %zu has a NUL at byte %zu; this is no text (UTF-16 is not read)", r->path,
                     r->number, length + 1);
            return FAILED;
        }
        if (length == MOST_LINE) {
            complain(EXIT_FAILED, "%.200s: line %zu is longer than %d bytes", r->path, r->number, MOST_LINE);
            return FAILED;
        }
        r->line[length++] = (char)c;
    }
    if (ferror(r->stream)) {
        complain(EXIT_FAILED, "cannot read \"%.200s\": %s", r->path, strerror(errno));
        return FAILED;
    }
    return length > 0 ? end_line(r, length) : NO_LINE;
}

/* ---- Cells ---------------------------------------------------------------------------------------------------------------- */
static int is_blank(char c) { return c == ' ' || c == '\t'; }

static char *skip_blanks(char *c) {
    while (is_blank(*c)) c++;
    return c;
}

/* The end of a quoted cell's text, which begins at `text`: "" becomes a quote. *at: behind the closing quote; NULL: none. */
static char *unquote(char *text, char **at) {
    char *into = text;
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '"' && *++c != '"') {
            *at = c;
            return into;
        }
        *into++ = *c;
    }
    *at = NULL;
    return into;
}

/* Cuts out the cell that begins at *at, without blanks around it, and moves *at behind the comma that ends it; to NULL after the
 * line's last cell. */
static int cut_cell(const reader *r, const table *t, size_t column, char **at, char **text) {
    char *end, *stop = skip_blanks(*at);
    *text = stop;
    if (*stop == '"') {
        *text = stop + 1;
        end = unquote(*text, &stop);
        if (stop == NULL) return complain_of_cell(r, t, column, "the quote is not closed on this line", NULL);
        stop = skip_blanks(stop);
        if (*stop != ',' && *stop != '\0') return complain_of_cell(r, t, column, "text after the closing quote", stop);
    } else {
        stop += strcspn(stop, ",");
        for (end = stop; end > *text && is_blank(end[-1]);) end--;
    }
    *at = *stop == ',' ? stop + 1 : NULL;
    *end = '\0';
    return 0;
}

static size_t count_cells(const char *line) {
    size_t count = 1;
    int quoted = 0;
    for (const char *c = line; *c != '\0'; c++) {
        quoted ^= *c == '"';
        count += *c == ',' && !quoted;
    }
    return count;
}

/* ---- The header and the rows ---------------------------------------------------------------------------------------------- */
static int read_header(reader *r, table *t) {
    char *at = r->line, *text;
    size_t numbers = 0, used;
    double number;
    if (strncmp(at, "\xef\xbb\xbf", 3) == 0) at += 3; /* byte-order mark */
    if (strchr(at, ',') == NULL && strpbrk(at, ";\t") != NULL)
        return complain(EXIT_FAILED, "%.200s: line 1: the separator is \"%s\"; allowed: \",\", and numbers with \".\"", r->path,
                        strchr(at, ';') != NULL ? ";" : "tab");
    const size_t columns = count_cells(at);
    t->names = calloc(columns, sizeof *t->names);
    if (t->names == NULL) return complain(EXIT_FAILED, "no memory for the columns of \"%.200s\"", r->path);
    while (at != NULL) {
        const int status = cut_cell(r, t, t->columns, &at, &text);
        if (status != 0) return status;
        if (text[0] == '\0') return complain_of_cell(r, t, t->columns, "the column has no name", NULL);
        if (t->columns == columns) return complain(EXIT_FAILED, "%.200s: line 1: quotes out of place", r->path);
        t->names[t->columns] = strdup(text);
        if (t->names[t->columns++] == NULL) return complain(EXIT_FAILED, "no memory for the columns of \"%.200s\"", r->path);
        numbers += linattn_number_read(text, &number, &used) == 0 && text[used] == '\0';
    }
    if (numbers == t->columns)
        return complain(EXIT_FAILED, "%.200s: line 1 holds numbers; a line of names must come first", r->path);
    return 0;
}

static int read_cell(const reader *r, const table *t, size_t column, const char *text, double *out) {
    if (text[0] == '\0') return complain_of_cell(r, t, column, "the value is missing", NULL);
    if (linattn_number_read(text, out, NULL) != 0)
        return complain_of_cell(r, t, column,
                                strchr(text, ',') != NULL ? "not a number (the decimal separator is \".\")" : "not a number", text);
    if (!isfinite(*out)) return complain_of_cell(r, t, column, "not a finite number", text);
    return 0;
}

static int read_row(const reader *r, const table *t, double *row) {
    char *at = r->line, *text;
    const size_t cells = count_cells(at);
    if (cells != t->columns)
        return complain(EXIT_FAILED, "%.200s: line %zu has %zu cells, the header %zu%s", r->path, r->number, cells, t->columns,
                        cells > t->columns ? " (decimal commas? the decimal separator is \".\")" : "");
    for (size_t j = 0; j < t->columns; j++) {
        int status = at == NULL ? complain_of_cell(r, t, j, "the value is missing", NULL) : cut_cell(r, t, j, &at, &text);
        if (status == 0) status = read_cell(r, t, j, text, &row[j]);
        if (status != 0) return status;
    }
    return 0;
}

/* Room for one more row; rooms double. */
static int make_room(const reader *r, table *t, size_t *room) {
    if (t->rows < *room) return 0;
    const size_t more = *room == 0 ? 64 : 2 * *room;
    double *cells = more <= SIZE_MAX / sizeof *cells / t->columns ? realloc(t->cells, more * t->columns * sizeof *cells) : NULL;
    if (cells == NULL) return complain(EXIT_FAILED, "no memory for more than %zu rows of \"%.200s\"", t->rows, r->path);
    t->cells = cells;
    *room = more;
    return 0;
}

static int read_rows(reader *r, table *t) {
    size_t room = 0, empty = 0; /* number of the first empty line */
    for (int found = next_line(r); found != NO_LINE; found = next_line(r)) {
        if (found == FAILED) return EXIT_FAILED;
        if (r->line[0] == '\0') {
            if (empty == 0) empty = r->number;
            continue;
        }
        if (empty != 0) return complain(EXIT_FAILED, "%.200s: line %zu is empty, and more follows", r->path, empty);
        int status = make_room(r, t, &room);
        if (status == 0) status = read_row(r, t, t->cells + t->rows * t->columns);
        if (status != 0) return status;
        t->rows++;
    }
    return t->rows > 0 ? 0 : complain(EXIT_FAILED, "%.200s: there are no rows after the header", r->path);
}

static int read_all(reader *r, table *t) {
    r->line = malloc(MOST_LINE + 1);
    if (r->line == NULL) return complain(EXIT_FAILED, "no memory to read \"%.200s\"", r->path);
    const int found = next_line(r);
    if (found == FAILED) return EXIT_FAILED;
    if (found == NO_LINE) return complain(EXIT_FAILED, "%.200s: the file is empty; a header line is needed", r->path);
    const int status = read_header(r, t);
    return status == 0 ? read_rows(r, t) : status;
}

int table_read(table *out, const char *path) {
    reader r = {.path = path};
    *out = (table){0};
    r.stream = fopen(path, "rb");
    if (r.stream == NULL) return complain(EXIT_FAILED, "cannot read \"%.200s\": %s", path, strerror(errno));
    const int status = read_all(&r, out);
    if (status != 0) table_forget(out);
    free(r.line);
    fclose(r.stream);
    return status;
}

void table_forget(table *t) {
    for (size_t j = 0; j < t->columns; j++) free(t->names[j]);
    free(t->names);
    free(t->cells);
    *t = (table){0};
}
