/* trainer.h: the inside of a trainer. */
#ifndef LINATTN_TRAINER_TRAINER_H
#define LINATTN_TRAINER_TRAINER_H

#include "objective/objective.h"
#include "optimizer/optimizer.h"
#include <linattn/trainer.h>
#include <stdatomic.h>

struct linattn_trainer {
    linattn_objective *objective; /* retained, and so is */
    linattn_optimizer *optimizer; /* this one, whose step count is the trainer's */
    linattn_trainer_options options;
    size_t p;
    uint64_t step;    /* t, steps taken */
    double *theta;    /* (p): theta_t */
    double *gradient; /* (p) */
    double *seen;     /* (p): what the observer is shown, theta from before the step; NULL without an observer */
    linattn_step_record *records;
    size_t record_count, record_capacity;
    int running;     /* 1 inside linattn_trainer_run: an observer may save, but neither run nor load */
    atomic_int stop; /* 1: a run is to end before its next step */
};

#endif
