#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 40 };

double progress_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *bar, uint64_t total) {
    pthread_mutex_init(&bar->lock, NULL);
    bar->total = total;
    bar->done = 0;
    bar->started = progress_clock();
    bar->shown = 0;
    bar->terminal = isatty(STDERR_FILENO);
}

/* "[#####-----]  50%  1:05 left". The rate is that of the whole time so far: runs that differ in cost even out. */
static void draw(const progress *bar, double now) {
    const double share = bar->total == 0 ? 1 : (double)bar->done / (double)bar->total;
    char cells[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++) cells[i] = i < (int)(share * BAR_WIDTH) ? '#' : '-';
    cells[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3d%%", cells, (int)(100 * share));
    if (share > 0) {
        const double left = (now - bar->started) * (1 - share) / share + 0.5;
        const unsigned long seconds = left < 1e6 ? (unsigned long)left : 1000000;
        fprintf(stderr, "  %lu:%02lu left ", seconds / 60, seconds % 60);
    }
    fflush(stderr);
}

void progress_add(progress *bar, uint64_t amount) {
    pthread_mutex_lock(&bar->lock);
    bar->done = amount > bar->total - bar->done ? bar->total : bar->done + amount;
    if (bar->terminal) {
        const double now = progress_clock();
        if (now - bar->shown > 0.1) {
            draw(bar, now);
            bar->shown = now;
        }
    }
    pthread_mutex_unlock(&bar->lock);
}

void progress_end(progress *bar) {
    if (bar->terminal) fprintf(stderr, "\r%*s\r", BAR_WIDTH + 24, "");
    pthread_mutex_destroy(&bar->lock);
}
