/* groups.h: a block's 8 prompts are worked on in groups of as many as a vector has lanes. */
#ifndef LINATTN_KERNELS_GROUPS_H
#define LINATTN_KERNELS_GROUPS_H

#include "kernels/path.h"
#include "kernels/tile.h"

enum { GROUPS = LINATTN__BLOCK / LINATTN__LANES }; /* of a block */

/* x in lanes that hold a prompt, 0 in those beyond the last: with biases, what is made of zeros need not be 0. */
LINATTN__INLINE vreal group_mask(const linattn__data *data, size_t block, size_t group, vreal x) {
    const size_t first = block * LINATTN__BLOCK + group * LINATTN__LANES;
    if (first + LINATTN__LANES <= data->prompts) return x;
    for (size_t i = 0; i < LINATTN__LANES; i++)
        if (first + i >= data->prompts) x[i] = 0;
    return x;
}

#endif
