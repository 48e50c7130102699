/* pool.h: worker threads owned by a handle.
 *
 * Threads are made on first use, parked on a condition variable between calls, and made anew in a child after fork. They block all
 * signals but those of a faulty instruction, and compute in the caller's floating-point environment. Which worker takes which job
 * is not fixed: results must depend on the job's index alone. A job must not run the pool it runs on. */
#ifndef LINATTN_COMMON_POOL_H
#define LINATTN_COMMON_POOL_H

#include <stddef.h>

typedef struct linattn__pool linattn__pool;

/* index: 0 .. jobs-1, each exactly once. worker: 0 .. threads-1, no two jobs run at once with the same one (scratch memory). */
typedef void (*linattn__job)(void *context, size_t index, size_t worker);

/* A pool of `threads` >= 1 workers, the caller's thread being worker 0. Returns LINATTN_ENOMEM. */
int linattn__pool_create(linattn__pool **out, size_t threads);
void linattn__pool_destroy(linattn__pool *pool);

/* Runs all jobs and returns when they are done. One thread or one job: in order, no thread is made; never more threads than jobs.
 * Returns LINATTN_ESYSTEM when a thread cannot be started (no job has run then) or LINATTN_ENOMEM. */
int linattn__pool_run(linattn__pool *pool, size_t jobs, linattn__job job, void *context);

#endif
