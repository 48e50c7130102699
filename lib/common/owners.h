/* owners.h: how many owners a handle has: the caller, and every object that was made from it. Whoever lets go last destroys it, so the
 * order of destruction never matters. Handles that threads share are counted atomically, all others in the same way. */
#ifndef LINATTN_COMMON_OWNERS_H
#define LINATTN_COMMON_OWNERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct linattn__owners {
    atomic_size_t count;
} linattn__owners;

static inline void linattn__owners_begin(linattn__owners *owners) { atomic_init(&owners->count, 1); }

/* The count is the one thing of an immutable handle that changes. */
static inline void linattn__owners_add(const linattn__owners *owners) {
    atomic_fetch_add_explicit(&((linattn__owners *)(uintptr_t)owners)->count, 1, memory_order_relaxed);
}

/* 1 when this was the last owner. What other owners did happens before what the last one does next. */
static inline int linattn__owners_end(linattn__owners *owners) {
    return atomic_fetch_sub_explicit(&owners->count, 1, memory_order_acq_rel) == 1;
}

#endif
