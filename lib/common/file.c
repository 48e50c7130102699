/* file.c: whole files.
 *
 * A symbolic link at `path` is itself replaced by the new file; what it pointed to stays as it was. Anything else that is not a
 * regular file (a device, a folder, a pipe) is refused. */
#include "common/file.h"
#include "common/allocate.h"
#include "common/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LARGEST_TRANSFER = 1 << 30, /* bytes of one read or write; some systems refuse 2^31 and more */
    NAME_ATTEMPTS = 100,
    NAME_ROOM = 80 /* for the name of a temporary file */
};

/* Writes all bytes; 0 or an errno. */
static int write_all(int file, const unsigned char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t done = write(file, bytes, size < LARGEST_TRANSFER ? size : LARGEST_TRANSFER);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : ENOSPC;
        bytes += done;
        size -= (size_t)done;
    }
    return 0;
}

/* Reads until the end of the file or size bytes, *done of them; 0 or an errno. */
static int read_all(int file, unsigned char *bytes, size_t size, size_t *done) {
    *done = 0;
    while (*done < size) {
        const size_t left = size - *done;
        const ssize_t part = read(file, bytes + *done, left < LARGEST_TRANSFER ? left : LARGEST_TRANSFER);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return errno;
        if (part == 0) break;
        *done += (size_t)part;
    }
    return 0;
}

static int sync_file(int file) {
    while (fsync(file) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

/* The length of the part of path that names its folder, the last slash included; 0 for the working folder. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Makes a file that was not there, in the folder of path, so that rename stays within one file system. Its name goes to `name`
 * (strlen(path) + NAME_ROOM): of its own length, as that of path may already be the longest the system allows. Returns the
 * descriptor, or -1 with errno. */
static int open_temporary(const char *path, mode_t mode, char *name) {
    const size_t folder = folder_length(path);
    memcpy(name, path, folder);
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(name + folder, NAME_ROOM, ".linattn-%ld-%lld%09ld-%d.tmp", (long)getpid(), (long long)now.tv_sec, now.tv_nsec,
                 attempt);
        const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
        if (file >= 0 || (errno != EEXIST && errno != EINTR)) return file;
    }
    errno = EEXIST;
    return -1;
}

/* Puts the new name on disk. The file is whole under either name, so a file system that cannot sync a folder (or one that may not
 * be opened for reading) costs no more than which of the two a crash of the machine leaves. `name` is overwritten. */
static void sync_folder(const char *path, char *name) {
    const size_t length = folder_length(path);
    memcpy(name, length ? path : ".", length ? length : 1);
    name[length ? length : 1] = '\0';
    const int folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    (void)sync_file(folder);
    close(folder);
}

/* Writes and closes the temporary file `name`, then renames it; 0 or an errno, *step what was tried last. */
static int finish_temporary(int file, const char *name, const char *path, const void *bytes, size_t size, const char **step) {
    *step = "written";
    int error = write_all(file, bytes, size);
    if (error == 0) error = sync_file(file);
    /* A network file system may report only now that the disk was full. After EINTR the descriptor is closed all the same. */
    if (close(file) != 0 && errno != EINTR && error == 0) error = errno;
    if (error) return error;
    *step = "replaced";
    return rename(name, path) == 0 ? 0 : errno;
}

int linattn__file_replace(const char *path, const void *bytes, size_t size) {
    struct stat old;
    const int exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) return linattn__fail(LINATTN_EIO, "\"%s\" cannot be replaced: not a regular file", path);
    char *name = linattn__allocate(strlen(path) + NAME_ROOM, 1);
    if (!name) return linattn__fail_memory("a file name");
    const mode_t mode = exists ? old.st_mode & 0777 : 0666; /* the process's umask applies to a new file, as to any other */
    int status = LINATTN_OK;
    const int file = open_temporary(path, mode, name);
    if (file < 0) {
        status = linattn__fail_system(LINATTN_EIO, errno, "\"%s\" cannot be written", path);
    } else {
        const char *step;
        if (exists) (void)fchmod(file, mode); /* what the umask took away; without it the file is only more private */
        const int error = finish_temporary(file, name, path, bytes, size, &step);
        if (error) {
            unlink(name);
            status = linattn__fail_system(LINATTN_EIO, error, "\"%s\" cannot be %s", path, step);
        } else {
            sync_folder(path, name);
        }
    }
    linattn__release(name);
    return status;
}

/* The same as linattn__file_read for an open file, which stays open. */
static int read_open(int file, const char *path, size_t limit, unsigned char **bytes, size_t *size) {
    struct stat info;
    if (fstat(file, &info) != 0) return linattn__fail_system(LINATTN_EIO, errno, "\"%s\" cannot be read", path);
    if (!S_ISREG(info.st_mode)) return linattn__fail(LINATTN_EFORMAT, "%s is not a regular file", path);
    if ((unsigned long long)info.st_size > limit) {
        return linattn__fail(LINATTN_EFORMAT, "%s has %lld bytes; allowed: at most %zu", path, (long long)info.st_size, limit);
    }
    unsigned char *content = linattn__allocate((size_t)info.st_size, 1);
    size_t done = 0;
    if (!content) return linattn__fail_memory("the contents of a file");
    const int error = read_all(file, content, (size_t)info.st_size, &done);
    if (error) {
        linattn__release(content);
        return linattn__fail_system(LINATTN_EIO, error, "\"%s\" cannot be read", path);
    }
    *bytes = content;
    *size = done; /* less than the size only when the file was cut meanwhile: the reader of its format will tell */
    return LINATTN_OK;
}

int linattn__file_read(const char *path, size_t limit, unsigned char **bytes, size_t *size) {
    int file;
    do { /* not blocking: opening a pipe would wait for a writer */
        file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (file < 0 && errno == EINTR);
    if (file < 0) return linattn__fail_system(LINATTN_EIO, errno, "\"%s\" cannot be opened", path);
    const int status = read_open(file, path, limit, bytes, size);
    close(file);
    return status;
}
