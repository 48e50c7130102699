/* file.h: whole files, read at once and replaced atomically. */
#ifndef LINATTN_COMMON_FILE_H
#define LINATTN_COMMON_FILE_H

#include <stddef.h>

/* Replaces the file `path` by size bytes: written to a temporary name in the same folder, synced, renamed, folder synced. On
 * failure the old file is untouched and the temporary one removed. Returns LINATTN_EIO (the message has the path and the system's
 * reason) or LINATTN_ENOMEM. */
int linattn__file_replace(const char *path, const void *bytes, size_t size);

/* Reads a regular file of at most `limit` bytes; *bytes is to be released by linattn__release. Returns LINATTN_EIO,
 * LINATTN_EFORMAT (not a regular file, or larger than limit) or LINATTN_ENOMEM; *bytes and *size are then unchanged. */
int linattn__file_read(const char *path, size_t limit, unsigned char **bytes, size_t *size);

#endif
