/* table.c: see table.h. */
#include "sampler/table.h"
#include "common/allocate.h"
#include "common/fail.h"
#include <linattn/number.h>
#include <math.h>
#include <string.h>

static int check_varies(const double *column, size_t rows, size_t step, size_t j) {
    char number[LINATTN_NUMBER_SIZE];
    for (size_t i = 1; i < rows; i++)
        if (column[i * step] != column[0]) return LINATTN_OK;
    linattn_number_write(column[0], number);
    return linattn__fail(
        LINATTN_EDEGENERATE,
        "column %zu of covariate_table (counted from 0) is %s in all rows (%zu); allowed with standardise: columns "
        "of at least two different numbers",
        j, number, rows);
}

/* A column to mean 0 and standard deviation 1 over its rows (divisor: the number of rows), not all of which are equal. Very large
 * and very small numbers are first scaled by a power of two, which is exact, so that no square leaves the range of doubles. */
static void standardise(double *column, size_t rows, size_t step) {
    double largest = 0, mean = 0, rest = 0, square = 0;
    for (size_t i = 0; i < rows; i++) largest = fmax(largest, fabs(column[i * step]));
    const double scale = largest > 0x1p400 ? 0x1p-700 : largest < 0x1p-400 ? 0x1p600 : 1;
    for (size_t i = 0; i < rows; i++) column[i * step] *= scale;
    for (size_t i = 0; i < rows; i++) mean += column[i * step];
    mean /= (double)rows;
    for (size_t i = 0; i < rows; i++) rest += column[i * step] - mean;
    mean += rest / (double)rows;
    for (size_t i = 0; i < rows; i++) square += (column[i * step] - mean) * (column[i * step] - mean);
    const double deviation = sqrt(square / (double)rows);
    for (size_t i = 0; i < rows; i++) column[i * step] = (column[i * step] - mean) / deviation;
}

int linattn__table_copy(const linattn_sampler_options *o, double **out) {
    const size_t rows = o->table_rows, d = o->dim;
    size_t count;
    if (o->covariate_table == NULL) return linattn__fail_null("covariate_table (needed by table covariates)");
    if (rows < 1 || rows > UINT32_MAX) return linattn__fail_count("table_rows", rows, "1 to 4294967295");
    if (o->standardise != 0 && o->standardise != 1) return linattn__fail_integer("standardise", o->standardise, "0 and 1");
    if (!linattn__multiply_sizes(rows, d, &count) || count > PTRDIFF_MAX / sizeof **out)
        return linattn__fail(LINATTN_EOVERFLOW, "covariate_table: %zu rows of %zu numbers do not fit in the address space", rows,
                             d);
    int status = linattn__check_finite("covariate_table", o->covariate_table, count);
    for (size_t j = 0; status == LINATTN_OK && o->standardise && j < d; j++)
        status = check_varies(o->covariate_table + j, rows, d, j);
    if (status != LINATTN_OK) return status;
    *out = linattn__allocate(count, sizeof **out);
    if (*out == NULL) return linattn__fail_memory("covariate_table");
    memcpy(*out, o->covariate_table, count * sizeof **out);
    for (size_t j = 0; o->standardise && j < d; j++) standardise(*out + j, rows, d);
    return LINATTN_OK;
}
