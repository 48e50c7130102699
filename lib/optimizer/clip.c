/* clip.c: clipping by the global norm, by each tensor's norm, by coordinate.
 *
 * Norms are compared strictly and the ratio is exact: g (c / |g|) when |g| > c, with no small constant beside |g|; a gradient whose
 * norm is the threshold itself keeps its bits. The published experiments clip this way; a constant of 1e-6 would be felt at
 * thresholds such as 0.1. */
#include "optimizer/clip.h"
#include <string.h>

/* If |g| > c: g <- g (c / |g|). The norm afterwards is c up to the rounding of the entries, and told as c. */
static linattn__clipping clip_global(double threshold, double *g, size_t p, linattn__norm norm) {
    if (!linattn__norm_exceeds(norm, threshold)) return (linattn__clipping){linattn__norm_value(norm), 0};
    linattn__norm_rescale(g, g, p, norm, threshold);
    return (linattn__clipping){threshold, 1};
}

/* The same for each tensor; entries of no tensor are left alone. */
static linattn__clipping clip_tensors(double threshold, const linattn_tensor *tensors, size_t tensor_count, double *g, size_t p) {
    int clipped = 0;
    for (size_t i = 0; i < tensor_count; i++) {
        double *part = g + tensors[i].offset;
        const size_t count = tensors[i].rows * tensors[i].columns;
        const linattn__norm norm = linattn__norm_of(part, count);
        if (!linattn__norm_exceeds(norm, threshold)) continue;
        linattn__norm_rescale(part, part, count, norm, threshold);
        clipped = 1;
    }
    return (linattn__clipping){linattn__norm_value(linattn__norm_of(g, p)), clipped};
}

/* g_i <- max(-c, min(c, g_i)). Pan & Li, "Toward Understanding Why Adam Converges Faster Than SGD for Transformers" (2023),
 * arXiv:2306.00204, clip so the few coordinates of bad sharpness. Theirs is stated as the fraction of coordinates to be clipped,
 * which gives a threshold anew at every step; here the threshold is a number, and it is the gradient that is clipped, before any
 * momentum. */
static linattn__clipping clip_coordinates(double threshold, double *g, size_t p) {
    int clipped = 0;
    for (size_t i = 0; i < p; i++) {
        if (g[i] > threshold) {
            g[i] = threshold;
            clipped = 1;
        } else if (g[i] < -threshold) {
            g[i] = -threshold;
            clipped = 1;
        }
    }
    return (linattn__clipping){linattn__norm_value(linattn__norm_of(g, p)), clipped};
}

linattn__clipping linattn__clip(const linattn_optimizer_options *options, const linattn_tensor *tensors, size_t tensor_count,
                                double *out, const double *gradient, size_t p, linattn__norm norm) {
    memcpy(out, gradient, p * sizeof *out);
    switch (options->clip) {
    case LINATTN_CLIP_GLOBAL_NORM:
        return clip_global(options->clip_threshold, out, p, norm);
    case LINATTN_CLIP_TENSOR_NORM:
        return clip_tensors(options->clip_threshold, tensors, tensor_count, out, p);
    case LINATTN_CLIP_COORDINATE:
        return clip_coordinates(options->clip_threshold, out, p);
    default:
        return (linattn__clipping){linattn__norm_value(norm), 0};
    }
}
