/* trainer.h: objective + optimizer + theta.
 *
 * Step t = 0, 1, ... takes value and gradient of draw t at theta_t and lets the optimizer move theta_t to theta_{t+1}. So the step
 * number is all there is to a run's position: k + m steps are the same bits as k steps, saving, loading in a new process, and m
 * steps. Use a trainer, its objective and its optimizer from one thread at a time. */
#ifndef LINATTN_TRAINER_H
#define LINATTN_TRAINER_H

#include <linattn/export.h>
#include <linattn/objective.h>
#include <linattn/optimizer.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linattn_trainer linattn_trainer;

/* Called after step t = record->step with that step's record and the parameters theta_t (p) that it started from. Return 0 to go
 * on; LINATTN_STOP or a negative status ends the run, with step t done. Runs on the calling thread. It may save the trainer and
 * read from it; it must not run it, load into it or destroy it. */
typedef int (*linattn_observer)(const linattn_step_record *record, const double *theta, void *user);

typedef struct linattn_trainer_options {
    size_t struct_size;        /* set by linattn_trainer_options_init */
    uint64_t record_stride;    /* keep the records of steps 0, s, 2s, ...; 0 keeps none; 1 */
    uint64_t observer_stride;  /* call the observer at steps 0, s, 2s, ...; >= 1; 1 */
    linattn_observer observer; /* NULL */
    void *user;                /* handed to observer; NULL */
} linattn_trainer_options;

/* Fills *options with the defaults named above. size: sizeof *options.
 * Returns LINATTN_EINVAL when options is NULL or size is smaller than in the first release. */
LINATTN_API int linattn_trainer_options_init(linattn_trainer_options *options, size_t size);

/* Makes a trainer at step 0. The objective and the optimizer, which must have taken no step, are retained (destroying the caller's
 * handle is allowed at any time) and stay readable between runs; theta (p), finite, is copied. options may be NULL for the
 * defaults. *out is the caller's to destroy, NULL on failure.
 * Returns LINATTN_EINVAL, LINATTN_EMISMATCH (objective and optimizer differ in p), LINATTN_ENONFINITE, LINATTN_EVERSION or
 * LINATTN_ENOMEM. */
LINATTN_API int linattn_trainer_create(linattn_trainer **out, linattn_objective *objective, linattn_optimizer *optimizer,
                                       const double *theta, const linattn_trainer_options *options);
LINATTN_API void linattn_trainer_destroy(linattn_trainer *trainer);

/* Takes up to `steps` steps; afterwards the loss at the new parameters is linattn_objective_value at draw t. done: how many were
 * taken, also on failure; may be NULL. A failing step leaves the trainer at the last completed one, and calling again retries the
 * same draw. Memory for the records is taken before the first step. Where the optimizer skips non-finite gradients, a skipped
 * step's record holds NaN for value and norms.
 * Returns LINATTN_STOP (stop request or observer), LINATTN_ENONFINITE (the run diverged; the message tells the step), the
 * observer's or a callback's negative status, LINATTN_EINVAL, LINATTN_EOVERFLOW, LINATTN_ENOMEM or LINATTN_ESYSTEM. */
LINATTN_API int linattn_trainer_run(linattn_trainer *trainer, uint64_t steps, uint64_t *done);

/* Asks the run in progress, or else the next one, to end before its next step; no request is lost. May be called from a signal
 * handler or from another thread; this and nothing else of a trainer. NULL is allowed. */
LINATTN_API void linattn_trainer_request_stop(linattn_trainer *trainer);

/* t, the number of steps taken; p; 0 when trainer is NULL. */
LINATTN_API uint64_t linattn_trainer_step_count(const linattn_trainer *trainer);
LINATTN_API size_t linattn_trainer_parameter_count(const linattn_trainer *trainer);

/* Copies theta_t (p) out. Returns LINATTN_EINVAL. */
LINATTN_API int linattn_trainer_get_parameters(const linattn_trainer *trainer, double *theta);

/* The records kept by this handle so far, oldest first (those from before a loaded checkpoint are not in it). */
LINATTN_API size_t linattn_trainer_record_count(const linattn_trainer *trainer);

/* Copies records first .. first+count-1 out; records: (count) structs of record_size = sizeof(linattn_step_record) bytes each,
 * whose struct_size is filled in here.
 * Returns LINATTN_EINVAL. */
LINATTN_API int linattn_trainer_get_records(const linattn_trainer *trainer, size_t first, size_t count, size_t record_size,
                                            linattn_step_record *records);

/* Writes a checkpoint: parameters, optimizer state, step, and a fingerprint of objective and optimizer. The file is written beside
 * `path` under a temporary name, synced and renamed: `path` holds the old or the new checkpoint, never half of one.
 * Returns LINATTN_EINVAL (also when the optimizer was stepped by something else than this trainer), LINATTN_EIO or LINATTN_ENOMEM. */
LINATTN_API int linattn_trainer_save(const linattn_trainer *trainer, const char *path);

/* Takes a checkpoint into a trainer made with the same objective and optimizer options; threads and kernel may differ (another
 * kernel goes on with slightly other bits). Clears the records. On failure the trainer is as it was.
 * Returns LINATTN_EINVAL, LINATTN_EIO, LINATTN_EFORMAT (truncated, damaged, or far larger than this trainer's), LINATTN_EVERSION
 * (written by a newer library), LINATTN_EMISMATCH (the message names the first option that differs) or LINATTN_ENOMEM. */
LINATTN_API int linattn_trainer_load(linattn_trainer *trainer, const char *path);

#ifdef __cplusplus
}
#endif
#endif
