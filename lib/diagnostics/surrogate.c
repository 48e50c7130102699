/* surrogate.c: Gaussian noise with the mean and the covariance of the gradient errors, of which only the norm is wanted. */
#include "common/allocate.h"
#include "common/fail.h"
#include "diagnostics/diagnostics.h"
#include "random/random.h"
#include "spectrum/spectrum.h"

#include <math.h>

enum { CHUNK = 256 }; /* numbers that one job makes */

typedef struct {
    linattn__stream stream;
    size_t p, count;
    const double *centre; /* (p): v_i . m */
    const double *spread; /* (p): sqrt(lambda_i) */
    double *normals;      /* (workers, p): scratch */
    int squared;
    double *out;
} surrogate;

static void draw_chunk(void *context, size_t job, size_t worker) {
    const surrogate *s = context;
    const size_t first = job * CHUNK, last = s->count - first < CHUNK ? s->count : first + CHUNK;
    double *z = s->normals + worker * s->p;
    for (size_t k = first; k < last; k++) {
        double sum = 0;
        linattn__random_normals(&s->stream, LINATTN__KIND_SURROGATE, (uint32_t)k, 0, s->p, z);
        for (size_t i = 0; i < s->p; i++) {
            const double coordinate = s->centre[i] + s->spread[i] * z[i];
            sum += coordinate * coordinate;
        }
        s->out[k] = s->squared ? sum : sqrt(sum);
    }
}

/* Rounding can leave a variance a little below 0. */
static void project(const double *eigenvalues, const double *vectors, const double *mean, size_t p, double *centre,
                    double *spread) {
    for (size_t i = 0; i < p; i++) {
        centre[i] = 0;
        for (size_t j = 0; j < p; j++) centre[i] += vectors[i * p + j] * mean[j];
        spread[i] = eigenvalues[i] > 0 ? sqrt(eigenvalues[i]) : 0;
    }
}

int linattn__surrogate(linattn_diagnostics *d, double *covariance, const double *mean, uint64_t seed, int squared, size_t count,
                       double *out) {
    const size_t p = d->parameters;
    int status = linattn__spectrum_fits(p, 1);
    if (status != LINATTN_OK) return status;
    double *vectors = linattn__allocate(p, p * sizeof *vectors);
    double *numbers = linattn__allocate(d->workers + 3, p * sizeof *numbers);
    if (vectors && numbers) {
        double *eigenvalues = numbers, *centre = numbers + p, *spread = numbers + 2 * p;
        linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
        status = linattn__spectrum_of(covariance, p, eigenvalues, vectors, &spectrum);
        if (status == LINATTN_OK) {
            surrogate s = {.p = p, .count = count, .centre = centre, .spread = spread, .normals = numbers + 3 * p};
            s.squared = squared;
            s.out = out;
            linattn__stream_open(&s.stream, seed, 0, LINATTN__PURPOSE_DIAGNOSTICS);
            project(eigenvalues, vectors, mean, p, centre, spread);
            status = linattn__pool_run(d->pool, (count + CHUNK - 1) / CHUNK, draw_chunk, &s);
        }
    } else {
        status = linattn__fail_memory("the Gaussian surrogate");
    }
    linattn__release(vectors);
    linattn__release(numbers);
    return status;
}
