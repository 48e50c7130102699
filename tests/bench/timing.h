/* timing.h: medians of repeated runs. */
#ifndef LINATTN_TESTS_BENCH_TIMING_H
#define LINATTN_TESTS_BENCH_TIMING_H

#include <stdint.h>

/* What is timed: one unit of work; `turn` counts up over all calls. Returns 0, or anything else to give up. */
typedef int (*timed_work)(void *context, uint64_t turn);

typedef struct timing {
    double median; /* seconds of one unit */
    double spread; /* seconds between the quartiles */
} timing;

/* Times `samples` (1 to 41) batches of turns, of a few milliseconds each or of one turn where that is longer, after a warm-up.
 * Returns 0, or what the work returned. */
int time_work(timing *out, int samples, timed_work work, void *context);

#endif
