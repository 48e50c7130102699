/* test_pool.c: worker threads that run every job once, in any process, and come and go without a trace. */
#include "common/pool.h"
#include "support/suite.h"
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

enum { MOST_JOBS = 1000, MOST_THREADS = 8 };

typedef struct tally {
    unsigned runs[MOST_JOBS];         /* how often each job ran; not atomic: the pool alone must make this right */
    atomic_int inside[MOST_THREADS];  /* jobs that run at once with this worker */
    unsigned by_worker[MOST_THREADS]; /* jobs of each worker */
    atomic_int overlaps;              /* two at once with one worker */
    atomic_int strangers;             /* a worker number beyond the team, or worker 0 on another thread than the caller's */
    size_t threads;
    pthread_t caller;
} tally;

static void tally_job(void *context, size_t index, size_t worker) {
    tally *t = context;
    if (worker >= t->threads || (worker == 0) != (pthread_equal(pthread_self(), t->caller) != 0)) {
        atomic_fetch_add(&t->strangers, 1);
        return;
    }
    if (atomic_fetch_add(&t->inside[worker], 1) != 0) atomic_fetch_add(&t->overlaps, 1);
    t->runs[index]++;
    t->by_worker[worker]++;
    atomic_fetch_sub(&t->inside[worker], 1);
}

/* Runs `jobs` jobs and asserts that each ran once, with a worker of its own. */
static void run_and_check(linattn__pool *pool, size_t threads, size_t jobs) {
    static tally t;
    memset(&t, 0, sizeof t);
    t.threads = threads;
    t.caller = pthread_self();
    ck_assert_ok(linattn__pool_run(pool, jobs, tally_job, &t));
    ck_assert_int_eq(atomic_load(&t.overlaps), 0);
    ck_assert_int_eq(atomic_load(&t.strangers), 0);
    unsigned long sum = 0;
    for (size_t i = 0; i < MOST_JOBS; i++) {
        if (t.runs[i] != (i < jobs)) ck_abort_msg("job %zu of %zu ran %u times", i, jobs, t.runs[i]);
    }
    for (size_t i = 0; i < MOST_THREADS; i++) sum += t.by_worker[i];
    ck_assert_uint_eq(sum, jobs);
}

START_TEST(every_job_runs_once) {
    static const size_t threads[] = {1, 2, 4, 8};
    static const size_t jobs[] = {0, 1, 2, 3, 7, 16, 1000, 5, 1, 0, 100};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        linattn__pool *pool = NULL;
        ck_assert_ok(linattn__pool_create(&pool, threads[i]));
        for (int round = 0; round < 20; round++) {
            for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) run_and_check(pool, threads[i], jobs[j]);
        }
        linattn__pool_destroy(pool);
    }
}
END_TEST

static void *own_pool(void *failed) {
    for (int round = 0; round < 20; round++) {
        unsigned runs[64] = {0};
        tally *t = calloc(1, sizeof *t);
        linattn__pool *pool = NULL;
        if (!t || linattn__pool_create(&pool, 3) != LINATTN_OK) {
            *(int *)failed = 1;
            return NULL;
        }
        t->threads = 3;
        t->caller = pthread_self();
        for (int i = 0; i < 10; i++) {
            if (linattn__pool_run(pool, 64, tally_job, t) != LINATTN_OK) *(int *)failed = 1;
        }
        memcpy(runs, t->runs, sizeof runs);
        for (size_t i = 0; i < 64; i++) {
            if (runs[i] != 10) *(int *)failed = 1;
        }
        linattn__pool_destroy(pool);
        free(t);
    }
    return NULL;
}

START_TEST(pools_of_several_threads_do_not_meet) {
    pthread_t callers[4];
    int failed[4] = {0};
    for (size_t i = 0; i < 4; i++) ck_assert_int_eq(pthread_create(&callers[i], NULL, own_pool, &failed[i]), 0);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_join(callers[i], NULL), 0);
        ck_assert_int_eq(failed[i], 0);
    }
}
END_TEST

typedef struct order {
    size_t next;
    int broken;
} order;

static void order_job(void *context, size_t index, size_t worker) {
    order *o = context;
    if (index != o->next++ || worker != 0) o->broken = 1;
}

START_TEST(one_thread_works_in_order) {
    linattn__pool *pool = NULL;
    order o = {0, 0};
    ck_assert_ok(linattn__pool_create(&pool, 1));
    ck_assert_ok(linattn__pool_run(pool, 500, order_job, &o));
    ck_assert_uint_eq(o.next, 500);
    ck_assert_int_eq(o.broken, 0);
    linattn__pool_destroy(pool);
}
END_TEST

/* A job that holds every worker until all of them are in it: a pool with fewer threads than it promised would hang. */
static void meet_job(void *context, size_t index, size_t worker) {
    (void)index;
    (void)worker;
    pthread_barrier_wait(context);
}

START_TEST(all_workers_work_at_once) {
    for (size_t threads = 2; threads <= MOST_THREADS; threads *= 2) {
        linattn__pool *pool = NULL;
        pthread_barrier_t barrier;
        ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
        ck_assert_ok(linattn__pool_create(&pool, threads));
        for (int round = 0; round < 10; round++) ck_assert_ok(linattn__pool_run(pool, threads, meet_job, &barrier));
        linattn__pool_destroy(pool);
        pthread_barrier_destroy(&barrier);
    }
}
END_TEST

START_TEST(an_unused_pool_is_destroyed) {
    linattn__pool *pool = NULL;
    ck_assert_ok(linattn__pool_create(&pool, 256));
    linattn__pool_destroy(pool);
    linattn__pool_destroy(NULL);
}
END_TEST

/* What a worker finds in its thread. */
typedef struct surroundings {
    pthread_barrier_t barrier;
    int rounding[4];
    sigset_t blocked[4];
} surroundings;

static void look_job(void *context, size_t index, size_t worker) {
    (void)index;
    surroundings *s = context;
    s->rounding[worker] = fegetround();
    pthread_sigmask(SIG_BLOCK, NULL, &s->blocked[worker]);
    pthread_barrier_wait(&s->barrier); /* so that each of the four takes one job */
}

START_TEST(helpers_leave_signals_to_the_program) {
    linattn__pool *pool = NULL;
    surroundings s;
    sigset_t before, after;
    ck_assert_int_eq(pthread_barrier_init(&s.barrier, NULL, 4), 0);
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    ck_assert_ok(linattn__pool_create(&pool, 4));
    ck_assert_ok(linattn__pool_run(pool, 4, look_job, &s));
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int signal = 1; signal < 32; signal++) ck_assert_int_eq(sigismember(&before, signal), sigismember(&after, signal));
    for (int worker = 1; worker < 4; worker++) {
        static const int process[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPROF, SIGPIPE};
        static const int fault[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
        for (size_t i = 0; i < sizeof process / sizeof process[0]; i++) {
            ck_assert_int_eq(sigismember(&s.blocked[worker], process[i]), 1);
        }
        for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
            ck_assert_int_eq(sigismember(&s.blocked[worker], fault[i]), 0);
        }
    }
    ck_assert_int_eq(sigismember(&s.blocked[0], SIGINT), sigismember(&before, SIGINT));
    linattn__pool_destroy(pool);
    pthread_barrier_destroy(&s.barrier);
}
END_TEST

START_TEST(helpers_round_as_their_caller_does) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
    linattn__pool *pool = NULL;
    surroundings s;
    ck_assert_int_eq(pthread_barrier_init(&s.barrier, NULL, 4), 0);
    ck_assert_ok(linattn__pool_create(&pool, 4));
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) { /* threads started under one mode follow to the next */
        ck_assert_int_eq(fesetround(modes[i]), 0);
        const int status = linattn__pool_run(pool, 4, look_job, &s);
        const int after = fegetround();
        fesetround(FE_TONEAREST);
        ck_assert_int_eq(status, LINATTN_OK);
        ck_assert_int_eq(after, modes[i]);
        for (size_t worker = 0; worker < 4; worker++) ck_assert_int_eq(s.rounding[worker], modes[i]);
    }
    linattn__pool_destroy(pool);
    pthread_barrier_destroy(&s.barrier);
}
END_TEST

#ifdef __GLIBC__
START_TEST(a_thread_that_cannot_start_leaves_all_as_it_was) {
    linattn__pool *pool = NULL;
    pthread_attr_t usual, huge;
    static tally t;
    memset(&t, 0, sizeof t);
    t.threads = 8;
    t.caller = pthread_self();
    ck_assert_ok(linattn__pool_create(&pool, 8));
    run_and_check(pool, 8, 3); /* two helpers exist already and must end with the rest */
    ck_assert_int_eq(pthread_getattr_default_np(&usual), 0);
    ck_assert_int_eq(pthread_attr_init(&huge), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&huge, (size_t)1 << 60), 0); /* more than there are addresses */
    ck_assert_int_eq(pthread_setattr_default_np(&huge), 0);
    const int status = linattn__pool_run(pool, 100, tally_job, &t);
    ck_assert_int_eq(pthread_setattr_default_np(&usual), 0);
    ck_assert_int_eq(status, LINATTN_ESYSTEM);
    ck_assert_ptr_nonnull(strstr(linattn_last_message(), "worker thread 4 of 8 cannot be started: "));
    for (size_t i = 0; i < MOST_JOBS; i++) ck_assert_uint_eq(t.runs[i], 0);
    run_and_check(pool, 8, 100); /* the pool recovers */
    linattn__pool_destroy(pool);
    pthread_attr_destroy(&usual);
    pthread_attr_destroy(&huge);
}
END_TEST
#endif

#ifndef THREAD_SANITIZER
/* What a child does with the pool; its exit code says whether it went well. Check's assertions belong to the parent. */
static int child_runs(linattn__pool *pool, size_t threads, int use) {
    if (use) {
        tally *t = calloc(1, sizeof *t);
        if (!t) return 1;
        t->threads = threads;
        t->caller = pthread_self();
        if (linattn__pool_run(pool, 100, tally_job, t) != LINATTN_OK) return 2;
        for (size_t i = 0; i < 100; i++) {
            if (t->runs[i] != 1) return 3;
        }
        if (atomic_load(&t->strangers) || atomic_load(&t->overlaps)) return 4;
        free(t);
    }
    linattn__pool_destroy(pool);
    return 0;
}

static void fork_and_check(linattn__pool *pool, size_t threads, int use) {
    fflush(NULL);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(60); /* a hang ends the child, which the parent then sees */
        _exit(child_runs(pool, threads, use));
    }
    int result = -1;
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    ck_assert_msg(WIFEXITED(result) && WEXITSTATUS(result) == 0, "the child ended with %d", result);
}

/* Parent, child, parent again, as a program that forks workers of its own does. */
START_TEST(case_B3_a_pool_survives_fork) {
    for (size_t threads = 2; threads <= MOST_THREADS; threads *= 2) {
        linattn__pool *pool = NULL;
        ck_assert_ok(linattn__pool_create(&pool, threads));
        fork_and_check(pool, threads, 1); /* forked before the parent had threads */
        run_and_check(pool, threads, 100);
        fork_and_check(pool, threads, 1);
        run_and_check(pool, threads, 100);
        fork_and_check(pool, threads, 0); /* the child only destroys it */
        run_and_check(pool, threads, 100);
        linattn__pool_destroy(pool);
    }
}
END_TEST

typedef struct long_run {
    linattn__pool *pool;
    atomic_int entered, leave;
} long_run;

static void wait_job(void *context, size_t index, size_t worker) {
    (void)index;
    (void)worker;
    long_run *run = context;
    atomic_fetch_add(&run->entered, 1);
    while (!atomic_load(&run->leave)) usleep(100);
}

static void *run_long(void *context) {
    long_run *run = context;
    linattn__pool_run(run->pool, 2, wait_job, run);
    return NULL;
}

START_TEST(a_fork_in_the_middle_of_a_run_does_not_hang_the_child) {
    long_run run = {.pool = NULL};
    pthread_t caller;
    ck_assert_ok(linattn__pool_create(&run.pool, 2));
    ck_assert_int_eq(pthread_create(&caller, NULL, run_long, &run), 0);
    while (atomic_load(&run.entered) < 2) usleep(100);
    fork_and_check(run.pool, 2, 1);
    atomic_store(&run.leave, 1);
    ck_assert_int_eq(pthread_join(caller, NULL), 0);
    run_and_check(run.pool, 2, 100);
    linattn__pool_destroy(run.pool);
}
END_TEST
#endif

static Suite *pool_suite(void) {
    Suite *suite = suite_create("pool");
    TCase *tc = tcase_create("pool");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, every_job_runs_once);
    tcase_add_test(tc, pools_of_several_threads_do_not_meet);
    tcase_add_test(tc, one_thread_works_in_order);
    tcase_add_test(tc, all_workers_work_at_once);
    tcase_add_test(tc, an_unused_pool_is_destroyed);
    tcase_add_test(tc, helpers_leave_signals_to_the_program);
    tcase_add_test(tc, helpers_round_as_their_caller_does);
#ifdef __GLIBC__
    tcase_add_test(tc, a_thread_that_cannot_start_leaves_all_as_it_was);
#endif
#ifndef THREAD_SANITIZER
    TCase *forks = tcase_create("forks");
    tcase_set_tags(forks, LINATTN_TEST_PROCESSES);
    tcase_set_timeout(forks, 600);
    tcase_add_test(forks, case_B3_a_pool_survives_fork);
    tcase_add_test(forks, a_fork_in_the_middle_of_a_run_does_not_hang_the_child);
    suite_add_tcase(suite, forks);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(pool_suite)
