#include "bench/timing.h"

#include <stdlib.h>
#include <time.h>

enum { MOST_SAMPLES = 41 };
static const double sample_seconds = 0.01, warm_seconds = 0.05;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int time_work(timing *out, int samples, timed_work work, void *context) {
    double seconds[MOST_SAMPLES];
    uint64_t turn = 0, turns;
    const double begin = now();
    for (; turn == 0 || now() - begin < warm_seconds; turn++) {
        const int status = work(context, turn);
        if (status) return status;
    }
    turns = (uint64_t)(sample_seconds * (double)turn / (now() - begin)) + 1;
    for (int i = 0; i < samples; i++) {
        const double start = now();
        for (uint64_t j = 0; j < turns; j++) {
            const int status = work(context, turn++);
            if (status) return status;
        }
        seconds[i] = (now() - start) / (double)turns;
    }
    qsort(seconds, (size_t)samples, sizeof *seconds, ascending);
    *out = (timing){seconds[samples / 2], seconds[3 * samples / 4] - seconds[samples / 4]};
    return 0;
}
