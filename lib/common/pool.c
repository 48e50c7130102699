/* pool.c: a team of parked worker threads.
 *
 * A run is described in the team under its mutex and told by raising `runs`. The caller and its helpers take indices from the
 * atomic `next`; the caller returns when every helper has left the run, so the description never changes under one. The mutex makes
 * what the caller wrote visible to the helpers, and what they wrote visible to the caller. */
#include "common/pool.h"
#include "common/allocate.h"
#include "common/fail.h"
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct team team;

/* One thread beside the caller's. */
typedef struct helper {
    team *team;
    pthread_t thread;
    size_t worker; /* 1 .. threads-1 */
    uint64_t seen; /* the last run it knows of */
} helper;

struct team {
    pid_t owner; /* the process whose threads these are */
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    int quit;
    uint64_t runs;
    size_t wanted; /* helpers 1 .. wanted take part in this run; the others sleep on */
    size_t busy;   /* of which so many have not left it */
    linattn__job job;
    void *context;
    size_t jobs;
    fenv_t environment; /* the caller's rounding and denormals, so that a result does not depend on who computed it */
    atomic_size_t next;
    size_t started; /* helpers 1 .. started exist */
    helper helpers[];
};

struct linattn__pool {
    size_t threads;
    team *team; /* NULL until the first run that needs one */
};

static void take_jobs(atomic_size_t *next, size_t jobs, linattn__job job, void *context, size_t worker) {
    for (size_t i; (i = atomic_fetch_add_explicit(next, 1, memory_order_relaxed)) < jobs;) job(context, i, worker);
}

static void *helper_main(void *argument) {
    helper *self = argument;
    team *t = self->team;
    pthread_mutex_lock(&t->mutex);
    for (;;) {
        while (!t->quit && t->runs == self->seen) pthread_cond_wait(&t->wake, &t->mutex);
        if (t->quit) break;
        self->seen = t->runs;
        if (self->worker > t->wanted) continue;
        pthread_mutex_unlock(&t->mutex);
        fesetenv(&t->environment);
        take_jobs(&t->next, t->jobs, t->job, t->context, self->worker);
        pthread_mutex_lock(&t->mutex);
        if (--t->busy == 0) pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

static team *team_create(size_t helpers) {
    team *t = linattn__allocate(1, sizeof(team) + helpers * sizeof(helper));
    if (!t) return NULL;
    t->owner = getpid();
    t->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    t->wake = t->done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    return t;
}

/* Ends the threads and releases the team. In a child after fork the threads do not exist and the mutex may be held by one of them
 * for ever: then the memory is all there is to release. */
static void team_destroy(team *t) {
    if (t && t->owner == getpid()) {
        pthread_mutex_lock(&t->mutex);
        t->quit = 1;
        pthread_cond_broadcast(&t->wake);
        pthread_mutex_unlock(&t->mutex);
        for (size_t i = 0; i < t->started; i++) pthread_join(t->helpers[i].thread, NULL);
        pthread_cond_destroy(&t->wake);
        pthread_cond_destroy(&t->done);
        pthread_mutex_destroy(&t->mutex);
    }
    linattn__release(t);
}

/* Starts helpers until there are `wanted`. Signals meant for the process go to the program's own threads; those that a faulty
 * instruction raises in this very thread stay open, else the program's handler (a debugger, a sanitizer) would never see them. */
static int team_grow(team *t, size_t wanted) {
    sigset_t blocked, before;
    int error = 0;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGTRAP);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    while (t->started < wanted && error == 0) {
        helper *h = &t->helpers[t->started];
        *h = (helper){.team = t, .worker = t->started + 1, .seen = t->runs};
        error = pthread_create(&h->thread, NULL, helper_main, h);
        if (error == 0) t->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Gives the pool a team of this process with at least `wanted` helpers. */
static int prepare_team(linattn__pool *pool, size_t wanted) {
    if (pool->team && pool->team->owner != getpid()) {
        team_destroy(pool->team);
        pool->team = NULL;
    }
    if (!pool->team && !(pool->team = team_create(pool->threads - 1))) return linattn__fail_memory("worker threads");
    const int error = team_grow(pool->team, wanted);
    if (error == 0) return LINATTN_OK;
    const size_t started = pool->team->started;
    team_destroy(pool->team);
    pool->team = NULL;
    return linattn__fail_system(LINATTN_ESYSTEM, error, "worker thread %zu of %zu cannot be started", started + 2, wanted + 1);
}

int linattn__pool_create(linattn__pool **out, size_t threads) {
    *out = linattn__allocate(1, sizeof **out);
    if (!*out) return linattn__fail_memory("a thread pool");
    (*out)->threads = threads;
    return LINATTN_OK;
}

void linattn__pool_destroy(linattn__pool *pool) {
    if (!pool) return;
    team_destroy(pool->team);
    linattn__release(pool);
}

int linattn__pool_run(linattn__pool *pool, size_t jobs, linattn__job job, void *context) {
    const size_t workers = jobs < pool->threads ? jobs : pool->threads;
    if (workers <= 1) {
        for (size_t i = 0; i < jobs; i++) job(context, i, 0);
        return LINATTN_OK;
    }
    const int status = prepare_team(pool, workers - 1);
    if (status) return status;
    team *t = pool->team;
    pthread_mutex_lock(&t->mutex);
    t->job = job;
    t->context = context;
    t->jobs = jobs;
    t->wanted = t->busy = workers - 1;
    fegetenv(&t->environment);
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    t->runs++;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->mutex);
    take_jobs(&t->next, jobs, job, context, 0);
    pthread_mutex_lock(&t->mutex);
    while (t->busy > 0) pthread_cond_wait(&t->done, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
    return LINATTN_OK;
}
