#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include "results.h"

#include "complain.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linattn/number.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A kill cannot cut a write short that stays inside one page of the file: the kernel looks for signals between pages only. Lines
 * are therefore kept from crossing a multiple of PAGE, the smallest page there is; blank lines fill what is left before it. */
enum { PAGE = 4096 };

size_t results_header(char *text, const char *sweep) {
    const int length = snprintf(text, RESULTS_HEADER,
                                "# liblinattn runs 1\n%s"
                                "recipe,optimizer,learning_rate,seed,steps,diverged,diverged_at,final_loss,final_median,seconds,"
                                "checksum\n",
                                sweep);
    return length < 0 || length >= RESULTS_HEADER ? 0 : (size_t)length;
}

uint32_t results_checksum(uint32_t before, const void *bytes, size_t length) {
    uint32_t crc = ~before;
    for (size_t i = 0; i < length; i++) {
        crc ^= ((const unsigned char *)bytes)[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

const result *results_find(const results *file, const result *run) {
    for (size_t i = 0; i < file->count; i++) {
        const result *each = &file->runs[i];
        if (each->learning_rate == run->learning_rate && each->seed == run->seed && each->steps == run->steps &&
            strcmp(each->optimizer, run->optimizer) == 0 && strcmp(each->recipe, run->recipe) == 0)
            return each;
    }
    return NULL;
}

/* One write at the end of the file. What a full disk leaves of it is taken back. */
static int add_bytes(results *file, const char *bytes, size_t length) {
    const ssize_t written = write(file->descriptor, bytes, length);
    int error = written < 0 ? errno : written < (ssize_t)length ? ENOSPC : 0;
    if (error == 0 && fsync(file->descriptor) != 0) error = errno;
    if (error == 0) {
        file->size += length;
        return 0;
    }
    if (ftruncate(file->descriptor, (off_t)file->size) != 0)
        return complain(EXIT_FAILED, "cannot write \"%s\": %s; its last line may be cut off", file->path, strerror(error));
    return complain(EXIT_FAILED, "cannot write \"%s\": %s; the runs before are kept", file->path, strerror(error));
}

static int add_line(results *file, const char *line, size_t length) {
    char filler[RESULTS_LINE];
    const size_t left = PAGE - (size_t)(file->size % PAGE);
    if (length > left) {
        memset(filler, '\n', left); /* any part of this is as good as all of it */
        const int status = add_bytes(file, filler, left);
        if (status != 0) return status;
    }
    return add_bytes(file, line, length);
}

static size_t write_line(const result *run, char line[RESULTS_LINE]) {
    char rate[LINATTN_NUMBER_SIZE], at[24] = "", loss[LINATTN_NUMBER_SIZE] = "", median[LINATTN_NUMBER_SIZE] = "", seconds[32];
    linattn_number_write(run->learning_rate, rate);
    linattn_number_write(run->seconds, seconds);
    if (run->diverged) {
        snprintf(at, sizeof at, "%" PRIu64, run->diverged_at);
    } else {
        linattn_number_write(run->final_loss, loss);
        linattn_number_write(run->final_median, median);
    }
    const int length = snprintf(line, RESULTS_LINE, "%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%d,%s,%s,%s,%s", run->recipe, run->optimizer,
                                rate, run->seed, run->steps, run->diverged, at, loss, median, seconds);
    return (size_t)length + (size_t)snprintf(line + length, RESULTS_LINE - (size_t)length, ",%08" PRIx32 "\n",
                                             results_checksum(0, line, (size_t)length));
}

int results_add(results *file, const result *run) {
    char line[RESULTS_LINE];
    const size_t length = write_line(run, line);
    pthread_mutex_lock(&file->lock);
    result *more = file->failed ? NULL : realloc(file->runs, (file->count + 1) * sizeof *more);
    int status = file->failed ? EXIT_FAILED : 0;
    if (status == 0 && more == NULL) status = complain(EXIT_FAILED, "no memory for the runs of \"%s\"", file->path);
    if (more != NULL) file->runs = more;
    if (status == 0) status = add_line(file, line, length);
    if (status == 0) file->runs[file->count++] = *run;
    file->failed = status != 0;
    pthread_mutex_unlock(&file->lock);
    return status;
}

/* The whole file, NUL behind it, to be freed. */
static char *load(results *file) {
    struct stat found;
    if (fstat(file->descriptor, &found) != 0 || !S_ISREG(found.st_mode)) {
        complain(EXIT_FAILED, "\"%s\" is not a file", file->path);
        return NULL;
    }
    char *text = malloc((size_t)found.st_size + 1);
    size_t length = 0;
    ssize_t got = 1;
    while (text != NULL && length < (size_t)found.st_size && got > 0) {
        got = pread(file->descriptor, text + length, (size_t)found.st_size - length, (off_t)length);
        if (got > 0) length += (size_t)got;
    }
    if (text == NULL || got < 0) {
        complain(EXIT_FAILED, "cannot read \"%s\": %s", file->path, text == NULL ? "no memory" : strerror(errno));
        free(text);
        return NULL;
    }
    text[length] = '\0';
    file->size = length;
    return text;
}

static int open_alone(results *file) {
    file->descriptor = open(file->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file->descriptor < 0) return complain(EXIT_FAILED, "cannot write \"%s\": %s", file->path, strerror(errno));
    if (flock(file->descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno == EWOULDBLOCK) return complain(EXIT_FAILED, "\"%s\" is being written by another process", file->path);
    return complain(EXIT_FAILED, "cannot lock \"%s\": %s", file->path, strerror(errno));
}

int results_open(results *file, const char *path, const char *sweep) {
    char header[RESULTS_HEADER];
    const size_t length = results_header(header, sweep);
    *file = (results){.descriptor = -1, .path = strdup(path)};
    pthread_mutex_init(&file->lock, NULL);
    int status = file->path == NULL || length == 0 ? complain(EXIT_FAILED, "no memory for \"%s\"", path) : open_alone(file);
    char *text = status == 0 ? load(file) : NULL;
    if (text == NULL) status = EXIT_FAILED;
    if (status == 0)
        status = file->size == 0 ? add_bytes(file, header, length) : results_read(file, text, (size_t)file->size, header);
    free(text);
    if (status != 0) results_close(file);
    return status;
}

void results_close(results *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    pthread_mutex_destroy(&file->lock);
    free(file->path);
    free(file->runs);
    *file = (results){.descriptor = -1};
}
