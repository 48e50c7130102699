/* precondition.c: a matrix in the coordinates in which a diagonal preconditioner is the identity. */
#include "common/allocate.h"
#include "common/fail.h"
#include "spectrum/spectrum.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>

int linattn__preconditioner_check(const char *argument, const double *diagonal, size_t p) {
    const int status = linattn__check_finite(argument, diagonal, p);
    if (status != LINATTN_OK) return status;
    for (size_t i = 0; i < p; i++) {
        if (diagonal[i] > 0) continue;
        char entry[64];
        snprintf(entry, sizeof entry, "%s[%zu]", argument, i);
        return linattn__fail_real(entry, diagonal[i], "above 0");
    }
    return LINATTN_OK;
}

int linattn_matrix_precondition(const double *matrix, size_t p, const double *diagonal, double *out) {
    size_t entries = 0;
    if (!matrix) return linattn__fail_null("matrix");
    if (p == 0) return linattn__fail_count("p", p, "1 or more");
    if (!linattn__multiply_sizes(p, p, &entries) || entries > PTRDIFF_MAX / sizeof *matrix)
        return linattn__fail(LINATTN_EOVERFLOW, "p is %zu; allowed: what p^2 numbers fit in memory", p);
    if (!diagonal) return linattn__fail_null("diagonal");
    if (!out) return linattn__fail_null("out");
    int status = linattn__check_finite("matrix", matrix, entries);
    if (status == LINATTN_OK) status = linattn__preconditioner_check("diagonal", diagonal, p);
    if (status != LINATTN_OK) return status;
    double *roots = linattn__allocate(p, sizeof *roots);
    if (!roots) return linattn__fail_memory("a preconditioner");
    for (size_t i = 0; i < p; i++) roots[i] = sqrt(diagonal[i]);
    /* The product of two roots is in range whatever the diagonal, and the same in either order. */
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) out[i * p + j] = matrix[i * p + j] / (roots[i] * roots[j]);
    linattn__release(roots);
    return LINATTN_OK;
}
