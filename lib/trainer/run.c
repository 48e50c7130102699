/* run.c: steps. A step takes value and gradient of draw t at theta_t and gives both to the optimizer; when either fails, nothing of
 * the trainer has changed and the next call does the same step again. */
#include "common/allocate.h"
#include "common/fail.h"
#include "trainer/trainer.h"
#include <math.h>
#include <string.h>

/* How many of the steps 0 .. steps-1 are multiples of the stride. */
static uint64_t due_before(uint64_t steps, uint64_t stride) { return steps / stride + (steps % stride != 0); }

static int is_due(uint64_t step, uint64_t stride) { return stride != 0 && step % stride == 0; }

/* Room for the records of the next `steps` steps, so that no step allocates. */
static int reserve_records(linattn_trainer *trainer, uint64_t steps) {
    const uint64_t stride = trainer->options.record_stride;
    if (stride == 0) return LINATTN_OK;
    const uint64_t due = due_before(trainer->step + steps, stride) - due_before(trainer->step, stride);
    size_t bytes, needed = trainer->record_count + (size_t)due;
    if (due > SIZE_MAX - trainer->record_count || !linattn__multiply_sizes(needed, sizeof(linattn_step_record), &bytes))
        return linattn__fail(LINATTN_EOVERFLOW, "the records of %llu steps do not fit in the address space; see record_stride",
                             (unsigned long long)steps);
    if (needed <= trainer->record_capacity) return LINATTN_OK;

    /* Half as much again, so that many short runs do not copy the records each time. */
    const size_t roomy = trainer->record_capacity + trainer->record_capacity / 2;
    if (needed < roomy) needed = roomy;
    linattn_step_record *records = linattn__allocate(needed, sizeof *records);
    if (!records) return linattn__fail_memory("the records of the run; see record_stride");
    if (trainer->record_count != 0) memcpy(records, trainer->records, trainer->record_count * sizeof *records);
    linattn__release(trainer->records);
    trainer->records = records;
    trainer->record_capacity = needed;
    return LINATTN_OK;
}

/* What went wrong is the message already. */
static int fail_diverged(uint64_t step) {
    return linattn__fail(LINATTN_ENONFINITE, "the run diverged at step %llu: %s", (unsigned long long)step, linattn_last_message());
}

/* Value and gradient of draw t. An objective that fails gives no numbers: an optimizer that skips such steps gets NaN for them. */
static int evaluate(linattn_trainer *trainer, double *value) {
    const int status = linattn_objective_gradient(trainer->objective, trainer->step, trainer->theta, value, trainer->gradient);
    if (status != LINATTN_ENONFINITE) return status;
    if (trainer->optimizer->options.nonfinite == LINATTN_NONFINITE_FAIL) return fail_diverged(trainer->step);
    *value = NAN;
    for (size_t i = 0; i < trainer->p; i++) trainer->gradient[i] = NAN;
    return LINATTN_OK;
}

/* Step t with its record and its observer. Not 0: a failure when trainer->step has not moved, otherwise the observer's word. */
static int take_step(linattn_trainer *trainer) {
    const uint64_t t = trainer->step;
    const int observed = trainer->options.observer && is_due(t, trainer->options.observer_stride);
    linattn_step_record record = {.struct_size = sizeof record};
    double value;
    int status = evaluate(trainer, &value);
    if (status) return status;
    if (observed) memcpy(trainer->seen, trainer->theta, trainer->p * sizeof *trainer->theta);
    status = linattn_optimizer_step(trainer->optimizer, value, trainer->gradient, trainer->theta, &record);
    if (status == LINATTN_ENONFINITE) return fail_diverged(t);
    if (status) return status;

    trainer->step = t + 1;
    if (is_due(t, trainer->options.record_stride)) trainer->records[trainer->record_count++] = record;
    if (!observed) return LINATTN_OK;
    const unsigned failures = linattn__failures();
    return linattn__callback_status("observer", trainer->options.observer(&record, trainer->seen, trainer->options.user), failures);
}

/* A request to stop is taken by the run that sees it, also after the last step: none is lost between two runs. */
static int run(linattn_trainer *trainer, uint64_t steps) {
    const uint64_t end = trainer->step + steps;
    for (;;) {
        if (atomic_load_explicit(&trainer->stop, memory_order_relaxed) && atomic_exchange(&trainer->stop, 0)) return LINATTN_STOP;
        if (trainer->step == end) return LINATTN_OK;
        const int status = take_step(trainer);
        if (status) return status;
    }
}

int linattn_trainer_run(linattn_trainer *trainer, uint64_t steps, uint64_t *done) {
    if (done) *done = 0;
    if (!trainer) return linattn__fail_null("trainer");
    if (trainer->running) return linattn__fail(LINATTN_EINVAL, "the trainer is running; its observer cannot run it");
    const uint64_t begin = trainer->step;
    if (trainer->optimizer->steps != begin)
        return linattn__fail(LINATTN_EINVAL, "the optimizer is at step %llu and its trainer at step %llu; allowed: the same",
                             (unsigned long long)trainer->optimizer->steps, (unsigned long long)begin);
    if (steps > UINT64_MAX - begin)
        return linattn__fail(LINATTN_EOVERFLOW, "%llu steps after step %llu are more than a step number can count",
                             (unsigned long long)steps, (unsigned long long)begin);
    int status = reserve_records(trainer, steps);
    if (status) return status;
    trainer->running = 1;
    status = run(trainer, steps);
    trainer->running = 0;
    if (done) *done = trainer->step - begin;
    return status;
}
