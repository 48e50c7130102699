/* condition.c: how ill-conditioned the problem is near theta, and what gradient descent makes of it. */
#include "common/allocate.h"
#include "common/fail.h"
#include "common/lapack.h"
#include "common/norm.h"
#include "common/options.h"
#include "prompt/measure.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const linattn__struct condition_type = {"linattn_prompt_condition", sizeof(linattn_prompt_condition),
                                               sizeof(linattn_prompt_condition), NULL};

static int fail_size(size_t rows, size_t columns) {
    return linattn__fail(LINATTN_EOVERFLOW, "a matrix of %zu by %zu does not fit in the address space", rows, columns);
}

/* The singular values (min(rows, columns)) of plain rows (rows, columns). The Jacobi rotations go over the shorter side: with no
 * more rows than columns, rows may differ in length by any factor. */
static int singular_values(const double *plain, size_t rows, size_t columns, double *values) {
    const size_t longer = rows > columns ? rows : columns, shorter = rows > columns ? columns : rows;
    double *a = linattn__allocate(rows * columns, sizeof *a);
    if (!a) return linattn__fail_memory("singular values");
    if (rows <= columns) {
        memcpy(a, plain, rows * columns * sizeof *a); /* the transpose, by columns */
    } else {
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++) a[j * rows + i] = plain[i * columns + j];
    }
    const int status = linattn__singular_values(a, longer, shorter, values);
    linattn__release(a);
    return status;
}

/* The rank of rows (rows, columns), which are given length 1 first; scratch (min(rows, columns)). Rows of zeros stay. */
static int rank_of(double *plain, size_t rows, size_t columns, double *scratch, size_t *rank) {
    const size_t longer = rows > columns ? rows : columns, shorter = rows > columns ? columns : rows;
    size_t there = 0;
    *rank = 0;
    for (size_t i = 0; i < rows; i++) {
        const linattn__norm norm = linattn__norm_of(plain + i * columns, columns);
        if (norm.mantissa == 0) continue;
        linattn__norm_rescale(plain + i * columns, plain + i * columns, columns, norm, 1);
        there++;
    }
    if (there == 0) return LINATTN_OK;
    const int status = singular_values(plain, rows, columns, scratch);
    for (size_t i = 0; status == LINATTN_OK && i < shorter; i++) *rank += scratch[i] > (double)longer * DBL_EPSILON * scratch[0];
    return status;
}

/* Memory of a measurement. */
typedef struct {
    double *jacobian, *sensitivities, *weights, *singular, *scratch;
} room;

static void release(room *r) {
    linattn__release(r->jacobian);
    linattn__release(r->sensitivities);
    linattn__release(r->weights);
    linattn__release(r->singular);
    linattn__release(r->scratch);
}

/* G, b and a at theta, the singular values of G and its rank. */
static int factorise(const linattn_prompt *prompt, const double *theta, room *r, size_t *rank) {
    const size_t N = prompt->options.examples, n = prompt->shape.tokens, p = linattn__prompt_parameters(&prompt->shape);
    const size_t few = N < p ? N : p;
    size_t numbers;
    if (!linattn__multiply_sizes(N, p, &numbers)) return fail_size(N, p);
    r->jacobian = linattn__allocate(numbers, sizeof *r->jacobian);
    r->sensitivities = linattn__allocate(N * n, sizeof *r->sensitivities);
    r->weights = linattn__allocate(N * n, sizeof *r->weights);
    r->singular = linattn__allocate(few, sizeof *r->singular);
    r->scratch = linattn__allocate(few, sizeof *r->scratch);
    if (!r->jacobian || !r->sensitivities || !r->weights || !r->singular || !r->scratch)
        return linattn__fail_memory("the condition of a prompt-attention system");
    const linattn__prompt_values values = {.weights = r->weights, .sensitivities = r->sensitivities, .jacobian = r->jacobian};
    int status = linattn__prompt_examine(prompt, theta, &values);
    if (status == LINATTN_OK) status = linattn__check_finite("jacobian", r->jacobian, numbers);
    if (status == LINATTN_OK && r->singular) status = singular_values(r->jacobian, N, p, r->singular);
    if (status == LINATTN_OK) status = rank_of(r->jacobian, N, p, r->scratch, rank); /* overwrites G */
    return status;
}

/* The largest over the smallest eigenvalue of K K^T; Inf when the keys depend on each other. */
static int key_condition(const linattn_prompt *prompt, double *out) {
    const size_t rows = prompt->options.examples * prompt->shape.tokens, d = prompt->shape.dim;
    *out = INFINITY;
    if (rows > d) return LINATTN_OK;
    double *keys = linattn__allocate(rows * d, sizeof *keys), *values = linattn__allocate(rows, sizeof *values);
    int status = keys && values ? linattn_prompt_get_arrays(prompt, NULL, keys, NULL, NULL, NULL)
                                : linattn__fail_memory("the condition of keys");
    if (status == LINATTN_OK) status = singular_values(keys, rows, d, values);
    if (status == LINATTN_OK && values[rows - 1] > (double)d * DBL_EPSILON * values[0]) *out = pow(values[0] / values[rows - 1], 2);
    linattn__release(keys);
    linattn__release(values);
    return status;
}

/* |b_i|^2 over examples: smallest and largest. */
static void measure_spread(const linattn_prompt *prompt, const double *b, linattn_prompt_condition *c) {
    const size_t n = prompt->shape.tokens;
    c->spread_smallest = INFINITY;
    for (size_t i = 0; i < prompt->options.examples; i++) {
        double squares = 0;
        for (size_t k = 0; k < n; k++) squares += b[i * n + k] * b[i * n + k];
        c->spread_smallest = fmin(c->spread_smallest, squares);
        c->spread_largest = fmax(c->spread_largest, squares);
    }
}

/* rho n^2 / (4 R^2): see docs/prompt-attention.md for the derivation. */
static double ratio_factor(const linattn_prompt *prompt, const double *a) {
    const size_t n = prompt->shape.tokens;
    double ratio = 1, least = INFINITY, most = 0;
    for (size_t i = 0; i < prompt->options.examples; i++) {
        const double *u = prompt->responses + i / LINATTN__BLOCK * n * LINATTN__BLOCK + i % LINATTN__BLOCK;
        double low = INFINITY, high = 0, mean = 0, squares = 0;
        for (size_t k = 0; k < n; k++) {
            low = fmin(low, a[i * n + k]);
            high = fmax(high, a[i * n + k]);
            mean += u[k * LINATTN__BLOCK] / (double)n;
        }
        for (size_t k = 0; k < n; k++) squares += pow(u[k * LINATTN__BLOCK] - mean, 2);
        ratio = fmin(ratio, low / high);
        least = fmin(least, squares);
        most = fmax(most, squares);
    }
    return most / least * (double)n * (double)n / (4 * ratio * ratio);
}

static int measure(const linattn_prompt *prompt, const room *r, linattn_prompt_condition *c) {
    const double N = (double)prompt->options.examples;
    c->condition = c->largest = c->smallest = c->bound = c->ratio_bound = NAN;
    measure_spread(prompt, r->sensitivities, c);
    if (c->rank > 0) {
        c->largest = r->singular[0] * r->singular[0] / N;
        c->smallest = r->singular[c->rank - 1] * r->singular[c->rank - 1] / N;
        c->condition = pow(r->singular[0] / r->singular[c->rank - 1], 2);
    }
    const int status = key_condition(prompt, &c->key_condition);
    if (status != LINATTN_OK || prompt->shape.train_value || c->rank == 0) return status;
    c->bound = c->key_condition * (c->spread_largest / c->spread_smallest);
    if (!prompt->shape.linear) c->ratio_bound = c->key_condition * ratio_factor(prompt, r->weights);
    return LINATTN_OK;
}

int linattn_prompt_measure_condition(const linattn_prompt *prompt, const double *theta, double *singular,
                                     linattn_prompt_condition *out) {
    linattn_prompt_condition c = {0};
    room r = {0};
    int status = linattn__prompt_check(prompt, theta);
    if (status == LINATTN_OK) status = linattn__result_check(&condition_type, out);
    if (status != LINATTN_OK) return status;
    status = factorise(prompt, theta, &r, &c.rank);
    if (status == LINATTN_OK) status = measure(prompt, &r, &c);
    if (status == LINATTN_OK) {
        const size_t N = prompt->options.examples, p = linattn__prompt_parameters(&prompt->shape);
        if (singular) memcpy(singular, r.singular, (N < p ? N : p) * sizeof *singular);
        linattn__result_write(&condition_type, out, &c);
        if (c.rank == 0)
            status = linattn__fail(LINATTN_EDEGENERATE, "no output depends on theta: the condition number is undefined");
    }
    release(&r);
    return status;
}

int linattn_prompt_predict_rate(const linattn_prompt *prompt, const double *theta, double learning_rate, double *rate) {
    room r = {0};
    size_t rank = 0;
    int status = linattn__prompt_check(prompt, theta);
    if (status != LINATTN_OK) return status;
    if (!rate) return linattn__fail_null("rate");
    if (!(learning_rate > 0 && learning_rate < INFINITY))
        return linattn__fail_real("learning_rate", learning_rate, "finite numbers above 0");
    if (prompt->shape.logistic)
        return linattn__fail(LINATTN_EUNSUPPORTED, "rates are predicted of squared loss; this system has logistic loss");
    status = factorise(prompt, theta, &r, &rank);
    if (status == LINATTN_OK && rank == 0)
        status = linattn__fail(LINATTN_EDEGENERATE, "no output depends on theta: there is no rate");
    double slowest = -INFINITY; /* ln |1 - x|, x = learning_rate s^2 / N */
    for (size_t i = 0; status == LINATTN_OK && i < rank; i++) {
        const double x = learning_rate * r.singular[i] * r.singular[i] / (double)prompt->options.examples;
        slowest = fmax(slowest, x < 1 ? log1p(-x) : log(x - 1));
    }
    if (status == LINATTN_OK) *rate = -2 * slowest;
    release(&r);
    return status;
}

/* ---- Distance from the teacher ---- */

/* What examples see, rows (N n, d) or (N, d): keys less their mean, or K^T u. */
static int seen_directions(const linattn_prompt *prompt, const double *theta, double *rows) {
    const size_t N = prompt->options.examples, n = prompt->shape.tokens, d = prompt->shape.dim;
    if (!prompt->shape.linear) {
        const int status = linattn_prompt_get_arrays(prompt, NULL, rows, NULL, NULL, NULL);
        for (size_t i = 0; i < N * d; i++) {
            double *column = rows + i / d * n * d + i % d, mean = 0;
            for (size_t k = 0; k < n; k++) mean += column[k * d] / (double)n;
            for (size_t k = 0; k < n; k++) column[k * d] -= mean;
        }
        return status;
    }
    const size_t p = linattn__prompt_parameters(&prompt->shape);
    double *jacobian = linattn__allocate(N * p, sizeof *jacobian);
    if (!jacobian) return linattn__fail_memory("directions that examples see");
    const int status = linattn__prompt_examine(prompt, theta, &(linattn__prompt_values){.jacobian = jacobian});
    for (size_t i = 0; i < N; i++) memcpy(rows + i * d, jacobian + i * p, d * sizeof *rows);
    linattn__release(jacobian);
    return status;
}

/* |M^+ M x| for M (rows, d): of all y with M y = M x, the shortest, is x less what M does not see. */
static int seen_length(const double *m, size_t rows, size_t d, const double *x, double *out) {
    const size_t longer = rows > d ? rows : d;
    double *a = linattn__allocate(rows * d, sizeof *a), *b = linattn__allocate(longer, sizeof *b);
    size_t rank;
    int status = a && b ? LINATTN_OK : linattn__fail_memory("directions that examples see");
    for (size_t i = 0; status == LINATTN_OK && i < rows; i++) {
        for (size_t j = 0; j < d; j++) {
            a[j * rows + i] = m[i * d + j];
            b[i] += m[i * d + j] * x[j];
        }
    }
    if (status == LINATTN_OK) status = linattn__least_squares(a, rows, d, b, 1, &rank);
    if (status == LINATTN_OK) *out = linattn__norm_value(linattn__norm_of(b, d));
    linattn__release(a);
    linattn__release(b);
    return status;
}

int linattn_prompt_distance(const linattn_prompt *prompt, const double *theta, double *distance, double *seen) {
    int status = linattn__prompt_check(prompt, theta);
    if (status != LINATTN_OK) return status;
    if (!prompt->teacher) return linattn__fail(LINATTN_EUNSUPPORTED, "the system was made without a teacher");
    const size_t d = prompt->shape.dim, rows = prompt->options.examples * (prompt->shape.linear ? 1 : prompt->shape.tokens);
    double *x = linattn__allocate(d, sizeof *x), *m = seen ? linattn__allocate(rows * d, sizeof *m) : NULL, length = 0;
    if (!x || (seen && !m)) status = linattn__fail_memory("a distance");
    for (size_t j = 0; status == LINATTN_OK && j < d; j++) x[j] = theta[j] - prompt->teacher[j];
    if (status == LINATTN_OK && seen) status = seen_directions(prompt, theta, m);
    if (status == LINATTN_OK && seen) status = linattn__check_finite("directions that examples see", m, rows * d);
    if (status == LINATTN_OK && seen) status = seen_length(m, rows, d, x, &length);
    if (status == LINATTN_OK && seen) *seen = length;
    if (status == LINATTN_OK && distance) *distance = linattn__norm_value(linattn__norm_of(x, d));
    linattn__release(x);
    linattn__release(m);
    return status;
}
