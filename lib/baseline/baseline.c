/* baseline.c: what every baseline shares: options, the loop over prompts, progress. */
#include "baseline/baseline.h"
#include "common/allocate.h"
#include "common/fail.h"
#include "common/options.h"

#include <string.h>

static const linattn__baseline *const TABLE[] = {
    [LINATTN_BASELINE_LEAST_SQUARES] = &linattn__baseline_least_squares,
    [LINATTN_BASELINE_GRADIENT_DESCENT] = &linattn__baseline_gradient_descent,
};

enum { BASELINES = sizeof TABLE / sizeof *TABLE };

static const linattn_baseline_options DEFAULTS = {.struct_size = sizeof(linattn_baseline_options), .steps = 1};
static const linattn__struct TYPE = {"linattn_baseline_options", sizeof DEFAULTS, sizeof DEFAULTS, &DEFAULTS};

/* Multiply-adds between two calls of progress: some milliseconds. */
static const double STRIDE = 1e7;

int linattn_baseline_options_init(linattn_baseline_options *options, size_t size) {
    return linattn__options_init(&TYPE, options, size);
}

int linattn__baseline_progress(linattn__baseline_run *run, double work) {
    run->done += work;
    if (!run->options->progress || run->done - run->announced < STRIDE) return LINATTN_OK;
    run->announced = run->done;
    const unsigned failures = linattn__failures();
    const double fraction = run->done < run->total ? run->done / run->total : 1;
    return linattn__callback_status("progress", run->options->progress(fraction, run->options->user), failures);
}

static int read_options(linattn_baseline_options *copy, const linattn_baseline_options *options, size_t d) {
    const int status = linattn__options_read(&TYPE, copy, options);
    if (status != LINATTN_OK) return status;
    if (copy->reserved != 0) return linattn__fail_integer("reserved", copy->reserved, "0");
    if (copy->baseline < 0 || copy->baseline >= BASELINES)
        return linattn__fail_integer("baseline", copy->baseline, "0 (least squares), 1 (gradient descent)");
    return TABLE[copy->baseline]->check(copy, d);
}

/* All prompts, into memory of the call's own: the caller's array is written when nothing can fail any more. */
static int predict_all(const linattn__baseline *baseline, linattn__baseline_run *run, double *out) {
    const size_t prompts = run->prompts->prompts;
    size_t space = 0;
    double work = 0;
    int status = baseline->size(run, &space, &work);
    if (status != LINATTN_OK) return status;
    run->total = work * (double)prompts;
    double *predictions = linattn__allocate(prompts, sizeof *predictions);
    run->space = linattn__allocate(space, sizeof *run->space);
    status = predictions && run->space ? LINATTN_OK : linattn__fail_memory("baseline predictions");
    for (size_t b = 0; status == LINATTN_OK && b < prompts; b++) status = baseline->predict(run, b, &predictions[b]);
    if (status == LINATTN_OK) memcpy(out, predictions, prompts * sizeof *out);
    linattn__release(predictions);
    linattn__release(run->space);
    return status;
}

int linattn_baseline_predict(const linattn_batch *batch, const linattn_baseline_options *options, double *out) {
    if (!batch) return linattn__fail_null("batch");
    if (!out) return linattn__fail_null("out");
    linattn_baseline_options read;
    const linattn__prompts *prompts = linattn__batch_prompts(batch);
    const int status = read_options(&read, options, prompts->dim);
    if (status != LINATTN_OK) return status;
    const linattn__baseline *baseline = TABLE[read.baseline];
    if (baseline->needs_tokens && !prompts->tokens)
        return linattn__fail(
            LINATTN_EUNSUPPORTED,
            "baseline is %d (least squares), which needs tokens, but the batch is of kind moments; allowed: a batch "
            "with tokens, or baseline 1 (gradient descent)",
            (int)read.baseline);
    linattn__baseline_run run = {.options = &read, .prompts = prompts};
    return predict_all(baseline, &run, out);
}
