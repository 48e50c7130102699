/* options.c: structs that carry their size, read and written byte-wise. */
#include "common/options.h"
#include "common/fail.h"
#include <string.h>

enum { LARGEST_STRUCT = 65536 }; /* bytes; a larger struct_size was never set */

/* The struct_size of a struct whose other bytes may be of any version. */
static size_t read_size(const void *from) {
    size_t size;
    memcpy(&size, from, sizeof size);
    return size;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static int check_size(const linattn__struct *type, size_t size) {
    if (size >= type->first_size && size <= LARGEST_STRUCT) return LINATTN_OK;
    if (size == 0)
        return linattn__fail(LINATTN_EINVAL,
                             "the struct_size of %s is 0: call its init function or, where it has none, set it to sizeof",
                             type->name);
    return linattn__fail(LINATTN_EINVAL, "the struct_size of %s is %zu; allowed: %zu to %d, here sizeof(%s) is %zu", type->name,
                         size, type->first_size, LARGEST_STRUCT, type->name, type->size);
}

int linattn__options_init(const linattn__struct *type, void *options, size_t size) {
    if (!options) return linattn__fail_null(type->name);
    const int status = check_size(type, size);
    if (status) return status;
    memset(options, 0, size);
    if (type->defaults) memcpy(options, type->defaults, smaller(size, type->size));
    memcpy(options, &size, sizeof size);
    return LINATTN_OK;
}

int linattn__options_read(const linattn__struct *type, void *copy, const void *options) {
    if (!options) return linattn__fail_null(type->name);
    const size_t size = read_size(options);
    const int status = check_size(type, size);
    if (status) return status;
    const unsigned char *bytes = options;
    for (size_t i = type->size; i < size; i++) {
        if (bytes[i] == 0) continue;
        return linattn__fail(LINATTN_EVERSION, "byte %zu of %s is set; allowed: 0, as this library knows only %zu bytes of the %zu",
                             i, type->name, type->size, size);
    }
    memcpy(copy, type->defaults, type->size);
    memcpy(copy, options, smaller(size, type->size));
    memcpy(copy, &type->size, sizeof type->size);
    return LINATTN_OK;
}

int linattn__result_check(const linattn__struct *type, const void *out) {
    if (!out) return linattn__fail_null(type->name);
    return check_size(type, read_size(out));
}

void linattn__result_write(const linattn__struct *type, void *out, const void *result) {
    const size_t size = read_size(out), known = smaller(size, type->size);
    memcpy((char *)out + sizeof size, (const char *)result + sizeof size, known - sizeof size);
    memset((char *)out + known, 0, size - known);
}
