/* tile.h: products of small matrices, one for each lane.
 *
 * A lane matrix (rows, columns) holds LINATTN__LANES matrices at once, the lane being the innermost index. A shared matrix holds
 * one matrix of plain doubles that all lanes use: the parameters. A product keeps a tile of the result in registers while it runs
 * along the inner index, so that each loaded value is used several times. With constant sizes everything below is unrolled. */
#ifndef LINATTN_KERNELS_TILE_H
#define LINATTN_KERNELS_TILE_H

#include "common/vector.h"

/* A size that the compiler is told. Sanitizers make unrolled code so large that their builds leave all sizes to run time. */
#ifdef LINATTN__GENERAL_SIZES
#define LINATTN__KNOWN(known, general) (general)
#else
#define LINATTN__KNOWN(known, general) (known)
#endif

/* A factor of a product. Entry (i, j) is element i * row + j * column; exchanging the strides transposes. */
typedef struct {
    const double *at;
    size_t row, column;
    int shared; /* 1: an element is one double; 0: LINATTN__LANES of them */
} factor;

LINATTN__INLINE factor lanes(const double *at, size_t columns) { return (factor){at, columns, 1, 0}; }
LINATTN__INLINE factor shared(const double *at, size_t columns) { return (factor){at, columns, 1, 1}; }
LINATTN__INLINE factor transposed(factor x) { return (factor){x.at, x.column, x.row, x.shared}; }

/* Element i of lane numbers. */
LINATTN__INLINE vreal get(const double *x, size_t i) { return vreal_load(x + i * LINATTN__LANES); }
LINATTN__INLINE void put(double *x, size_t i, vreal value) { vreal_store(x + i * LINATTN__LANES, value); }

LINATTN__INLINE vreal entry(factor x, size_t i, size_t j) {
    const size_t element = i * x.row + j * x.column;
    return x.shared ? vreal_all(x.at[element]) : get(x.at, element);
}

/* The tile's height and width, constants also where the matrix's size is not: registers allow 5 x 5 or 3 x 7 with 32 of them, 2 x 6
 * with 16. What is left at the edges goes by single rows and columns. */
#if LINATTN__LANES == 8
enum { TILE_ROWS = 5, TILE_COLUMNS = 7 };
#define LINATTN__TILE_COLUMNS(columns)                                                                                             \
    (!__builtin_constant_p(columns) ? 4 : (columns) % 5 == 0 ? 5 : (columns) % 7 == 0 ? 7 : (columns) % 6 == 0 ? 6 : 4)
#define LINATTN__TILE_ROWS(rows, columns)                                                                                          \
    (!__builtin_constant_p(rows) ? 4 : (columns) % 5 == 0 && (rows) % 5 == 0 ? 5 : (columns) % 7 == 0 || (rows) % 4 != 0 ? 3 : 4)
#else
enum { TILE_ROWS = 2, TILE_COLUMNS = 6 };
#define LINATTN__TILE_COLUMNS(columns)    (!__builtin_constant_p(columns) ? 4 : (columns) % 5 == 0 ? 5 : (columns) % 6 == 0 ? 6 : 4)
#define LINATTN__TILE_ROWS(rows, columns) 2
#endif

/* out(i, j) = [add: out(i, j) +] sum over k of a(i, k) b(k, j), for i in row .. row+rows-1, j in column .. column+columns-1. */
LINATTN__INLINE void tile(double *out, size_t stride, size_t row, size_t rows, size_t column, size_t columns, size_t inner,
                          factor a, factor b, int add) {
    vreal sum[TILE_ROWS][TILE_COLUMNS];
    out += (row * stride + column) * LINATTN__LANES;
    LINATTN__UNROLL
    for (size_t i = 0; i < rows; i++) {
        LINATTN__UNROLL
        for (size_t j = 0; j < columns; j++) sum[i][j] = add ? get(out, i * stride + j) : (vreal){0};
    }
    for (size_t k = 0; k < inner; k++) {
        vreal right[TILE_COLUMNS];
        LINATTN__UNROLL
        for (size_t j = 0; j < columns; j++) right[j] = entry(b, k, column + j);
        LINATTN__UNROLL
        for (size_t i = 0; i < rows; i++) {
            const vreal left = entry(a, row + i, k);
            LINATTN__UNROLL
            for (size_t j = 0; j < columns; j++) sum[i][j] += left * right[j];
        }
    }
    LINATTN__UNROLL
    for (size_t i = 0; i < rows; i++) {
        LINATTN__UNROLL
        for (size_t j = 0; j < columns; j++) put(out, i * stride + j, sum[i][j]);
    }
}

/* A strip of rows, of which the first `until` columns are wanted; the last tile may do more. */
LINATTN__INLINE void tile_strip(double *out, size_t row, size_t rows, size_t columns, size_t until, size_t inner, factor a,
                                factor b, int add) {
    const size_t width = LINATTN__TILE_COLUMNS(columns);
    size_t column = 0;
    for (; column < until && column + width <= columns; column += width)
        tile(out, columns, row, rows, column, width, inner, a, b, add);
    for (; column < until; column++) tile(out, columns, row, rows, column, 1, inner, a, b, add);
}

/* All strips; of a triangle, those entries that are not above the diagonal. */
LINATTN__INLINE void tile_all(double *out, size_t rows, size_t inner, size_t columns, factor a, factor b, int add, int triangle) {
    const size_t height = LINATTN__TILE_ROWS(rows, columns);
    size_t row = 0;
    for (; row + height <= rows; row += height)
        tile_strip(out, row, height, columns, triangle ? row + height : columns, inner, a, b, add);
    for (; row < rows; row++) tile_strip(out, row, 1, columns, triangle ? row + 1 : columns, inner, a, b, add);
}

/* Sizes that the compiler does not know: out of line, once for each kind of factors. */
LINATTN__OUTLINE void tile_any(double *out, size_t rows, size_t inner, size_t columns, factor a, factor b, int add, int triangle) {
    const factor a_lanes = {a.at, a.row, a.column, 0}, a_shared = {a.at, a.row, a.column, 1};
    const factor b_lanes = {b.at, b.row, b.column, 0}, b_shared = {b.at, b.row, b.column, 1};
    if (a.shared)
        tile_all(out, rows, inner, columns, a_shared, b_lanes, add, triangle);
    else if (b.shared)
        tile_all(out, rows, inner, columns, a_lanes, b_shared, add, triangle);
    else
        tile_all(out, rows, inner, columns, a_lanes, b_lanes, add, triangle);
}

enum { SET = 0, ADD = 1 };

/* out (rows, columns) = a (rows, inner) b (inner, columns), or out + a b; out is a lane matrix that overlaps neither, and at most
 * one factor is shared. */
LINATTN__INLINE void product(double *out, size_t rows, size_t inner, size_t columns, factor a, factor b, int add) {
    if (__builtin_constant_p(columns))
        tile_all(out, rows, inner, columns, a, b, add, 0);
    else
        tile_any(out, rows, inner, columns, a, b, add, 0);
}

/* The same for a square result that is known to be symmetric: tiles above the diagonal are copied from below it. */
LINATTN__INLINE void product_symmetric(double *out, size_t rows, size_t inner, factor a, factor b, int add) {
    if (__builtin_constant_p(rows))
        tile_all(out, rows, inner, rows, a, b, add, 1);
    else
        tile_any(out, rows, inner, rows, a, b, add, 1);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < i; j++) put(out, j * rows + i, get(out, i * rows + j));
}

enum { TILE_VECTOR = 5 };

/* Rows row .. row+rows-1 of a x. */
LINATTN__INLINE void tile_vector(double *out, size_t row, size_t rows, size_t inner, factor a, const double *x, int add) {
    vreal sum[TILE_VECTOR];
    LINATTN__UNROLL
    for (size_t i = 0; i < rows; i++) sum[i] = add ? get(out, row + i) : (vreal){0};
    for (size_t k = 0; k < inner; k++) {
        const vreal right = get(x, k);
        LINATTN__UNROLL
        for (size_t i = 0; i < rows; i++) sum[i] += entry(a, row + i, k) * right;
    }
    LINATTN__UNROLL
    for (size_t i = 0; i < rows; i++) put(out, row + i, sum[i]);
}

LINATTN__INLINE void tile_vectors(double *out, size_t rows, size_t inner, factor a, const double *x, int add) {
    const size_t height = __builtin_constant_p(rows) && rows % TILE_VECTOR == 0 ? TILE_VECTOR : 4;
    size_t row = 0;
    for (; row + height <= rows; row += height) tile_vector(out, row, height, inner, a, x, add);
    for (; row < rows; row++) tile_vector(out, row, 1, inner, a, x, add);
}

LINATTN__OUTLINE void tile_vectors_any(double *out, size_t rows, size_t inner, factor a, const double *x, int add) {
    const factor a_lanes = {a.at, a.row, a.column, 0}, a_shared = {a.at, a.row, a.column, 1};
    if (a.shared)
        tile_vectors(out, rows, inner, a_shared, x, add);
    else
        tile_vectors(out, rows, inner, a_lanes, x, add);
}

/* out (rows) = a (rows, inner) x (inner), or out + a x. */
LINATTN__INLINE void product_vector(double *out, size_t rows, size_t inner, factor a, const double *x, int add) {
    if (__builtin_constant_p(rows))
        tile_vectors(out, rows, inner, a, x, add);
    else
        tile_vectors_any(out, rows, inner, a, x, add);
}

/* Sum over k of x_k y_k, a number for each lane. */
LINATTN__INLINE vreal inner_product(const double *x, const double *y, size_t count) {
    vreal sum = {0};
    for (size_t k = 0; k < count; k++) sum += get(x, k) * get(y, k);
    return sum;
}

/* The sum over the lanes, in order. */
LINATTN__INLINE double sum_lanes(vreal x) {
    double sum = x[0];
    for (int i = 1; i < LINATTN__LANES; i++) sum += x[i];
    return sum;
}

/* T (k, k) += I. */
LINATTN__INLINE void add_identity(double *T, size_t k) {
    for (size_t i = 0; i < k; i++) put(T, i * (k + 1), get(T, i * (k + 1)) + 1.0);
}

/* A lane matrix (k, k) from the lower triangle of a block's symmetric matrix, 8 prompts an entry, row by row. */
LINATTN__INLINE void load_symmetric(double *out, const double *triangle, size_t k) {
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            const vreal value = vreal_load(triangle + (i * (i + 1) / 2 + j) * LINATTN__BLOCK);
            put(out, i * k + j, value);
            put(out, j * k + i, value);
        }
}

#endif
