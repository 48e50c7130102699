/* draw.kernel.c: whole prompts: covariates, task, responses, and the second moments of the context,
 *     C_0 = sum over context tokens of z z^T, z = (x, y), (d+1, d+1).
 *
 * Tokens are drawn in tiles that stay in the cache: x (tile, d, lanes) and y (tile, lanes), token 0 being the query. Each entry of
 * C_0 is summed over tokens in order, carried from tile to tile through memory, so its bits do not depend on the tile, on the
 * instruction set, or on whether tokens are kept. */
#include "sampler/distribution.h"
#include "sampler/lanes.h"

typedef struct token_tile {
    const linattn__plan *plan;
    linattn__span span; /* one group */
    size_t block;       /* where its prompts are: lanes lane, lane + 1, ... of this block */
    size_t lane;
    double *w;       /* (plan->weights, lanes) */
    double *x;       /* (TILE, d, lanes) */
    double *y;       /* (TILE, lanes) */
    double *scratch; /* (2 d + TILE, lanes) */
} token_tile;

static size_t measure(const linattn__plan *plan) {
    const size_t d = plan->dim;
    return (plan->weights + LINATTN__TILE * d + LINATTN__TILE + 2 * d + LINATTN__TILE) * LINATTN__BLOCK;
}

/* sums[0 .. width) += sum over tokens of a_t b_t, b being `width` neighbouring columns; a and b step by one token. */
LINATTN__INLINE void add_products(const double *a, size_t a_step, const double *b, size_t b_step, size_t count, size_t width,
                                  double *sums) {
    vreal sum[4];
    for (size_t j = 0; j < width; j++) sum[j] = vreal_load(sums + j * LINATTN__BLOCK);
    for (size_t t = 0; t < count; t++) {
        const vreal left = vreal_load(a + t * a_step);
        for (size_t j = 0; j < width; j++) sum[j] += left * vreal_load(b + t * b_step + j * LINATTN__LANES);
    }
    for (size_t j = 0; j < width; j++) vreal_store(sums + j * LINATTN__BLOCK, sum[j]);
}

/* One row of the lower triangle of C_0: products of column a with the first `width` covariates. */
LINATTN__INLINE void add_row(const double *a, size_t a_step, const double *x, size_t x_step, size_t count, size_t width,
                             double *row) {
    size_t j = 0;
    for (; j + 4 <= width; j += 4) add_products(a, a_step, x + j * LINATTN__LANES, x_step, count, 4, row + j * LINATTN__BLOCK);
    x += j * LINATTN__LANES;
    row += j * LINATTN__BLOCK;
    switch (width - j) {
    case 3:
        add_products(a, a_step, x, x_step, count, 3, row);
        break;
    case 2:
        add_products(a, a_step, x, x_step, count, 2, row);
        break;
    case 1:
        add_products(a, a_step, x, x_step, count, 1, row);
        break;
    default:
        break;
    }
}

LINATTN__INLINE void add_moments(size_t d, const double *x, const double *y, size_t count, double *moments) {
    const size_t step = d * LINATTN__LANES;
    for (size_t i = 0; i < d; i++)
        add_row(x + i * LINATTN__LANES, step, x, step, count, i + 1, moments + i * (i + 1) / 2 * LINATTN__BLOCK);
    double *last = moments + d * (d + 1) / 2 * LINATTN__BLOCK;
    add_row(y, LINATTN__LANES, x, step, count, d, last);
    add_products(y, LINATTN__LANES, y, LINATTN__LANES, count, 1, last + d * LINATTN__BLOCK);
}

/* The same for a d small enough that all sums stay in registers, or nearly. */
LINATTN__INLINE void add_moments_small(size_t d, const double *x, const double *y, size_t count, double *moments) {
    enum { MOST = 5 };
    vreal sum[(MOST + 1) * (MOST + 2) / 2], z[MOST + 1];
    const size_t entries = (d + 1) * (d + 2) / 2;
    for (size_t i = 0; i < entries; i++) sum[i] = vreal_load(moments + i * LINATTN__BLOCK);
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < d; i++) z[i] = vreal_load(x + (t * d + i) * LINATTN__LANES);
        z[d] = vreal_load(y + t * LINATTN__LANES);
        for (size_t i = 0, k = 0; i <= d; i++)
            for (size_t j = 0; j <= i; j++, k++) sum[k] += z[i] * z[j];
    }
    for (size_t i = 0; i < entries; i++) vreal_store(moments + i * LINATTN__BLOCK, sum[i]);
}

/* y += sigma e; the query's response, which is the target, only where asked. */
static void add_noise(const token_tile *tile, size_t first, size_t count) {
    const linattn__plan *plan = tile->plan;
    double *noise = tile->scratch; /* (count, lanes) */
    lanes_normals(&tile->span, LINATTN__KIND_NOISE, first, count, noise);
    for (size_t t = first == 0 && !plan->noisy_target; t < count; t++) {
        double *y = tile->y + t * LINATTN__LANES;
        vreal_store(y, vreal_load(y) + plan->noise_std * vreal_load(noise + t * LINATTN__LANES));
    }
}

/* Token t of the tile as a row (x, y) of the block's layout: row (d+1, 8). */
LINATTN__INLINE void copy_token(const token_tile *tile, size_t t, double *row) {
    const size_t d = tile->plan->dim;
    for (size_t j = 0; j < d; j++)
        vreal_store(row + j * LINATTN__BLOCK + tile->lane, vreal_load(tile->x + (t * d + j) * LINATTN__LANES));
    vreal_store(row + d * LINATTN__BLOCK + tile->lane, vreal_load(tile->y + t * LINATTN__LANES));
}

/* What of a tile goes into the batch; token 0 is the query, whose response is the target. */
static void keep_tile(const token_tile *tile, size_t first, size_t count, linattn__prompts *out) {
    const size_t d = tile->plan->dim, n = tile->plan->context, row = (d + 1) * LINATTN__BLOCK, skip = first == 0,
                 block = tile->block;
    const size_t entries = (d + 1) * (d + 2) / 2;
    double *moments = out->moments + block * entries * LINATTN__BLOCK + tile->lane;
    const double *x = tile->x + skip * d * LINATTN__LANES, *y = tile->y + skip * LINATTN__LANES;
    if (first == 0) {
        double *query = out->queries + block * row;
        for (size_t i = 0; i < entries; i++) vreal_store(moments + i * LINATTN__BLOCK, vreal_all(0.0));
        vreal_store(out->targets + block * LINATTN__BLOCK + tile->lane, vreal_load(tile->y));
        vreal_store(tile->y, vreal_all(0.0));
        copy_token(tile, 0, query);
        if (out->tokens != NULL) copy_token(tile, 0, out->tokens + (block * (n + 1) + n) * row);
    }
    if (d == 5)
        add_moments_small(5, x, y, count - skip, moments);
    else
        add_moments(d, x, y, count - skip, moments);
    if (out->tokens != NULL)
        for (size_t t = skip; t < count; t++) copy_token(tile, t, out->tokens + (block * (n + 1) + first + t - 1) * row);
}

static void draw_blocks(const linattn__plan *plan, const linattn__covariates *covariates, const linattn__task *task,
                        const linattn__stream *stream, size_t first_block, size_t blocks, linattn__prompts *out,
                        double *workspace) {
    const size_t d = plan->dim, tokens = plan->context + 1, end = (first_block + blocks) * LINATTN__BLOCK;
    token_tile tile = {.plan = plan, .span = {.stream = stream, .groups = 1}, .w = workspace};
    tile.x = tile.w + plan->weights * LINATTN__LANES;
    tile.y = tile.x + LINATTN__TILE * d * LINATTN__LANES;
    tile.scratch = tile.y + LINATTN__TILE * LINATTN__LANES;
    for (size_t prompt = first_block * LINATTN__BLOCK; prompt < end; prompt += LINATTN__LANES) {
        tile.span.prompt = (uint32_t)prompt;
        tile.block = prompt / LINATTN__BLOCK;
        tile.lane = prompt % LINATTN__BLOCK;
        task->weights(plan, &tile.span, tile.w, tile.scratch);
        for (size_t first = 0; first < tokens; first += LINATTN__TILE) {
            const size_t count = tokens - first < LINATTN__TILE ? tokens - first : LINATTN__TILE;
            covariates->fill(plan, &tile.span, first, count, tile.x, tile.scratch);
            task->respond(plan, tile.w, tile.x, count, tile.y);
            if (plan->noise_std > 0) add_noise(&tile, first, count);
            keep_tile(&tile, first, count, out);
        }
    }
}

extern const linattn__drawing LINATTN__ISA_NAME(drawing_tokens);
const linattn__drawing LINATTN__ISA_NAME(drawing_tokens) = {measure, draw_blocks};
