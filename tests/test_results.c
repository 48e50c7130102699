/* test_results.c: the examples' file of runs: what it keeps, and what it refuses without touching it. */
#include "../examples/common/results.c"
#include "../examples/common/results_read.c"
#include "support/suite.h"
#include <float.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The last complaint, in place of a line on stderr. */
static char complaint[1024];

int complain(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint, sizeof complaint, format, arguments);
    va_end(arguments);
    return status;
}

static const char SWEEP[] = "# recipe setting1\n# steps 2000\n";
static char folder[] = "/tmp/linattn_results_XXXXXX", path[64];

static void make_path(void) {
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/runs.csv", folder);
    complaint[0] = '\0';
}

static void remove_path(void) {
    remove(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left there */
}

static result run_of(uint64_t seed) {
    result run = {.recipe = "setting1", .optimizer = "Adam", .learning_rate = 0.1 + 0.2, .seed = seed, .steps = 2000};
    run.final_loss = 1 / (3.0 + (double)seed);
    run.final_median = run.final_loss / 7;
    run.seconds = 0.25;
    return run;
}

static size_t load_file(char *text, size_t room) {
    FILE *in = fopen(path, "rb");
    ck_assert_ptr_nonnull(in);
    const size_t length = fread(text, 1, room, in);
    ck_assert(length < room);
    fclose(in);
    return length;
}

static void store_file(const char *text, size_t length) {
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(text, 1, length, out), length);
    ck_assert_int_eq(fclose(out), 0);
}

static size_t make_file(uint64_t runs, char *text, size_t room) {
    results file;
    ck_assert_msg(results_open(&file, path, SWEEP) == 0, "%s", complaint);
    for (uint64_t seed = 0; seed < runs; seed++) {
        const result run = run_of(seed);
        ck_assert_msg(results_add(&file, &run) == 0, "%s", complaint);
    }
    results_close(&file);
    return load_file(text, room);
}

static size_t count_runs(void) {
    results file;
    ck_assert_msg(results_open(&file, path, SWEEP) == 0, "%s", complaint);
    const size_t count = file.count;
    results_close(&file);
    return count;
}

/* Refused with these words about this line, and as it was. */
static void refuse(const char *text, size_t length, size_t line, const char *words) {
    static char after[70000];
    char place[96];
    results file;
    store_file(text, length);
    complaint[0] = '\0';
    ck_assert_msg(results_open(&file, path, SWEEP) == EXIT_FAILED, "taken: %zu bytes", length);
    snprintf(place, sizeof place, "%s:%zu: ", path, line);
    ck_assert_msg(strncmp(complaint, place, strlen(place)) == 0, "wanted %sin \"%s\"", place, complaint);
    ck_assert_msg(strstr(complaint, words) != NULL, "wanted \"%s\" in \"%s\"", words, complaint);
    ck_assert(load_file(after, sizeof after) == length && memcmp(after, text, length) == 0);
    ck_assert(file.runs == NULL && file.path == NULL);
}

START_TEST(what_is_written_is_read) {
    make_path();
    result runs[] = {run_of(0), run_of(UINT64_MAX), run_of(2), run_of(3)};
    runs[0].final_loss = DBL_MAX;
    runs[0].final_median = DBL_TRUE_MIN;
    runs[1] = (result){.optimizer = "SGD", .learning_rate = DBL_MIN, .seed = UINT64_MAX, .steps = UINT64_MAX, .diverged = 1};
    runs[1].diverged_at = UINT64_MAX;
    runs[1].seconds = DBL_MAX;
    memset(runs[1].recipe, 'x', sizeof runs[1].recipe - 1);
    results file;
    for (size_t i = 0; i < 4; i++) { /* opened anew for each */
        ck_assert_int_eq(results_open(&file, path, SWEEP), 0);
        ck_assert_uint_eq(file.count, i);
        ck_assert_ptr_null(results_find(&file, &runs[i]));
        ck_assert_int_eq(results_add(&file, &runs[i]), 0);
        results_close(&file);
    }
    ck_assert_int_eq(results_open(&file, path, SWEEP), 0);
    ck_assert_uint_eq(file.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const result *found = results_find(&file, &runs[i]);
        ck_assert_ptr_nonnull(found);
        ck_assert(found->diverged == runs[i].diverged && found->diverged_at == runs[i].diverged_at);
        ck_assert(found->final_loss == runs[i].final_loss && found->final_median == runs[i].final_median);
        ck_assert(found->seconds == runs[i].seconds);
    }
    results_close(&file);
    remove_path();
}
END_TEST

/* The check value of this CRC, as its catalogues have it. */
START_TEST(checksum) {
    ck_assert_uint_eq(results_checksum(0, "123456789", 9), 0xcbf43926u);
    ck_assert_uint_eq(results_checksum(results_checksum(0, "1234", 4), "56789", 5), 0xcbf43926u);
}
END_TEST

static size_t line_at(const char *text, size_t at) {
    size_t line = 1;
    for (size_t i = 0; i < at; i++) line += text[i] == '\n';
    return line;
}

/* Whole lines are a shorter file; everything else is refused, but for nothing at all, which is a new one. */
START_TEST(cut_at_every_byte) {
    char text[4096], header[RESULTS_HEADER];
    make_path();
    const size_t length = make_file(4, text, sizeof text), first = results_header(header, SWEEP);
    for (size_t cut = 0; cut <= length; cut++) {
        if (cut > 0 && (cut < first || text[cut - 1] != '\n')) {
            refuse(text, cut, line_at(text, cut), "cut off");
            continue;
        }
        store_file(text, cut);
        ck_assert_uint_eq(count_runs(), cut == 0 ? 0 : line_at(text, cut) - line_at(text, first));
    }
    remove_path();
}
END_TEST

START_TEST(every_byte_damaged) {
    char text[4096], header[RESULTS_HEADER];
    make_path();
    const size_t length = make_file(2, text, sizeof text), first = results_header(header, SWEEP);
    for (size_t i = 0; i < length; i++) {
        const char before = text[i];
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(before ^ (1 << bit));
            if (text[i] == '\0' && i < first) continue; /* said to be cut off */
            refuse(text, length, line_at(text, i), i + 1 == length ? "cut off" : "");
        }
        text[i] = before;
    }
    remove_path();
}
END_TEST

START_TEST(other_files) {
    char text[4096], other[4200];
    make_path();
    const size_t length = make_file(2, text, sizeof text);
    refuse("a,b\n1,2\n", 8, 1, "not a file of runs in format 1");
    memcpy(other, text, length);
    *strchr(other, '1') = '2';
    refuse(other, length, 1, "not a file of runs in format 1");
    memcpy(other, text, length);
    *strstr(other, "2000") = '3';
    refuse(other, length, 3, "\"# steps 3000\" there, \"# steps 2000\" here");
    /* The last run once more. */
    const char *last = strstr(text, ",Adam,");
    last = strchr(last, '\n') + 1;
    const size_t again = length - (size_t)(last - text);
    memcpy(other, text, length);
    memcpy(other + length, last, again);
    refuse(other, length + again, 7, "there twice");
    remove_path();
}
END_TEST

/* The runs of a process that is killed are there, and its lock is not. */
START_TEST(two_processes) {
    make_path();
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    results file;
    if (child == 0) {
        const result run = run_of(5);
        if (results_open(&file, path, SWEEP) != 0 || results_add(&file, &run) != 0 || write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    ck_assert_int_eq((int)read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(results_open(&file, path, SWEEP), EXIT_FAILED);
    ck_assert_msg(strstr(complaint, "is being written by another process") != NULL, "%s", complaint);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_uint_eq(count_runs(), 1);
    close(ready[0]);
    close(ready[1]);
    remove_path();
}
END_TEST

START_TEST(places_that_cannot_be_written) {
    results file;
    make_path();
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_assert_int_eq(results_open(&file, path, SWEEP), EXIT_FAILED);
    ck_assert_msg(strstr(complaint, "Is a directory") != NULL, "%s", complaint);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(mkfifo(path, 0666), 0);
    ck_assert_int_eq(results_open(&file, path, SWEEP), EXIT_FAILED);
    ck_assert_msg(strstr(complaint, "is not a file") != NULL, "%s", complaint);
    remove_path();
    ck_assert_int_eq(results_open(&file, path, SWEEP), EXIT_FAILED);
    ck_assert_msg(strstr(complaint, "No such file") != NULL, "%s", complaint);
}
END_TEST

/* A limit on the size stands for a full disk: the write is short, or fails. */
START_TEST(full_disk) {
    static char text[70000], after[70000];
    struct rlimit before, limit;
    make_path();
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    results file;
    const size_t length = make_file(3, text, sizeof text);
    const result run = run_of(9);
    for (size_t room = 0; room < 30; room += 29) {
        ck_assert_int_eq(results_open(&file, path, SWEEP), 0);
        limit = (struct rlimit){length + room, before.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        ck_assert_int_eq(results_add(&file, &run), EXIT_FAILED);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        ck_assert_msg(strstr(complaint, "the runs before are kept") != NULL, "%s", complaint);
        ck_assert_uint_eq(load_file(after, sizeof after), length);
        ck_assert_mem_eq(after, text, length);
        ck_assert_ptr_null(results_find(&file, &run));
        complaint[0] = '\0'; /* one is enough */
        ck_assert_int_eq(results_add(&file, &run), EXIT_FAILED);
        ck_assert_str_eq(complaint, "");
        results_close(&file);
    }
    ck_assert_int_eq(results_open(&file, path, SWEEP), 0);
    ck_assert_int_eq(results_add(&file, &run), 0); /* there is room again */
    results_close(&file);
    ck_assert_uint_eq(count_runs(), 4);
    remove_path();
}
END_TEST

static void *add_fifty(void *of) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t next;
    pthread_mutex_lock(&lock);
    const uint64_t from = 50 * next++;
    pthread_mutex_unlock(&lock);
    for (uint64_t i = from; i < from + 50; i++) {
        const result run = run_of(i);
        if (results_add(of, &run) != 0) return of;
    }
    return NULL;
}

/* No line crosses a page; threads lose none. */
START_TEST(many_runs) {
    enum { THREADS = 4 };
    static char text[70000];
    pthread_t threads[THREADS];
    results file;
    make_path();
    ck_assert_int_eq(results_open(&file, path, SWEEP), 0);
    for (size_t i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, add_fifty, &file), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    results_close(&file);
    const size_t length = load_file(text, sizeof text);
    ck_assert_uint_gt(length, 4 * 4096);
    for (size_t at = 0; at < length;) {
        const size_t line = strcspn(text + at, "\n");
        ck_assert_uint_eq(at / 4096, (at + line) / 4096);
        at += line + 1;
    }
    ck_assert_uint_eq(count_runs(), 50 * THREADS);
    remove_path();
}
END_TEST

static Suite *results_suite(void) {
    Suite *suite = suite_create("results");
    TCase *tc = tcase_create("file of runs");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, what_is_written_is_read);
    tcase_add_test(tc, checksum);
    tcase_add_test(tc, cut_at_every_byte);
    tcase_add_test(tc, every_byte_damaged);
    tcase_add_test(tc, other_files);
    tcase_add_test(tc, two_processes);
    tcase_add_test(tc, places_that_cannot_be_written);
    tcase_add_test(tc, full_disk);
    tcase_add_test(tc, many_runs);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(results_suite)
