/* fuzz.h: what the targets share. A target is a file fuzz_X.c with libFuzzer's entry point; tests/fuzz/README.md says how they are run.
 * Input reaches a reader as a file in memory, by the path that Linux gives an open file. */
#ifndef LINATTN_TESTS_FUZZ_H
#define LINATTN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the input. */
#define FUZZ_ASSERT(condition)                                                                                                     \
    do {                                                                                                                           \
        if (!(condition)) {                                                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                                \
            abort();                                                                                                               \
        }                                                                                                                          \
    } while (0)

typedef struct memory_file {
    int descriptor;
    char path[64];
} memory_file;

static inline memory_file memory_file_open(void) {
    memory_file file = {.descriptor = memfd_create("linattn", 0)};
    FUZZ_ASSERT(file.descriptor >= 0);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.descriptor);
    return file;
}

/* Makes the file hold these bytes and no others. */
static inline void memory_file_set(const memory_file *file, const void *bytes, size_t size) {
    FUZZ_ASSERT(ftruncate(file->descriptor, 0) == 0 && pwrite(file->descriptor, bytes, size, 0) == (ssize_t)size);
}

#endif
