/* allocate.c: zeroed, aligned memory. */
#include "common/allocate.h"
#include "common/fail.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef LINATTN_FAIL_ALLOCATION
#include <stdatomic.h>

static atomic_long successes_left = -1, pieces;
static atomic_size_t bytes_taken;

long linattn__allocated_pieces(void) { return atomic_load(&pieces); }
size_t linattn__allocated_bytes(void) { return atomic_load(&bytes_taken); }

static void count_allocation(size_t bytes) {
    atomic_fetch_add(&pieces, 1);
    atomic_fetch_add(&bytes_taken, bytes);
}
static void count_release(const void *memory) { atomic_fetch_sub(&pieces, memory != NULL); }

void linattn__fail_allocation_after(long successes) { atomic_store(&successes_left, successes); }

/* 1 when this allocation is the one to fail. Threads that allocate at once take turns, so exactly one of them fails. */
static int must_fail(void) {
    long left = atomic_load(&successes_left);
    while (left >= 0 && !atomic_compare_exchange_weak(&successes_left, &left, left - 1)) {
    }
    return left == 0;
}
#else
static int must_fail(void) { return 0; }
static void count_allocation(size_t bytes) { (void)bytes; }
static void count_release(const void *memory) { (void)memory; }
#endif

int linattn__multiply_sizes(size_t a, size_t b, size_t *product) {
    if (b != 0 && a > SIZE_MAX / b) return 0;
    *product = a * b;
    return 1;
}

void *linattn__allocate(size_t count, size_t size) {
    size_t bytes = 0;
    void *memory = NULL;
    /* Above PTRDIFF_MAX the difference of two pointers into the memory would be undefined. */
    if (!linattn__multiply_sizes(count, size, &bytes) || bytes > PTRDIFF_MAX || must_fail()) return NULL;
    if (posix_memalign(&memory, LINATTN__ALIGNMENT, bytes ? bytes : 1) != 0) return NULL;
    count_allocation(bytes);
    return memset(memory, 0, bytes);
}

void linattn__release(void *memory) {
    count_release(memory);
    free(memory);
}

int linattn__fail_memory(const char *what) { return linattn__fail(LINATTN_ENOMEM, "no memory for %s", what); }
