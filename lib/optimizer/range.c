/* range.c: the tables of options that all rules read, and the loops over such tables. */
#include "optimizer/range.h"
#include "common/fail.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

#define REAL(name, low, high, above_low, below_high, allowed)                                                                      \
    LINATTN__RANGE(name, LINATTN__RANGE_REAL, low, high, above_low, below_high, allowed)
#define INTEGER(name, low, high, allowed) LINATTN__RANGE(name, LINATTN__RANGE_INTEGER, low, high, 0, 0, allowed)
#define COUNT(name, low, allowed)         LINATTN__RANGE(name, LINATTN__RANGE_COUNT, low, INFINITY, 0, 0, allowed)

static const linattn__range ALWAYS[] = {
    INTEGER(clip, 0, LINATTN_CLIP_COORDINATE, "0 (none), 1 (global norm), 2 (tensor norm), 3 (coordinate)"),
    INTEGER(schedule, 0, LINATTN_SCHEDULE_COSINE, "0 (constant), 1 (step), 2 (cosine)"),
    INTEGER(nonfinite, 0, LINATTN_NONFINITE_SKIP, "0 (fail), 1 (skip)"),
    REAL(learning_rate, 0, DBL_MAX, 0, 0, "finite and at least 0 (nan where it was not set, or the recipe is not tuned)"),
    COUNT(warmup_steps, 0, "any number"),
};
static const linattn__range CLIPPING[] = {REAL(clip_threshold, 0, DBL_MAX, 1, 0, "finite and above 0")};
static const linattn__range STEP[] = {
    COUNT(decay_steps, 1, "at least 1"),
    REAL(decay_factor, 0, 1, 1, 0, "above 0, at most 1"),
};
static const linattn__range COSINE[] = {
    COUNT(decay_steps, 1, "more than warmup_steps"),
    REAL(min_learning_rate, 0, DBL_MAX, 0, 0, "at least 0, at most learning_rate"),
};

#define LENGTH(table) (sizeof(table) / sizeof(table)[0])

static const void *field_of(const linattn__range *range, const linattn_optimizer_options *options) {
    return (const char *)options + range->offset;
}

/* False for NaN, whatever the range. */
static int inside(const linattn__range *range, double x) {
    return (range->above_low ? x > range->low : x >= range->low) && (range->below_high ? x < range->high : x <= range->high);
}

int linattn__ranges_check(const linattn__range *ranges, size_t count, const linattn_optimizer_options *options) {
    for (const linattn__range *range = ranges; range < ranges + count; range++) {
        const void *field = field_of(range, options);
        if (range->type == LINATTN__RANGE_REAL) {
            const double x = *(const double *)field;
            if (!inside(range, x)) return linattn__fail_real(range->field, x, range->allowed);
        } else if (range->type == LINATTN__RANGE_INTEGER) {
            const int32_t x = *(const int32_t *)field;
            if (!inside(range, x)) return linattn__fail_integer(range->field, x, range->allowed);
        } else {
            const uint64_t x = *(const uint64_t *)field;
            if (!inside(range, (double)x)) return linattn__fail_count(range->field, x, range->allowed);
        }
    }
    return LINATTN_OK;
}

int linattn__ranges_describe(const linattn__range *ranges, size_t count, const linattn_optimizer_options *options,
                             linattn__describe visit, void *user) {
    for (const linattn__range *range = ranges; range < ranges + count; range++) {
        const void *field = field_of(range, options);
        char name[LINATTN__FIELD];
        snprintf(name, sizeof name, "optimizer.%s", range->field);
        const uint64_t value = range->type == LINATTN__RANGE_REAL ? linattn__real_bits(*(const double *)field + 0.0) /* -0 is 0 */
                               : range->type == LINATTN__RANGE_INTEGER ? (uint64_t)(int64_t) * (const int32_t *)field
                                                                       : *(const uint64_t *)field;
        const int status = visit(name, value, user);
        if (status) return status;
    }
    return LINATTN_OK;
}

/* The tables that a set of options reads, besides ALWAYS and the rule's own: at most one for clipping and one for the schedule. */
static const linattn__range *schedule_ranges(const linattn_optimizer_options *options, size_t *count) {
    *count = options->schedule == LINATTN_SCHEDULE_STEP     ? LENGTH(STEP)
             : options->schedule == LINATTN_SCHEDULE_COSINE ? LENGTH(COSINE)
                                                            : 0;
    return options->schedule == LINATTN_SCHEDULE_STEP ? STEP : COSINE;
}

static size_t clipping_count(const linattn_optimizer_options *options) {
    return options->clip == LINATTN_CLIP_NONE ? 0 : LENGTH(CLIPPING);
}

int linattn__common_options_check(const linattn_optimizer_options *options) {
    int status = linattn__ranges_check(ALWAYS, LENGTH(ALWAYS), options);
    if (!status) status = linattn__ranges_check(CLIPPING, clipping_count(options), options);
    if (status) return status;
    if (options->reserved != 0) return linattn__fail_integer("reserved", options->reserved, "0");

    size_t count;
    const linattn__range *ranges = schedule_ranges(options, &count);
    status = linattn__ranges_check(ranges, count, options);
    if (status || options->schedule != LINATTN_SCHEDULE_COSINE) return status;
    if (options->decay_steps <= options->warmup_steps)
        return linattn__fail_count("decay_steps", options->decay_steps, "more than warmup_steps");
    if (options->min_learning_rate > options->learning_rate)
        return linattn__fail_real("min_learning_rate", options->min_learning_rate, "at least 0, at most learning_rate");
    return LINATTN_OK;
}

int linattn__common_options_describe(const linattn_optimizer_options *options, linattn__describe visit, void *user) {
    size_t count;
    const linattn__range *ranges = schedule_ranges(options, &count);
    int status = linattn__ranges_describe(ALWAYS, LENGTH(ALWAYS), options, visit, user);
    if (!status) status = linattn__ranges_describe(CLIPPING, clipping_count(options), options, visit, user);
    if (!status) status = linattn__ranges_describe(ranges, count, options, visit, user);
    return status;
}
