/* results_read.c: reading back a file of runs: all of it, or a complaint that names the line. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "results.h"

#include "complain.h"
#include <inttypes.h>
#include <linattn/number.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 10 }; /* without the checksum */

/* Digits only. */
static int read_count(const char *text, uint64_t *out) {
    uint64_t number = 0;
    int good = text[0] != '\0';
    for (const char *c = text; *c != '\0' && good; c++) {
        const unsigned digit = (unsigned char)*c - (unsigned)'0';
        good = digit <= 9 && number <= (UINT64_MAX - digit) / 10;
        if (good) number = 10 * number + digit;
    }
    *out = number;
    return good;
}

static int read_real(const char *text, double *out) { return linattn_number_read(text, out, NULL) == 0 && isfinite(*out); }

static int read_word(const char *text, char *out, size_t size) {
    return text[0] != '\0' && (size_t)snprintf(out, size, "%s", text) < size;
}

static int read_fields(char *fields[FIELDS], result *run) {
    enum { RECIPE, OPTIMIZER, RATE, SEED, STEPS, DIVERGED, AT, LOSS, MEDIAN, SECONDS };
    *run = (result){.diverged = strcmp(fields[DIVERGED], "1") == 0};
    if (!read_word(fields[RECIPE], run->recipe, sizeof run->recipe) ||
        !read_word(fields[OPTIMIZER], run->optimizer, sizeof run->optimizer) || !read_real(fields[RATE], &run->learning_rate) ||
        !read_count(fields[SEED], &run->seed) || !read_count(fields[STEPS], &run->steps) ||
        !read_real(fields[SECONDS], &run->seconds))
        return 0;
    if (run->diverged) return read_count(fields[AT], &run->diverged_at) && fields[LOSS][0] == '\0' && fields[MEDIAN][0] == '\0';
    return strcmp(fields[DIVERGED], "0") == 0 && fields[AT][0] == '\0' && read_real(fields[LOSS], &run->final_loss) &&
           read_real(fields[MEDIAN], &run->final_median);
}

/* A line without its end: 1 when it is one that results_add has written. */
static int read_line(const char *text, size_t length, result *run) {
    char line[RESULTS_LINE], *fields[FIELDS];
    char checksum[9];
    if (length >= sizeof line || memchr(text, '\0', length) != NULL) return 0;
    memcpy(line, text, length);
    line[length] = '\0';
    char *last = strrchr(line, ',');
    if (last == NULL) return 0;
    snprintf(checksum, sizeof checksum, "%08" PRIx32, results_checksum(0, line, (size_t)(last - line)));
    if (strcmp(last + 1, checksum) != 0) return 0;
    *last = '\0';
    size_t count = 0;
    for (char *rest = line; rest != NULL; count++) {
        if (count == FIELDS) return 0;
        fields[count] = rest;
        rest = strchr(rest, ',');
        if (rest != NULL) *rest++ = '\0';
    }
    return count == FIELDS && read_fields(fields, run);
}

/* "a" is in the file where "b" should be; at: its line. */
static int complain_of_header(const results *file, size_t at, const char *a, size_t a_length, const char *b, size_t b_length) {
    const char *advice = "give another --out, or move the file away";
    if (at == 1) return complain(EXIT_FAILED, "%s:1: not a file of runs in format 1; %s", file->path, advice);
    return complain(EXIT_FAILED, "%s:%zu: the runs are those of another sweep: \"%.*s\" there, \"%.*s\" here; %s", file->path, at,
                    (int)(a_length < 80 ? a_length : 80), a, (int)(b_length < 80 ? b_length : 80), b, advice);
}

/* Length of the header, or 0 after a complaint. lines: how many it has. */
static size_t read_header(const results *file, const char *text, const char *header, size_t *lines) {
    size_t at = 0;
    for (*lines = 1; header[at] != '\0'; ++*lines) {
        const size_t wanted = strcspn(header + at, "\n"), found = strcspn(text + at, "\n");
        if (text[at + found] == '\0') {
            complain(EXIT_FAILED, "%s:%zu: the file is cut off before its first run; remove it", file->path, *lines);
            return 0;
        }
        if (wanted != found || memcmp(text + at, header + at, wanted) != 0) {
            complain_of_header(file, *lines, text + at, found, header + at, wanted);
            return 0;
        }
        at += wanted + 1;
    }
    --*lines;
    return at;
}

static int keep(results *file, const result *run, size_t line) {
    if (results_find(file, run) != NULL)
        return complain(EXIT_FAILED, "%s:%zu: the run is there twice; remove one of the two lines", file->path, line);
    result *more = realloc(file->runs, (file->count + 1) * sizeof *more);
    if (more == NULL) return complain(EXIT_FAILED, "no memory for the runs of \"%s\"", file->path);
    file->runs = more;
    file->runs[file->count++] = *run;
    return 0;
}

int results_read(results *file, const char *text, size_t length, const char *header) {
    size_t line, at = read_header(file, text, header, &line);
    int status = at == 0 ? EXIT_FAILED : 0;
    while (status == 0 && at < length) {
        const char *end = memchr(text + at, '\n', length - at);
        const size_t found = end == NULL ? length - at : (size_t)(end - (text + at));
        result run;
        line++;
        if (end == NULL)
            status = complain(EXIT_FAILED, "%s:%zu: the line is cut off; remove it, and its run is done again", file->path, line);
        else if (found > 0 && !read_line(text + at, found, &run))
            status = complain(EXIT_FAILED, "%s:%zu: the line is damaged; remove it, and its run is done again", file->path, line);
        else if (found > 0)
            status = keep(file, &run, line);
        at += found + 1;
    }
    return status;
}
