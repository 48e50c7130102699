/* hessian.c: spectra, robust condition numbers and heterogeneity of a Hessian, or of what a preconditioner makes of it. */
#include "common/allocate.h"
#include "common/fail.h"
#include "diagnostics/diagnostics.h"
#include "spectrum/spectrum.h"

#include <math.h>
#include <string.h>

static const linattn_curvature_options defaults = {.struct_size = sizeof(linattn_curvature_options)};
static const linattn__struct options_type = {"linattn_curvature_options", sizeof defaults, sizeof defaults, &defaults};
static const linattn__struct heterogeneity_type = {"linattn_heterogeneity", sizeof(linattn_heterogeneity),
                                                   sizeof(linattn_heterogeneity), NULL};

int linattn_curvature_options_init(linattn_curvature_options *options, size_t size) {
    return linattn__options_init(&options_type, options, size);
}

/* Afterwards count is q, never 0. */
static int read_options(linattn_curvature_options *read, const linattn_curvature_options *options, size_t p) {
    const int status = linattn__options_read(&options_type, read, options ? options : &defaults);
    if (status != LINATTN_OK) return status;
    if (read->first >= p) return linattn__fail_count("first", read->first, "below p");
    if (read->count > p - read->first) return linattn__fail_count("count", read->count, "first + count at most p");
    if (read->count == 0) read->count = p - read->first;
    if (read->reserved != 0) return linattn__fail_integer("reserved", read->reserved, "0");
    if (read->median_rule != LINATTN_MEDIAN_LOWER && read->median_rule != LINATTN_MEDIAN_MEAN)
        return linattn__fail_integer("median_rule", read->median_rule, "0 (lower), 1 (mean)");
    return read->preconditioner ? linattn__preconditioner_check("preconditioner", read->preconditioner, p) : LINATTN_OK;
}

/* The block of D^(-1/2) H D^(-1/2), to be released; *matrix is NULL on failure. Whether LAPACK could take it is asked first. */
static int make_block(linattn_diagnostics *d, uint64_t draw, const double *theta, const double *preconditioner, size_t first,
                      size_t count, int vectors, double **matrix) {
    *matrix = NULL;
    int status = linattn__spectrum_fits(count, vectors);
    if (status != LINATTN_OK) return status;
    double *block = linattn__allocate(count, count * sizeof *block);
    if (!block) return linattn__fail_memory("a Hessian");
    status = linattn_objective_hessian_block(d->objective, draw, theta, first, count, block);
    if (status == LINATTN_OK && preconditioner) status = linattn_matrix_precondition(block, count, preconditioner + first, block);
    if (status == LINATTN_OK)
        *matrix = block;
    else
        linattn__release(block);
    return status;
}

int linattn_diagnostics_spectrum(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                 const linattn_curvature_options *options, double *eigenvalues, double *vectors,
                                 linattn_spectrum *out) {
    linattn_curvature_options read;
    double *matrix;
    int status = linattn__diagnostics_check(diagnostics, theta);
    if (status == LINATTN_OK) status = read_options(&read, options, diagnostics->parameters);
    if (status == LINATTN_OK) status = linattn__result_check(&linattn__spectrum_type, out);
    if (status != LINATTN_OK) return status;
    diagnostics->busy = 1;
    linattn__diagnostics_expect(diagnostics, 0, 1);
    status = make_block(diagnostics, draw, theta, read.preconditioner, read.first, read.count, vectors != NULL, &matrix);
    if (status == LINATTN_OK) status = linattn__spectrum_of(matrix, read.count, eigenvalues, vectors, out);
    linattn__release(matrix);
    diagnostics->busy = 0;
    return status;
}

/* The diagonal of D^(-1/2) H D^(-1/2) alone, (q), rounded as linattn_matrix_precondition rounds it. */
static int make_diagonal(linattn_diagnostics *d, uint64_t draw, const double *theta, const linattn_curvature_options *options,
                         double *diagonal) {
    int status = linattn_objective_hessian_diagonal(d->objective, draw, theta, options->first, options->count, diagonal);
    for (size_t i = 0; status == LINATTN_OK && options->preconditioner && i < options->count; i++) {
        const double root = sqrt(options->preconditioner[options->first + i]);
        diagonal[i] /= root * root;
    }
    return status;
}

/* Eigenvalues and diagonal (q) each; eigenvalues may be NULL. */
static int measure(linattn_diagnostics *d, uint64_t draw, const double *theta, const linattn_curvature_options *options,
                   double *eigenvalues, double *diagonal) {
    if (!eigenvalues) return make_diagonal(d, draw, theta, options, diagonal);
    const size_t q = options->count;
    double *matrix;
    linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
    int status = make_block(d, draw, theta, options->preconditioner, options->first, q, 0, &matrix);
    for (size_t i = 0; status == LINATTN_OK && i < q; i++) diagonal[i] = matrix[i * q + i];
    if (status == LINATTN_OK) status = linattn__spectrum_of(matrix, q, eigenvalues, NULL, &spectrum);
    linattn__release(matrix);
    return status;
}

int linattn_diagnostics_robust_condition(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                         const linattn_curvature_options *options, linattn_condition *by_eigenvalues,
                                         linattn_condition *by_diagonal) {
    linattn_curvature_options read;
    int status = linattn__diagnostics_check(diagnostics, theta);
    if (status == LINATTN_OK) status = read_options(&read, options, diagnostics->parameters);
    if (status == LINATTN_OK && !by_eigenvalues && !by_diagonal)
        status = linattn__fail(LINATTN_EINVAL, "by_eigenvalues and by_diagonal are both NULL");
    if (status == LINATTN_OK && by_eigenvalues) status = linattn__result_check(&linattn__condition_type, by_eigenvalues);
    if (status == LINATTN_OK && by_diagonal) status = linattn__result_check(&linattn__condition_type, by_diagonal);
    if (status != LINATTN_OK) return status;
    double *diagonal = linattn__allocate(read.count, 2 * sizeof *diagonal);
    if (!diagonal) return linattn__fail_memory("condition numbers");
    double *eigenvalues = by_eigenvalues ? diagonal + read.count : NULL;
    linattn_condition first = {.struct_size = sizeof first}, second = {.struct_size = sizeof second};
    diagnostics->busy = 1;
    linattn__diagnostics_expect(diagnostics, 0, 1);
    status = measure(diagnostics, draw, theta, &read, eigenvalues, diagonal);
    diagnostics->busy = 0;
    if (status == LINATTN_OK && by_eigenvalues)
        status = linattn_robust_condition(eigenvalues, read.count, LINATTN_CONDITION_EIGENVALUES, read.median_rule, &first);
    if (status == LINATTN_OK)
        status = linattn_robust_condition(diagonal, read.count, LINATTN_CONDITION_DIAGONAL, read.median_rule, &second);
    if (status == LINATTN_OK && by_eigenvalues) linattn__result_write(&linattn__condition_type, by_eigenvalues, &first);
    if (status == LINATTN_OK && by_diagonal) linattn__result_write(&linattn__condition_type, by_diagonal, &second);
    linattn__release(diagonal);
    return status;
}

static int check_boundaries(const size_t *boundaries, size_t blocks, size_t p) {
    if (!boundaries) return linattn__fail_null("boundaries");
    if (blocks < 1 || blocks > p) return linattn__fail_count("blocks", blocks, "1 to p");
    for (size_t i = 0; i < blocks; i++)
        if (boundaries[i] >= boundaries[i + 1])
            return linattn__fail(LINATTN_EINVAL, "boundaries[%zu] is %zu, boundaries[%zu] is %zu; allowed: ascending", i,
                                 boundaries[i], i + 1, boundaries[i + 1]);
    if (boundaries[blocks] > p) return linattn__fail_count("the last of boundaries", boundaries[blocks], "at most p");
    return LINATTN_OK;
}

/* The eigenvalues of all blocks, one after the other, (boundaries_last - boundaries_0). */
static int block_spectra(linattn_diagnostics *d, uint64_t draw, const double *theta, const size_t *boundaries, size_t blocks,
                         const double *preconditioner, double *eigenvalues) {
    const double all = (double)(boundaries[blocks] - boundaries[0]);
    int status = LINATTN_OK;
    for (size_t i = 0; status == LINATTN_OK && i < blocks; i++) {
        const size_t done = boundaries[i] - boundaries[0], count = boundaries[i + 1] - boundaries[i];
        double *matrix;
        linattn_spectrum spectrum = {.struct_size = sizeof spectrum};
        linattn__diagnostics_expect(d, (double)done / all, (double)count / all);
        status = make_block(d, draw, theta, preconditioner, boundaries[i], count, 0, &matrix);
        if (status == LINATTN_OK) status = linattn__spectrum_of(matrix, count, eigenvalues + done, NULL, &spectrum);
        linattn__release(matrix);
    }
    return status;
}

/* Each pair once. */
static int compare_spectra(const double *eigenvalues, const size_t *boundaries, size_t blocks, double relative_width,
                           double *distances, linattn_heterogeneity *result) {
    int status = LINATTN_OK;
    double sum = 0, largest = NAN;
    for (size_t i = 0; i < blocks; i++)
        for (size_t j = 0; status == LINATTN_OK && j < i; j++) {
            linattn_spectra_distance pair = {.struct_size = sizeof pair};
            status = linattn_spectra_compare(eigenvalues + (boundaries[i] - boundaries[0]), boundaries[i + 1] - boundaries[i],
                                             eigenvalues + (boundaries[j] - boundaries[0]), boundaries[j + 1] - boundaries[j],
                                             relative_width, &pair);
            distances[i * blocks + j] = distances[j * blocks + i] = pair.distance;
            sum += pair.distance;
            largest = fmax(largest, pair.distance);
        }
    result->blocks = blocks;
    result->mean_distance = blocks > 1 ? sum / ((double)blocks * (double)(blocks - 1) / 2) : NAN;
    result->largest_distance = largest;
    return status;
}

int linattn_diagnostics_heterogeneity(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta,
                                      const size_t *boundaries, size_t blocks, const double *preconditioner, double relative_width,
                                      double *distances, linattn_heterogeneity *out) {
    int status = linattn__diagnostics_check(diagnostics, theta);
    if (status == LINATTN_OK) status = check_boundaries(boundaries, blocks, diagnostics->parameters);
    if (status == LINATTN_OK && preconditioner)
        status = linattn__preconditioner_check("preconditioner", preconditioner, diagnostics->parameters);
    if (status == LINATTN_OK) status = linattn__relative_width_check(relative_width);
    if (status == LINATTN_OK) status = linattn__result_check(&heterogeneity_type, out);
    if (status != LINATTN_OK) return status;
    double *eigenvalues = linattn__allocate(boundaries[blocks] - boundaries[0], sizeof *eigenvalues);
    double *pairs = linattn__allocate(blocks, blocks * sizeof *pairs);
    if (eigenvalues && pairs) {
        linattn_heterogeneity result = {0};
        diagnostics->busy = 1;
        status = block_spectra(diagnostics, draw, theta, boundaries, blocks, preconditioner, eigenvalues);
        diagnostics->busy = 0;
        if (status == LINATTN_OK) status = compare_spectra(eigenvalues, boundaries, blocks, relative_width, pairs, &result);
        if (status == LINATTN_OK) linattn__result_write(&heterogeneity_type, out, &result);
        if (status == LINATTN_OK && distances) memcpy(distances, pairs, blocks * blocks * sizeof *pairs);
    } else {
        status = linattn__fail_memory("the spectra of blocks");
    }
    linattn__release(eigenvalues);
    linattn__release(pairs);
    return status;
}
