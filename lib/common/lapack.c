/* lapack.c: eigenvalues of symmetric matrices, singular values, least squares, and which BLAS answers. The one file that knows LAPACKE.
 *
 * Only the LAPACKE_*_work functions are called, and by columns: they take no memory, transpose nothing and read no environment
 * variable. A symmetric matrix is the same by rows and by columns, and an eigenvector in a column is a row of the caller's. */
#include "common/lapack.h"
#include "common/allocate.h"
#include "common/fail.h"
#include <float.h>
#include <linattn/spectrum.h>
#include <linattn/version.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__has_include)
#if !__has_include(<lapacke.h>)
#error "LAPACKE is not installed: on Debian, apt-get install liblapacke-dev libblas-dev"
#endif
#endif
#include <lapacke.h>

/* Columns that LAPACK reduces at a time: with less room it goes column by column. */
enum { BLOCK = 64 };

static const uint64_t LARGEST = sizeof(lapack_int) == 8 ? INT64_MAX : INT32_MAX;

/* What dsyevd wants: 2p + 1, or 1 + 6p + 2p^2 with vectors, and room for the blocks. */
static size_t dsyevd_work(size_t p, int vectors) { return vectors ? 1 + (BLOCK + 6) * p + 2 * p * p : 1 + (BLOCK + 2) * p; }
static size_t dsyevd_integers(size_t p, int vectors) { return vectors ? 3 + 5 * p : 1; }

/* What dsyevr wants: 26p, or (block + 6) p. */
static size_t dsyevr_work(size_t p) { return (BLOCK + 6) * p; }
static size_t dsyevr_integers(size_t p) { return 10 * p; }

int linattn__spectrum_fits(size_t p, int vectors) {
    size_t entries = 0;
    /* Below the first bound the lengths above do not overflow. */
    const size_t bound = vectors ? (size_t)1 << (4 * sizeof p - 2) : SIZE_MAX / (4 * BLOCK);
    if (p < bound && linattn__multiply_sizes(p, p, &entries) && entries <= PTRDIFF_MAX / sizeof(double) &&
        dsyevd_work(p, vectors) <= LARGEST && dsyevr_work(p) <= LARGEST)
        return LINATTN_OK;
    return linattn__fail(LINATTN_EOVERFLOW, "p is %zu; allowed: what LAPACK's integers of %zu bits can count%s", p,
                         8 * sizeof(lapack_int), vectors ? ", with vectors" : "");
}

static int all_finite(const double *x, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* Overwrites a (p, p) by the vectors, or without them one triangle and the diagonal. */
static int dsyevd(double *a, size_t p, double *eigenvalues, int vectors, lapack_int *info) {
    const size_t length = dsyevd_work(p, vectors), integers = dsyevd_integers(p, vectors);
    double *work = linattn__allocate(length, sizeof *work);
    lapack_int *iwork = linattn__allocate(integers, sizeof *iwork);
    const int status = work && iwork ? LINATTN_OK : linattn__fail_memory("eigenvalues");
    if (status == LINATTN_OK)
        *info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'L', (lapack_int)p, a, (lapack_int)p, eigenvalues, work,
                                    (lapack_int)length, iwork, (lapack_int)integers);
    linattn__release(work);
    linattn__release(iwork);
    return status;
}

/* Overwrites a (p, p). */
static int dsyevr(double *a, size_t p, double *eigenvalues, double *vectors, lapack_int *info) {
    const lapack_int n = (lapack_int)p;
    lapack_int found = 0;
    double *work = linattn__allocate(dsyevr_work(p), sizeof *work);
    lapack_int *iwork = linattn__allocate(dsyevr_integers(p), sizeof *iwork);
    lapack_int *support = linattn__allocate(p, 2 * sizeof *support);
    const int status = work && iwork && support ? LINATTN_OK : linattn__fail_memory("eigenvalues");
    if (status == LINATTN_OK)
        *info = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'A', 'L', n, a, n, 0, 0, 0, 0, 0, &found, eigenvalues,
                                    vectors, n, support, work, (lapack_int)dsyevr_work(p), iwork, (lapack_int)dsyevr_integers(p));
    linattn__release(work);
    linattn__release(iwork);
    linattn__release(support);
    return status;
}

/* Undoes what dsyevd did to a without vectors: by columns, the strict upper triangle is still there. */
static void restore(double *a, size_t p, const double *diagonal) {
    for (size_t j = 0; j < p; j++) {
        a[j * p + j] = diagonal[j];
        for (size_t i = 0; i < j; i++) a[i * p + j] = a[j * p + i];
    }
}

int linattn__symmetric_eigen(double *matrix, size_t p, double *eigenvalues, double *vectors, int32_t *driver) {
    lapack_int first = 0, second = 0;
    int status = linattn__spectrum_fits(p, vectors != NULL);
    if (status != LINATTN_OK) return status;
    double *diagonal = linattn__allocate(p, sizeof *diagonal);
    if (!diagonal) return linattn__fail_memory("eigenvalues");
    for (size_t i = 0; i < p; i++) diagonal[i] = matrix[i * p + i];
    if (vectors) memcpy(vectors, matrix, p * p * sizeof *vectors);
    *driver = LINATTN_DRIVER_DSYEVD;
    status = dsyevd(vectors ? vectors : matrix, p, eigenvalues, vectors != NULL, &first);
    if (status == LINATTN_OK && !(first == 0 && all_finite(eigenvalues, p))) {
        if (!vectors) restore(matrix, p, diagonal);
        *driver = LINATTN_DRIVER_DSYEVR;
        status = dsyevr(matrix, p, eigenvalues, vectors, &second);
        if (status == LINATTN_OK && !(second == 0 && all_finite(eigenvalues, p)))
            status = linattn__fail(LINATTN_ENOTCONVERGED, "no eigenvalues: LAPACK's dsyevd gave info %lld, dsyevr info %lld",
                                   (long long)first, (long long)second);
    }
    linattn__release(diagonal);
    return status;
}

/* ---- Least squares ---- */

int linattn__least_squares(double *a, size_t rows, size_t columns, double *b, size_t count, size_t *rank) {
    const size_t longer = rows > columns ? rows : columns, shorter = rows > columns ? columns : rows;
    if (longer > LARGEST || count > LARGEST)
        return linattn__fail(LINATTN_EOVERFLOW,
                             "least squares of %zu by %zu; allowed: what LAPACK's integers of %zu bits can count", rows, columns,
                             8 * sizeof(lapack_int));
    const lapack_int m = (lapack_int)rows, n = (lapack_int)columns, k = (lapack_int)count, ldb = (lapack_int)longer;
    const double smallest = (double)longer * DBL_EPSILON;
    double length = 0;
    lapack_int integers = 0, found = 0;
    /* With a length of -1 it only tells how much memory it wants. */
    lapack_int info = LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, m, n, k, a, m, b, ldb, b, smallest, &found, &length, -1, &integers);
    if (info != 0 || !(length <= (double)LARGEST))
        return linattn__fail(LINATTN_EOVERFLOW, "least squares of %zu by %zu: LAPACK's dgelsd cannot count its own memory", rows,
                             columns);
    double *singular = linattn__allocate(shorter, sizeof *singular), *work = linattn__allocate((size_t)length, sizeof *work);
    lapack_int *iwork = linattn__allocate((size_t)integers, sizeof *iwork);
    int status = singular && work && iwork ? LINATTN_OK : linattn__fail_memory("least squares");
    if (status == LINATTN_OK) {
        info = LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, m, n, k, a, m, b, ldb, singular, smallest, &found, work, (lapack_int)length,
                                   iwork);
        if (info != 0)
            status = linattn__fail(LINATTN_ENOTCONVERGED, "no singular values: LAPACK's dgelsd gave info %lld", (long long)info);
        *rank = (size_t)found;
    }
    linattn__release(singular);
    linattn__release(work);
    linattn__release(iwork);
    return status;
}

/* ---- Singular values ---- */

int linattn__singular_values(double *a, size_t rows, size_t columns, double *values) {
    if (rows > LARGEST / 2 || columns > LARGEST / 2)
        return linattn__fail(LINATTN_EOVERFLOW,
                             "singular values of %zu by %zu; allowed: what LAPACK's integers of %zu bits can count", rows, columns,
                             8 * sizeof(lapack_int));
    const lapack_int m = (lapack_int)rows, n = (lapack_int)columns, length = m + n > 6 ? m + n : 6;
    double *work = linattn__allocate((size_t)length, sizeof *work), unused = 0;
    if (!work) return linattn__fail_memory("singular values");
    const lapack_int info = LAPACKE_dgesvj_work(LAPACK_COL_MAJOR, 'G', 'U', 'N', m, n, a, m, values, 0, &unused, 1, work, length);
    /* work[0]: a factor that would have overflowed the values; 1 for matrices of moderate size. */
    for (size_t i = 0; i < columns; i++) values[i] *= work[0];
    linattn__release(work);
    if (info == 0 && all_finite(values, columns)) return LINATTN_OK;
    return linattn__fail(LINATTN_ENOTCONVERGED, "no singular values: LAPACK's dgesvj gave info %lld", (long long)info);
}

/* ---- Which BLAS ---- */

/* OpenBLAS's own, when that is what the loader or the linker found; otherwise NULL. Nothing here needs OpenBLAS. */
extern const char *openblas_get_config(void) __attribute__((weak));
extern const char *openblas_get_corename(void) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));

static const char *thread_model(void) {
    static const char *const names[] = {"no threads", "threads of its own", "OpenMP"};
    const int model = openblas_get_parallel ? openblas_get_parallel() : -1;
    return model >= 0 && model <= 2 ? names[model] : "unknown threads";
}

int linattn_blas_info(char *text) {
    if (!text) return linattn__fail_null("text");
    char name[32] = "OpenBLAS";
    /* Every call of openblas_get_config writes a buffer of OpenBLAS's own, its first two words always the same: only they are read,
     * so that another thread in it does no harm. */
    const char *config = openblas_get_config ? openblas_get_config() : "";
    if (sscanf(config, "OpenBLAS %15s", name + 9) == 1) name[8] = ' ';
    if (openblas_get_corename)
        snprintf(text, LINATTN_BLAS_INFO_SIZE, "%s; kernels: %.32s; integers: %zu bits; %s", name, openblas_get_corename(),
                 8 * sizeof(lapack_int), thread_model());
    else
        snprintf(text, LINATTN_BLAS_INFO_SIZE, "unknown BLAS; integers: %zu bits", 8 * sizeof(lapack_int));
    return LINATTN_OK;
}
