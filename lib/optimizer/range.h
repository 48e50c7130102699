/* range.h: what the options of an optimizer may be, as tables: one of options that all rules read, and one for each rule. The same
 * tables validate options, make the messages, and describe an optimizer to a checkpoint. */
#ifndef LINATTN_OPTIMIZER_RANGE_H
#define LINATTN_OPTIMIZER_RANGE_H

#include "common/describe.h"
#include <linattn/optimizer.h>
#include <stddef.h>

enum linattn__range_type { LINATTN__RANGE_REAL, LINATTN__RANGE_INTEGER, LINATTN__RANGE_COUNT }; /* double, int32_t, uint64_t */

typedef struct linattn__range {
    const char *field; /* the name in linattn_optimizer_options */
    size_t offset;     /* where it is */
    enum linattn__range_type type;
    double low, high;          /* both allowed, ... */
    int above_low, below_high; /* ... but for those excluded by a 1 here */
    const char *allowed;       /* for the message */
} linattn__range;

#define LINATTN__RANGE(name, type, low, high, above_low, below_high, allowed)                                                      \
    { #name, offsetof(linattn_optimizer_options, name), type, low, high, above_low, below_high, allowed }

/* LINATTN_OK when the options are inside `ranges` (count), otherwise LINATTN_EINVAL naming the first that is not. */
int linattn__ranges_check(const linattn__range *ranges, size_t count, const linattn_optimizer_options *options);

/* Visits each as "optimizer.<field>". */
int linattn__ranges_describe(const linattn__range *ranges, size_t count, const linattn_optimizer_options *options,
                             linattn__describe visit, void *user);

/* What every optimizer reads: clipping, schedule, learning rate. */
int linattn__common_options_check(const linattn_optimizer_options *options);
int linattn__common_options_describe(const linattn_optimizer_options *options, linattn__describe visit, void *user);

#endif
