/* custom.h: a sampler of the caller's function. */
#ifndef LINATTN_SAMPLER_CUSTOM_H
#define LINATTN_SAMPLER_CUSTOM_H

#include "sampler/prompts.h"

typedef struct linattn__custom {
    linattn_fill fill; /* NULL: not a custom sampler */
    void *user;
} linattn__custom;

/* Scratch memory of linattn__custom_draw, in doubles. Returns LINATTN_EOVERFLOW. */
int linattn__custom_workspace(size_t context, size_t dim, size_t *workspace);

/* Draws all of out, whose lanes beyond the last prompt must be zero, on the calling thread. Returns LINATTN_ENONFINITE, or what
 * fill returned; out may then hold anything. */
int linattn__custom_draw(const linattn__custom *custom, uint64_t draw, linattn__prompts *out, double *workspace);

#endif
