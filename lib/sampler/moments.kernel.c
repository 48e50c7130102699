/* moments.kernel.c: C_0 drawn without tokens, for Gaussian covariates x ~ N(0, s^2 F F^T) and a linear task.
 *
 * The covariates X (n, d) of n standard normal tokens are X^T = L O with L (d, m), m = min(n, d), lower trapezoidal and O (m, n) of
 * orthonormal rows, independent (Bartlett 1933): L_jj ~ chi_{n-j}, normals below. Replace L by s F L. With w the weights, e the
 * noise and g = O e ~ N(0, I_m), of which |e|^2 - |g|^2 ~ chi^2_{n-m} is independent, and b = L^T w + sigma g (m):
 *     C_xx = L L^T    C_xy = L b    C_yy = |b|^2 + sigma^2 chi^2_{n-m}.
 * Weights, query and target are those of the same prompt in token mode. */
#include "sampler/distribution.h"
#include "sampler/gamma_lanes.h"

typedef struct bartlett {
    const linattn__plan *plan;
    const linattn__stream *stream;
    uint32_t prompt; /* of lane 0 */
    size_t lane;     /* of lane 0 within its block */
    double *w;       /* (d + 1, lanes) */
    double *x;       /* the query (d + 1, lanes) */
    double *b;       /* (m + 1, lanes) */
    double *chi;     /* (m + 1, lanes); later two vectors of noise */
    double *l;       /* L (d, m, lanes) */
    double *scratch; /* (normals below the diagonal + 2 d + TILE + 2, lanes) */
} bartlett;

LINATTN__INLINE vreal entry(const double *matrix, size_t columns, size_t i, size_t j) {
    return vreal_load(matrix + (i * columns + j) * LINATTN__LANES);
}

LINATTN__INLINE void set_entry(double *matrix, size_t columns, size_t i, size_t j, vreal x) {
    vreal_store(matrix + (i * columns + j) * LINATTN__LANES, x);
}

/* L for standard normal tokens. The normals of column c follow those of column c-1, so that fewer columns need the first ones. */
LINATTN__INLINE void draw_factor(const bartlett *s, size_t d, size_t m) {
    const lanes_gamma chi = {s->stream, LINATTN__KIND_BARTLETT_CHI, s->prompt, 0, s->plan->chi, 1};
    const double *below = s->scratch;
    lanes_normals(s->stream, LINATTN__KIND_BARTLETT, lanes_prompts(s->prompt), 0, m * (d - 1) - m * (m - 1) / 2, s->scratch);
    lanes_gammas(chi, m, s->chi);
    for (size_t c = 0; c < m; c++) set_entry(s->chi, 1, c, 0, vreal_sqrt(2.0 * entry(s->chi, 1, c, 0)));
    lanes_boost(s->stream, LINATTN__KIND_BARTLETT_BOOST, s->prompt, s->plan->chi, 1, 0.5, 0, m, s->chi);
    for (size_t c = 0; c < m; c++) {
        for (size_t i = 0; i < c; i++) set_entry(s->l, m, i, c, vreal_all(0.0));
        set_entry(s->l, m, c, c, entry(s->chi, 1, c, 0));
        for (size_t i = c + 1; i < d; i++, below += LINATTN__LANES) set_entry(s->l, m, i, c, vreal_load(below));
    }
}

/* L <- s F L. */
static void apply_covariance(const bartlett *s, size_t d, size_t m) {
    const linattn__plan *plan = s->plan;
    double *column = s->scratch, *product = s->scratch + d * LINATTN__LANES;
    if (plan->covariate_factor != NULL)
        for (size_t c = 0; c < m; c++) {
            for (size_t i = 0; i < d; i++) set_entry(column, 1, i, 0, entry(s->l, m, i, c));
            lanes_multiply(plan->covariate_factor, d, d, column, product);
            for (size_t i = 0; i < d; i++) set_entry(s->l, m, i, c, entry(product, 1, i, 0));
        }
    if (plan->gaussian_scale != 1)
        for (size_t i = 0; i < d * m; i++) set_entry(s->l, 1, i, 0, entry(s->l, 1, i, 0) * plan->gaussian_scale);
}

/* b = L^T w + sigma g. */
LINATTN__INLINE void draw_projection(const bartlett *s, size_t d, size_t m, int dense) {
    const double sigma = s->plan->noise_std;
    if (sigma > 0) lanes_normals(s->stream, LINATTN__KIND_PROJECTED_NOISE, lanes_prompts(s->prompt), 0, m, s->b);
    for (size_t c = 0; c < m; c++) {
        vreal sum = vreal_all(0.0);
        for (size_t i = dense ? 0 : c; i < d; i++) sum += entry(s->l, m, i, c) * entry(s->w, 1, i, 0);
        if (sigma > 0) sum += sigma * entry(s->b, 1, c, 0);
        set_entry(s->b, 1, c, 0, sum);
    }
}

/* The lower triangle of C_0 into moments (entries, 8). */
LINATTN__INLINE void put_moments(const bartlett *s, size_t d, size_t m, int dense, double *moments) {
    const linattn__plan *plan = s->plan;
    double *cross = moments + d * (d + 1) / 2 * LINATTN__BLOCK;
    for (size_t i = 0; i < d; i++) {
        double *row = moments + i * (i + 1) / 2 * LINATTN__BLOCK;
        for (size_t j = 0; j <= i; j++) {
            vreal sum = vreal_all(0.0);
            for (size_t c = 0; c < m && (dense || c <= j); c++) sum += entry(s->l, m, i, c) * entry(s->l, m, j, c);
            vreal_store(row + j * LINATTN__BLOCK, sum);
        }
        vreal sum = vreal_all(0.0);
        for (size_t c = 0; c < m && (dense || c <= i); c++) sum += entry(s->l, m, i, c) * entry(s->b, 1, c, 0);
        vreal_store(cross + i * LINATTN__BLOCK, sum);
    }
    vreal square = lanes_square_norm(s->b, m);
    if (plan->noise_std > 0 && plan->context > m) {
        const lanes_gamma remainder = {s->stream, LINATTN__KIND_REMAINDER, s->prompt, 0, &plan->remainder, 0};
        double *half = s->chi;
        lanes_gammas(remainder, 1, half);
        lanes_boost(s->stream, LINATTN__KIND_REMAINDER_BOOST, s->prompt, &plan->remainder, 0, 1.0, 0, 1, half);
        square += plan->noise_std * plan->noise_std * (2.0 * vreal_load(half));
    }
    vreal_store(cross + d * LINATTN__BLOCK, square);
}

/* The query row (x, 0) and the target. */
static void put_query(const bartlett *s, const linattn__covariates *covariates, const linattn__task *task, double *query,
                      double *target) {
    const linattn__plan *plan = s->plan;
    double *y = s->chi; /* (1, lanes) */
    covariates->fill(plan, s->stream, s->prompt, 0, 1, s->x, s->scratch);
    task->respond(plan, s->w, s->x, 1, y);
    vreal response = vreal_load(y);
    if (plan->noisy_target && plan->noise_std > 0) {
        double *noise = s->scratch; /* (2, lanes) */
        lanes_normals(s->stream, LINATTN__KIND_NOISE, lanes_prompts(s->prompt), 0, 1, noise);
        response += plan->noise_std * vreal_load(noise);
    }
    vreal_store(target, response);
    for (size_t j = 0; j < plan->dim; j++) vreal_store(query + j * LINATTN__BLOCK, entry(s->x, 1, j, 0));
    vreal_store(query + plan->dim * LINATTN__BLOCK, vreal_all(0.0));
}

LINATTN__INLINE void draw_moments(const bartlett *s, size_t d, size_t m, int dense, double *moments) {
    draw_factor(s, d, m);
    if (dense) apply_covariance(s, d, m);
    draw_projection(s, d, m, dense);
    put_moments(s, d, m, dense, moments);
}

static void draw_block(const linattn__plan *plan, const linattn__covariates *covariates, const linattn__task *task,
                       const linattn__stream *stream, size_t block, linattn__prompts *out, double *workspace) {
    const size_t d = plan->dim, m = plan->context < d ? plan->context : d, entries = (d + 1) * (d + 2) / 2;
    const int dense = plan->covariate_factor != NULL || plan->gaussian_scale != 1;
    bartlett s = {plan, stream, 0, 0, workspace, NULL, NULL, NULL, NULL, NULL};
    s.x = s.w + (d + 1) * LINATTN__LANES;
    s.b = s.x + (d + 1) * LINATTN__LANES;
    s.chi = s.b + (m + 1) * LINATTN__LANES;
    s.l = s.chi + (m + 1) * LINATTN__LANES;
    s.scratch = s.l + d * m * LINATTN__LANES;
    for (s.lane = 0; s.lane < LINATTN__BLOCK; s.lane += LINATTN__LANES) {
        double *moments = out->moments + block * entries * LINATTN__BLOCK + s.lane;
        s.prompt = (uint32_t)(block * LINATTN__BLOCK + s.lane);
        task->weights(plan, stream, s.prompt, s.w, s.scratch);
        put_query(&s, covariates, task, out->queries + block * (d + 1) * LINATTN__BLOCK + s.lane,
                  out->targets + block * LINATTN__BLOCK + s.lane);
        if (d == 5 && m == 5 && !dense)
            draw_moments(&s, 5, 5, 0, moments);
        else
            draw_moments(&s, d, m, dense, moments);
    }
}

extern const linattn__drawing LINATTN__ISA_NAME(drawing_moments);
const linattn__drawing LINATTN__ISA_NAME(drawing_moments) = {draw_block};
