/* Prompt attention for one instruction set.
 *
 * With scores s = c K p (c: 1/T, or 1/n for linear attention), u = X v, and b = df/ds:
 *
 *     softmax:  a = softmax(s)   f = <a, u>   b = a * (u - f)          linear:  a = s   f = <a, u>   b = u
 *     df/dp = c K^T b            df/dv = X^T a
 *
 * and along a direction (q, z), with e = c K q, h = X z:
 *
 *     softmax:  da = a * (e - <a, e>)   db = da * (u - f) + a * (h - df)          linear:  da = e   db = h
 *     df = <b, e> + <a, h>       H (q, z) = l'' df (c K^T b, X^T a) + l' (c K^T db, X^T da)
 *
 * Where one coefficient a_j is nearly 1, u_j - f and e_j - <a, e> are tiny differences of numbers that are not, so for softmax u, f,
 * e and h are all measured from those of the key with the largest score: then f - u_j = sum a_k (u_k - u_j) loses nothing. */
#include "kernels/prompt.h"
#include "kernels/tile.h"
#include "random/elementary.h"

enum { GROUPS = LINATTN__BLOCK / LINATTN__LANES };

/* What a pass keeps of a group. Arrays are lane numbers. */
typedef struct {
    const double *keys, *tokens; /* of this group: entries LINATTN__BLOCK apart */
    double *a, *w, *b;           /* (n): a; u less u_j; b */
    double *e, *h;               /* (n): of a direction, less those of j */
    vreal top;                   /* j */
    vreal f, mean;               /* f; f less u_j */
    vreal value, slope, bend;    /* l(f), l'(f), l''(f), 0 beyond the last example */
} group_state;

static size_t workspace(const linattn__prompt_shape *shape, size_t directions) {
    return (5 * shape->tokens + (directions + 1) * linattn__prompt_parameters(shape)) * LINATTN__LANES;
}

/* out_k = scale sum_j x_kj y_j for rows x of the group (n, d) and a shared y (d). */
LINATTN__INLINE void times(const double *x, const double *y, size_t n, size_t d, double scale, double *out) {
    for (size_t k = 0; k < n; k++) {
        const double *row = x + k * d * LINATTN__BLOCK;
        vreal even = {0}, odd = {0};
        size_t j = 0;
        for (; j + 2 <= d; j += 2) {
            even += vreal_load(row + j * LINATTN__BLOCK) * y[j];
            odd += vreal_load(row + (j + 1) * LINATTN__BLOCK) * y[j + 1];
        }
        if (j < d) even += vreal_load(row + j * LINATTN__BLOCK) * y[j];
        put(out, k, (even + odd) * scale);
    }
}

/* sums_j += by sum_k x_kj c_k, the transpose; sums (d) lane numbers. */
LINATTN__INLINE void times_transposed(const double *x, const double *c, size_t n, size_t d, vreal by, double *sums) {
    for (size_t k = 0; k < n; k++) {
        const double *row = x + k * d * LINATTN__BLOCK;
        const vreal weight = by * get(c, k);
        for (size_t j = 0; j < d; j++) put(sums, j, get(sums, j) + weight * vreal_load(row + j * LINATTN__BLOCK));
    }
}

/* x (n) less its entry j; returns that entry. */
LINATTN__INLINE vreal from_top(double *x, size_t n, vreal top) {
    vreal base = {0};
    for (size_t k = 0; k < n; k++) base = vreal_select(top == vreal_all((double)k), get(x, k), base);
    for (size_t k = 0; k < n; k++) put(x, k, get(x, k) - base);
    return base;
}

LINATTN__INLINE vreal dot(const double *x, const double *y, size_t n) {
    vreal sum = {0};
    for (size_t k = 0; k < n; k++) sum += get(x, k) * get(y, k);
    return sum;
}

/* a: scores on entry, weights afterwards; the state's top. */
LINATTN__INLINE void softmax(group_state *s, size_t n) {
    vreal most = get(s->a, 0), sum = {0};
    s->top = (vreal){0};
    for (size_t k = 1; k < n; k++) {
        const vmask above = get(s->a, k) > most;
        most = vreal_select(above, get(s->a, k), most);
        s->top = vreal_select(above, vreal_all((double)k), s->top);
    }
    for (size_t k = 0; k < n; k++) {
        const vreal power = vreal_exp(get(s->a, k) - most);
        put(s->a, k, power);
        sum += power;
    }
    const vreal inverse = 1.0 / sum;
    for (size_t k = 0; k < n; k++) put(s->a, k, get(s->a, k) * inverse);
}

/* Squared: l = (f - y)^2 / 2. Logistic: l = ln(1 + exp z), z = -y f; with e = exp(-|z|) the sigmoid of z is 1/(1+e) or e/(1+e), and
 * ln(1 + e) = ln(w) e / (w - 1), w the rounded 1 + e, loses nothing for small e. */
LINATTN__INLINE void judge(const linattn__prompt_shape *shape, group_state *s, vreal label, vreal live) {
    if (!shape->logistic) {
        const vreal miss = s->f - label;
        s->value = live * (0.5 * miss * miss);
        s->slope = live * miss;
        s->bend = live;
        return;
    }
    const vreal z = -label * s->f;
    const vmask positive = z > 0.0;
    const vreal e = vreal_exp(vreal_select(positive, -z, z)), w = 1.0 + e;
    const vreal small = vreal_select(w == 1.0, e, vreal_log(w) * (e / vreal_select(w == 1.0, w, w - 1.0)));
    s->value = live * (vreal_select(positive, z, vreal_all(0.0)) + small);
    s->slope = live * -label * vreal_select(positive, vreal_all(1.0), e) / w;
    s->bend = live * label * label * e / (w * w);
}

/* Forward: everything of the state but e and h. */
LINATTN__INLINE void forward(const linattn__prompt_shape *shape, const double *theta, const linattn__examples *x, size_t block,
                             size_t group, double *work, group_state *s) {
    const size_t n = shape->tokens, d = shape->dim, lane = group * LINATTN__LANES;
    *s = (group_state){.keys = x->keys + block * n * d * LINATTN__BLOCK + lane, .a = work};
    s->w = s->a + n * LINATTN__LANES;
    s->b = s->w + n * LINATTN__LANES;
    s->e = s->b + n * LINATTN__LANES;
    s->h = s->e + n * LINATTN__LANES;
    times(s->keys, theta, n, d, shape->scale, s->a);
    if (shape->train_value) {
        s->tokens = x->tokens + block * n * d * LINATTN__BLOCK + lane;
        times(s->tokens, theta + d, n, d, 1, s->w);
    } else {
        for (size_t k = 0; k < n; k++) put(s->w, k, vreal_load(x->responses + (block * n + k) * LINATTN__BLOCK + lane));
    }
    if (shape->linear) {
        s->f = dot(s->a, s->w, n);
        for (size_t k = 0; k < n; k++) put(s->b, k, get(s->w, k));
    } else {
        softmax(s, n);
        const vreal base = from_top(s->w, n, s->top);
        s->mean = dot(s->a, s->w, n);
        s->f = base + s->mean;
        for (size_t k = 0; k < n; k++) put(s->b, k, get(s->a, k) * (get(s->w, k) - s->mean));
    }
    judge(shape, s, vreal_load(x->labels + block * LINATTN__BLOCK + lane), vreal_load(x->live + block * LINATTN__BLOCK + lane));
}

/* sums (p) += slope (c K^T b, X^T a). */
LINATTN__INLINE void backward(const linattn__prompt_shape *shape, const group_state *s, vreal slope, double *sums) {
    const size_t n = shape->tokens, d = shape->dim;
    times_transposed(s->keys, s->b, n, d, slope * shape->scale, sums);
    if (shape->train_value) times_transposed(s->tokens, s->a, n, d, slope, sums + d * LINATTN__LANES);
}

/* sums (p) += H (q, z): afterwards e holds l'' df b + l' db and h l'' df a + l' da. */
LINATTN__INLINE void tangent(const linattn__prompt_shape *shape, const double *direction, group_state *s, double *sums) {
    const size_t n = shape->tokens, d = shape->dim;
    vreal mean_e = {0}, base_h = {0};
    times(s->keys, direction, n, d, shape->scale, s->e);
    for (size_t k = 0; !shape->train_value && k < n; k++) put(s->h, k, (vreal){0});
    if (shape->train_value) times(s->tokens, direction + d, n, d, 1, s->h);
    if (!shape->linear) {
        from_top(s->e, n, s->top);
        if (shape->train_value) base_h = from_top(s->h, n, s->top);
        mean_e = dot(s->a, s->e, n);
    }
    /* b sums to 0 for softmax, a to 1: only df, not its part from u_j, shifts with the bases. */
    const vreal part = dot(s->b, s->e, n) + dot(s->a, s->h, n), bend = s->bend * (part + base_h);
    for (size_t k = 0; k < n; k++) {
        const vreal a = get(s->a, k), b = get(s->b, k), e = get(s->e, k), h = get(s->h, k);
        const vreal da = shape->linear ? e : a * (e - mean_e);
        const vreal db = shape->linear ? h : da * (get(s->w, k) - s->mean) + a * (h - part);
        put(s->e, k, bend * b + s->slope * db);
        put(s->h, k, bend * a + s->slope * da);
    }
    times_transposed(s->keys, s->e, n, d, vreal_all(shape->scale), sums);
    if (shape->train_value) times_transposed(s->tokens, s->h, n, d, vreal_all(1.0), sums + d * LINATTN__LANES);
}

static double lane_sum(vreal x) {
    double sum = 0;
    for (int i = 0; i < LINATTN__LANES; i++) sum += x[i];
    return sum;
}

static void clear(double *sums, size_t count) {
    for (size_t i = 0; i < count; i++) put(sums, i, (vreal){0});
}

static double loss(const linattn__prompt_shape *shape, const double *theta, const linattn__examples *x, double *gradient,
                   double *work) {
    const size_t p = linattn__prompt_parameters(shape);
    double *sums = work + 5 * shape->tokens * LINATTN__LANES;
    vreal value = {0};
    group_state s;
    clear(sums, p);
    for (size_t block = 0; block < x->blocks; block++) {
        for (size_t group = 0; group < GROUPS; group++) {
            forward(shape, theta, x, block, group, work, &s);
            if (gradient) backward(shape, &s, s.slope, sums);
            value += s.value;
        }
    }
    for (size_t i = 0; gradient && i < p; i++) gradient[i] = lane_sum(get(sums, i));
    return lane_sum(value);
}

static void hvp(const linattn__prompt_shape *shape, const double *theta, const linattn__examples *x, const double *directions,
                size_t count, double *out, double *work) {
    const size_t p = linattn__prompt_parameters(shape);
    double *sums = work + 5 * shape->tokens * LINATTN__LANES;
    group_state s;
    clear(sums, count * p);
    for (size_t block = 0; block < x->blocks; block++) {
        for (size_t group = 0; group < GROUPS; group++) {
            forward(shape, theta, x, block, group, work, &s);
            for (size_t i = 0; i < count; i++) tangent(shape, directions + i * p, &s, sums + i * p * LINATTN__LANES);
        }
    }
    for (size_t i = 0; i < count * p; i++) out[i] = lane_sum(get(sums, i));
}

/* Lane numbers (count) of a group into its place in blocks of 8. */
static void spread(const double *from, size_t count, size_t group, double *to) {
    for (size_t i = 0; i < count; i++) vreal_store(to + i * LINATTN__BLOCK + group * LINATTN__LANES, get(from, i));
}

static void evaluate(const linattn__prompt_shape *shape, const double *theta, const linattn__examples *x, double *outputs,
                     double *bends, double *weights, double *sensitivities, double *gradients, double *work) {
    const size_t n = shape->tokens, p = linattn__prompt_parameters(shape);
    double *sums = work + 5 * n * LINATTN__LANES;
    group_state s;
    for (size_t group = 0; group < GROUPS; group++) {
        forward(shape, theta, x, 0, group, work, &s);
        vreal_store(outputs + group * LINATTN__LANES, s.f);
        vreal_store(bends + group * LINATTN__LANES, s.bend);
        spread(s.a, n, group, weights);
        spread(s.b, n, group, sensitivities);
        clear(sums, p);
        backward(shape, &s, vreal_all(1.0), sums);
        spread(sums, p, group, gradients);
    }
}

extern const linattn__prompt_kernels LINATTN__ISA_NAME(prompt);
const linattn__prompt_kernels LINATTN__ISA_NAME(prompt) = {workspace, loss, hvp, evaluate};
