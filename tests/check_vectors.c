/* check_vectors FOLDER: the library against every file of known answers in a folder, under every kernel this machine can run.
 *
 * Predictions, loss and gradient must agree to 1e-11 of the largest entry; Hessian-vector product, Hessian, its diagonal and its
 * eigenvalues to 1e-10, both robust condition numbers to 1e-9, where the file has them. A file whose model does not exist yet is
 * skipped, by name. Says first which BLAS answers. Ends at the first mismatch, with exit status 1; a folder without any file that
 * could be checked is a failure too. */
#include "model/model.h"
#include "sampler/prompts.h"
#include "support/vectors.h"

#include <dirent.h>
#include <float.h>
#include <linattn/linattn.h>
#include <linattn/spectrum.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double first_order = 1e-11, second_order = 1e-10, ratio = 1e-9;

/* Says what is wrong and returns 0; 1 when all of `got` is within the tolerance of `wanted`. NaN never is. */
static int agree(const char *file, const char *kernel, const char *what, double tolerance, const double *got, const double *wanted,
                 size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(wanted[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - wanted[i]) <= tolerance * largest)) {
            printf("%s: %s (%s): entry %zu is %.17g, wanted %.17g (largest %.3g)\n", file, what, kernel, i, got[i], wanted[i],
                   largest);
            return 0;
        }
    return 1;
}

static int failed(const char *file, const char *call) {
    printf("%s: %s: %s\n", file, call, linattn_last_message());
    return 0;
}

static int has(const known_answer *a, const char *name) {
    for (size_t i = 0; i < a->arrays; i++)
        if (strcmp(a->array_name[i], name) == 0) return 1;
    return 0;
}

/* The robust condition number of values (count) against the file's. Where the file divides by rounding noise, for a median that is
 * 0, Inf is meant. */
static int check_condition(const char *file, const char *kernel, const known_answer *a, const char *name, int32_t kind,
                           const double *values, size_t count) {
    linattn_condition got = {.struct_size = sizeof got};
    if (!has(a, name)) return 1;
    const double *wanted = known_answer_array(a, name, 1);
    if (!wanted) return 0;
    if (linattn_robust_condition(values, count, kind, LINATTN_MEDIAN_LOWER, &got) != LINATTN_OK) return failed(file, name);
    const int noise = kind == LINATTN_CONDITION_EIGENVALUES && *wanted * (double)count * DBL_EPSILON >= 1;
    if (isinf(*wanted) || noise) {
        if (isinf(got.value)) return 1;
        printf("%s: %s (%s) is %.17g, wanted inf\n", file, name, kernel, got.value);
        return 0;
    }
    return agree(file, kernel, name, ratio, &got.value, wanted, 1);
}

/* Eigenvalues and condition numbers of a Hessian (p, p) with its diagonal (p). */
static int check_spectrum(const char *file, const char *kernel, const known_answer *a, const double *hessian,
                          const double *diagonal, size_t p) {
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    if (!check_condition(file, kernel, a, "robust_condition_diagonal_lower_median", LINATTN_CONDITION_DIAGONAL, diagonal, p))
        return 0;
    if (!has(a, "eigenvalues")) return 1;
    const double *wanted = known_answer_array(a, "eigenvalues", p);
    double *eigenvalues = calloc(p, sizeof *eigenvalues);
    int good = wanted && eigenvalues;
    if (good && linattn_matrix_spectrum(hessian, p, eigenvalues, NULL, &spectrum) != LINATTN_OK) good = failed(file, "spectrum");
    good = good && agree(file, kernel, "eigenvalues", second_order, eigenvalues, wanted, p) &&
           check_condition(file, kernel, a, "robust_condition_eigen_lower_median", LINATTN_CONDITION_EIGENVALUES, eigenvalues, p);
    free(eigenvalues);
    return good;
}

/* Second derivatives of one kernel; room: (p + p * p). */
static int check_curvature(const char *file, const char *name, const known_answer *a, linattn_objective *f, const double *theta,
                           size_t p, double *room) {
    const double *direction = known_answer_array(a, "direction", p), *product = known_answer_array(a, "hessian_direction", p);
    if (!direction || !product) return 0;
    if (linattn_objective_hvp(f, 0, theta, direction, 1, room) != LINATTN_OK) return failed(file, "hvp");
    if (!agree(file, name, "hessian_direction", second_order, room, product, p)) return 0;
    if (!has(a, "hessian_diagonal")) return 1;
    double *hessian = room + p;
    if (linattn_objective_hessian(f, 0, theta, hessian) != LINATTN_OK) return failed(file, "hessian");
    for (size_t i = 0; i < p; i++) room[i] = hessian[i * p + i];
    const double *diagonal = known_answer_array(a, "hessian_diagonal", p);
    if (!diagonal || !agree(file, name, "hessian_diagonal", second_order, room, diagonal, p)) return 0;
    if (!check_spectrum(file, name, a, hessian, room, p)) return 0;
    if (!has(a, "hessian")) return 1;
    const double *wanted = known_answer_array(a, "hessian", p * p);
    return wanted && agree(file, name, "hessian", second_order, hessian, wanted, p * p);
}

/* Loss, gradient, predictions and second derivatives of one kernel. */
static int check_kernel(const char *file, const known_answer *a, const linattn_model *model, const linattn_batch *batch,
                        int32_t kernel) {
    const size_t p = linattn_model_parameter_count(model), prompts = linattn_batch_prompts(batch);
    const double *theta = known_answer_array(a, "theta", p), *gradient = known_answer_array(a, "gradient", p);
    const double *loss = known_answer_array(a, "loss", 1), *prediction = known_answer_array(a, "prediction", prompts);
    if (!theta || !gradient || !loss || !prediction) return 0;
    linattn_objective_options options;
    linattn_objective *f = NULL;
    linattn_objective_options_init(&options, sizeof options);
    options.kernel = kernel;
    double *got = calloc(p + prompts, sizeof *got), *second = calloc(p + p * p, sizeof *second), value = NAN;
    const char *name = linattn_kernel_name(kernel);
    enum linattn__isa isa;
    int good = got != NULL && second != NULL && linattn__isa_resolve(kernel, &isa) == LINATTN_OK;
    if (good && linattn_objective_create_fixed(&f, model, batch, &options) != LINATTN_OK) good = failed(file, "objective");
    if (good && linattn_objective_gradient(f, 0, theta, &value, got) != LINATTN_OK) good = failed(file, "gradient");
    if (good && linattn__model_predict(model, batch, isa, theta, got + p) != LINATTN_OK) good = failed(file, "predict");
    good = good && agree(file, name, "loss", first_order, &value, loss, 1) &&
           agree(file, name, "gradient", first_order, got, gradient, p) &&
           agree(file, name, "prediction", first_order, got + p, prediction, prompts) &&
           check_curvature(file, name, a, f, theta, p, second);
    linattn_objective_destroy(f);
    free(got);
    free(second);
    return good;
}

static const char *const attentions[] = {"linear", "softmax", "softmax_context", "relu"};

/* 1 checked, 0 failed, -1 skipped. */
static int check_file(const char *file, const known_answer *a) {
    const char *attention = known_answer_config(a, "attention"), *form = known_answer_config(a, "form");
    const size_t prompts = known_answer_size(a, "B"), context = known_answer_size(a, "n"), dim = known_answer_size(a, "d");
    const double *tokens = known_answer_array(a, "Z", prompts * (context + 1) * (dim + 1));
    const double *targets = known_answer_array(a, "target", prompts);
    linattn_model_options options;
    linattn_model_options_init(&options, sizeof options);
    options.dim = dim;
    options.layers = known_answer_size(a, "layers");
    options.heads = known_answer_size(a, "heads");
    while (options.attention < 4 && strcmp(attention, attentions[options.attention]) != 0) options.attention++;
    if (options.attention == 4) return -1;
    options.mlp_hidden = known_answer_size(a, "mlp_hidden");
    options.ff_hidden = known_answer_size(a, "ff_hidden");
    options.qk_rank = known_answer_size(a, "qk_rank");
    options.form = strcmp(form, "full") == 0 ? LINATTN_FORM_FULL : LINATTN_FORM_BLOCK;
    linattn_model *model = NULL;
    linattn_batch *batch = NULL;
    int good = tokens && targets;
    if (good && linattn_model_create(&model, &options) != LINATTN_OK) good = failed(file, "model");
    if (good && linattn_batch_create_from_arrays(&batch, tokens, targets, prompts, context, dim) != LINATTN_OK)
        good = failed(file, "batch");
    if (good && linattn_model_parameter_count(model) != known_answer_size(a, "nparams")) {
        printf("%s: %zu parameters, wanted %zu\n", file, linattn_model_parameter_count(model), known_answer_size(a, "nparams"));
        good = 0;
    }
    for (int32_t kernel = LINATTN_KERNEL_BASELINE; good && kernel <= LINATTN_KERNEL_AVX512; kernel++)
        if (linattn_kernel_available(kernel)) good = check_kernel(file, a, model, batch, kernel);
    linattn_batch_destroy(batch);
    linattn_model_destroy(model);
    return good;
}

static int is_vector(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: check_vectors FOLDER\n"), 2;
    struct dirent **entries;
    const int count = scandir(argv[1], &entries, is_vector, alphasort);
    if (count < 0) return fprintf(stderr, "check_vectors: cannot read the folder %s\n", argv[1]), 2;
    size_t checked = 0, skipped = 0;
    int good = 1;
    char blas[LINATTN_BLAS_INFO_SIZE];
    linattn_blas_info(blas);
    printf("  BLAS: %s\n", blas);
    for (int i = 0; i < count; i++) {
        char path[4096];
        known_answer answer;
        snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
        if (good && (good = known_answer_read(&answer, path) == 0)) {
            const int result = check_file(entries[i]->d_name, &answer);
            printf("  %s %s\n", result > 0 ? "ok  " : result < 0 ? "skip" : "FAIL", entries[i]->d_name);
            checked += result > 0;
            skipped += result < 0;
            good = result != 0;
            known_answer_release(&answer);
        }
        free(entries[i]);
    }
    free(entries);
    printf("known answers: %zu agree, %zu skipped (model not in this version)%s\n", checked, skipped,
           good ? "" : ", the last one FAILED");
    return good && checked > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
