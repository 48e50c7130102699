/* linattn.h: everything. liblinattn trains the smallest transformers that are still hard to optimise, and measures why.
 *
 * The headers, from the simplest call to the most advanced:
 *   status.h     statuses and the thread's message
 *   version.h    versions, build facts, instruction sets
 *   number.h     numbers as text, the same in every locale
 *   sampler.h    where prompts come from; batches
 *   model.h      the linear transformer
 *   objective.h  f(theta; draw): value, gradient, Hessian
 *   optimizer.h  update rules, clipping, schedules
 *   trainer.h    runs, records, checkpoints
 *   statistics.h what a sample says: moments, quantiles, intervals, tests, tails
 *   spectrum.h   what a symmetric matrix says: eigenvalues, robust condition numbers
 *   diagnostics.h what an objective is like: curvature, gradient error, smoothness
 *   prompt.h     prompt attention, where softmax slows gradient descent
 *   baseline.h   what a trained model is to be compared with: closed-form learners, theory
 *   recipe.h     the published experiments
 *
 * Threads: samplers, batches, models and prompt-attention systems are immutable and may be shared. Everything else is used from one thread at a time.
 * Promises: the library never prints, exits, reads the environment, changes locale, thread or floating-point settings, or keeps
 * process-wide state. A failed call returns a status, sets the thread's message, and leaves handles and outputs as they were.
 * Options structs begin with their size and grow only at the end, so programs need not be rebuilt for a newer library. */
#ifndef LINATTN_H
#define LINATTN_H

#include <linattn/baseline.h>
#include <linattn/diagnostics.h>
#include <linattn/model.h>
#include <linattn/number.h>
#include <linattn/objective.h>
#include <linattn/optimizer.h>
#include <linattn/prompt.h>
#include <linattn/recipe.h>
#include <linattn/sampler.h>
#include <linattn/spectrum.h>
#include <linattn/statistics.h>
#include <linattn/status.h>
#include <linattn/trainer.h>
#include <linattn/version.h>

#endif
