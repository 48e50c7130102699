/* prompts.h: how a batch lies in memory: blocks of 8 prompts, the prompt being the innermost index ("lane").
 *
 * Lanes beyond the last prompt are zero in every array; they then contribute exactly 0 to every sum. */
#ifndef LINATTN_SAMPLER_PROMPTS_H
#define LINATTN_SAMPLER_PROMPTS_H

#include "common/describe.h"
#include "kernels/path.h"
#include <linattn/sampler.h>
#include <stddef.h>
#include <stdint.h>

typedef struct linattn__prompts {
    size_t prompts;  /* B */
    size_t context;  /* n */
    size_t dim;      /* d */
    size_t blocks;   /* ceil(B / 8) */
    double *tokens;  /* (blocks, n+1, d+1, 8); NULL when only moments are kept */
    double *moments; /* (blocks, (d+1)(d+2)/2, 8): the lower triangle of C_0, row by row: entry (i, j), j <= i, at i(i+1)/2 + j */
    double *queries; /* (blocks, d+1, 8): the query's row of the tokens */
    double *targets; /* (blocks, 8) */
} linattn__prompts;

/* Makes the arrays, zeroed. Returns LINATTN_EOVERFLOW or LINATTN_ENOMEM, and then *out is empty. */
int linattn__prompts_create(linattn__prompts *out, size_t prompts, size_t context, size_t dim, int with_tokens);
void linattn__prompts_release(linattn__prompts *prompts);

/* Blocks first .. first+count-1 as a kernel wants them. */
linattn__data linattn__prompts_part(const linattn__prompts *prompts, size_t first, size_t count);

/* Writes a block of plain prompts, tokens (up to 8, n+1, d+1) and targets, into its lanes, moments included, each of whose entries
 * is summed over tokens in order, as the sampler does. Lanes beyond the last prompt must be zero already. blocked: ((n+1)(d+1), 8),
 * scratch; NULL when `prompts` keeps tokens. */
void linattn__prompts_put_block(linattn__prompts *prompts, size_t block, const double *tokens, const double *targets,
                                double *blocked);

/* Copies prompt `from` of source to place `to` of out, whose shape is the same; tokens where out keeps them. */
void linattn__prompts_copy(const linattn__prompts *source, size_t from, linattn__prompts *out, size_t to);

/* The arrays of a batch. */
const linattn__prompts *linattn__batch_prompts(const linattn_batch *batch);

/* Another owner of an immutable handle. */
void linattn__sampler_retain(const linattn_sampler *sampler);
void linattn__batch_retain(const linattn_batch *batch);

/* Tells the options on which the sampler's numbers depend; returns what visit returned when that is not 0. */
int linattn__sampler_describe(const linattn_sampler *sampler, linattn__describe visit, void *user);

/* The options as the sampler keeps them. */
const linattn_sampler_options *linattn__sampler_get_options(const linattn_sampler *sampler);

/* Scratch memory for drawing, in doubles: one such piece, aligned to 64 bytes, for each thread. */
size_t linattn__sampler_workspace(const linattn_sampler *sampler);

/* 1 when the prompts come from the caller's function, and are drawn by linattn__sampler_call; otherwise linattn__sampler_draw. */
int linattn__sampler_is_custom(const linattn_sampler *sampler);

/* Draws all of out on the calling thread: its lanes beyond the last prompt must be zero. Returns LINATTN_ENONFINITE, or what the
 * caller's function returned; out may then hold anything. */
int linattn__sampler_call(const linattn_sampler *sampler, uint64_t draw, linattn__prompts *out, double *workspace);

/* Draws blocks first .. first+count-1 of draw `draw` into out, whose shape is the sampler's; tokens only when out->tokens is not
 * NULL. The same bits for every instruction set and however the blocks are divided over calls. Lanes beyond out->prompts are set to
 * zero. */
void linattn__sampler_draw(const linattn_sampler *sampler, enum linattn__isa isa, uint64_t draw, size_t first, size_t count,
                           linattn__prompts *out, double *workspace);

#endif
