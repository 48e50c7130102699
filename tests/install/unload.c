/* unload.c (Case K8): the library in a program that loads and unloads it. unload <path of the library>
 *
 * 50 threads, one after the other: load it, take eigenvalues and a gradient on worker threads, unload it, end. Nothing crashes,
 * hangs or grows. At last the process ends with handles alive and their workers parked. */
#include <dlfcn.h>
#include <linattn/linattn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 50, SETTLED = 10, P = 24, PROMPTS = 200 };

static const char *path;

/* Pointers to functions are not those to data in ISO C: so their bytes are copied. */
static int find(void *library, const char *name, void *function) {
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol == NULL;
}

#define FIND(name)                                                                                                                 \
    __typeof__(&linattn_##name) name;                                                                                              \
    if (find(library, "linattn_" #name, &name)) return 2

/* The matrix with 2 on its diagonal and -1 beside it: eigenvalues 2 - 2 cos(k pi / (P + 1)), k = 1, ..., P. */
static int eigenvalues(void *library) {
    FIND(matrix_spectrum);
    double matrix[P * P] = {0}, lambda[P];
    for (int i = 0; i < P; i++) {
        matrix[i * P + i] = 2;
        if (i > 0) matrix[i * P + i - 1] = matrix[(i - 1) * P + i] = -1;
    }
    linattn_spectrum out = {.struct_size = sizeof out};
    if (matrix_spectrum(matrix, P, lambda, NULL, &out) != LINATTN_OK) return 3;
    for (int k = 1; k <= P; k++)
        if (fabs(lambda[k - 1] - 2 + 2 * cos(k * acos(-1) / (P + 1))) > 1e-12) return 4;
    return 0;
}

/* An objective with workers that have worked; *destroy can destroy it. */
static int work(void *library, linattn_objective **f, void (**destroy)(linattn_objective *)) {
    FIND(sampler_options_init);
    FIND(sampler_create);
    FIND(sampler_destroy);
    FIND(model_options_init);
    FIND(model_create);
    FIND(model_destroy);
    FIND(objective_options_init);
    FIND(objective_create_sampled);
    FIND(objective_destroy);
    FIND(objective_gradient);
    linattn_sampler_options data;
    linattn_model_options shape;
    linattn_objective_options options;
    linattn_sampler *sampler;
    linattn_model *model;
    if (sampler_options_init(&data, sizeof data) || model_options_init(&shape, sizeof shape) ||
        objective_options_init(&options, sizeof options))
        return 5;
    data.dim = shape.dim = 2;
    data.context = 4;
    shape.layers = 3;
    options.threads = 3;
    if (sampler_create(&sampler, &data) || model_create(&model, &shape) ||
        objective_create_sampled(f, model, sampler, PROMPTS, &options))
        return 6;
    sampler_destroy(sampler);
    model_destroy(model);
    const double theta[P] = {0.1};
    double gradient[P];
    *destroy = objective_destroy;
    return objective_gradient(*f, 0, theta, NULL, gradient) == LINATTN_OK ? 0 : 7;
}

static int whole_life(void) {
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) return 1;
    linattn_objective *f = NULL;
    void (*destroy)(linattn_objective *) = NULL;
    int status = eigenvalues(library);
    if (status == 0) status = work(library, &f, &destroy);
    if (dlclose(library) != 0) return 8;
    if (destroy != NULL) destroy(f); /* workers outlive dlclose, and so does their code */
    return status;
}

static void *thread_main(void *status) {
    *(int *)status = whole_life();
    return NULL;
}

/* A size out of /proc/self/status; 0 where there is none. */
static long kilobytes(const char *field) {
    char line[200];
    long number = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, strlen(field)) == 0) sscanf(line + strlen(field), ": %ld", &number);
    if (file != NULL) fclose(file);
    return number;
}

int main(int argc, char **argv) {
    if (argc != 2) return 9;
    path = argv[1];
    long before = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        int status = 0;
        if (pthread_create(&thread, NULL, thread_main, &status) != 0 || pthread_join(thread, NULL) != 0) return 10;
        if (status != 0) return status;
        if (i == SETTLED) before = kilobytes("VmRSS");
    }
    const long grown = kilobytes("VmRSS") - before;
    printf("%d threads, %ld kB more after the first %d\n", THREADS, grown, SETTLED);
    if (grown > 2000) return 11;

    linattn_objective *f;
    void (*destroy)(linattn_objective *);
    void *library = dlopen(path, RTLD_NOW);
    return library == NULL ? 1 : work(library, &f, &destroy); /* f lives on */
}
