/* output.h: result files that are whole or not there.
 *
 * A file is written beside its place under a temporary name, flushed, synced and renamed. Numbers are written so that they read
 * back to the same bits in every locale. */
#ifndef EXAMPLES_OUTPUT_H
#define EXAMPLES_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct output {
    FILE *stream;
    char *path;
    char *temporary;
    int error; /* errno of the first write that failed, or 0 */
} output;

/* Sees to it that the folder exists and may be written to; it is made when its parent is there. Returns 0, or EXIT_FAILED after a
 * complaint. */
int output_folder(const char *path);

/* "<folder>/<name><ending>", to be freed; NULL after a complaint. */
char *output_path(const char *folder, const char *name, const char *ending);

/* Begins the file `path`. Returns 0, or EXIT_FAILED after a complaint. */
int output_open(output *file, const char *path);

/* Each may fail silently; output_close tells. */
void output_text(output *file, const char *text);
void output_count(output *file, uint64_t number);
void output_number(output *file, double number);
void output_numbers(output *file, const double *numbers, size_t count); /* the rest of a row: a comma before each, then its end */

/* Puts the file in its place. Returns 0, or EXIT_FAILED after a complaint: the old file, if any, is then as it was. */
int output_close(output *file);

/* Syncs the finished file `temporary`, made by another program, and renames it to path; on failure it is removed. Returns 0, or
 * EXIT_FAILED after a complaint. */
int output_adopt(const char *temporary, const char *path);

#endif
