/* custom.c: samplers whose prompts the caller's function makes: called on the calling thread, checked, laid out in blocks. */
#include "sampler/custom.h"
#include "common/allocate.h"
#include "common/fail.h"
#include <linattn/number.h>
#include <math.h>
#include <stdio.h>

/* Numbers that a call of the function fills, about; a megabyte. */
enum { PIECE = 1 << 17 };

/* Prompts of a call, the last of a batch excepted: whole blocks, whatever the batch. */
static size_t piece_prompts(size_t numbers) {
    const size_t fit = PIECE / numbers / LINATTN__BLOCK * LINATTN__BLOCK;
    return fit > LINATTN__BLOCK ? fit : LINATTN__BLOCK;
}

int linattn__custom_workspace(size_t context, size_t dim, size_t *workspace) {
    size_t numbers, prompts;
    if (linattn__multiply_sizes(context + 1, dim + 1, &numbers) &&
        linattn__multiply_sizes(numbers + 1, piece_prompts(numbers) + LINATTN__BLOCK, &prompts) &&
        prompts <= PTRDIFF_MAX / sizeof(double)) {
        *workspace = prompts;
        return LINATTN_OK;
    }
    return linattn__fail(LINATTN_EOVERFLOW, "prompts with context %zu and dim %zu do not fit in the address space", context, dim);
}

/* What the caller wrote, or left: named by its prompt and its place there. width: numbers in a row of tokens, 0 for targets. */
static int check_piece(const char *what, const double *x, size_t first, size_t count, size_t numbers, size_t width) {
    char number[LINATTN_NUMBER_SIZE], place[64] = "";
    for (size_t i = 0; i < count * numbers; i++) {
        if (isfinite(x[i])) continue;
        linattn_number_write(x[i], number);
        if (width > 0) snprintf(place, sizeof place, ", row %zu, entry %zu,", i % numbers / width, i % numbers % width);
        return linattn__fail(LINATTN_ENONFINITE, "the callback fill's %s of prompt %zu%s is %s; allowed: finite numbers", what,
                             first + i / numbers, place, number);
    }
    return LINATTN_OK;
}

/* Prompts first .. first+count-1 from the caller. */
static int call(const linattn__custom *custom, uint64_t draw, size_t first, size_t count, size_t width, size_t numbers,
                double *tokens, double *targets) {
    for (size_t i = 0; i < count * numbers; i++) tokens[i] = NAN;
    for (size_t i = 0; i < count; i++) targets[i] = NAN;
    const unsigned failures = linattn__failures();
    const int returned = custom->fill(draw, first, count, tokens, targets, custom->user);
    int status = linattn__callback_status("fill", returned, failures);
    if (status == LINATTN_OK) status = check_piece("token", tokens, first, count, numbers, width);
    if (status == LINATTN_OK) status = check_piece("target", targets, first, count, 1, 0);
    return status;
}

int linattn__custom_draw(const linattn__custom *custom, uint64_t draw, linattn__prompts *out, double *workspace) {
    const size_t numbers = (out->context + 1) * (out->dim + 1), most = piece_prompts(numbers);
    double *blocked = workspace, *tokens = blocked + LINATTN__BLOCK * numbers, *targets = tokens + most * numbers;
    for (size_t first = 0; first < out->prompts; first += most) {
        const size_t count = out->prompts - first < most ? out->prompts - first : most;
        const int status = call(custom, draw, first, count, out->dim + 1, numbers, tokens, targets);
        if (status != LINATTN_OK) return status;
        for (size_t i = 0; i < count; i += LINATTN__BLOCK)
            linattn__prompts_put_block(out, (first + i) / LINATTN__BLOCK, tokens + i * numbers, targets + i, blocked);
    }
    return LINATTN_OK;
}
