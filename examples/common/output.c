#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "output.h"

#include "complain.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linattn/number.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_folder(const char *path) {
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is then a failing write, which is noticed, and not the end of the process */
    struct stat found;
    if (stat(path, &found) != 0) {
        if (errno != ENOENT) return complain(EXIT_FAILED, "cannot use the folder \"%s\": %s", path, strerror(errno));
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return complain(EXIT_FAILED, "cannot make the folder \"%s\": %s", path,
                            errno == ENOENT ? "its parent does not exist" : strerror(errno));
        if (stat(path, &found) != 0) return complain(EXIT_FAILED, "cannot use the folder \"%s\": %s", path, strerror(errno));
    }
    if (!S_ISDIR(found.st_mode)) return complain(EXIT_FAILED, "\"%s\" is not a folder", path);
    if (access(path, W_OK | X_OK) != 0)
        return complain(EXIT_FAILED, "cannot write to the folder \"%s\": %s", path, strerror(errno));
    return 0;
}

char *output_path(const char *folder, const char *name, const char *ending) {
    const size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path == NULL) {
        complain(EXIT_FAILED, "no memory");
        return NULL;
    }
    snprintf(path, size, "%s/%s%s", folder, name, ending);
    return path;
}

static void forget(output *file) {
    free(file->path);
    free(file->temporary);
    *file = (output){0};
}

int output_open(output *file, const char *path) {
    *file = (output){0};
    const size_t size = strlen(path) + 32;
    file->path = strdup(path);
    file->temporary = malloc(size);
    if (file->path == NULL || file->temporary == NULL) {
        forget(file);
        return complain(EXIT_FAILED, "no memory");
    }
    snprintf(file->temporary, size, "%s.%ld.part", path, (long)getpid());
    unlink(file->temporary);
    const int descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) file->stream = fdopen(descriptor, "w");
    if (file->stream == NULL) {
        complain(EXIT_FAILED, "cannot write \"%s\": %s", path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
            unlink(file->temporary);
        }
        forget(file);
        return EXIT_FAILED;
    }
    return 0;
}

void output_text(output *file, const char *text) {
    if (fputs(text, file->stream) == EOF && file->error == 0) file->error = errno;
}

void output_count(output *file, uint64_t number) {
    if (fprintf(file->stream, "%" PRIu64, number) < 0 && file->error == 0) file->error = errno;
}

void output_number(output *file, double number) {
    char text[LINATTN_NUMBER_SIZE];
    linattn_number_write(number, text);
    output_text(file, text);
}

void output_numbers(output *file, const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        output_text(file, ",");
        output_number(file, numbers[i]);
    }
    output_text(file, "\n");
}

int output_adopt(const char *temporary, const char *path) {
    int error = 0;
    const int descriptor = open(temporary, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fsync(descriptor) != 0) error = errno;
    if (descriptor >= 0) close(descriptor);
    if (error == 0 && rename(temporary, path) != 0) error = errno;
    if (error == 0) return 0;
    unlink(temporary);
    return complain(EXIT_FAILED, "cannot write \"%s\": %s", path, strerror(error));
}

int output_close(output *file) {
    /* A full disk may show at any of the three: buffered text is written late, and some file systems tell at the sync. */
    if (fflush(file->stream) != 0 && file->error == 0) file->error = errno;
    if (ferror(file->stream) && file->error == 0) file->error = EIO;
    if (fclose(file->stream) != 0 && file->error == 0) file->error = errno;
    int status;
    if (file->error != 0) {
        unlink(file->temporary);
        status = complain(EXIT_FAILED, "cannot write \"%s\": %s", file->path, strerror(file->error));
    } else {
        status = output_adopt(file->temporary, file->path);
    }
    forget(file);
    return status;
}
