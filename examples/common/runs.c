#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "runs.h"

#include "complain.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A trainer at work, in a list through the stacks of the threads that run them. */
typedef struct running {
    linattn_trainer *trainer;
    struct running *next;
} running;

static struct {
    pthread_mutex_t lock;
    running *first;
    int interrupted;
    int ending;
    pthread_t watcher;
    int watching;
    sem_t signals; /* one for the first SIGINT */
    struct sigaction before;
} set = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A trainer leaves the list under the lock before it is destroyed, so none is asked too late. */
static void end_all(int interrupted) {
    pthread_mutex_lock(&set.lock);
    set.ending = 1;
    if (interrupted) set.interrupted = 1;
    for (running *each = set.first; each != NULL; each = each->next) linattn_trainer_request_stop(each->trainer);
    pthread_mutex_unlock(&set.lock);
}

static volatile sig_atomic_t arrived;

/* In whatever thread: a BLAS may have threads of its own. */
static void on_interrupt(int signal_number) {
    (void)signal_number;
    if (arrived) _exit(EXIT_INTERRUPTED);
    arrived = 1;
    sem_post(&set.signals);
}

/* A handler could take no lock, so it wakes this thread. */
static void *watch(void *unused) {
    (void)unused;
    while (sem_wait(&set.signals) != 0) {
    }
    end_all(1);
    return NULL;
}

int runs_catch_interrupt(void) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, NULL, &set.before);
    if (set.before.sa_handler == SIG_IGN) return 0; /* as a shell has it for its background jobs */
    sem_init(&set.signals, 0, 0);
    const int error = pthread_create(&set.watcher, NULL, watch, NULL);
    if (error != 0) return complain(EXIT_FAILED, "cannot start a thread: %s", strerror(error));
    sigaction(SIGINT, &action, NULL);
    set.watching = 1;
    return 0;
}

void runs_release_interrupt(void) {
    if (!set.watching) return;
    sigaction(SIGINT, &set.before, NULL);
    pthread_cancel(set.watcher);
    pthread_join(set.watcher, NULL);
    sem_destroy(&set.signals);
    set.watching = 0;
}

static int flag(const int *of_set) {
    pthread_mutex_lock(&set.lock);
    const int value = *of_set;
    pthread_mutex_unlock(&set.lock);
    return value;
}

int runs_interrupted(void) { return flag(&set.interrupted); }
int runs_ending(void) { return flag(&set.ending); }

size_t runs_processors(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (size_t)count;
}

typedef struct work {
    pthread_mutex_t lock;
    size_t next;
    size_t jobs;
    runs_job job;
    void *context;
    int status;
} work;

static void *take_jobs(void *argument) {
    work *all = argument;
    for (;;) {
        const int ending = runs_ending();
        pthread_mutex_lock(&all->lock);
        const size_t index = all->next;
        if (index < all->jobs && !ending) all->next++;
        pthread_mutex_unlock(&all->lock);
        if (index >= all->jobs || ending) return NULL;
        const int status = all->job(index, all->context);
        if (status == 0) continue;
        pthread_mutex_lock(&all->lock);
        if (all->status == 0) all->status = status;
        pthread_mutex_unlock(&all->lock);
        end_all(0);
        return NULL;
    }
}

int runs_execute(size_t jobs, size_t threads, runs_job job, void *context) {
    work all = {.jobs = jobs, .job = job, .context = context};
    pthread_mutex_init(&all.lock, NULL);
    if (threads > jobs) threads = jobs;
    pthread_t *others = threads > 1 ? calloc(threads - 1, sizeof *others) : NULL;
    size_t started = 0;
    /* Fewer threads than asked for is slower, nothing worse: this one does the rest. */
    while (others != NULL && started < threads - 1 && pthread_create(&others[started], NULL, take_jobs, &all) == 0) started++;
    take_jobs(&all);
    for (size_t i = 0; i < started; i++) pthread_join(others[i], NULL);
    free(others);
    pthread_mutex_destroy(&all.lock);
    if (runs_interrupted()) return EXIT_INTERRUPTED;
    return all.status;
}

int runs_train(linattn_trainer *trainer, uint64_t steps) {
    running self = {.trainer = trainer};
    pthread_mutex_lock(&set.lock);
    self.next = set.first;
    set.first = &self;
    if (set.ending) linattn_trainer_request_stop(trainer);
    pthread_mutex_unlock(&set.lock);

    const int status = linattn_trainer_run(trainer, steps, NULL);

    pthread_mutex_lock(&set.lock);
    running **link = &set.first;
    while (*link != &self) link = &(*link)->next;
    *link = self.next;
    pthread_mutex_unlock(&set.lock);
    return status;
}
