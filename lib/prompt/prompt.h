/* prompt.h (internal): a prompt-attention system as it lies in memory. */
#ifndef LINATTN_PROMPT_PROMPT_H
#define LINATTN_PROMPT_PROMPT_H

#include "common/describe.h"
#include "common/owners.h"
#include "kernels/prompt.h"
#include <linattn/prompt.h>

struct linattn_prompt {
    linattn__owners owners;
    linattn_prompt_options options; /* as read; progress is not kept */
    linattn__prompt_shape shape;
    size_t blocks;     /* ceil(N / 8) */
    double *keys;      /* (blocks, n, d, 8) */
    double *tokens;    /* (blocks, n, d, 8); the same memory as keys when W_K is the identity */
    double *responses; /* (blocks, n, 8): u = X v */
    double *labels;    /* (blocks, 8) */
    double *live;      /* (blocks, 8): 1, and 0 beyond the last example */
    double *value;     /* (d) */
    double *teacher;   /* (d), or NULL */
};

/* Another owner of an immutable handle. */
void linattn__prompt_retain(const linattn_prompt *prompt);

/* Blocks first .. first+count-1 as a kernel wants them. */
linattn__examples linattn__prompt_part(const linattn_prompt *prompt, size_t first, size_t count);

/* Tells the numbers on which the loss depends. */
int linattn__prompt_describe(const linattn_prompt *prompt, linattn__describe visit, void *user);

/* ---- Drawing: plain arrays, on the way to a system ---- */

typedef struct linattn__plain {
    double *keys;    /* (N, n, d) */
    double *tokens;  /* (N, n, d); the same memory as keys when W_K is the identity */
    double *value;   /* (d) */
    double *teacher; /* (d), or NULL */
    double *labels;  /* (N) */
} linattn__plain;

/* Scores of profile and sparsity for every example (N, n), permuted; their largest is 0. */
void linattn__prompt_profile(const linattn_prompt_options *options, double *scores);

/* Draws keys, teacher, value and tokens; scores (N, n) is scratch. Returns LINATTN_ENOMEM or what progress returned. */
int linattn__prompt_draw(const linattn_prompt_options *options, linattn__plain *out, double *scores);

/* Labels (N) from keys, tokens, value and teacher. scratch (2, n). */
void linattn__prompt_label(const linattn_prompt_options *options, const linattn__plain *of, double *scratch);

#endif
