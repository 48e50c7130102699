#include "condition_table.h"

#include "complain.h"
#include "crossed.h"
#include "plot.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was published of settings 1 to 3, by the diagonal: mean and sd over 6 seeds at steps 750 and 1250. The notebook is the
 * paper's public one for setting 1. */
static const struct published {
    const char *recipe;
    double mean[2], sd[2], notebook_mean[2], notebook_sd[2];
} published[] = {{"setting1", {1.76, 1.58}, {0.40, 0.41}, {2.57, 1.30}, {0.91, 0.78}},
                 {"setting2", {3.14, 5.98}, {0.97, 2.86}, {NAN, NAN}, {NAN, NAN}},
                 {"setting3", {9.57, 6.53}, {13.3, 3.55}, {NAN, NAN}, {NAN, NAN}}};

/* The row of this recipe, and the column of a step; NULL when there is none. */
static const struct published *find_published(const conditioning *s, size_t stop, size_t kind, size_t *column) {
    *column = s->stops[stop] == 1250;
    if (kind != DIAGONAL || (s->stops[stop] != 750 && s->stops[stop] != 1250)) return NULL;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (strcmp(published[i].recipe, s->e.recipe.name) == 0) return &published[i];
    return NULL;
}

/* ln of R_med(SGD) / R_med(Adam) at a stop on the first `batches` batches: out (seeds, batches). Seeds with a run that diverged
 * before, or with an R_med that is not finite, are left out. Returns how many there are among the first `seeds`. */
static size_t log_ratios(const conditioning *s, size_t stop, size_t kind, size_t seeds, size_t batches, double *out) {
    size_t count = 0;
    for (size_t seed = 0; seed < seeds; seed++) {
        int whole = 1;
        for (size_t batch = 0; batch < batches && whole; batch++) {
            const measured *sgd = conditioning_at(s, seed, SGD, stop, batch), *adam = conditioning_at(s, seed, ADAM, stop, batch);
            whole = sgd != NULL && adam != NULL;
            if (!whole) continue;
            out[count * batches + batch] = log(sgd->condition[kind] / adam->condition[kind]);
            whole = isfinite(out[count * batches + batch]) != 0;
        }
        count += whole != 0;
    }
    return count;
}

/* Everything that is said of one stop and kind. */
typedef struct answer {
    size_t stop;
    size_t kind;
    size_t pairs;
    double *ratios; /* (seeds), of which `pairs` are used */
    crossed all;
    estimate one_batch;   /* ratios of the first batch alone */
    estimate first_seeds; /* the same over the first 6 seeds */
    double small_low;     /* where 95% of the mean ratios of 6 seeds on one batch lie; NaN below 20 such means */
    double small_high;
} answer;

/* What studies of the published size would have found: the mean ratio of seeds 0 to 5, of 6 to 11 and so on, on each batch alone.
 * logs: (pairs, batches), overwritten. */
static void find_small_studies(double *logs, size_t pairs, size_t batches, answer *a) {
    static const double ends[2] = {0.025, 0.975};
    const size_t studies = pairs / CONDITION_TABLE_SEEDS * batches;
    double range[2] = {NAN, NAN};
    for (size_t i = 0; i < studies; i++) {
        const size_t first = i / batches * CONDITION_TABLE_SEEDS, batch = i % batches;
        double sum = 0;
        for (size_t k = 0; k < CONDITION_TABLE_SEEDS; k++) sum += exp(logs[(first + k) * batches + batch]);
        logs[i] = sum / CONDITION_TABLE_SEEDS; /* of these rows nothing else is read again */
    }
    if (studies >= 20) linattn_sample_quantiles(logs, studies, ends, 2, range);
    a->small_low = range[0];
    a->small_high = range[1];
}

/* logs: (seeds, batches); scratch: (seeds). */
static void find_answer(const conditioning *s, double *logs, double *scratch, answer *a) {
    const size_t seeds = (size_t)s->e.seeds, few = seeds < CONDITION_TABLE_SEEDS ? seeds : CONDITION_TABLE_SEEDS;
    size_t count = log_ratios(s, a->stop, a->kind, seeds, 1, logs);
    for (size_t i = 0; i < count; i++) logs[i] = exp(logs[i]);
    a->one_batch = estimate_of(logs, count);
    count = log_ratios(s, a->stop, a->kind, few, 1, logs);
    for (size_t i = 0; i < count; i++) logs[i] = exp(logs[i]);
    a->first_seeds = estimate_of(logs, count);
    a->pairs = log_ratios(s, a->stop, a->kind, seeds, (size_t)s->eval_batches, logs);
    if (a->pairs > 0) crossed_analyse(logs, a->pairs, (size_t)s->eval_batches, a->ratios, scratch, &a->all);
    find_small_studies(logs, a->pairs, (size_t)s->eval_batches, a);
}

static void print_begin(const conditioning *s, const answer *a) {
    printf("%-6" PRIu64 " %-12s", s->stops[a->stop], conditioning_kinds[a->kind]);
}

static void print_ratios(const conditioning *s, const answer *answers, size_t count) {
    printf("%-6s %-12s %-15s %-18s %-28s %-20s %-8s %s\n", "step", "numbers", "mean (sd)", "95% BCa", "geometric mean, over seeds",
           "seeds and batches", "median", "above 1");
    for (size_t i = 0; i < count; i++) {
        const answer *a = &answers[i];
        const crossed *c = &a->all;
        char mean[48], bca[48] = "-", wide[48] = "-", text[ESTIMATE_TEXT], share[ESTIMATE_TEXT];
        print_begin(s, a);
        if (a->pairs == 0) {
            printf(" no seed is left\n");
            continue;
        }
        snprintf(mean, sizeof mean, isnan(c->plain.sd) ? "%.3g" : "%.3g (%.2g)", c->plain.mean, c->plain.sd);
        if (isfinite(c->bca.low)) snprintf(bca, sizeof bca, "[%.3g, %.3g]", c->bca.low, c->bca.high);
        if (isfinite(c->wide_low)) snprintf(wide, sizeof wide, "[%.3g, %.3g]", c->wide_low, c->wide_high);
        printf(" %-15s %-18s %-28s %-20s %-8.3g %s\n", mean, bca,
               estimate_print(c->geometric.mean, c->geometric.low, c->geometric.high, text), wide, c->median,
               estimate_print(c->above.estimate, c->above.low, c->above.high, share));
    }
}

/* "1.76 (0.40)" or "-", in a column. */
static void print_pair(double mean, double sd) {
    char text[48] = "-";
    if (isfinite(mean)) snprintf(text, sizeof text, isnan(sd) ? "%.3g" : "%.3g (%.2f)", mean, sd);
    printf(" %-16s", text);
}

static void print_one_batch(const conditioning *s, const answer *answers, size_t count) {
    const size_t few = s->e.seeds < CONDITION_TABLE_SEEDS ? (size_t)s->e.seeds : CONDITION_TABLE_SEEDS;
    char all[32], first[32];
    snprintf(all, sizeof all, "%" PRIu64 " seeds", s->e.seeds);
    snprintf(first, sizeof first, "first %zu seeds", few);
    printf("\nOn one evaluation batch, as it was published; mean (sd) over seeds on the first one, and where 95%% of the means of\n"
           "%d seeds on any one batch lie:\n",
           CONDITION_TABLE_SEEDS);
    printf("%-6s %-12s %-16s %-16s %-16s %-16s %s\n", "step", "numbers", all, first, "95% of means", "published", "its notebook");
    for (size_t i = 0; i < count; i++) {
        const answer *a = &answers[i];
        size_t column;
        char range[48] = "-";
        const struct published *known = find_published(s, a->stop, a->kind, &column);
        print_begin(s, a);
        print_pair(a->one_batch.mean, a->one_batch.sd);
        print_pair(a->first_seeds.mean, a->first_seeds.sd);
        if (isfinite(a->small_low)) snprintf(range, sizeof range, "%.3g to %.3g", a->small_low, a->small_high);
        printf(" %-16s", range);
        print_pair(known == NULL ? NAN : known->mean[column], known == NULL ? NAN : known->sd[column]);
        print_pair(known == NULL ? NAN : known->notebook_mean[column], known == NULL ? NAN : known->notebook_sd[column]);
        printf("\n");
    }
}

static void print_components(const conditioning *s, const answer *answers, size_t count) {
    int negative = 0;
    printf("\nWhat moves ln(ratio); sd of each part:\n%-6s %-12s %-14s %-18s %s\n", "step", "numbers", "between seeds",
           "between batches", "rest");
    for (size_t i = 0; i < count; i++) {
        const crossed *c = &answers[i].all;
        print_begin(s, &answers[i]);
        if (answers[i].pairs < 2 || s->eval_batches < 2)
            printf(" wants two seeds and two batches\n");
        else
            printf(" %-14.3f %-18.3f %.3f\n", c->sd_seeds, c->sd_batches, c->sd_rest);
        negative |= c->negative;
    }
    if (negative) printf("An estimate of a variance below 0 is shown as 0: that part is too small to be seen.\n");
}

static void print_levels(const conditioning *s, const answer *answers, size_t count, double *logs) {
    printf("\nR_med itself; geometric means over seeds and batches:\n%-6s %-12s %-10s %-10s %s\n", "step", "numbers", "SGD", "Adam",
           "Adam, preconditioned");
    for (size_t i = 0; i < count; i++) {
        const answer *a = &answers[i];
        print_begin(s, a);
        printf(" %-10.4g %-10.4g", conditioning_typical(s, SGD, a->stop, a->kind, logs),
               conditioning_typical(s, ADAM, a->stop, a->kind, logs));
        if (a->kind == EIGENVALUES) printf(" %.4g", conditioning_typical(s, ADAM, a->stop, PRECONDITIONED, logs));
        printf("\n");
    }
}

static void print_table(const conditioning *s, const answer *answers, size_t count, double *logs) {
    char recipe[120];
    experiment_describe(&s->e, recipe, sizeof recipe);
    printf("%s; R_med(SGD) / R_med(Adam), %" PRIu64 " seeds x %" PRIu64 " evaluation batches of %" PRIu64 " prompts\n\n", recipe,
           s->e.seeds, s->eval_batches, s->eval_prompts);
    print_ratios(s, answers, count);
    print_one_batch(s, answers, count);
    print_components(s, answers, count);
    print_levels(s, answers, count, logs);
    printf(
        "\nR_med = max |x| / median |x|, lower median, of the Hessian's diagonal or of its eigenvalues. A seed's ratio is the\n"
        "geometric mean over the batches. Intervals: 95%%, Student's t on logs, BCa for the mean, Wilson for the share; all but\n"
        "\"seeds and batches\" hold for these evaluation batches.\n");
}

/* A row for each step and kind: what the table says. */
static int write_summary(const conditioning *s, const answer *answers, size_t count) {
    output file;
    const int status = experiment_open(&s->e, "_summary.csv",
                                       "recipe,step,numbers,seeds,mean,sd,geometric_mean,low,high,wide_low,wide_high,above,"
                                       "above_low,above_high,one_batch_mean,one_batch_sd\n",
                                       &file);
    if (status != 0) return status;
    for (size_t i = 0; i < count; i++) {
        const answer *a = &answers[i];
        const crossed *c = &a->all;
        const double numbers[] = {(double)a->pairs,  c->plain.mean,     c->plain.sd,    c->geometric.mean, c->geometric.low,
                                  c->geometric.high, c->wide_low,       c->wide_high,   c->above.estimate, c->above.low,
                                  c->above.high,     a->one_batch.mean, a->one_batch.sd};
        if (a->pairs == 0) continue;
        output_text(&file, s->e.recipe.name);
        output_text(&file, ",");
        output_count(&file, s->stops[a->stop]);
        output_text(&file, ",");
        output_text(&file, conditioning_kinds[a->kind]);
        output_numbers(&file, numbers, sizeof numbers / sizeof *numbers);
    }
    return output_close(&file);
}

/* ---- Picture ----------------------------------------------------------------------------------------------------------------- */

static const char *const colours[] = {"#1f77b4", "#ff9e4a"}; /* diagonal, eigenvalues */

/* Each seed a dot; beside them the geometric mean with the wide interval, and what was published. */
static int draw_ratios(const conditioning *s, const answer *answers, size_t count) {
    enum { MOST = CONDITION_TABLE_STOPS * COMPARED };
    const size_t seeds = (size_t)s->e.seeds;
    double *x = calloc(count * seeds, sizeof *x), at[MOST], middle[MOST], low[MOST], high[MOST];
    double known_at[MOST], known[MOST], known_low[MOST], known_high[MOST];
    char names[MOST][48], title[160], caption[200];
    const char *categories[MOST];
    plot_series series[MOST + 2];
    size_t known_count = 0, drawn = 0;
    if (x == NULL) return complain(EXIT_FAILED, "no memory for the picture");
    for (size_t i = 0; i < count; i++) {
        const answer *a = &answers[i];
        const crossed *c = &a->all;
        size_t column;
        const struct published *of = find_published(s, a->stop, a->kind, &column);
        snprintf(names[i], sizeof names[i], "%s, %" PRIu64, conditioning_kinds[a->kind], s->stops[a->stop]);
        categories[i] = names[i];
        for (size_t n = 0; n < a->pairs; n++) /* the golden ratio spreads them out */
            x[i * seeds + n] = (double)i - 0.12 + 0.24 * (fmod((double)(n + 1) * 0.61803398875, 1) - 0.5);
        series[i] = (plot_series){
            .kind = PLOT_DOTS, .colour = colours[a->kind], .size = 0.7, .count = a->pairs, .x = x + i * seeds, .y = a->ratios};
        if (a->pairs > 0) {
            const int wide = isfinite(c->wide_low) != 0;
            at[drawn] = (double)i + 0.12;
            middle[drawn] = c->geometric.mean;
            low[drawn] = wide ? c->wide_low : c->geometric.low;
            high[drawn++] = wide ? c->wide_high : c->geometric.high;
        }
        if (of == NULL) continue;
        known_at[known_count] = (double)i + 0.28;
        known[known_count] = of->mean[column];
        /* An axis of logarithms has no place for a mean less an sd that is larger. */
        known_low[known_count] = fmax(of->mean[column] - of->sd[column], of->mean[column] / 4);
        known_high[known_count++] = of->mean[column] + of->sd[column];
    }
    series[0].label = "seeds";
    size_t used = count;
    series[used++] = (plot_series){
        PLOT_DOTS, s->eval_batches > 1 ? "geometric mean, 95% over seeds and batches" : "geometric mean, 95% over seeds",
        "#d62728", 0,
        1.5,       drawn,
        at,        middle,
        low,       high,
        NULL};
    if (known_count > 0)
        series[used++] = (plot_series){
            PLOT_DOTS, "published mean ± sd of 6 seeds", "#555555", 0, 1.2, known_count, known_at, known, known_low, known_high,
            NULL};
    const plot_guide equal = {0, 1};
    const plot_panel panel = {.x_label = "of the Hessian's ..., at step",
                              .y_label = "R_med(SGD) / R_med(Adam)",
                              .series = series,
                              .count = used,
                              .guides = &equal,
                              .guide_count = 1,
                              .categories = categories,
                              .category_count = count,
                              .log_y = 1};
    char recipe[120];
    experiment_describe(&s->e, recipe, sizeof recipe);
    snprintf(title, sizeof title, "Robust condition numbers, %s", recipe);
    snprintf(caption, sizeof caption,
             "%" PRIu64 " seeds, a dot each: geometric mean over %" PRIu64 " evaluation batches of %" PRIu64, s->e.seeds,
             s->eval_batches, s->eval_prompts);
    const plot picture = {title, caption, &panel, 1, NULL};
    const int status = plot_write(&picture, s->e.folder, s->e.name);
    free(x);
    return status;
}

int condition_table(const conditioning *s) {
    const size_t count = s->plan.stop_count * COMPARED, seeds = (size_t)s->e.seeds;
    answer answers[CONDITION_TABLE_STOPS * COMPARED] = {{0}};
    double *ratios = calloc(count * seeds, sizeof *ratios), *scratch = calloc(seeds, sizeof *scratch);
    double *logs = calloc(seeds * (size_t)s->eval_batches, sizeof *logs);
    int status = 0;
    if (ratios == NULL || scratch == NULL || logs == NULL) status = complain(EXIT_FAILED, "no memory for the table");
    size_t pairs = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        answers[i] = (answer){.stop = i / COMPARED, .kind = i % COMPARED, .ratios = ratios + i * seeds};
        find_answer(s, logs, scratch, &answers[i]);
        pairs += answers[i].pairs;
    }
    if (status == 0) print_table(s, answers, count, logs);
    if (status == 0) status = write_summary(s, answers, count);
    if (status == 0 && pairs > 0) status = draw_ratios(s, answers, count);
    free(ratios);
    free(scratch);
    free(logs);
    return status;
}
