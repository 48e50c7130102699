/* results.h: a file of finished runs, one line a run, to which runs are added as they end.
 *
 *     # liblinattn runs 1                 the format
 *     # recipe depth2                     the sweep: all that shapes a run but what is in the columns
 *     # ...
 *     recipe,optimizer,learning_rate,seed,steps,diverged,diverged_at,final_loss,final_median,seconds,checksum
 *     depth2,SGD,0.02,1000000,2000,0,,0.0031,0.00042,0.83,0b1e77a2
 *
 * A line is added by one write and synced before the run counts as done, so a sweep that is killed, at any moment, goes on where it
 * was: no run is lost or done twice. A file that is not this sweep's, or not as it was written, is refused and left as it is; none
 * is ever removed. A run that diverged has no final numbers. Blank lines mean nothing. */
#ifndef EXAMPLES_RESULTS_H
#define EXAMPLES_RESULTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct result {
    char recipe[24];
    char optimizer[8];
    double learning_rate;
    uint64_t seed;
    uint64_t steps;
    int diverged;
    uint64_t diverged_at; /* read for diverged runs */
    double final_loss;    /* these two: read for the others */
    double final_median;
    double seconds;
} result;

typedef struct results {
    char *path;
    int descriptor;
    result *runs; /* (count) */
    size_t count;
    uint64_t size; /* bytes, all of them whole lines */
    int failed;    /* 1: a write has failed and was complained of; no more is written */
    pthread_mutex_t lock;
} results;

/* Opens or makes the file and reads what it holds. sweep: lines "# key value". No other process can open the file until
 * results_close, or until this one ends however it does. Returns 0, or EXIT_FAILED after a complaint; nothing is then open. */
int results_open(results *file, const char *path, const char *sweep);
void results_close(results *file);

/* The run of the same recipe, optimizer, learning rate, seed and steps, or NULL. Not while others add runs. */
const result *results_find(const results *file, const result *run);

/* Adds a run; threads may do so at the same time. Returns 0, or EXIT_FAILED, the first time after a complaint: the file is then
 * without it, and later calls fail too. */
int results_add(results *file, const result *run);

/* ---- Used by the parts of this one ---- */

/* Room for any line, its end included; and for the sweep and what is around it. */
enum { RESULTS_LINE = 256, RESULTS_HEADER = 4096 };

/* The first lines of a file. text: room for RESULTS_HEADER. Returns its length, or 0 when it does not fit. */
size_t results_header(char *text, const char *sweep);

/* The CRC-32 of zlib and PNG; before: of the bytes before these, or 0. */
uint32_t results_checksum(uint32_t before, const void *bytes, size_t length);

/* Fills file->runs from the file's text, which begins with the header if it is whole. Returns 0, or EXIT_FAILED after a
 * complaint. */
int results_read(results *file, const char *text, size_t length, const char *header);

#endif
