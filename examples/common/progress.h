/* progress.h: a bar with the time left, on stderr, and only when that is a terminal. Threads may share it. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include <pthread.h>
#include <stdint.h>

typedef struct progress {
    pthread_mutex_t lock;
    uint64_t total;
    uint64_t done;
    double started; /* seconds, see progress_clock */
    double shown;   /* when the bar was last drawn */
    int terminal;   /* 0: nothing is ever drawn */
} progress;

/* Seconds on a clock that never goes back. */
double progress_clock(void);

/* total: the amount of work, in any unit. */
void progress_begin(progress *bar, uint64_t total);
void progress_add(progress *bar, uint64_t amount);

/* Wipes the bar off the line. */
void progress_end(progress *bar);

#endif
