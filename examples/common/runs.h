/* runs.h: independent runs over threads, and their end when the user interrupts.
 *
 * The runs of a program form one set: SIGINT, or a run that fails, ends all of them. */
#ifndef EXAMPLES_RUNS_H
#define EXAMPLES_RUNS_H

#include <linattn/trainer.h>
#include <stddef.h>
#include <stdint.h>

/* From here on SIGINT asks the trainers of runs_train to stop; a second SIGINT ends the process at once. Call before any thread
 * is started. Returns 0, or EXIT_FAILED after a complaint. */
int runs_catch_interrupt(void);
void runs_release_interrupt(void);

/* 1 when SIGINT has arrived; 1 when the runs are to end, for this or for another reason. */
int runs_interrupted(void);
int runs_ending(void);

/* The processors that this process may use, at least 1. */
size_t runs_processors(void);

/* Returns 0 to go on; anything else ends the set. */
typedef int (*runs_job)(size_t index, void *context);

/* Calls job for 0 .. jobs-1, up to `threads` at a time, each exactly once unless the set ends before. Returns 0 when all have
 * returned 0, otherwise what the first failing one returned, or EXIT_INTERRUPTED. */
int runs_execute(size_t jobs, size_t threads, runs_job job, void *context);

/* linattn_trainer_run for use in a job: returns LINATTN_STOP soon after the set has ended. */
int runs_train(linattn_trainer *trainer, uint64_t steps);

#endif
