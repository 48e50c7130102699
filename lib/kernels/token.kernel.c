/* The token path for one instruction set: value, gradient, predictions, attention weights. */
#include "kernels/token_group.h"

static size_t workspace(const linattn__shape *shape) { return lay_out(shape, 0, NULL).doubles; }

/* The loop over groups, for a size known to the compiler (or not: `any`). There are no directions here, and their code goes. */
#define SIZED(name, k)                                                                                                             \
    static vreal squares_##name(const linattn__data *data, double *gradient, const token_space *space) {                           \
        token_group g = space->group;                                                                                              \
        vreal sum = {0};                                                                                                           \
        g.count = g.first = 0;                                                                                                     \
        g.gradient = gradient;                                                                                                     \
        g.kinks = NULL;                                                                                                            \
        for (size_t block = 0; block < data->blocks; block++)                                                                      \
            for (size_t group = 0; group < GROUPS; group++) sum += group_squares(&g, data, block, group, NULL, k);                 \
        return sum;                                                                                                                \
    }

SIZED(6, LINATTN__KNOWN(6, space->k))
SIZED(any, space->k)

static double sum_squares(const linattn__shape *shape, const double *theta, const linattn__data *data, double *gradient,
                          double *space) {
    const token_space s = lay_out(shape, 0, space);
    const size_t p = s.group.parameters;
    double *const sums = gradient ? s.sums : NULL;
    if (gradient) memset(sums, 0, p * LINATTN__LANES * sizeof *sums);
    linattn__token_expand(shape, theta, 1, s.theta);
    const vreal sum = (s.k == 6 ? squares_6 : squares_any)(data, sums, &s);
    for (size_t i = 0; gradient && i < p; i++) s.theta[i] = sum_lanes(get(sums, i));
    if (gradient) linattn__token_contract(shape, s.theta, gradient);
    return sum_lanes(sum);
}

LINATTN__OUTLINE vreal forward_any(const token_space *s, const linattn__data *data, size_t block, size_t group) {
    return group_forward(&s->group, data, block, group, s->k);
}

static void predict(const linattn__shape *shape, const double *theta, const linattn__data *data, double *predictions,
                    double *space) {
    const token_space s = lay_out(shape, 0, space);
    linattn__token_expand(shape, theta, 1, s.theta);
    for (size_t block = 0; block < data->blocks; block++)
        for (size_t group = 0; group < GROUPS; group++)
            vreal_store(predictions + block * LINATTN__BLOCK + group * LINATTN__LANES, -forward_any(&s, data, block, group));
}

/* Lanes beyond the last prompt do not count. */
static double count_kinks(const linattn__shape *shape, const double *theta, const linattn__data *data, double *space) {
    token_space s = lay_out(shape, 0, space);
    double count = 0;
    if (!s.group.kind->bends && !s.group.hidden && !s.group.ff) return 0;
    linattn__token_expand(shape, theta, 1, s.theta);
    for (size_t first = 0; first < data->prompts; first += LINATTN__LANES) {
        vreal kinks = {0};
        s.group.kinks = &kinks;
        forward_any(&s, data, first / LINATTN__BLOCK, first % LINATTN__BLOCK / LINATTN__LANES);
        for (size_t i = 0; i < LINATTN__LANES && first + i < data->prompts; i++) count += kinks[i];
    }
    return count;
}

/* A of a strip of rows, held key by key, into rows of (n+1) keys, 8 prompts an entry. */
static void store_strip(const double *a, size_t n, size_t keys, size_t width, double *rows) {
    for (size_t r = 0; r < width; r++)
        for (size_t j = 0; j <= n; j++)
            vreal_store(rows + (r * (n + 1) + j) * LINATTN__BLOCK, j < keys ? get(a, j * width + r) : (vreal){0});
}

static void attend(const linattn__shape *shape, const double *theta, const linattn__data *data, size_t layer, size_t head,
                   double *A, double *space) {
    const token_space s = lay_out(shape, 0, space);
    const token_group *const g = &s.group;
    const size_t n = g->n, k = s.k, row_size = (n + 1) * LINATTN__BLOCK;
    const token_layer x = token_layer_at(g, g->values, layer, k);
    linattn__token_expand(shape, theta, 1, s.theta);
    for (size_t block = 0; block < data->blocks; block++)
        for (size_t group = 0; group < GROUPS; group++) {
            double *const rows = A + block * (n + 1) * row_size + group * LINATTN__LANES;
            group_load(g, data, block, group, k);
            for (size_t l = 0; l < layer; l++) {
                token_forward_heads(g, l, 0, k);
                token_forward_rest(g, l, 0, k);
            }
            product(token_row(g, x.U, head, 0, k), n + 1, k, k, lanes(x.Z, k),
                    shared(g->theta + token_offset(g, layer, head, k) + k * k, k), SET);
            for (size_t row = 0; row <= n;) {
                const size_t width = row + STRIP <= n ? STRIP : 1;
                token_scores(g, x, g->a, head, row, width, k);
                store_strip(g->a, n, token_keys(g), width, rows + row * row_size);
                row += width;
            }
        }
}

const linattn__kernels LINATTN__ISA_NAME(token) = {workspace, predict, sum_squares, count_kinks, attend};
