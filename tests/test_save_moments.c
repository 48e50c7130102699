/* test_save_moments.c: a save that is struck at each of its system calls in turn: the call fails, does half of its work or is
 * interrupted, or the process is killed before it or after it. The old or the new checkpoint then loads and goes on to the same
 * bits, and the next save works. The calls below stand in front of the C library's. */
#include "support/problem.h"
#include "trainer/trainer.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { P = 2, OLD = 3, NEW = 9, MOST_CALLS = 20, PATH = 512 };

/* ---- System calls ---------------------------------------------------------------------------------------------------------- */
enum blow { NONE, FAIL, HALF, KILL_BEFORE, KILL_AFTER };
static struct {
    int watching, at, error; /* at: which call is struck, from 0 */
    enum blow blow;
    int calls;     /* since watching began */
    char last[16]; /* the one that was struck */
} strike;

/* Whether this call is the one. */
static int is_struck(const char *name) {
    if (!strike.watching || strike.calls++ != strike.at || strike.blow == NONE) return 0;
    snprintf(strike.last, sizeof strike.last, "%s", name);
    if (strike.blow == KILL_BEFORE) raise(SIGKILL);
    return 1;
}

/* The rest of a struck call: `does` is the call itself, for those who are killed after it or whose call this blow does not change. */
#define STRUCK(does)                                                                                                               \
    if (strike.blow == FAIL) return errno = strike.error, -1;                                                                      \
    const __typeof__(does) done = does;                                                                                            \
    if (strike.blow == KILL_AFTER) raise(SIGKILL);                                                                                 \
    return done

#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, #name))

LINATTN_API int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (!is_struck("open")) return REAL(open, int (*)(const char *, int, ...))(path, flags, mode);
    STRUCK(REAL(open, int (*)(const char *, int, ...))(path, flags, mode));
}
LINATTN_API ssize_t write(int file, const void *bytes, size_t size) {
    if (!is_struck("write")) return REAL(write, ssize_t(*)(int, const void *, size_t))(file, bytes, size);
    if (strike.blow == HALF) size /= 2;
    STRUCK(REAL(write, ssize_t(*)(int, const void *, size_t))(file, bytes, size));
}
LINATTN_API int fsync(int file) {
    if (!is_struck("fsync")) return REAL(fsync, int (*)(int))(file);
    STRUCK(REAL(fsync, int (*)(int))(file));
}
/* After a failure the descriptor is closed all the same. */
LINATTN_API int close(int file) {
    if (!is_struck("close")) return REAL(close, int (*)(int))(file);
    if (strike.blow == FAIL) (void)REAL(close, int (*)(int))(file);
    STRUCK(REAL(close, int (*)(int))(file));
}
LINATTN_API int fchmod(int file, mode_t mode) {
    if (!is_struck("fchmod")) return REAL(fchmod, int (*)(int, mode_t))(file, mode);
    STRUCK(REAL(fchmod, int (*)(int, mode_t))(file, mode));
}
LINATTN_API int rename(const char *from, const char *to) {
    if (!is_struck("rename")) return REAL(rename, int (*)(const char *, const char *))(from, to);
    STRUCK(REAL(rename, int (*)(const char *, const char *))(from, to));
}

/* ---- Trainers and their file ----------------------------------------------------------------------------------------------- */
static char folder[PATH / 2], path[PATH];
static problem f;

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/linattn_moments_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/checkpoint", folder);
}

/* Removes all files but the checkpoint; returns how many there were. */
static int remove_others(void) {
    int found = 0;
    DIR *entries = opendir(folder);
    ck_assert_ptr_nonnull(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char name[2 * PATH];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || strcmp(entry->d_name, "checkpoint") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        ck_assert_int_eq(remove(name), 0);
        found++;
    }
    closedir(entries);
    return found;
}

static void remove_folder(void) {
    remove_others();
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static linattn_trainer *trainer_at(uint64_t steps) {
    const double start[P] = {1, -1};
    linattn_optimizer_options options;
    linattn_optimizer *optimizer;
    linattn_trainer *trainer;
    f = problem_of(P);
    linattn_objective *objective = problem_objective(&f);
    ck_assert_ok(linattn_optimizer_options_init(&options, sizeof options));
    options.rule = LINATTN_RULE_ADAM, options.learning_rate = 0.25;
    ck_assert_ok(linattn_optimizer_create(&optimizer, &options, NULL, 0, P));
    ck_assert_ok(linattn_trainer_create(&trainer, objective, optimizer, start, NULL));
    ck_assert_ok(linattn_trainer_run(trainer, steps, NULL));
    linattn_objective_destroy(objective);
    linattn_optimizer_destroy(optimizer);
    return trainer;
}

/* The file loads, is of one of the two steps, and leads to where an undisturbed run is. Returns its step. */
static uint64_t goes_on(void) {
    linattn_trainer *loaded = trainer_at(0), *undisturbed = trainer_at(NEW + 5);
    double theta[P], wanted[P];
    ck_assert_ok(linattn_trainer_load(loaded, path));
    const uint64_t step = linattn_trainer_step_count(loaded);
    ck_assert(step == OLD || step == NEW);
    ck_assert_ok(linattn_trainer_run(loaded, NEW + 5 - step, NULL));
    ck_assert_ok(linattn_trainer_get_parameters(loaded, theta));
    ck_assert_ok(linattn_trainer_get_parameters(undisturbed, wanted));
    ck_assert_mem_eq(theta, wanted, sizeof theta);
    linattn_trainer_destroy(loaded);
    linattn_trainer_destroy(undisturbed);
    return step;
}

static void save_old(void) {
    linattn_trainer *old = trainer_at(OLD);
    ck_assert_ok(linattn_trainer_save(old, path));
    linattn_trainer_destroy(old);
}

/* Saves step NEW, struck at call `at`. */
static int save_struck(linattn_trainer *trainer, int at, enum blow blow, int error) {
    strike.at = at, strike.blow = blow, strike.error = error, strike.calls = 0, strike.last[0] = '\0', strike.watching = 1;
    const int status = linattn_trainer_save(trainer, path);
    strike.watching = 0;
    return status;
}

/* How many calls a save makes. */
static int count_calls(void) {
    linattn_trainer *trainer = trainer_at(NEW);
    ck_assert_ok(save_struck(trainer, -1, NONE, 0));
    linattn_trainer_destroy(trainer);
    ck_assert(strike.calls >= 8 && strike.calls < MOST_CALLS); /* open, fchmod, write, fsync, close, rename; and the folder's */
    return strike.calls;
}

/* ---- The tests ------------------------------------------------------------------------------------------------------------- */
/* Errors that end a save, but where they come too late or cost nothing. */
START_TEST(case_R7_every_call_fails) {
    static const int errors[] = {ENOSPC, EIO, EDQUOT, EROFS};
    make_folder();
    save_old();
    const int calls = count_calls();
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        for (int at = 0; at < calls; at++) {
            save_old();
            linattn_trainer *trainer = trainer_at(NEW);
            const int status = save_struck(trainer, at, FAIL, errors[e]);
            if (status) {
                ck_assert_status(status, LINATTN_EIO, path);
                ck_assert_ptr_nonnull(strstr(linattn_last_message(), strerror(errors[e])));
                ck_assert_uint_eq(goes_on(), OLD);
            } else { /* the mode of the file; the folder, once the file has its name */
                ck_assert_msg(strcmp(strike.last, "fchmod") == 0 || at > calls - 4, "%s, call %d", strike.last, at);
                ck_assert_uint_eq(goes_on(), NEW);
            }
            ck_assert_int_eq(remove_others(), 0);
            ck_assert_ok(linattn_trainer_save(trainer, path)); /* the trainer is as it was */
            ck_assert_uint_eq(goes_on(), NEW);
            linattn_trainer_destroy(trainer);
        }
    remove_folder();
}
END_TEST

START_TEST(case_R7_every_call_is_interrupted_or_does_half) {
    make_folder();
    save_old();
    const int calls = count_calls();
    for (int at = 0; at < calls; at++)
        for (int half = 0; half < 2; half++) {
            save_old();
            linattn_trainer *trainer = trainer_at(NEW);
            const int status = save_struck(trainer, at, half ? HALF : FAIL, EINTR);
            if (strcmp(strike.last, "rename") == 0 && !half) /* which no signal interrupts */
                ck_assert_int_eq(status, LINATTN_EIO);
            else
                ck_assert_msg(status == LINATTN_OK, "%s, call %d: %s", strike.last, at, linattn_last_message());
            ck_assert_uint_eq(goes_on(), status ? OLD : NEW);
            ck_assert_int_eq(remove_others(), 0);
            linattn_trainer_destroy(trainer);
        }
    remove_folder();
}
END_TEST

START_TEST(case_R7_killed_at_every_call) {
    make_folder();
    save_old();
    const int calls = count_calls();
    int old = 0, new = 0;
    for (int at = 0; at < calls; at++)
        for (enum blow blow = KILL_BEFORE; blow <= KILL_AFTER; blow++) {
            save_old();
            const pid_t child = fork();
            ck_assert_int_ge(child, 0);
            if (child == 0) {
                (void)save_struck(trainer_at(NEW), at, blow, 0);
                _exit(1);
            }
            int ended;
            ck_assert_int_eq(waitpid(child, &ended, 0), child);
            ck_assert_msg(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL, "call %d: ended with %d", at, ended);
            const uint64_t step = goes_on();
            old += step == OLD, new += step == NEW;
            linattn_trainer *trainer = trainer_at(NEW);
            ck_assert_ok(linattn_trainer_save(trainer, path)); /* whatever was left there */
            ck_assert_uint_eq(goes_on(), NEW);
            ck_assert_int_le(remove_others(), 1); /* the killed one's temporary file */
            linattn_trainer_destroy(trainer);
        }
    ck_assert(old > 0 && new > 0);
    remove_folder();
}
END_TEST

/* A folder that had no checkpoint has a whole one, or none. */
START_TEST(case_R7_killed_at_every_call_of_the_first_save) {
    make_folder();
    for (int at = 0; at < MOST_CALLS; at++) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            linattn_trainer *trainer = trainer_at(NEW);
            const int status = save_struck(trainer, at, KILL_BEFORE, 0);
            linattn_trainer_destroy(trainer);
            _exit(status == LINATTN_OK ? 0 : 1);
        }
        int ended;
        ck_assert_int_eq(waitpid(child, &ended, 0), child);
        ck_assert(WIFSIGNALED(ended) || WEXITSTATUS(ended) == 0);
        if (access(path, F_OK) == 0) ck_assert_uint_eq(goes_on(), NEW);
        ck_assert_int_le(remove_others(), 1);
        unlink(path);
        if (WIFEXITED(ended)) break;
        ck_assert_int_lt(at, MOST_CALLS - 1);
    }
    remove_folder();
}
END_TEST

static Suite *save_moments_suite(void) {
    Suite *suite = suite_create("save moments");
    TCase *tc = tcase_create("moments");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, case_R7_every_call_fails);
    tcase_add_test(tc, case_R7_every_call_is_interrupted_or_does_half);
    tcase_add_test(tc, case_R7_killed_at_every_call);
    tcase_add_test(tc, case_R7_killed_at_every_call_of_the_first_save);
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(save_moments_suite)
