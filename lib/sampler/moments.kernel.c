/* moments.kernel.c: C_0 drawn without tokens, for Gaussian covariates x ~ N(0, s^2 F F^T) and a linear task.
 *
 * The covariates X (n, d) of n standard normal tokens are X^T = L O with L (d, m), m = min(n, d), lower trapezoidal and O (m, n) of
 * orthonormal rows, independent (Bartlett 1933): L_jj ~ chi_{n-j}, normals below. Replace L by s F L. With w the weights, e the
 * noise and g = O e ~ N(0, I_m), of which |e|^2 - |g|^2 ~ chi^2_{n-m} is independent, and b = L^T w + sigma g (m):
 *     C_xx = L L^T    C_xy = L b    C_yy = |b|^2 + sigma^2 chi^2_{n-m}.
 * Weights, query and target are those of the same prompt in token mode. */
#include "sampler/distribution.h"
#include "sampler/gamma_lanes.h"

/* A prompt needs few variates here, so several groups are drawn at once to keep the vectors coming. Above this d one group is
 * enough, and its L large. */
enum { SPAN = 4, SPAN_MAX_DIM = 32 };

static size_t span_groups(size_t d) { return d <= SPAN_MAX_DIM ? SPAN : 1; }

typedef struct bartlett {
    const linattn__plan *plan;
    linattn__span span;
    size_t d;
    size_t m;
    size_t normals;    /* below the diagonal of L: m (d-1) - m (m-1)/2 */
    double *w;         /* (groups, d, lanes) */
    double *x;         /* the query (groups, d, lanes) */
    double *e;         /* noise of the query (groups, lanes) */
    double *g;         /* (groups, m, lanes) */
    double *below;     /* column by column (groups, normals, lanes) */
    double *chi;       /* (groups, m, lanes) */
    double *remainder; /* chi^2_{n-m}/2 (groups, lanes) */
    double *l;         /* L of one group (d, m, lanes) */
    double *scratch;   /* (2 d + groups, lanes) */
} bartlett;

static bartlett lay_out(const linattn__plan *plan, double *workspace, size_t lanes, size_t *size) {
    const size_t d = plan->dim, m = plan->context < d ? plan->context : d, groups = span_groups(d);
    bartlett s = {.plan = plan, .d = d, .m = m, .normals = m * (d - 1) - m * (m - 1) / 2};
    double **const part[] = {&s.w, &s.x, &s.e, &s.g, &s.below, &s.chi, &s.remainder, &s.l, &s.scratch};
    const size_t rows[] = {groups * d, groups * d, groups, groups * m,    groups * s.normals,
                           groups * m, groups,     d * m,  2 * d + groups};
    *size = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (workspace != NULL) *part[i] = workspace + *size;
        *size += rows[i] * lanes;
    }
    return s;
}

static size_t measure(const linattn__plan *plan) {
    size_t size;
    (void)lay_out(plan, NULL, LINATTN__BLOCK, &size);
    return size;
}

LINATTN__INLINE vreal entry(const double *matrix, size_t columns, size_t i, size_t j) {
    return vreal_load(matrix + (i * columns + j) * LINATTN__LANES);
}

LINATTN__INLINE void set_entry(double *matrix, size_t columns, size_t i, size_t j, vreal x) {
    vreal_store(matrix + (i * columns + j) * LINATTN__LANES, x);
}

/* All variates of a span but weights and query. */
static void draw_variates(const bartlett *s) {
    const linattn__plan *plan = s->plan;
    const linattn__span *span = &s->span;
    const gamma_draw chi = {span, LINATTN__KIND_BARTLETT_CHI, plan->chi, 1};
    const gamma_draw remainder = {span, LINATTN__KIND_REMAINDER, &plan->remainder, 0};
    lanes_normals(span, LINATTN__KIND_BARTLETT, 0, s->normals, s->below);
    lanes_gammas(&chi, 0, s->m, s->chi);
    for (size_t i = 0; i < span->groups * s->m; i++) set_entry(s->chi, 1, i, 0, vreal_sqrt(2.0 * entry(s->chi, 1, i, 0)));
    lanes_boost(&chi, LINATTN__KIND_BARTLETT_BOOST, 0.5, 0, s->m, s->chi);
    if (plan->noise_std > 0) {
        if (plan->noisy_target) lanes_normals(span, LINATTN__KIND_NOISE, 0, 1, s->e);
        lanes_normals(span, LINATTN__KIND_PROJECTED_NOISE, 0, s->m, s->g);
        if (plan->context > s->m) {
            lanes_gammas(&remainder, 0, 1, s->remainder);
            lanes_boost(&remainder, LINATTN__KIND_REMAINDER_BOOST, 1.0, 0, 1, s->remainder);
        }
    }
}

/* L <- s F L. */
static void apply_covariance(const bartlett *s) {
    const linattn__plan *plan = s->plan;
    const size_t d = s->d, m = s->m;
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

/* L of group g for standard normal tokens. */
LINATTN__INLINE void put_factor(const bartlett *s, size_t g, size_t d, size_t m) {
    const double *below = s->below + g * s->normals * LINATTN__LANES, *chi = s->chi + g * m * LINATTN__LANES;
    for (size_t c = 0; c < m; c++) {
        for (size_t i = 0; i < c; i++) set_entry(s->l, m, i, c, vreal_all(0.0));
        set_entry(s->l, m, c, c, entry(chi, 1, c, 0));
        for (size_t i = c + 1; i < d; i++, below += LINATTN__LANES) set_entry(s->l, m, i, c, vreal_load(below));
    }
}

/* The lower triangle of C_0 of group g into moments (entries, 8). dense: L has no zeros above the diagonal. */
LINATTN__INLINE void put_moments(const bartlett *s, size_t g, size_t d, size_t m, int dense, double *moments) {
    const double sigma = s->plan->noise_std, *w = s->w + g * d * LINATTN__LANES;
    double *b = s->g + g * m * LINATTN__LANES, *cross = moments + d * (d + 1) / 2 * LINATTN__BLOCK;
    for (size_t c = 0; c < m; c++) {
        vreal sum = vreal_all(0.0);
        for (size_t i = dense ? 0 : c; i < d; i++) sum += entry(s->l, m, i, c) * entry(w, 1, i, 0);
        if (sigma > 0) sum += sigma * entry(b, 1, c, 0);
        set_entry(b, 1, c, 0, sum);
    }
    for (size_t i = 0; i < d; i++) {
        double *row = moments + i * (i + 1) / 2 * LINATTN__BLOCK;
        for (size_t j = 0; j <= i; j++) {
            vreal sum = vreal_all(0.0);
            for (size_t c = 0; c < m && (dense || c <= j); c++) sum += entry(s->l, m, i, c) * entry(s->l, m, j, c);
            vreal_store(row + j * LINATTN__BLOCK, sum);
        }
        vreal sum = vreal_all(0.0);
        for (size_t c = 0; c < m && (dense || c <= i); c++) sum += entry(s->l, m, i, c) * entry(b, 1, c, 0);
        vreal_store(cross + i * LINATTN__BLOCK, sum);
    }
    vreal square = lanes_square_norm(b, m);
    if (sigma > 0 && s->plan->context > m) square += sigma * sigma * (2.0 * entry(s->remainder, 1, g, 0));
    vreal_store(cross + d * LINATTN__BLOCK, square);
}

/* The query row (x, 0) and the target of group g. */
static void put_query(const bartlett *s, const linattn__task *task, size_t g, double *query, double *target) {
    const linattn__plan *plan = s->plan;
    const size_t d = s->d;
    const double *x = s->x + g * d * LINATTN__LANES;
    double *y = s->scratch; /* (1, lanes) */
    task->respond(plan, s->w + g * d * LINATTN__LANES, x, 1, y);
    vreal response = vreal_load(y);
    if (plan->noisy_target && plan->noise_std > 0) response += plan->noise_std * entry(s->e, 1, g, 0);
    vreal_store(target, response);
    for (size_t j = 0; j < d; j++) vreal_store(query + j * LINATTN__BLOCK, entry(x, 1, j, 0));
    vreal_store(query + d * LINATTN__BLOCK, vreal_all(0.0));
}

static void put_group(const bartlett *s, const linattn__task *task, size_t g, linattn__prompts *out) {
    const size_t d = s->d, m = s->m, prompt = s->span.prompt + g * LINATTN__LANES;
    const size_t block = prompt / LINATTN__BLOCK, lane = prompt % LINATTN__BLOCK;
    double *moments = out->moments + block * (d + 1) * (d + 2) / 2 * LINATTN__BLOCK + lane;
    put_query(s, task, g, out->queries + block * (d + 1) * LINATTN__BLOCK + lane, out->targets + prompt);
    if (s->plan->covariate_factor != NULL || s->plan->gaussian_scale != 1) {
        put_factor(s, g, d, m);
        apply_covariance(s);
        put_moments(s, g, d, m, 1, moments);
    } else if (d == 5 && m == 5) { /* the size of the published experiments, with its loops unrolled */
        put_factor(s, g, 5, 5);
        put_moments(s, g, 5, 5, 0, moments);
    } else {
        put_factor(s, g, d, m);
        put_moments(s, g, d, m, 0, moments);
    }
}

static void draw_blocks(const linattn__plan *plan, const linattn__covariates *covariates, const linattn__task *task,
                        const linattn__stream *stream, size_t first, size_t count, linattn__prompts *out, double *workspace) {
    const size_t groups = count * (LINATTN__BLOCK / LINATTN__LANES), most = span_groups(plan->dim);
    size_t size;
    bartlett s = lay_out(plan, workspace, LINATTN__LANES, &size);
    for (size_t done = 0; done < groups; done += most) {
        const uint32_t prompt = (uint32_t)(first * LINATTN__BLOCK + done * LINATTN__LANES);
        s.span = (linattn__span){stream, prompt, groups - done < most ? groups - done : most};
        task->weights(plan, &s.span, s.w, s.scratch);
        covariates->fill(plan, &s.span, 0, 1, s.x, s.scratch);
        draw_variates(&s);
        for (size_t g = 0; g < s.span.groups; g++) put_group(&s, task, g, out);
    }
}

extern const linattn__drawing LINATTN__ISA_NAME(drawing_moments);
const linattn__drawing LINATTN__ISA_NAME(drawing_moments) = {measure, draw_blocks};
