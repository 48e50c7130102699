/* options.h: structs that cross the boundary of the library carry their size, so that either side may be newer. */
#ifndef LINATTN_COMMON_OPTIONS_H
#define LINATTN_COMMON_OPTIONS_H

#include <stddef.h>

/* What the library knows of a public struct whose first field is size_t struct_size. */
typedef struct linattn__struct {
    const char *name;     /* for messages, such as "linattn_sampler_options" */
    size_t size;          /* sizeof as this library knows it */
    size_t first_size;    /* sizeof in the first release: the least a caller may have */
    const void *defaults; /* a struct of `size` bytes; NULL for result structs */
} linattn__struct;

/* The body of every linattn_x_options_init. Returns LINATTN_EINVAL when options is NULL, or size below first_size or absurd;
 * messages name the struct. A newer caller's bytes beyond type->size become 0. */
int linattn__options_init(const linattn__struct *type, void *options, size_t size);

/* Copies the caller's options into copy (type->size bytes), missing fields filled from the defaults; copy's struct_size becomes
 * type->size. options NULL: LINATTN_EINVAL. A size below first_size or absurd: LINATTN_EINVAL; unknown bytes that are not zero:
 * LINATTN_EVERSION. copy is unchanged on failure. */
int linattn__options_read(const linattn__struct *type, void *copy, const void *options);

/* Checks a result struct that the caller handed over: not NULL, struct_size set. Then linattn__result_write copies as much of
 * result (type->size bytes) as the caller's struct holds, leaving its struct_size alone, and zeroes what this library does not
 * know. */
int linattn__result_check(const linattn__struct *type, const void *out);
void linattn__result_write(const linattn__struct *type, void *out, const void *result);

#endif
