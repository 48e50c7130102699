/* schedule.h: the learning rate of a step. */
#ifndef LINATTN_OPTIMIZER_SCHEDULE_H
#define LINATTN_OPTIMIZER_SCHEDULE_H

#include <linattn/optimizer.h>
#include <stdint.h>

/* The learning rate of the step with index t = 0, 1, ...: a function of t alone, so there is no counter to restore. */
double linattn__schedule(const linattn_optimizer_options *options, uint64_t t);

#endif
