#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *room(size_t count) {
    double *x = calloc(count ? count : 1, sizeof *x);
    if (!x) abort();
    return x;
}

/* c (m, n) += factor op(a) op(b), inner index of length k; transposing is by the strides of the factors. */
static void add_product(double *c, size_t m, size_t k, size_t n, const double *a, size_t a_row, size_t a_column, const double *b,
                        size_t b_row, size_t b_column, double factor) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) sum += a[i * a_row + l * a_column] * b[l * b_row + j * b_column];
            c[i * n + j] += factor * sum;
        }
}

/* Parameters of a head. */
static size_t head_size(const reference_model *model) {
    const size_t side = model->shape.dim + (model->shape.full != 0), r = model->qk_rank;
    return side * side + (r ? 2 * r * side : side * side);
}

static size_t network_size(size_t width, size_t h) { return h ? h * width + h + width * h + width : 0; }
static size_t front_size(const reference_model *model) { return network_size(model->shape.dim, model->mlp_hidden); }
static size_t layer_size(const reference_model *model) {
    return model->shape.heads * head_size(model) + network_size(model->shape.dim + 1, model->ff_hidden);
}

size_t reference_model_parameter_count(const reference_model *model) {
    return front_size(model) + model->shape.layers * layer_size(model);
}

/* W_2 relu(W_1 x + b_1) + b_2 of one token's x (d) into out (d). */
static void network(size_t d, size_t h, const double *theta, const double *x, double *out) {
    const double *b_1 = theta + h * d, *W_2 = b_1 + h, *b_2 = W_2 + d * h;
    memcpy(out, b_2, d * sizeof *out);
    for (size_t u = 0; u < h; u++) {
        double r = b_1[u];
        for (size_t j = 0; j < d; j++) r += theta[u * d + j] * x[j];
        for (size_t j = 0; j < d && r > 0; j++) out[j] += W_2[j * h + u] * r;
    }
}

/* Adds what the adjoint ybar (d) of that means for the parameters, and, unless xbar is NULL, for x. */
static void network_backward(size_t d, size_t h, const double *theta, const double *x, const double *ybar, double *gradient,
                             double *xbar) {
    const size_t b_1 = h * d, W_2 = b_1 + h, b_2 = W_2 + d * h;
    for (size_t j = 0; j < d; j++) gradient[b_2 + j] += ybar[j];
    for (size_t u = 0; u < h; u++) {
        double r = theta[b_1 + u], rbar = 0;
        for (size_t j = 0; j < d; j++) r += theta[u * d + j] * x[j];
        if (r <= 0) continue;
        for (size_t j = 0; j < d; j++) {
            gradient[W_2 + j * h + u] += ybar[j] * r;
            rbar += ybar[j] * theta[W_2 + j * h + u];
        }
        gradient[b_1 + u] += rbar;
        for (size_t j = 0; j < d; j++) gradient[u * d + j] += rbar * x[j];
        for (size_t j = 0; xbar && j < d; j++) xbar[j] += rbar * theta[u * d + j];
    }
}

/* The (k, k) matrices P and Q of a head from its parameters. */
static void expand(const reference_model *model, const double *theta, double *P, double *Q) {
    const reference_shape *s = &model->shape;
    const size_t d = s->dim, k = d + 1, side = s->full ? k : d, r = model->qk_rank;
    const double *W_Q = theta + side * side, *W_K = W_Q + r * side;
    memset(P, 0, k * k * sizeof *P);
    memset(Q, 0, k * k * sizeof *Q);
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            P[i * k + j] = theta[i * side + j];
            if (r == 0) Q[i * k + j] = theta[side * side + i * side + j];
            for (size_t t = 0; t < r; t++) Q[i * k + j] += W_Q[t * side + i] * W_K[t * side + j];
        }
    if (!s->full) P[k * k - 1] = 1;
}

/* Adds what of Pbar, Qbar (k, k) belongs to free parameters. */
static void collect(const reference_model *model, const double *theta, const double *Pbar, const double *Qbar, double *gradient) {
    const size_t k = model->shape.dim + 1, side = model->shape.full ? k : model->shape.dim, W_Q = side * side;
    const size_t W_K = W_Q + model->qk_rank * side;
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            gradient[i * side + j] += Pbar[i * k + j];
            if (model->qk_rank == 0) gradient[W_Q + i * side + j] += Qbar[i * k + j];
            for (size_t t = 0; t < model->qk_rank; t++) {
                gradient[W_Q + t * side + i] += Qbar[i * k + j] * theta[W_K + t * side + j];
                gradient[W_K + t * side + j] += Qbar[i * k + j] * theta[W_Q + t * side + i];
            }
        }
}

enum { LINEAR, SOFTMAX, SOFTMAX_CONTEXT, RELU };

/* The row function, s (m) in place; the query's key is the last. */
static void activate(int attention, size_t m, double *s) {
    const size_t keys = attention == SOFTMAX ? m : m - 1;
    double most = s[0], sum = 0;
    for (size_t j = 0; j < keys; j++) {
        if (attention == RELU) s[j] = fmax(s[j], 0);
        most = fmax(most, s[j]);
    }
    if (attention == LINEAR || attention == RELU) return;
    for (size_t j = 0; j < keys; j++) sum += exp(s[j] - most);
    for (size_t j = 0; j < keys; j++) s[j] = exp(s[j] - most) / sum;
}

/* sbar_j = sum_i abar_i da_i/ds_j, the Jacobian written out; abar (m) in place, a (m) from activate. */
static void activate_backward(int attention, size_t m, const double *a, double *abar) {
    const size_t keys = attention == SOFTMAX ? m : m - 1;
    double *sbar = room(m);
    for (size_t j = 0; j < keys; j++)
        for (size_t i = 0; i < keys; i++) {
            const double same = i == j ? 1 : 0;
            sbar[j] += abar[i] * (attention == LINEAR ? same : attention == RELU ? (a[i] > 0 ? same : 0) : a[i] * (same - a[j]));
        }
    memcpy(abar, sbar, m * sizeof *abar);
    free(sbar);
}

/* A = act(Z Q Z^T) (m, m), before the query's key is left out, and Y = Z P^T (m, k) of a head, m = n + 1. */
static void attend(int attention, size_t m, size_t k, const double *Z, const double *P, const double *Q, double *A, double *Y,
                   double *ZQ) {
    memset(A, 0, m * m * sizeof *A);
    memset(Y, 0, m * k * sizeof *Y);
    memset(ZQ, 0, m * k * sizeof *ZQ);
    add_product(ZQ, m, k, k, Z, k, 1, Q, k, 1, 1);
    add_product(A, m, k, m, ZQ, k, 1, Z, 1, k, 1);
    for (size_t i = 0; i < m; i++) activate(attention, m, A + i * m);
    add_product(Y, m, k, k, Z, k, 1, P, 1, k, 1);
}

/* One prompt: returns the prediction; gradient += weight(prediction) d prediction/d theta, weight = 2 (prediction - target). */
static double prompt(const reference_model *model, const double *tokens, double target, const double *theta, double *gradient) {
    const reference_shape *s = &model->shape;
    const size_t k = s->dim + 1, m = s->context + 1, head = head_size(model), first = front_size(model), layer = layer_size(model);
    const size_t ff = s->heads * head, units = model->ff_hidden;
    const double over_n = 1.0 / (double)s->context;
    double *Z = room((s->layers + 1) * m * k), *Zbar = room(m * k), *next = room(m * k), *P = room(k * k), *Q = room(k * k);
    double *A = room(m * m), *Abar = room(m * m), *Y = room(m * k), *Ybar = room(m * k), *ZQ = room(m * k);
    double *Pbar = room(k * k), *Qbar = room(k * k), *SZ = room(m * k), *attended = room(s->layers * m * k);
    memcpy(Z, tokens, m * k * sizeof *Z);
    for (size_t i = 0; first && i < m; i++) network(s->dim, model->mlp_hidden, theta, tokens + i * k, Z + i * k);
    for (size_t l = 0; l < s->layers; l++) {
        const double *of_layer = theta + first + l * layer;
        double *out = attended + l * m * k;
        memcpy(out, Z + l * m * k, m * k * sizeof *Z);
        for (size_t h = 0; h < s->heads; h++) {
            expand(model, of_layer + h * head, P, Q);
            attend(model->attention, m, k, Z + l * m * k, P, Q, A, Y, ZQ);
            add_product(out, m, m - 1, k, A, m, 1, Y, k, 1, over_n);
        }
        for (size_t i = 0; i < m; i++) {
            double *after = Z + ((l + 1) * m + i) * k;
            if (units) network(k, units, of_layer + ff, out + i * k, after);
            for (size_t j = 0; j < k; j++) after[j] += out[i * k + j];
        }
    }
    const double prediction = -Z[(s->layers + 1) * m * k - 1];
    Zbar[m * k - 1] = -2 * (prediction - target);
    for (size_t l = s->layers; gradient && l-- > 0;) {
        const double *in = Z + l * m * k, *of_layer = theta + first + l * layer;
        double *gradient_of_layer = gradient + first + l * layer;
        memcpy(next, Zbar, m * k * sizeof *next);
        for (size_t i = 0; units && i < m; i++)
            network_backward(k, units, of_layer + ff, attended + (l * m + i) * k, Zbar + i * k, gradient_of_layer + ff,
                             next + i * k);
        memcpy(Zbar, next, m * k * sizeof *Zbar);
        for (size_t h = 0; h < s->heads; h++) {
            expand(model, of_layer + h * head, P, Q);
            attend(model->attention, m, k, in, P, Q, A, Y, ZQ);
            memset(Abar, 0, m * m * sizeof *Abar);
            memset(Ybar, 0, m * k * sizeof *Ybar);
            memset(SZ, 0, m * k * sizeof *SZ);
            memset(Pbar, 0, k * k * sizeof *Pbar);
            memset(Qbar, 0, k * k * sizeof *Qbar);
            add_product(Abar, m, k, m, Zbar, k, 1, Y, 1, k, over_n);
            for (size_t i = 0; i < m; i++) {
                Abar[i * m + m - 1] = 0;
                activate_backward(model->attention, m, A + i * m, Abar + i * m);
                A[i * m + m - 1] = 0;
            }
            add_product(Ybar, m, m, k, A, 1, m, Zbar, k, 1, over_n);
            add_product(next, m, k, k, Ybar, k, 1, P, k, 1, 1);
            add_product(Pbar, k, m, k, Ybar, 1, k, in, k, 1, 1);
            add_product(SZ, m, m, k, Abar, m, 1, in, k, 1, 1); /* S = Z Q Z^T */
            add_product(Qbar, k, m, k, in, 1, k, SZ, k, 1, 1);
            add_product(next, m, k, k, SZ, k, 1, Q, 1, k, 1);
            add_product(next, m, m, k, Abar, 1, m, ZQ, k, 1, 1);
            collect(model, of_layer + h * head, Pbar, Qbar, gradient_of_layer + h * head);
        }
        memcpy(Zbar, next, m * k * sizeof *Zbar);
    }
    for (size_t i = 0; gradient && first && i < m; i++)
        network_backward(s->dim, model->mlp_hidden, theta, tokens + i * k, Zbar + i * k, gradient, NULL);
    double *all[] = {Z, Zbar, next, P, Q, A, Abar, Y, Ybar, ZQ, Pbar, Qbar, SZ, attended};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return prediction;
}

double reference_gradient(const reference_shape *shape, const double *tokens, const double *targets, size_t prompts,
                          const double *theta, double *predictions, double *gradient) {
    const reference_model model = {.shape = *shape};
    return reference_model_gradient(&model, tokens, targets, prompts, theta, predictions, gradient);
}

double reference_model_gradient(const reference_model *model, const double *tokens, const double *targets, size_t prompts,
                                const double *theta, double *predictions, double *gradient) {
    const reference_shape *shape = &model->shape;
    const size_t p = reference_model_parameter_count(model), size = (shape->context + 1) * (shape->dim + 1);
    double loss = 0;
    if (gradient) memset(gradient, 0, p * sizeof *gradient);
    for (size_t b = 0; b < prompts; b++) {
        const double prediction = prompt(model, tokens + b * size, targets[b], theta, gradient);
        if (predictions) predictions[b] = prediction;
        loss += (prediction - targets[b]) * (prediction - targets[b]);
    }
    for (size_t i = 0; gradient && i < p; i++) gradient[i] /= (double)prompts;
    return loss / (double)prompts;
}
