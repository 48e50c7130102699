#include "ranking.h"

#include <linattn/statistics.h>
#include <math.h>
#include <stdlib.h>

/* A number and where it came from. */
typedef struct ranked {
    double value;
    size_t index;
} ranked;

static int by_value(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

static void rank(double *numbers, size_t count, ranked *sorted) {
    for (size_t i = 0; i < count; i++) sorted[i] = (ranked){numbers[i], i};
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !(sorted[end].value > sorted[i].value);) end++;
        for (size_t j = i; j < end; j++) numbers[sorted[j].index] = 0.5 * (double)(i + end - 1);
    }
}

double rank_correlation(double *x, double *y, size_t count) {
    linattn_line line = {.struct_size = sizeof line};
    ranked *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL) return NAN;
    rank(x, count, sorted);
    rank(y, count, sorted);
    free(sorted);
    if (linattn_line_fit(x, y, count, &line) != LINATTN_OK) return NAN;
    return copysign(sqrt(line.r_squared), line.slope);
}
