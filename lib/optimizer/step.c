/* step.c: one step: look at the gradient, clip it, let the rule move theta, look at the result, and only then count it. */
#include "common/fail.h"
#include "common/norm.h"
#include "optimizer/clip.h"
#include "optimizer/optimizer.h"
#include "optimizer/schedule.h"
#include <linattn/number.h>
#include <math.h>
#include <string.h>

/* LINATTN_ENONFINITE "<name>[i] is <x> <when> step <t>" for the first entry of x (count) that is not finite; LINATTN_OK without. */
static int fail_entry(const char *name, const double *x, size_t count, const char *when, uint64_t t) {
    for (size_t i = 0; i < count; i++) {
        if (isfinite(x[i])) continue;
        char number[LINATTN_NUMBER_SIZE];
        linattn_number_write(x[i], number);
        return linattn__fail(LINATTN_ENONFINITE, "%s[%zu] is %s %s step %llu", name, i, number, when, (unsigned long long)t);
    }
    return LINATTN_OK;
}

/* What the caller's rule returned, when it is neither 0 nor LINATTN_STOP, as a status. */
static int fail_rule(const linattn_optimizer *optimizer, int returned) {
    return linattn__fail(returned < 0 ? returned : LINATTN_EINVAL,
                         "the rule \"%s\" returned %d at step %llu; allowed: 0, 1 (LINATTN_STOP) or a negative status",
                         optimizer->name, returned, (unsigned long long)optimizer->steps);
}

/* Lets the rule move theta and its memory; both are put back when it fails or leaves NaN or Inf behind. */
static int apply_rule(linattn_optimizer *optimizer, double value, double learning_rate, double *theta) {
    const size_t p = optimizer->p, state_count = optimizer->state_count;
    const linattn_update update = {
        .struct_size = sizeof update,
        .p = p,
        .step = optimizer->steps - optimizer->skips + 1,
        .learning_rate = learning_rate,
        .value = value,
        .gradient = optimizer->gradient,
        .theta = theta,
        .state = optimizer->state,
        .tensors = optimizer->tensors,
        .tensor_count = optimizer->tensor_count,
    };
    memcpy(optimizer->old_theta, theta, p * sizeof *theta);
    memcpy(optimizer->old_state, optimizer->state, state_count * sizeof *theta);
    int status = LINATTN_OK;
    if (optimizer->rule) {
        optimizer->rule->update(&optimizer->options, &update);
    } else {
        const unsigned failures = linattn__failures();
        status = optimizer->custom.update(&update, optimizer->user);
        const int told = status < 0 && linattn__failures() != failures; /* by a call inside the rule, which knows more */
        if (status != LINATTN_OK && status != LINATTN_STOP && !told) status = fail_rule(optimizer, status);
    }
    /* The state too: a state that is not finite could be saved but not loaded. */
    if (!status) status = fail_entry("theta", theta, p, "after the update of", optimizer->steps);
    if (!status) status = fail_entry("state", optimizer->state, state_count, "after the update of", optimizer->steps);
    if (status) {
        memcpy(theta, optimizer->old_theta, p * sizeof *theta);
        memcpy(optimizer->state, optimizer->old_state, state_count * sizeof *theta);
    }
    return status;
}

/* The step without the checks of arguments; fills *record as far as it comes. */
static int step(linattn_optimizer *optimizer, double value, const double *gradient, double *theta, linattn_step_record *record) {
    const size_t p = optimizer->p;
    const linattn__norm norm = linattn__norm_of(gradient, p);
    const double learning_rate = linattn__schedule(&optimizer->options, optimizer->steps);
    *record = (linattn_step_record){
        .struct_size = sizeof *record,
        .step = optimizer->steps,
        .value = value,
        .gradient_norm = linattn__norm_value(norm),
        .clipped_norm = linattn__norm_value(norm),
        .learning_rate = learning_rate,
    };
    if (!isfinite(norm.mantissa)) {
        if (optimizer->options.nonfinite == LINATTN_NONFINITE_FAIL)
            return fail_entry("gradient", gradient, p, "at", optimizer->steps);
        record->skipped = 1;
        optimizer->steps++;
        optimizer->skips++;
        return LINATTN_OK;
    }
    if (isnan(value)) return linattn__fail(LINATTN_ENONFINITE, "value is nan at step %llu", (unsigned long long)optimizer->steps);

    const linattn__clipping clipping =
        linattn__clip(&optimizer->options, optimizer->tensors, optimizer->tensor_count, optimizer->gradient, gradient, p, norm);
    record->clipped_norm = clipping.norm;
    record->clipped = clipping.clipped;
    const int status = apply_rule(optimizer, value, learning_rate, theta);
    if (!status) optimizer->steps++;
    return status;
}

int linattn_optimizer_step(linattn_optimizer *optimizer, double value, const double *gradient, double *theta,
                           linattn_step_record *record) {
    if (!optimizer) return linattn__fail_null("optimizer");
    if (!gradient) return linattn__fail_null("gradient");
    if (!theta) return linattn__fail_null("theta");
    if (record) {
        const int status = linattn__result_check(&linattn__step_record_struct, record);
        if (status) return status;
    }
    if (optimizer->steps == UINT64_MAX)
        return linattn__fail_count("the number of steps taken", optimizer->steps, "below 18446744073709551615");
    linattn_step_record filled;
    const int status = step(optimizer, value, gradient, theta, &filled);
    /* A gradient that is not finite still has a norm to be told. */
    if (record && (status == LINATTN_OK || status == LINATTN_ENONFINITE))
        linattn__result_write(&linattn__step_record_struct, record, &filled);
    return status;
}
