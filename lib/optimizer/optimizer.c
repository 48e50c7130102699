/* optimizer.c: the handle: options, tensor table, memory in and out. step.c moves it. */
#include "optimizer/optimizer.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "optimizer/schedule.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const linattn_optimizer_options DEFAULTS = {
    .struct_size = sizeof(linattn_optimizer_options),
    .learning_rate = NAN, /* no value is right for every problem */
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .clip_threshold = 1,
    .decay_steps = 1,
    .decay_factor = 0.1,
};
static const linattn__struct OPTIONS = {"linattn_optimizer_options", sizeof(linattn_optimizer_options),
                                        offsetof(linattn_optimizer_options, minimum_value), &DEFAULTS};

static const linattn_custom_rule CUSTOM_DEFAULTS = {.struct_size = sizeof(linattn_custom_rule), .name = "custom"};
static const linattn__struct CUSTOM = {"linattn_custom_rule", sizeof(linattn_custom_rule), sizeof(linattn_custom_rule),
                                       &CUSTOM_DEFAULTS};

static const linattn_tensor TENSOR_DEFAULTS = {.struct_size = sizeof(linattn_tensor)};
static const linattn__struct TENSOR = {"linattn_tensor", sizeof(linattn_tensor), sizeof(linattn_tensor), &TENSOR_DEFAULTS};

const linattn__struct linattn__step_record_struct = {"linattn_step_record", sizeof(linattn_step_record),
                                                     sizeof(linattn_step_record), NULL};

int linattn_optimizer_options_init(linattn_optimizer_options *options, size_t size) {
    return linattn__options_init(&OPTIONS, options, size);
}

int linattn_custom_rule_init(linattn_custom_rule *rule, size_t size) { return linattn__options_init(&CUSTOM, rule, size); }

/* Copies the caller's tensor table, whose rows are as far apart as the caller's struct is long, and checks it against [0, p). */
static int read_tensors(linattn_optimizer *optimizer, const linattn_tensor *tensors) {
    const char *row = (const char *)tensors;
    size_t stride = 0, end = 0, own;
    for (size_t i = 0; i < optimizer->tensor_count; i++) {
        linattn_tensor *tensor = &optimizer->tensors[i];
        const int status = linattn__options_read(&TENSOR, tensor, row);
        if (status) return status;
        memcpy(&own, row, sizeof own);
        if (i == 0) stride = own;
        if (own != stride)
            return linattn__fail(LINATTN_EINVAL, "the struct_size of tensors[%zu] is %zu; allowed: that of tensors[0], %zu", i, own,
                                 stride);
        size_t size;
        if (tensor->rows == 0 || tensor->columns == 0 || !linattn__multiply_sizes(tensor->rows, tensor->columns, &size) ||
            tensor->offset > optimizer->p || size > optimizer->p - tensor->offset)
            return linattn__fail(
                LINATTN_EINVAL,
                "tensors[%zu] has %zu rows and %zu columns at offset %zu; allowed: at least 1 each, inside the %zu "
                "parameters",
                i, tensor->rows, tensor->columns, tensor->offset, optimizer->p);
        if (tensor->offset < end)
            return linattn__fail(LINATTN_EINVAL,
                                 "tensors[%zu] begins at offset %zu; allowed: %zu or more, where the row before it ends", i,
                                 tensor->offset, end);
        end = tensor->offset + size;
        tensor->name[sizeof tensor->name - 1] = '\0';
        row += stride;
    }
    return LINATTN_OK;
}

/* One tensor of p parameters, for callers who have no table. */
static void whole_tensor(linattn_optimizer *optimizer) {
    optimizer->tensors[0] = (linattn_tensor){.struct_size = sizeof(linattn_tensor), .rows = optimizer->p, .columns = 1};
    snprintf(optimizer->tensors[0].name, sizeof optimizer->tensors[0].name, "theta");
}

/* The arrays, for p, state_count and tensor_count as set. */
static int take_memory(linattn_optimizer *optimizer) {
    const size_t p = optimizer->p, state_count = optimizer->state_count;
    size_t bytes;
    if (!linattn__multiply_sizes(p, sizeof(double), &bytes) || !linattn__multiply_sizes(state_count, sizeof(double), &bytes) ||
        !linattn__multiply_sizes(optimizer->tensor_count, sizeof(linattn_tensor), &bytes))
        return linattn__fail(LINATTN_EOVERFLOW, "%zu parameters with %zu doubles of state do not fit in the address space", p,
                             state_count);
    optimizer->tensors = linattn__allocate(optimizer->tensor_count, sizeof *optimizer->tensors);
    optimizer->gradient = linattn__allocate(p, sizeof(double));
    optimizer->old_theta = linattn__allocate(p, sizeof(double));
    optimizer->state = linattn__allocate(state_count, sizeof(double));
    optimizer->old_state = linattn__allocate(state_count, sizeof(double));
    if (!optimizer->tensors || !optimizer->gradient || !optimizer->old_theta || !optimizer->state || !optimizer->old_state)
        return linattn__fail_memory("the optimizer's arrays");
    return LINATTN_OK;
}

/* The part of both create functions that follows the choice of the rule; `plan` holds options and rule. */
static int create(linattn_optimizer **out, const linattn_optimizer *plan, const linattn_tensor *tensors, size_t tensor_count,
                  size_t p, size_t state_count) {
    if (p == 0) return linattn__fail_count("p", p, "at least 1");
    if (!tensors && tensor_count != 0) return linattn__fail_null("tensors");
    if (tensors && tensor_count == 0) return linattn__fail_count("tensor_count", tensor_count, "at least 1 when tensors is given");

    linattn_optimizer *optimizer = linattn__allocate(1, sizeof *optimizer);
    if (!optimizer) return linattn__fail_memory("the optimizer");
    optimizer->options = plan->options;
    optimizer->rule = plan->rule;
    optimizer->custom = plan->custom;
    optimizer->user = plan->user;
    memcpy(optimizer->name, plan->name, sizeof optimizer->name);
    optimizer->custom.name = optimizer->name;
    linattn__owners_begin(&optimizer->owners);
    optimizer->p = p;
    optimizer->state_count = state_count;
    optimizer->tensor_count = tensors ? tensor_count : 1;

    int status = take_memory(optimizer);
    if (!status && tensors) status = read_tensors(optimizer, tensors);
    if (status) {
        linattn_optimizer_destroy(optimizer);
        return status;
    }
    if (!tensors) whole_tensor(optimizer);
    *out = optimizer;
    return LINATTN_OK;
}

int linattn_optimizer_create(linattn_optimizer **out, const linattn_optimizer_options *options, const linattn_tensor *tensors,
                             size_t tensor_count, size_t p) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    linattn_optimizer plan = {0};
    int status = linattn__options_read(&OPTIONS, &plan.options, options);
    if (status) return status;
    plan.rule = linattn__rule_find(plan.options.rule);
    if (!plan.rule) return linattn__fail_integer("rule", plan.options.rule, linattn__rule_list);
    status = linattn__common_options_check(&plan.options);
    if (!status) status = linattn__ranges_check(plan.rule->ranges, plan.rule->range_count, &plan.options);
    if (!status && plan.rule->validate) status = plan.rule->validate(&plan.options);
    if (status) return status;
    snprintf(plan.name, sizeof plan.name, "%s", plan.rule->name);

    size_t state_count;
    if (!linattn__multiply_sizes(plan.rule->parts, p, &state_count))
        return linattn__fail(LINATTN_EOVERFLOW, "%zu parameters do not fit in the address space", p);
    return create(out, &plan, tensors, tensor_count, p, state_count);
}

int linattn_optimizer_create_custom(linattn_optimizer **out, const linattn_optimizer_options *options,
                                    const linattn_custom_rule *rule, void *user, const linattn_tensor *tensors, size_t tensor_count,
                                    size_t p) {
    if (!out) return linattn__fail_null("out");
    *out = NULL;
    linattn_optimizer plan = {.user = user};
    int status = linattn__options_read(&OPTIONS, &plan.options, options);
    if (!status) status = linattn__common_options_check(&plan.options);
    if (!status) status = linattn__options_read(&CUSTOM, &plan.custom, rule);
    if (status) return status;
    if (!plan.custom.update) return linattn__fail_null("update");
    if (!plan.custom.name) return linattn__fail_null("name");
    const size_t length = strnlen(plan.custom.name, sizeof plan.name);
    if (length == 0 || length == sizeof plan.name)
        return linattn__fail(LINATTN_EINVAL, "name is \"%.40s\"; allowed: 1 to 39 characters", plan.custom.name);
    memcpy(plan.name, plan.custom.name, length);
    plan.options.rule = LINATTN_RULE_CUSTOM;
    return create(out, &plan, tensors, tensor_count, p, plan.custom.state_count);
}

void linattn__optimizer_retain(linattn_optimizer *optimizer) { linattn__owners_add(&optimizer->owners); }

void linattn_optimizer_destroy(linattn_optimizer *optimizer) {
    if (!optimizer || !linattn__owners_end(&optimizer->owners)) return;
    linattn__release(optimizer->tensors);
    linattn__release(optimizer->gradient);
    linattn__release(optimizer->old_theta);
    linattn__release(optimizer->state);
    linattn__release(optimizer->old_state);
    linattn__release(optimizer);
}

uint64_t linattn_optimizer_step_count(const linattn_optimizer *optimizer) { return optimizer ? optimizer->steps : 0; }
uint64_t linattn_optimizer_skip_count(const linattn_optimizer *optimizer) { return optimizer ? optimizer->skips : 0; }
size_t linattn_optimizer_state_count(const linattn_optimizer *optimizer) { return optimizer ? optimizer->state_count : 0; }

double linattn_optimizer_learning_rate(const linattn_optimizer *optimizer, uint64_t step) {
    return optimizer ? linattn__schedule(&optimizer->options, step) : NAN;
}

int linattn_optimizer_get_state(const linattn_optimizer *optimizer, double *state, uint64_t *steps, uint64_t *skips) {
    if (!optimizer) return linattn__fail_null("optimizer");
    if (state) memcpy(state, optimizer->state, optimizer->state_count * sizeof *state);
    if (steps) *steps = optimizer->steps;
    if (skips) *skips = optimizer->skips;
    return LINATTN_OK;
}

int linattn_optimizer_set_state(linattn_optimizer *optimizer, const double *state, uint64_t steps, uint64_t skips) {
    if (!optimizer) return linattn__fail_null("optimizer");
    if (!state && optimizer->state_count != 0) return linattn__fail_null("state");
    if (skips > steps) return linattn__fail_count("skips", skips, "at most steps");
    const int status = linattn__check_finite("state", state, optimizer->state_count);
    if (status) return status;
    if (optimizer->state_count != 0) memcpy(optimizer->state, state, optimizer->state_count * sizeof *state);
    optimizer->steps = steps;
    optimizer->skips = skips;
    return LINATTN_OK;
}

/* By way of scratch memory: out is written only when all of it is finite. */
int linattn_optimizer_preconditioner(const linattn_optimizer *optimizer, double *out) {
    if (!optimizer) return linattn__fail_null("optimizer");
    if (!out) return linattn__fail_null("out");
    const size_t p = optimizer->p;
    double *diagonal = optimizer->old_theta;
    if (!optimizer->rule || !optimizer->rule->preconditioner)
        return linattn__fail(LINATTN_EUNSUPPORTED, "the rule \"%s\" divides by no diagonal; allowed: rules that do, such as adam",
                             optimizer->name);
    int status =
        optimizer->rule->preconditioner(&optimizer->options, optimizer->state, p, optimizer->steps - optimizer->skips, diagonal);
    if (status == LINATTN_OK) status = linattn__check_finite("preconditioner", diagonal, p);
    if (status == LINATTN_OK) memcpy(out, diagonal, p * sizeof *out);
    return status;
}

/* The tensors' places matter only where something looks at tensors. */
static uint64_t tensor_digest(const linattn_optimizer *optimizer) {
    uint64_t digest = LINATTN__DIGEST_BEGIN;
    if (optimizer->options.clip != LINATTN_CLIP_TENSOR_NORM && optimizer->rule) return digest;
    for (size_t i = 0; i < optimizer->tensor_count; i++) {
        const linattn_tensor *tensor = &optimizer->tensors[i];
        const uint64_t place[3] = {tensor->offset, tensor->rows, tensor->columns};
        for (size_t j = 0; j < 3; j++) digest = linattn__digest_word(digest, place[j]);
    }
    return digest;
}

int linattn__optimizer_describe(const linattn_optimizer *optimizer, linattn__describe visit, void *user) {
    const linattn__rule *rule = optimizer->rule;
    int status = visit("optimizer.rule", (uint64_t)optimizer->options.rule, user);
    if (!status) status = visit("optimizer.parameters", optimizer->p, user);
    if (!status) status = linattn__common_options_describe(&optimizer->options, visit, user);
    if (!status && rule) status = linattn__ranges_describe(rule->ranges, rule->range_count, &optimizer->options, visit, user);
    if (!status) status = visit("optimizer.state_count", optimizer->state_count, user);
    if (!status) status = visit("optimizer.tensors.digest", tensor_digest(optimizer), user);
    return status;
}
