/* clip.h: the gradient that a rule sees. */
#ifndef LINATTN_OPTIMIZER_CLIP_H
#define LINATTN_OPTIMIZER_CLIP_H

#include "common/norm.h"
#include <linattn/optimizer.h>

typedef struct linattn__clipping {
    double norm; /* after clipping */
    int clipped; /* 1 when an entry was changed */
} linattn__clipping;

/* Clips gradient (p), finite and of the given norm, into out (p) as options.clip says. tensors: (tensor_count). */
linattn__clipping linattn__clip(const linattn_optimizer_options *options, const linattn_tensor *tensors, size_t tensor_count,
                                double *out, const double *gradient, size_t p, linattn__norm norm);

#endif
