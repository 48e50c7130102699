/* evaluate.c: outputs, weights and gradients of every example, and what follows from them without LAPACK. */
#include "common/allocate.h"
#include "common/fail.h"
#include "prompt/measure.h"

#include <stdlib.h>
#include <string.h>

/* Scratch memory for a block. */
typedef struct {
    double *outputs, *bends, *weights, *sensitivities, *gradients; /* (8), (8), (n, 8), (n, 8), (p, 8) */
    double *work;
} block_room;

int linattn__prompt_check(const linattn_prompt *prompt, const double *theta) {
    if (!prompt) return linattn__fail_null("prompt");
    if (!theta) return linattn__fail_null("theta");
    return linattn__check_finite("theta", theta, linattn__prompt_parameters(&prompt->shape));
}

/* Rows of lanes (count, 8) as `examples` plain rows from row `first` on. */
static void get_rows(const double *lanes, size_t count, size_t first, size_t examples, double *plain) {
    for (size_t i = 0; plain && i < examples; i++)
        for (size_t j = 0; j < count; j++) plain[(first + i) * count + j] = lanes[j * LINATTN__BLOCK + i];
}

int linattn__prompt_examine(const linattn_prompt *prompt, const double *theta, const linattn__prompt_values *out) {
    const linattn__prompt_kernels *kernels = linattn__prompt_kernels_for(linattn__isa_best());
    const size_t n = prompt->shape.tokens, p = linattn__prompt_parameters(&prompt->shape), N = prompt->options.examples;
    double *memory = linattn__allocate(2 + 2 * n + p + kernels->workspace(&prompt->shape, 0), LINATTN__BLOCK * sizeof *memory);
    if (!memory) return linattn__fail_memory("a prompt-attention system's outputs");
    const block_room at = {memory,
                           memory + LINATTN__BLOCK,
                           memory + 2 * LINATTN__BLOCK,
                           memory + (2 + n) * LINATTN__BLOCK,
                           memory + (2 + 2 * n) * LINATTN__BLOCK,
                           memory + (2 + 2 * n + p) * LINATTN__BLOCK};
    for (size_t block = 0; block < prompt->blocks; block++) {
        const linattn__examples x = linattn__prompt_part(prompt, block, 1);
        const size_t first = block * LINATTN__BLOCK, left = N - first, count = left < LINATTN__BLOCK ? left : LINATTN__BLOCK;
        kernels->evaluate(&prompt->shape, theta, &x, at.outputs, at.bends, at.weights, at.sensitivities, at.gradients, at.work);
        get_rows(at.outputs, 1, first, count, out->outputs);
        get_rows(at.bends, 1, first, count, out->bends);
        get_rows(at.weights, n, first, count, out->weights);
        get_rows(at.sensitivities, n, first, count, out->sensitivities);
        get_rows(at.gradients, p, first, count, out->jacobian);
    }
    linattn__release(memory);
    return LINATTN_OK;
}

int linattn_prompt_evaluate(const linattn_prompt *prompt, const double *theta, double *outputs, double *weights,
                            double *sensitivities, double *jacobian) {
    const int status = linattn__prompt_check(prompt, theta);
    if (status != LINATTN_OK) return status;
    return linattn__prompt_examine(
        prompt, theta,
        &(linattn__prompt_values){.outputs = outputs, .weights = weights, .sensitivities = sensitivities, .jacobian = jacobian});
}

int linattn_prompt_gauss_newton(const linattn_prompt *prompt, const double *theta, double *out) {
    int status = linattn__prompt_check(prompt, theta);
    if (status != LINATTN_OK) return status;
    if (!out) return linattn__fail_null("out");
    const size_t p = linattn__prompt_parameters(&prompt->shape), N = prompt->options.examples;
    size_t entries, numbers;
    if (!linattn__multiply_sizes(p, p, &entries) || !linattn__multiply_sizes(N, p + 1, &numbers))
        return linattn__fail(LINATTN_EOVERFLOW, "a matrix of %zu by %zu does not fit in the address space", p, p);
    double *g = linattn__allocate(numbers, sizeof *g);
    if (!g) return linattn__fail_memory("the Gauss-Newton matrix");
    const linattn__prompt_values values = {.jacobian = g, .bends = g + N * p};
    status = linattn__prompt_examine(prompt, theta, &values);
    for (size_t i = 0; status == LINATTN_OK && i < entries; i++) out[i] = 0;
    for (size_t i = 0; status == LINATTN_OK && i < N; i++)
        for (size_t j = 0; j < p; j++)
            for (size_t k = 0; k <= j; k++) out[j * p + k] += values.bends[i] / (double)N * g[i * p + j] * g[i * p + k];
    for (size_t j = 0; status == LINATTN_OK && j < p; j++)
        for (size_t k = 0; k < j; k++) out[k * p + j] = out[j * p + k];
    linattn__release(g);
    return status;
}

/* ---- The softmax Jacobian ---- */

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The eigenvalue of diag(a) - a a^T between neighbours low < high of the weights a (n): as they sum to 1, the root of
 * g(x) = sum_k a_k / (a_k - x), which rises from -Inf to Inf there. Halving ends at neighbouring doubles. */
static double eigenvalue_between(const double *a, size_t n, double low, double high) {
    for (;;) {
        const double middle = low + (high - low) / 2;
        double g = 0;
        if (!(middle > low && middle < high)) return middle;
        for (size_t k = 0; k < n; k++) g += a[k] / (a[k] - middle);
        if (g < 0)
            low = middle;
        else
            high = middle;
    }
}

int linattn_prompt_softmax_spectrum(const linattn_prompt *prompt, const double *theta, size_t example, double *out) {
    int status = linattn__prompt_check(prompt, theta);
    if (status != LINATTN_OK) return status;
    if (!out) return linattn__fail_null("out");
    const size_t N = prompt->options.examples, n = prompt->shape.tokens;
    if (example >= N) return linattn__fail(LINATTN_EINVAL, "example is %zu; allowed: 0 to %zu", example, N - 1);
    if (prompt->shape.linear) return linattn__fail(LINATTN_EUNSUPPORTED, "linear attention has no softmax Jacobian");
    double *all = linattn__allocate(N * n, sizeof *all), *a = all + example * n;
    if (!all) return linattn__fail_memory("the softmax Jacobian");
    status = linattn__prompt_examine(prompt, theta, &(linattn__prompt_values){.weights = all});
    if (status == LINATTN_OK) qsort(a, n, sizeof *a, descending);
    /* Equal weights are eigenvalues themselves; weights of 0 add nothing but zeros. */
    for (size_t i = 0; status == LINATTN_OK && i + 1 < n; i++)
        out[i] = a[i + 1] == 0 || a[i + 1] == a[i] ? a[i + 1] : eigenvalue_between(a, n, a[i + 1], a[i]);
    if (status == LINATTN_OK) out[n - 1] = 0;
    linattn__release(all);
    return status;
}
