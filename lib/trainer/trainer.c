/* trainer.c: the handle and what can be read from it. */
#include "trainer/trainer.h"
#include "common/allocate.h"
#include "common/fail.h"
#include <string.h>

/* A signal handler may touch only what is free of locks. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "linattn_trainer_request_stop needs lock-free atomic integers");

static const linattn_trainer_options DEFAULTS = {
    .struct_size = sizeof(linattn_trainer_options),
    .record_stride = 1,
    .observer_stride = 1,
};
static const linattn__struct OPTIONS = {"linattn_trainer_options", sizeof(linattn_trainer_options), sizeof(linattn_trainer_options),
                                        &DEFAULTS};

int linattn_trainer_options_init(linattn_trainer_options *options, size_t size) {
    return linattn__options_init(&OPTIONS, options, size);
}

/* The checks of create, and the options as they will be used. */
static int check_arguments(linattn_trainer_options *copy, const linattn_objective *objective, const linattn_optimizer *optimizer,
                           const double *theta, const linattn_trainer_options *options) {
    if (!objective) return linattn__fail_null("objective");
    if (!optimizer) return linattn__fail_null("optimizer");
    if (!theta) return linattn__fail_null("theta");
    const int status = linattn__options_read(&OPTIONS, copy, options ? options : &DEFAULTS);
    if (status) return status;
    if (copy->observer_stride == 0) return linattn__fail_count("observer_stride", 0, "at least 1");
    const size_t p = linattn_objective_parameter_count(objective);
    if (p != optimizer->p)
        return linattn__fail(LINATTN_EMISMATCH, "the objective has %zu parameters and the optimizer %zu", p, optimizer->p);
    if (optimizer->steps != 0) return linattn__fail_count("the optimizer's step count", optimizer->steps, "0, a new optimizer");
    return linattn__check_finite("theta", theta, p);
}

int linattn_trainer_create(linattn_trainer **out, linattn_objective *objective, linattn_optimizer *optimizer, const double *theta,
                           const linattn_trainer_options *options) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    linattn_trainer_options copy;
    const int status = check_arguments(&copy, objective, optimizer, theta, options);
    if (status) return status;

    linattn_trainer *trainer = linattn__allocate(1, sizeof *trainer);
    if (!trainer) return linattn__fail_memory("the trainer");
    const size_t p = optimizer->p;
    trainer->options = copy;
    trainer->p = p;
    atomic_init(&trainer->stop, 0);
    trainer->theta = linattn__allocate(p, sizeof(double));
    trainer->gradient = linattn__allocate(p, sizeof(double));
    trainer->seen = copy.observer ? linattn__allocate(p, sizeof(double)) : NULL;
    if (!trainer->theta || !trainer->gradient || (copy.observer && !trainer->seen)) {
        linattn_trainer_destroy(trainer);
        return linattn__fail_memory("the trainer's arrays");
    }
    memcpy(trainer->theta, theta, p * sizeof *theta);
    linattn__objective_retain(objective);
    trainer->objective = objective;
    linattn__optimizer_retain(optimizer);
    trainer->optimizer = optimizer;
    *out = trainer;
    return LINATTN_OK;
}

void linattn_trainer_destroy(linattn_trainer *trainer) {
    if (!trainer) return;
    linattn_objective_destroy(trainer->objective);
    linattn_optimizer_destroy(trainer->optimizer);
    linattn__release(trainer->theta);
    linattn__release(trainer->gradient);
    linattn__release(trainer->seen);
    linattn__release(trainer->records);
    linattn__release(trainer);
}

void linattn_trainer_request_stop(linattn_trainer *trainer) {
    if (trainer) atomic_store(&trainer->stop, 1);
}

uint64_t linattn_trainer_step_count(const linattn_trainer *trainer) { return trainer ? trainer->step : 0; }
size_t linattn_trainer_parameter_count(const linattn_trainer *trainer) { return trainer ? trainer->p : 0; }
size_t linattn_trainer_record_count(const linattn_trainer *trainer) { return trainer ? trainer->record_count : 0; }

int linattn_trainer_get_parameters(const linattn_trainer *trainer, double *theta) {
    if (!trainer) return linattn__fail_null("trainer");
    if (!theta) return linattn__fail_null("theta");
    memcpy(theta, trainer->theta, trainer->p * sizeof *theta);
    return LINATTN_OK;
}

int linattn_trainer_get_records(const linattn_trainer *trainer, size_t first, size_t count, size_t record_size,
                                linattn_step_record *records) {
    if (!trainer) return linattn__fail_null("trainer");
    if (first > trainer->record_count || count > trainer->record_count - first)
        return linattn__fail(LINATTN_EINVAL, "records %zu and %zu further are wanted; allowed: of the %zu kept", first, count,
                             trainer->record_count);
    if (count == 0) return LINATTN_OK;
    if (!records) return linattn__fail_null("records");
    const int status = linattn__result_check(&linattn__step_record_struct, &record_size);
    if (status) return status;
    char *row = (char *)records;
    for (size_t i = 0; i < count; i++, row += record_size) {
        memcpy(row, &record_size, sizeof record_size);
        linattn__result_write(&linattn__step_record_struct, row, &trainer->records[first + i]);
    }
    return LINATTN_OK;
}
