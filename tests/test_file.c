/* test_file.c: a file is the old one or the new one, whatever happens. */
#include "common/allocate.h"
#include "common/file.h"
#include "support/suite.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/linattn_file_XXXXXX";
static char path[512]; /* a name in the folder */

static void setup(void) {
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/checkpoint", folder);
}

static void teardown(void) {
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    const int ignored = system(command);
    (void)ignored;
}

/* How many names the folder holds. */
static int count_names(void) {
    int names = 0;
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        names += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(directory);
    return names;
}

static void assert_content(const char *name, const char *wanted) {
    unsigned char *bytes = NULL;
    size_t size = 0;
    ck_assert_ok(linattn__file_read(name, 1000, &bytes, &size));
    ck_assert_uint_eq(size, strlen(wanted));
    ck_assert_mem_eq(bytes, wanted, size);
    linattn__release(bytes);
}

START_TEST(a_file_is_made_and_replaced) {
    ck_assert_ok(linattn__file_replace(path, "old", 3));
    assert_content(path, "old");
    ck_assert_ok(linattn__file_replace(path, "new and longer", 14));
    assert_content(path, "new and longer");
    ck_assert_ok(linattn__file_replace(path, "", 0));
    assert_content(path, "");
    ck_assert_int_eq(count_names(), 1);
}
END_TEST

START_TEST(large_files_come_back) {
    const size_t count = (size_t)3 << 20;
    unsigned char *written = malloc(count), *read = NULL;
    size_t size = 0;
    ck_assert_ptr_nonnull(written);
    for (size_t i = 0; i < count; i++) written[i] = (unsigned char)(i * 2654435761u >> 13);
    ck_assert_ok(linattn__file_replace(path, written, count));
    ck_assert_ok(linattn__file_read(path, count, &read, &size));
    ck_assert_uint_eq(size, count);
    ck_assert_int_eq(memcmp(read, written, count), 0);
    linattn__release(read);
    free(written);
}
END_TEST

START_TEST(names_may_be_relative_or_of_the_greatest_length) {
    char before[4096], name[256], longest[1024];
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    ck_assert_int_eq(chdir(folder), 0);
    memset(name, 'n', 255);
    name[255] = '\0';
    const int plain = linattn__file_replace("plain", "1", 1), lengthy = linattn__file_replace(name, "2", 1);
    ck_assert_int_eq(chdir(before), 0);
    ck_assert_int_eq(plain, LINATTN_OK);
    ck_assert_int_eq(lengthy, LINATTN_OK);
    snprintf(longest, sizeof longest, "%s/%s", folder, name);
    assert_content(longest, "2");
    ck_assert_int_eq(count_names(), 2);
}
END_TEST

START_TEST(a_new_file_has_the_usual_mode_and_a_replaced_one_its_own) {
    struct stat info;
    const mode_t before = umask(027);
    const int status = linattn__file_replace(path, "x", 1);
    const mode_t after = umask(before);
    ck_assert_int_eq(status, LINATTN_OK);
    ck_assert_uint_eq(after, 027);
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0640);
    ck_assert_int_eq(chmod(path, 0604), 0);
    ck_assert_ok(linattn__file_replace(path, "y", 1));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0604);
}
END_TEST

START_TEST(places_that_cannot_be_written_are_refused) {
    char name[600];
    snprintf(name, sizeof name, "%s/missing/checkpoint", folder);
    ck_assert_status(linattn__file_replace(name, "x", 1), LINATTN_EIO, name);
    ck_assert_status(linattn__file_replace(folder, "x", 1), LINATTN_EIO, "not a regular file");
    ck_assert_status(linattn__file_replace("/dev/null", "x", 1), LINATTN_EIO, "not a regular file");
    ck_assert_status(linattn__file_replace("", "x", 1), LINATTN_EIO, "");
    struct stat info;
    ck_assert_int_eq(stat("/dev/null", &info), 0);
    ck_assert(S_ISCHR(info.st_mode));
    ck_assert_ok(linattn__file_replace(path, "x", 1));
    snprintf(name, sizeof name, "%s/", path); /* a file is no folder */
    ck_assert_status(linattn__file_replace(name, "y", 1), LINATTN_EIO, name);
    assert_content(path, "x");
    ck_assert_int_eq(count_names(), 1);
}
END_TEST

START_TEST(a_folder_without_permission_is_refused) {
    if (geteuid() == 0) return; /* to whom permissions do not apply */
    ck_assert_ok(linattn__file_replace(path, "old", 3));
    ck_assert_int_eq(chmod(folder, 0500), 0);
    const int status = linattn__file_replace(path, "new", 3);
    ck_assert_int_eq(chmod(folder, 0700), 0);
    ck_assert_int_eq(status, LINATTN_EIO);
    assert_content(path, "old");
}
END_TEST

START_TEST(a_full_disk_keeps_the_old_file) {
    static unsigned char bytes[100000];
    struct rlimit before, small;
    ck_assert_ok(linattn__file_replace(path, "old", 3));
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 65536; /* the system writes this much, and refuses the rest as it does on a full disk */
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    fflush(NULL);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int status = linattn__file_replace(path, bytes, sizeof bytes);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    ck_assert_int_eq(status, LINATTN_EIO);
    ck_assert_ptr_nonnull(strstr(linattn_last_message(), "checkpoint\" cannot be written: "));
    assert_content(path, "old");
    ck_assert_int_eq(count_names(), 1);
}
END_TEST

START_TEST(a_link_is_replaced_and_its_target_kept) {
    char target[600];
    struct stat info;
    snprintf(target, sizeof target, "%s/target", folder);
    ck_assert_ok(linattn__file_replace(target, "target", 6));
    ck_assert_int_eq(symlink(target, path), 0);
    assert_content(path, "target"); /* reading follows a link */
    ck_assert_ok(linattn__file_replace(path, "new", 3));
    assert_content(path, "new");
    assert_content(target, "target");
    ck_assert_int_eq(lstat(path, &info), 0);
    ck_assert(S_ISREG(info.st_mode));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("/dev/null", path), 0);
    ck_assert_status(linattn__file_replace(path, "x", 1), LINATTN_EIO, "not a regular file");
    ck_assert_int_eq(lstat(path, &info), 0);
    ck_assert(S_ISLNK(info.st_mode));
}
END_TEST

START_TEST(what_is_no_file_is_not_read) {
    unsigned char one = 7, *bytes = &one;
    size_t size = 99;
    char name[600];
    ck_assert_status(linattn__file_read(path, 10, &bytes, &size), LINATTN_EIO, "checkpoint\" cannot be opened: ");
    ck_assert_status(linattn__file_read("", 10, &bytes, &size), LINATTN_EIO, "cannot be opened");
    ck_assert_status(linattn__file_read(folder, 10, &bytes, &size), LINATTN_EFORMAT, "not a regular file");
    ck_assert_status(linattn__file_read("/dev/null", 10, &bytes, &size), LINATTN_EFORMAT, "not a regular file");
    ck_assert_status(linattn__file_read("/dev/zero", 10, &bytes, &size), LINATTN_EFORMAT, "not a regular file");
    snprintf(name, sizeof name, "%s/pipe", folder);
    ck_assert_int_eq(mkfifo(name, 0600), 0); /* without a writer: a plain open would wait for ever */
    ck_assert_status(linattn__file_read(name, 10, &bytes, &size), LINATTN_EFORMAT, "not a regular file");
    ck_assert_status(linattn__file_replace(name, "x", 1), LINATTN_EIO, "not a regular file");
    ck_assert_ptr_eq(bytes, &one);
    ck_assert_uint_eq(size, 99);
}
END_TEST

START_TEST(files_above_the_limit_are_refused_unread) {
    unsigned char *bytes = NULL;
    size_t size = 99;
    ck_assert_ok(linattn__file_replace(path, "12345", 5));
    ck_assert_status(linattn__file_read(path, 4, &bytes, &size), LINATTN_EFORMAT, "has 5 bytes; allowed: at most 4");
    ck_assert_ptr_null(bytes);
    ck_assert_uint_eq(size, 99);
    ck_assert_ok(linattn__file_read(path, 5, &bytes, &size));
    ck_assert_uint_eq(size, 5);
    linattn__release(bytes);
    ck_assert_int_eq(truncate(path, (off_t)1 << 40), 0); /* sparse: a terabyte that takes no room */
    bytes = NULL;
    ck_assert_status(linattn__file_read(path, 1 << 20, &bytes, &size), LINATTN_EFORMAT, "allowed: at most 1048576");
    ck_assert_ptr_null(bytes);
}
END_TEST

START_TEST(a_long_path_leaves_room_for_the_reason) {
    char name[5000];
    memset(name, 'n', sizeof name);
    name[0] = '/';
    name[sizeof name - 1] = '\0';
    unsigned char *bytes = NULL;
    size_t size = 0;
    ck_assert_status(linattn__file_read(name, 10, &bytes, &size), LINATTN_EIO, "nnn...: ");
    ck_assert_status(linattn__file_replace(name, "x", 1), LINATTN_EIO, "nnn...: ");
    ck_assert_uint_lt(strlen(linattn_last_message()), 512);
}
END_TEST

static int open_descriptors(void) {
    int open = 0;
    for (int i = 0; i < 256; i++) open += fcntl(i, F_GETFD) != -1;
    return open;
}

START_TEST(no_descriptor_is_left_open) {
    unsigned char *bytes = NULL;
    size_t size = 0;
    char name[600];
    snprintf(name, sizeof name, "%s/missing/checkpoint", folder);
    const int before = open_descriptors();
    ck_assert_ok(linattn__file_replace(path, "x", 1));
    ck_assert_ok(linattn__file_read(path, 10, &bytes, &size));
    linattn__release(bytes);
    ck_assert_int_ne(linattn__file_read(path, 0, &bytes, &size), LINATTN_OK);
    ck_assert_int_ne(linattn__file_read(folder, 10, &bytes, &size), LINATTN_OK);
    ck_assert_int_ne(linattn__file_replace(name, "x", 1), LINATTN_OK);
    snprintf(name, sizeof name, "%s/", path);
    ck_assert_int_ne(linattn__file_replace(name, "x", 1), LINATTN_OK);
    ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

enum { SAVED = 200000 }; /* bytes of a save */

/* Saves for ever: files of all 'a', all 'b', and so on. */
static void save_loop(void) {
    static unsigned char bytes[SAVED];
    for (unsigned i = 0;; i++) {
        memset(bytes, (int)('a' + i % 26), sizeof bytes);
        if (linattn__file_replace(path, bytes, sizeof bytes) != LINATTN_OK) _exit(1);
    }
}

/* Killed in the middle of saving, a program leaves the file it had or the one it was writing, each of them whole. */
START_TEST(case_R7_killed_in_a_save_loop) {
    ck_assert_ok(linattn__file_replace(path, "", 0));
    int saved = 0; /* rounds that found a whole save */
    for (int round = 0; round < 15; round++) {
        unsigned char *bytes = NULL;
        size_t size = 0;
        int result = 0;
        fflush(NULL);
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) save_loop();
        usleep((useconds_t)(3000 + 7919 * round % 23000));
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &result, 0), child);
        ck_assert(WIFSIGNALED(result)); /* it was still at it, no save had failed */
        ck_assert_ok(linattn__file_read(path, SAVED, &bytes, &size));
        ck_assert(size == SAVED || (size == 0 && saved == 0)); /* empty only until a child came to its first save */
        saved += size == SAVED;
        for (size_t i = 1; i < size; i++) {
            if (bytes[i] != bytes[0]) ck_abort_msg("round %d: byte %zu of the file is from another save", round, i);
        }
        linattn__release(bytes);
    }
    ck_assert_int_gt(saved, 0);
}
END_TEST

static Suite *file_suite(void) {
    Suite *suite = suite_create("file");
    TCase *tc = tcase_create("file");
    tcase_set_timeout(tc, 600);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_file_is_made_and_replaced);
    tcase_add_test(tc, large_files_come_back);
    tcase_add_test(tc, names_may_be_relative_or_of_the_greatest_length);
    tcase_add_test(tc, a_new_file_has_the_usual_mode_and_a_replaced_one_its_own);
    tcase_add_test(tc, places_that_cannot_be_written_are_refused);
    tcase_add_test(tc, a_folder_without_permission_is_refused);
    tcase_add_test(tc, a_full_disk_keeps_the_old_file);
    tcase_add_test(tc, a_link_is_replaced_and_its_target_kept);
    tcase_add_test(tc, what_is_no_file_is_not_read);
    tcase_add_test(tc, files_above_the_limit_are_refused_unread);
    tcase_add_test(tc, a_long_path_leaves_room_for_the_reason);
    tcase_add_test(tc, no_descriptor_is_left_open);
    tcase_add_test(tc, case_R7_killed_in_a_save_loop);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(file_suite)
