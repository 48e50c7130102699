/* allocate.h: the one place where the library takes memory.
 *
 * A build with -DLINATTN_FAIL_ALLOCATION can make the k-th allocation fail, and counts them (tests only). */
#ifndef LINATTN_COMMON_ALLOCATE_H
#define LINATTN_COMMON_ALLOCATE_H

#include <stddef.h>

enum { LINATTN__ALIGNMENT = 64 }; /* bytes: a cache line, and the widest vector */

/* Zeroed memory for count items of `size` bytes, aligned to LINATTN__ALIGNMENT; NULL when there is none, the product overflows.
 * count 0 gives a pointer that may be released. linattn__release(NULL) does nothing. */
void *linattn__allocate(size_t count, size_t size);
void linattn__release(void *memory);

/* LINATTN_ENOMEM with the message "no memory for <what>". */
int linattn__fail_memory(const char *what);

/* a * b in *product; 0 when it overflows (*product is then unchanged), otherwise 1. */
int linattn__multiply_sizes(size_t a, size_t b, size_t *product);

#ifdef LINATTN_FAIL_ALLOCATION
/* The allocation after `successes` further ones fails, once; a negative number: none fails. */
void linattn__fail_allocation_after(long successes);

/* Pieces that were allocated and not released; bytes that all allocations so far have asked for. */
long linattn__allocated_pieces(void);
size_t linattn__allocated_bytes(void);
#endif

#endif
