"""The public headers for cffi, written by tools/cdef.py; edit the headers instead."""

VERSION = (1, 0, 0)

SOURCE = """
enum {
    LINATTN_MAX_DIM = 1024,
    LINATTN_MAX_CONTEXT = 4194304,
    LINATTN_MAX_HIDDEN = 4096,
};
enum linattn_covariates {
    LINATTN_COVARIATES_NORMAL = 0,
    LINATTN_COVARIATES_SPHERE = 1,
    LINATTN_COVARIATES_GAMMA = 2,
    LINATTN_COVARIATES_ROTATED = 3,
    LINATTN_COVARIATES_TABLE = 4,
};
enum linattn_task {
    LINATTN_TASK_LINEAR = 0,
    LINATTN_TASK_SPARSE_LINEAR = 1,
    LINATTN_TASK_SINE = 2,
    LINATTN_TASK_QUADRATIC = 3,
    LINATTN_TASK_FIXED_MLP = 4,
    LINATTN_TASK_RELU_NETWORK = 5,
};
enum linattn_batch_kind {
    LINATTN_BATCH_TOKENS = 0,
    LINATTN_BATCH_MOMENTS = 1,
};
enum linattn_stream {
    LINATTN_STREAM_TRAINING = 0,
    LINATTN_STREAM_EVALUATION = 1,
    LINATTN_STREAM_NOISE = 2,
};
enum {
    LINATTN_MAX_LAYERS = 256,
    LINATTN_MAX_HEADS = 64,
    LINATTN_MAX_RANK = 1024,
};
enum linattn_attention {
    LINATTN_ATTENTION_LINEAR = 0,
    LINATTN_ATTENTION_SOFTMAX = 1,
    LINATTN_ATTENTION_SOFTMAX_CONTEXT = 2,
    LINATTN_ATTENTION_RELU = 3,
};
enum linattn_form {
    LINATTN_FORM_BLOCK = 0,
    LINATTN_FORM_FULL = 1,
};
enum linattn_tensor_kind {
    LINATTN_TENSOR_P = 0,
    LINATTN_TENSOR_Q = 1,
    LINATTN_TENSOR_WQ = 2,
    LINATTN_TENSOR_WK = 3,
    LINATTN_TENSOR_W1 = 4,
    LINATTN_TENSOR_B1 = 5,
    LINATTN_TENSOR_W2 = 6,
    LINATTN_TENSOR_B2 = 7,
    LINATTN_TENSOR_FF_W1 = 8,
    LINATTN_TENSOR_FF_B1 = 9,
    LINATTN_TENSOR_FF_W2 = 10,
    LINATTN_TENSOR_FF_B2 = 11,
};
enum linattn_status {
    LINATTN_STOP = 1,
    LINATTN_OK = 0,
    LINATTN_EINVAL = -1,
    LINATTN_ENOMEM = -2,
    LINATTN_EOVERFLOW = -3,
    LINATTN_ENONFINITE = -4,
    LINATTN_EVERSION = -5,
    LINATTN_EUNSUPPORTED = -6,
    LINATTN_EMISMATCH = -7,
    LINATTN_EFORMAT = -8,
    LINATTN_EIO = -9,
    LINATTN_ESYSTEM = -10,
    LINATTN_EDEGENERATE = -11,
    LINATTN_ENOTCONVERGED = -12,
};
enum {
    LINATTN_MAX_BASELINE_STEPS = 1048576,
};
enum linattn_baseline {
    LINATTN_BASELINE_LEAST_SQUARES = 0,
    LINATTN_BASELINE_GRADIENT_DESCENT = 1,
};
enum {
    LINATTN_MAX_THREADS = 256,
};
enum linattn_minibatch {
    LINATTN_MINIBATCH_EPOCHS = 0,
    LINATTN_MINIBATCH_REPLACEMENT = 1,
};
enum linattn_hvp_kind {
    LINATTN_HVP_NONE = 0,
    LINATTN_HVP_EXACT = 1,
    LINATTN_HVP_DIFFERENCES = 2,
};
enum {
    LINATTN_MAX_RESAMPLES = 16777216,
    LINATTN_MAX_BINS = 16777216,
};
enum linattn_median_rule {
    LINATTN_MEDIAN_LOWER = 0,
    LINATTN_MEDIAN_MEAN = 1,
};
enum linattn_location {
    LINATTN_LOCATION_MEAN = 0,
    LINATTN_LOCATION_MEDIAN = 1,
};
enum linattn_eigen_driver {
    LINATTN_DRIVER_DSYEVD = 0,
    LINATTN_DRIVER_DSYEVR = 1,
};
enum linattn_condition_kind {
    LINATTN_CONDITION_EIGENVALUES = 0,
    LINATTN_CONDITION_DIAGONAL = 1,
};
enum linattn_condition_flag {
    LINATTN_CONDITION_ZERO_MEDIAN = 1,
    LINATTN_CONDITION_ALL_ZERO = 2,
};
enum linattn_error_measure {
    LINATTN_ERROR_NORM = 0,
    LINATTN_ERROR_SQUARED = 1,
};
enum {
    LINATTN_NUMBER_SIZE = 32,
};
enum linattn_rule {
    LINATTN_RULE_SGD = 0,
    LINATTN_RULE_ADAM = 1,
    LINATTN_RULE_ADAMW = 2,
    LINATTN_RULE_SIGN = 3,
    LINATTN_RULE_NORMALIZED_GD = 4,
    LINATTN_RULE_CUSTOM = 5,
    LINATTN_RULE_POLYAK = 6,
};
enum linattn_clip {
    LINATTN_CLIP_NONE = 0,
    LINATTN_CLIP_GLOBAL_NORM = 1,
    LINATTN_CLIP_TENSOR_NORM = 2,
    LINATTN_CLIP_COORDINATE = 3,
};
enum linattn_schedule {
    LINATTN_SCHEDULE_CONSTANT = 0,
    LINATTN_SCHEDULE_STEP = 1,
    LINATTN_SCHEDULE_COSINE = 2,
};
enum linattn_nonfinite {
    LINATTN_NONFINITE_FAIL = 0,
    LINATTN_NONFINITE_SKIP = 1,
};
enum linattn_prompt_attention {
    LINATTN_PROMPT_SOFTMAX = 0,
    LINATTN_PROMPT_LINEAR = 1,
};
enum linattn_prompt_loss {
    LINATTN_PROMPT_SQUARED = 0,
    LINATTN_PROMPT_LOGISTIC = 1,
};
enum linattn_prompt_tokens {
    LINATTN_PROMPT_GAUSSIAN = 0,
    LINATTN_PROMPT_ORTHONORMAL = 1,
};
enum linattn_prompt_key_map {
    LINATTN_PROMPT_IDENTITY = 0,
    LINATTN_PROMPT_ORTHOGONAL = 1,
};
enum linattn_prompt_profile {
    LINATTN_PROMPT_SCALED = 0,
    LINATTN_PROMPT_LOG_UNIFORM = 1,
    LINATTN_PROMPT_ACTIVE = 2,
};
enum {
    LINATTN_VERSION_MAJOR = 1,
    LINATTN_VERSION_MINOR = 0,
    LINATTN_VERSION_PATCH = 0,
    LINATTN_VERSION_NUMBER = 10000,
};
enum {
    LINATTN_BLAS_INFO_SIZE = 128,
};
enum linattn_kernel {
    LINATTN_KERNEL_AUTO = 0,
    LINATTN_KERNEL_BASELINE = 1,
    LINATTN_KERNEL_AVX2 = 2,
    LINATTN_KERNEL_AVX512 = 3,
};
typedef struct linattn_sampler linattn_sampler;
typedef struct linattn_batch linattn_batch;
typedef struct linattn_model linattn_model;
typedef struct linattn_objective linattn_objective;
typedef struct linattn_diagnostics linattn_diagnostics;
typedef struct linattn_optimizer linattn_optimizer;
typedef struct linattn_prompt linattn_prompt;
typedef struct linattn_trainer linattn_trainer;
typedef struct linattn_sampler_options linattn_sampler_options;
typedef struct linattn_model_options linattn_model_options;
typedef struct linattn_tensor linattn_tensor;
typedef struct linattn_baseline_options linattn_baseline_options;
typedef struct linattn_theory_distance linattn_theory_distance;
typedef struct linattn_objective_options linattn_objective_options;
typedef struct linattn_objective_callbacks linattn_objective_callbacks;
typedef struct linattn_derivative_report linattn_derivative_report;
typedef struct linattn_line linattn_line;
typedef struct linattn_histogram linattn_histogram;
typedef struct linattn_resampling_options linattn_resampling_options;
typedef struct linattn_moments linattn_moments;
typedef struct linattn_interval linattn_interval;
typedef struct linattn_normal_plot linattn_normal_plot;
typedef struct linattn_normality linattn_normality;
typedef struct linattn_comparison linattn_comparison;
typedef struct linattn_tail linattn_tail;
typedef struct linattn_spectrum linattn_spectrum;
typedef struct linattn_condition linattn_condition;
typedef struct linattn_spectra_distance linattn_spectra_distance;
typedef struct linattn_diagnostics_options linattn_diagnostics_options;
typedef struct linattn_curvature_options linattn_curvature_options;
typedef struct linattn_heterogeneity linattn_heterogeneity;
typedef struct linattn_lanczos_options linattn_lanczos_options;
typedef struct linattn_extremes linattn_extremes;
typedef struct linattn_gradient_error_options linattn_gradient_error_options;
typedef struct linattn_gradient_error linattn_gradient_error;
typedef struct linattn_smoothness linattn_smoothness;
typedef struct linattn_concentration linattn_concentration;
typedef struct linattn_optimizer_options linattn_optimizer_options;
typedef struct linattn_update linattn_update;
typedef struct linattn_custom_rule linattn_custom_rule;
typedef struct linattn_step_record linattn_step_record;
typedef struct linattn_prompt_options linattn_prompt_options;
typedef struct linattn_prompt_condition linattn_prompt_condition;
typedef struct linattn_recipe linattn_recipe;
typedef struct linattn_trainer_options linattn_trainer_options;
typedef int (*linattn_fill)(uint64_t draw, size_t first, size_t prompts, double *tokens, double *targets, void *user);
typedef int (*linattn_progress)(double fraction, void *user);
typedef int (*linattn_observer)(const linattn_step_record *record, const double *theta, void *user);
struct linattn_sampler_options {
    size_t struct_size;
    size_t dim;
    size_t context;
    uint64_t seed;
    int32_t covariates;
    int32_t task;
    int32_t kind;
    int32_t stream;
    double gamma_shape;
    double gamma_scale;
    double noise_std;
    int32_t noisy_target;
    int32_t reserved;
    const double *covariate_factor;
    const double *task_factor;
    size_t sparsity;
    size_t hidden;
    uint64_t network_seed;
    const double *covariate_table;
    size_t table_rows;
    int32_t standardise;
    int32_t reserved_2;
};
struct linattn_model_options {
    size_t struct_size;
    size_t dim;
    size_t layers;
    size_t heads;
    int32_t attention;
    int32_t form;
    double init_std;
    size_t qk_rank;
    size_t mlp_hidden;
    size_t ff_hidden;
};
struct linattn_tensor {
    size_t struct_size;
    char name[40];
    size_t rows;
    size_t columns;
    size_t offset;
    size_t layer;
    size_t head;
    int32_t kind;
    int32_t reserved;
};
struct linattn_baseline_options {
    size_t struct_size;
    int32_t baseline;
    int32_t reserved;
    double lambda;
    const double *task_factor;
    size_t steps;
    const double *rates;
    const double *preconditioner;
    linattn_progress progress;
    void *user;
};
struct linattn_theory_distance {
    size_t struct_size;
    double q_error;
    double q_scale;
    double q_distance;
    double p_scale;
    double p_distance;
    double outside;
};
struct linattn_objective_options {
    size_t struct_size;
    size_t threads;
    int32_t kernel;
    int32_t reserved;
    linattn_progress progress;
    void *user;
};
struct linattn_objective_callbacks {
    size_t struct_size;
    size_t parameter_count;
    int (*value)(uint64_t draw, const double *theta, double *value, void *user);
    int (*gradient)(uint64_t draw, const double *theta, double *value, double *gradient, void *user);
    int (*hvp)(uint64_t draw, const double *theta, const double *directions, size_t count, double *out, void *user);
    double difference_step;
};
struct linattn_derivative_report {
    size_t struct_size;
    double gradient_error;
    size_t worst;
    double analytic;
    double difference;
    double step;
    uint64_t kinks;
};
struct linattn_line {
    size_t struct_size;
    size_t count;
    double intercept;
    double slope;
    double intercept_error;
    double slope_error;
    double residual_sd;
    double r_squared;
};
struct linattn_histogram {
    size_t struct_size;
    double low;
    double high;
    uint64_t below;
    uint64_t inside;
    uint64_t above;
};
struct linattn_resampling_options {
    size_t struct_size;
    size_t resamples;
    uint64_t seed;
    linattn_progress progress;
    void *user;
};
struct linattn_moments {
    size_t struct_size;
    size_t count;
    double mean;
    double variance;
    double sd;
    double skewness;
    double excess_kurtosis;
    double moment5;
    double moment6;
    double mean_error;
    double variance_error;
    double sd_error;
    double skewness_error;
    double kurtosis_error;
    double moment5_error;
    double moment6_error;
    double sixth_share;
    int32_t sixth_dominated;
    int32_t reserved;
};
struct linattn_interval {
    size_t struct_size;
    double estimate;
    double low;
    double high;
    double error;
    double level;
};
struct linattn_normal_plot {
    size_t struct_size;
    double correlation;
    double intercept;
    double slope;
};
struct linattn_normality {
    size_t struct_size;
    double kolmogorov_smirnov;
    double kolmogorov_smirnov_p;
    double anderson_darling;
    double anderson_darling_star;
    double anderson_darling_p;
    double anderson_darling_simulated_p;
};
struct linattn_comparison {
    size_t struct_size;
    double kolmogorov_smirnov;
    double wasserstein;
    double mean_difference;
    double kolmogorov_smirnov_p;
    double wasserstein_p;
    double mean_difference_p;
};
struct linattn_tail {
    size_t struct_size;
    size_t first;
    size_t last;
    double alpha;
    double error;
    double alpha_first;
    double alpha_last;
    double alpha_min;
    double alpha_max;
    double relative_range;
    double tolerance;
    int32_t plateau;
    int32_t reserved;
};
struct linattn_spectrum {
    size_t struct_size;
    size_t count;
    double smallest;
    double largest;
    double smallest_magnitude;
    double spectral_norm;
    double trace;
    double frobenius;
    size_t zeros;
    size_t negatives;
    int32_t driver;
    int32_t reserved;
};
struct linattn_condition {
    size_t struct_size;
    double value;
    double largest;
    double median;
    size_t count;
    size_t zeros;
    size_t negatives;
    int32_t kind;
    int32_t rule;
    int32_t flags;
    int32_t reserved;
};
struct linattn_spectra_distance {
    size_t struct_size;
    double divergence;
    double distance;
    double low;
    double high;
    double width;
};
struct linattn_diagnostics_options {
    size_t struct_size;
    size_t threads;
    linattn_progress progress;
    void *user;
};
struct linattn_curvature_options {
    size_t struct_size;
    size_t first;
    size_t count;
    const double *preconditioner;
    int32_t median_rule;
    int32_t reserved;
};
struct linattn_heterogeneity {
    size_t struct_size;
    size_t blocks;
    double mean_distance;
    double largest_distance;
};
struct linattn_lanczos_options {
    size_t struct_size;
    size_t steps;
    double tolerance;
    uint64_t seed;
    const double *preconditioner;
};
struct linattn_extremes {
    size_t struct_size;
    size_t steps;
    double smallest;
    double largest;
    double spectral_norm;
    double smallest_error;
    double largest_error;
};
struct linattn_gradient_error_options {
    size_t struct_size;
    size_t samples;
    size_t reference_draws;
    uint64_t first_draw;
    int32_t measure;
    int32_t reserved;
    const double *reference;
    const double *directions;
    size_t direction_count;
    size_t surrogates;
    uint64_t seed;
};
struct linattn_gradient_error {
    size_t struct_size;
    size_t samples;
    size_t reference_draws;
    int32_t measure;
    int32_t reserved;
    double reference_norm;
    double mean_error_norm;
    double covariance_trace;
};
struct linattn_smoothness {
    size_t struct_size;
    size_t count;
    size_t zero_steps;
    size_t nonpositive;
    size_t zero_gradients;
    size_t log_count;
    double slope;
    double slope_low;
    double slope_high;
    double intercept;
    double correlation;
    double l0;
    double l0_low;
    double l0_high;
    double l1;
    double l1_low;
    double l1_high;
    double r_squared;
    double level;
};
struct linattn_concentration {
    size_t struct_size;
    size_t rows;
    size_t empty;
    double entropy;
    double largest;
    double top_share;
    double ratio_median;
    double ratio_smallest;
};
struct linattn_optimizer_options {
    size_t struct_size;
    int32_t rule;
    int32_t clip;
    int32_t schedule;
    int32_t nonfinite;
    int32_t nesterov;
    int32_t reserved;
    double learning_rate;
    double momentum;
    double dampening;
    double beta1;
    double beta2;
    double epsilon;
    double weight_decay;
    double clip_threshold;
    uint64_t warmup_steps;
    uint64_t decay_steps;
    double decay_factor;
    double min_learning_rate;
    double minimum_value;
};
struct linattn_update {
    size_t struct_size;
    size_t p;
    uint64_t step;
    double learning_rate;
    double value;
    const double *gradient;
    double *theta;
    double *state;
    const linattn_tensor *tensors;
    size_t tensor_count;
};
struct linattn_custom_rule {
    size_t struct_size;
    size_t state_count;
    const char *name;
    int (*update)(const linattn_update *update, void *user);
};
struct linattn_step_record {
    size_t struct_size;
    uint64_t step;
    double value;
    double gradient_norm;
    double clipped_norm;
    double learning_rate;
    int32_t clipped;
    int32_t skipped;
};
struct linattn_prompt_options {
    size_t struct_size;
    size_t examples;
    size_t tokens;
    size_t dim;
    uint64_t seed;
    int32_t attention;
    int32_t loss;
    int32_t train_value;
    int32_t token_kind;
    int32_t key_map;
    int32_t profile;
    size_t active;
    double sparsity;
    double temperature;
    double noise;
    linattn_progress progress;
    void *user;
};
struct linattn_prompt_condition {
    size_t struct_size;
    size_t rank;
    double largest;
    double smallest;
    double condition;
    double spread_smallest;
    double spread_largest;
    double key_condition;
    double bound;
    double ratio_bound;
};
struct linattn_recipe {
    size_t struct_size;
    char name[24];
    size_t layers;
    size_t dim;
    size_t context;
    size_t prompts;
    size_t seeds;
    uint64_t steps;
    int32_t covariates;
    int32_t form;
    double gamma_shape;
    double gamma_scale;
    double init_std;
    double clip_threshold;
    double sgd_learning_rate;
    double sgd_momentum;
    double adam_learning_rate;
    double adam_beta1;
    double adam_beta2;
    double adam_epsilon;
    int32_t attention;
    int32_t task;
    size_t mlp_hidden;
    size_t hidden;
};
struct linattn_trainer_options {
    size_t struct_size;
    uint64_t record_stride;
    uint64_t observer_stride;
    linattn_observer observer;
    void *user;
};
int linattn_sampler_options_init(linattn_sampler_options *options, size_t size);
int linattn_sampler_create(linattn_sampler **out, const linattn_sampler_options *options);
int linattn_sampler_create_custom(linattn_sampler **out, size_t dim, size_t context, linattn_fill fill, void *user);
void linattn_sampler_destroy(linattn_sampler *sampler);
size_t linattn_sampler_dim(const linattn_sampler *sampler);
size_t linattn_sampler_context(const linattn_sampler *sampler);
int linattn_batch_create_from_sampler(linattn_batch **out, const linattn_sampler *sampler, size_t prompts, uint64_t draw);
int linattn_batch_create_from_arrays(linattn_batch **out, const double *tokens, const double *targets, size_t prompts, size_t
    context, size_t dim);
void linattn_batch_destroy(linattn_batch *batch);
size_t linattn_batch_prompts(const linattn_batch *batch);
size_t linattn_batch_context(const linattn_batch *batch);
size_t linattn_batch_dim(const linattn_batch *batch);
int linattn_batch_get_arrays(const linattn_batch *batch, double *tokens, double *targets);
int linattn_batch_get_moments(const linattn_batch *batch, double *moments, double *queries);
int linattn_model_options_init(linattn_model_options *options, size_t size);
int linattn_model_create(linattn_model **out, const linattn_model_options *options);
void linattn_model_destroy(linattn_model *model);
size_t linattn_model_parameter_count(const linattn_model *model);
size_t linattn_model_tensor_count(const linattn_model *model);
int linattn_model_get_tensor(const linattn_model *model, size_t index, linattn_tensor *out);
int linattn_model_init_parameters(const linattn_model *model, uint64_t seed, double *theta);
int linattn_model_predict(const linattn_model *model, const linattn_batch *batch, const double *theta, double *out);
int linattn_model_attention(const linattn_model *model, const linattn_batch *batch, const double *theta, size_t layer, size_t
    head, double *out);
const char *linattn_status_name(int status);
const char *linattn_last_message(void);
int linattn_baseline_options_init(linattn_baseline_options *options, size_t size);
int linattn_baseline_predict(const linattn_batch *batch, const linattn_baseline_options *options, double *out);
int linattn_theory_one_layer(const linattn_sampler *sampler, double *Q, double *loss);
int linattn_theory_compare(const linattn_model *model, const linattn_sampler *sampler, const double *theta, size_t layer, size_t
    head, linattn_theory_distance *out);
int linattn_objective_options_init(linattn_objective_options *options, size_t size);
int linattn_objective_create_fixed(linattn_objective **out, const linattn_model *model, const linattn_batch *batch, const
    linattn_objective_options *options);
int linattn_objective_create_sampled(linattn_objective **out, const linattn_model *model, const linattn_sampler *sampler, size_t
    prompts, const linattn_objective_options *options);
int linattn_objective_create_dataset(linattn_objective **out, const linattn_model *model, const linattn_batch *batch, size_t
    prompts, int32_t mode, uint64_t seed, const linattn_objective_options *options);
int linattn_objective_callbacks_init(linattn_objective_callbacks *callbacks, size_t size);
int linattn_objective_create_callbacks(linattn_objective **out, const linattn_objective_callbacks *callbacks, const
    linattn_objective_options *options, void *user);
int linattn_objective_clone(linattn_objective **out, const linattn_objective *objective);
void linattn_objective_destroy(linattn_objective *objective);
size_t linattn_objective_parameter_count(const linattn_objective *objective);
int linattn_objective_value(linattn_objective *objective, uint64_t draw, const double *theta, double *value);
int linattn_objective_gradient(linattn_objective *objective, uint64_t draw, const double *theta, double *value, double
    *gradient);
int linattn_objective_hvp_kind(const linattn_objective *objective);
int linattn_objective_hvp(linattn_objective *objective, uint64_t draw, const double *theta, const double *directions, size_t
    count, double *out);
int linattn_objective_hessian(linattn_objective *objective, uint64_t draw, const double *theta, double *out);
int linattn_objective_hessian_block(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t
    count, double *out);
int linattn_objective_hessian_diagonal(linattn_objective *objective, uint64_t draw, const double *theta, size_t first, size_t
    count, double *out);
size_t linattn_objective_hessian_workspace(const linattn_objective *objective);
int linattn_objective_check_derivatives(linattn_objective *objective, uint64_t draw, const double *theta, double step,
    linattn_derivative_report *out);
int linattn_line_fit(const double *x, const double *y, size_t count, linattn_line *out);
int linattn_series_rate(const double *series, size_t count, double high, double low, linattn_line *out);
int linattn_sample_median(const double *sample, size_t count, int32_t rule, double *out);
int linattn_sample_quantiles(const double *sample, size_t count, const double *probabilities, size_t quantiles, double *out);
int linattn_sample_histogram(const double *sample, size_t count, double low, double high, size_t bins, uint64_t *counts, double
    *edges, linattn_histogram *out);
int linattn_normal_quantile(double p, double *out);
int linattn_student_quantile(double p, double freedom, double *out);
int linattn_resampling_options_init(linattn_resampling_options *options, size_t size);
int linattn_sample_moments(const double *sample, size_t count, const linattn_resampling_options *options, linattn_moments *out);
int linattn_sample_interval(const double *sample, size_t count, double level, linattn_interval *out);
int linattn_share_interval(uint64_t successes, uint64_t trials, double level, linattn_interval *out);
int linattn_sample_bootstrap(const double *sample, size_t count, int32_t location, double level, const
    linattn_resampling_options *options, linattn_interval *out);
int linattn_series_bootstrap(const double *series, size_t count, size_t block, double level, const linattn_resampling_options
    *options, linattn_interval *out);
int linattn_line_bootstrap(const double *x, const double *y, size_t count, size_t block, double level, const
    linattn_resampling_options *options, linattn_interval *intercept, linattn_interval *slope);
int linattn_sample_normal_plot(const double *sample, size_t count, double *quantiles, double *ordered, linattn_normal_plot *out);
int linattn_sample_normality(const double *sample, size_t count, const linattn_resampling_options *options, linattn_normality
    *out);
int linattn_samples_compare(const double *a, size_t a_count, const double *b, size_t b_count, const linattn_resampling_options
    *options, linattn_comparison *out);
int linattn_sample_tail(const double *sample, size_t count, size_t first, size_t last, double *alphas, linattn_tail *out);
int linattn_matrix_spectrum(const double *matrix, size_t p, double *eigenvalues, double *vectors, linattn_spectrum *out);
int linattn_robust_condition(const double *values, size_t count, int32_t kind, int32_t rule, linattn_condition *out);
int linattn_spectrum_density(const double *eigenvalues, const double *weights, size_t count, double width, const double *x,
    size_t points, double *out);
int linattn_spectra_compare(const double *a, size_t a_count, const double *b, size_t b_count, double relative_width,
    linattn_spectra_distance *out);
int linattn_matrix_precondition(const double *matrix, size_t p, const double *diagonal, double *out);
int linattn_diagnostics_options_init(linattn_diagnostics_options *options, size_t size);
int linattn_diagnostics_create(linattn_diagnostics **out, const linattn_objective *objective, const linattn_diagnostics_options
    *options);
void linattn_diagnostics_destroy(linattn_diagnostics *diagnostics);
size_t linattn_diagnostics_parameter_count(const linattn_diagnostics *diagnostics);
int linattn_diagnostics_hvp_kind(const linattn_diagnostics *diagnostics);
int linattn_curvature_options_init(linattn_curvature_options *options, size_t size);
int linattn_diagnostics_spectrum(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta, const
    linattn_curvature_options *options, double *eigenvalues, double *vectors, linattn_spectrum *out);
int linattn_diagnostics_robust_condition(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta, const
    linattn_curvature_options *options, linattn_condition *by_eigenvalues, linattn_condition *by_diagonal);
int linattn_diagnostics_heterogeneity(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta, const size_t
    *boundaries, size_t blocks, const double *preconditioner, double relative_width, double *distances, linattn_heterogeneity
    *out);
int linattn_lanczos_options_init(linattn_lanczos_options *options, size_t size);
int linattn_diagnostics_extremes(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta, const
    linattn_lanczos_options *options, double *nodes, double *weights, linattn_extremes *out);
int linattn_gradient_error_options_init(linattn_gradient_error_options *options, size_t size);
int linattn_diagnostics_gradient_error(linattn_diagnostics *diagnostics, const double *theta, const
    linattn_gradient_error_options *options, double *errors, double *projections, double *surrogate, double *reference,
    linattn_gradient_error *out);
int linattn_diagnostics_directional_smoothness(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta, const
    double *next, double *out);
int linattn_diagnostics_gradient_ratios(linattn_diagnostics *diagnostics, uint64_t draw, const double *theta, const double
    *next, const double *fractions, size_t count, double *out);
int linattn_smoothness_fit(const double *gradient_norms, const double *smoothness, size_t count, size_t block, double level,
    const linattn_resampling_options *resampling, linattn_smoothness *out);
int linattn_attention_concentration(const double *weights, size_t rows, size_t keys, size_t stride, size_t top,
    linattn_concentration *out);
int linattn_number_write(double number, char *text);
int linattn_number_read(const char *text, double *out, size_t *used);
int linattn_optimizer_options_init(linattn_optimizer_options *options, size_t size);
int linattn_optimizer_create(linattn_optimizer **out, const linattn_optimizer_options *options, const linattn_tensor *tensors,
    size_t tensor_count, size_t p);
int linattn_custom_rule_init(linattn_custom_rule *rule, size_t size);
int linattn_optimizer_create_custom(linattn_optimizer **out, const linattn_optimizer_options *options, const linattn_custom_rule
    *rule, void *user, const linattn_tensor *tensors, size_t tensor_count, size_t p);
void linattn_optimizer_destroy(linattn_optimizer *optimizer);
int linattn_optimizer_step(linattn_optimizer *optimizer, double value, const double *gradient, double *theta,
    linattn_step_record *record);
uint64_t linattn_optimizer_step_count(const linattn_optimizer *optimizer);
uint64_t linattn_optimizer_skip_count(const linattn_optimizer *optimizer);
double linattn_optimizer_learning_rate(const linattn_optimizer *optimizer, uint64_t step);
size_t linattn_optimizer_state_count(const linattn_optimizer *optimizer);
int linattn_optimizer_get_state(const linattn_optimizer *optimizer, double *state, uint64_t *steps, uint64_t *skips);
int linattn_optimizer_set_state(linattn_optimizer *optimizer, const double *state, uint64_t steps, uint64_t skips);
int linattn_optimizer_preconditioner(const linattn_optimizer *optimizer, double *out);
int linattn_prompt_options_init(linattn_prompt_options *options, size_t size);
int linattn_prompt_create(linattn_prompt **out, const linattn_prompt_options *options);
int linattn_prompt_create_from_arrays(linattn_prompt **out, const linattn_prompt_options *options, const double *tokens, const
    double *key_map, const double *value, const double *teacher, const double *labels);
void linattn_prompt_destroy(linattn_prompt *prompt);
size_t linattn_prompt_examples(const linattn_prompt *prompt);
size_t linattn_prompt_tokens(const linattn_prompt *prompt);
size_t linattn_prompt_dim(const linattn_prompt *prompt);
size_t linattn_prompt_parameter_count(const linattn_prompt *prompt);
int linattn_prompt_get_arrays(const linattn_prompt *prompt, double *tokens, double *keys, double *value, double *teacher, double
    *labels);
int linattn_objective_create_prompt(linattn_objective **out, const linattn_prompt *prompt, const linattn_objective_options
    *options);
int linattn_objective_create_prompt_dataset(linattn_objective **out, const linattn_prompt *prompt, size_t examples, int32_t
    mode, uint64_t seed, const linattn_objective_options *options);
int linattn_prompt_evaluate(const linattn_prompt *prompt, const double *theta, double *outputs, double *weights, double
    *sensitivities, double *jacobian);
int linattn_prompt_gauss_newton(const linattn_prompt *prompt, const double *theta, double *out);
int linattn_prompt_softmax_spectrum(const linattn_prompt *prompt, const double *theta, size_t example, double *out);
int linattn_prompt_measure_condition(const linattn_prompt *prompt, const double *theta, double *singular,
    linattn_prompt_condition *out);
int linattn_prompt_distance(const linattn_prompt *prompt, const double *theta, double *distance, double *seen);
int linattn_prompt_predict_rate(const linattn_prompt *prompt, const double *theta, double learning_rate, double *rate);
size_t linattn_recipe_count(void);
int linattn_recipe_get(size_t index, linattn_recipe *out);
int linattn_recipe_find(const char *name, linattn_recipe *out);
const char *linattn_recipe_source(size_t index, const char *field);
int linattn_recipe_sampler_options(const linattn_recipe *recipe, linattn_sampler_options *options, size_t size);
int linattn_recipe_model_options(const linattn_recipe *recipe, linattn_model_options *options, size_t size);
int linattn_recipe_optimizer_options(const linattn_recipe *recipe, int32_t rule, linattn_optimizer_options *options, size_t
    size);
int linattn_trainer_options_init(linattn_trainer_options *options, size_t size);
int linattn_trainer_create(linattn_trainer **out, linattn_objective *objective, linattn_optimizer *optimizer, const double
    *theta, const linattn_trainer_options *options);
void linattn_trainer_destroy(linattn_trainer *trainer);
int linattn_trainer_run(linattn_trainer *trainer, uint64_t steps, uint64_t *done);
void linattn_trainer_request_stop(linattn_trainer *trainer);
uint64_t linattn_trainer_step_count(const linattn_trainer *trainer);
size_t linattn_trainer_parameter_count(const linattn_trainer *trainer);
int linattn_trainer_get_parameters(const linattn_trainer *trainer, double *theta);
size_t linattn_trainer_record_count(const linattn_trainer *trainer);
int linattn_trainer_get_records(const linattn_trainer *trainer, size_t first, size_t count, size_t record_size,
    linattn_step_record *records);
int linattn_trainer_save(const linattn_trainer *trainer, const char *path);
int linattn_trainer_load(linattn_trainer *trainer, const char *path);
int linattn_version_number(void);
const char *linattn_version_string(void);
const char *linattn_build_info(void);
int linattn_blas_info(char *text);
int linattn_kernel_available(int32_t kernel);
const char *linattn_kernel_name(int32_t kernel);
"""

# What the headers say of each field; for enumerations this begins with the enum's name.
COMMENTS = {
    "linattn_baseline_options": {
        "baseline": "enum linattn_baseline; least squares",
        "lambda": "least squares: >= 0, finite; 0",
        "task_factor": "least squares: G (d, d), finite, read during the call; NULL: the identity",
        "steps": "gradient descent: 1 to LINATTN_MAX_BASELINE_STEPS; 1",
        "rates": "gradient descent: (steps), finite, read during the call; to be set",
        "preconditioner": "gradient descent: M (d, d), finite, read during the call; NULL: the identity",
        "progress": "NULL",
        "user": "handed to progress; NULL",
    },
    "linattn_theory_distance": {
        "q_error": "|c Q_x - Q*| / |Q*|",
        "q_scale": "s, for which |c Q_x - s Q*| is smallest",
        "q_distance": "|c Q_x - s Q*| / |c Q_x|, 0 to 1; NaN when c Q_x is 0",
        "p_scale": "s, for which |P_x - s I| is smallest",
        "p_distance": "|P_x - s I| / |P_x|, 0 to 1; NaN when P_x is 0",
        "outside": "the norm of the entries of P and Q that block form has not, over that of all; 0 in block form",
    },
    "linattn_diagnostics_options": {
        "threads": "1 to LINATTN_MAX_THREADS; results do not depend on it; not used for callbacks; 1",
        "progress": "NULL",
        "user": "handed to progress; NULL",
    },
    "linattn_curvature_options": {
        "first": "0",
        "count": "q, first + q <= p; 0 stands for all the rest; 0",
        "preconditioner": "D (p), > 0 and finite, read during the call (linattn_optimizer_preconditioner); NULL: the identity",
        "median_rule": "enum linattn_median_rule, of condition numbers; lower",
    },
    "linattn_heterogeneity": {
        "blocks": "compared with each other",
        "mean_distance": "over pairs of blocks; NaN for one block",
        "largest_distance": "NaN for one block",
    },
    "linattn_lanczos_options": {
        "steps": "at most so many products, 1 to 4096; at most p are taken; 200",
        "tolerance": "ends when both errors are at most tolerance times the spectral norm; 0 to 1, 0: takes all steps; "
        "1e-8",
        "seed": "of the random direction to start from; any value; 0",
        "preconditioner": "as for linattn_curvature_options; NULL",
    },
    "linattn_extremes": {
        "steps": "products that were taken, and nodes that were written",
        "smallest": "by value; some eigenvalue is within smallest_error of it, and the smallest one is not above it",
        "largest": "by value",
        "spectral_norm": "max of their magnitudes",
        "smallest_error": "norm of the residual H x - lambda x, |x| = 1, beside rounding and the products' own error",
    },
    "linattn_gradient_error_options": {
        "samples": "N, 1 to 2^32; 1000",
        "reference_draws": "1 to 2^32; 100",
        "first_draw": "any value; 0",
        "measure": "enum linattn_error_measure; norm",
        "reference": "(p): the reference itself, no draw is then used for it; read during the call; NULL",
        "directions": "(direction_count, p) to project the errors on, read during the call; NULL",
        "direction_count": "K; 0",
        "surrogates": "S: numbers of the Gaussian surrogate, 0 to 2^32; S > 0 wants samples >= 2, and 5 p^2 doubles; 0",
        "seed": "of the surrogate; any value; 0",
    },
    "linattn_gradient_error": {
        "samples": "N",
        "reference_draws": "0 when the reference was given",
        "measure": "enum linattn_error_measure: what errors and surrogate hold",
        "reference_norm": "|g_ref|",
        "mean_error_norm": "|mean of e|: how far the reference is from the samples' own mean",
        "covariance_trace": "sum over samples of |e - mean of e|^2 / (N - 1): the variance of all entries together; NaN for one "
        "sample, Inf when it is too large for a double",
    },
    "linattn_smoothness": {
        "count": "points handed in",
        "zero_steps": "points whose smoothness is NaN: in neither fit",
        "nonpositive": "smoothness <= 0 (downward curvature): in the (L0, L1) fit, not in the log-log line",
        "zero_gradients": "gradient norm 0: likewise; may count a point that nonpositive counts too",
        "log_count": "points of the log-log line",
        "slope": "ln smoothness = intercept + slope ln |g|; NaN, as the next four, when the line is not defined",
        "slope_low": "block bootstrap interval",
        "correlation": "of the logs",
        "l0": "smoothness = l0 + l1 |g| by least squares (Zhang et al. 2020 bound it by such a line)",
        "l0_low": "block bootstrap intervals",
        "r_squared": "of that fit",
        "level": "of the intervals",
    },
    "linattn_concentration": {
        "rows": "that count",
        "empty": "rows whose weights are all 0: left out",
        "entropy": "mean over rows of -sum w ln w, in nats: 0 (one key) to ln keys (all alike)",
        "largest": "mean over rows of the largest w: 1/keys to 1",
        "top_share": "mean over rows of the sum of the `top` largest w",
        "ratio_median": "smallest w over largest w: the median over rows, the lower one of an even count",
        "ratio_smallest": "its smallest value over rows",
    },
    "linattn_model_options": {
        "dim": "d, 1 to LINATTN_MAX_DIM; to be set",
        "layers": "L, 1 to LINATTN_MAX_LAYERS; to be set",
        "heads": "H, 1 to LINATTN_MAX_HEADS; 1",
        "attention": "enum linattn_attention; linear",
        "form": "enum linattn_form; block",
        "init_std": "standard deviation (not variance) of the initial parameters, 0 to 1e300; 0.05",
        "qk_rank": "r: Q = W_Q^T W_K, W_Q and W_K (r, rows of Q) being the parameters, 1 to LINATTN_MAX_RANK; 0 (Q is "
        "one)",
        "mlp_hidden": "h: units of a front MLP, 1 to LINATTN_MAX_HIDDEN; 0 (there is none)",
        "ff_hidden": "h: units of a feed-forward block after each layer, 1 to LINATTN_MAX_HIDDEN; 0 (there is none)",
    },
    "linattn_tensor": {
        "name": "such as \"layer0.head0.P\" (P, Q, WQ, WK), \"front.W1\" or \"layer0.ff.W1\" (W1, b1, W2, b2)",
        "offset": "in doubles from the beginning of theta",
        "layer": "0 for the front MLP, which comes first in theta",
        "head": "0 for the front MLP and for feed-forward blocks, which come after the heads of their layer",
        "kind": "enum linattn_tensor_kind",
    },
    "linattn_objective_options": {
        "threads": "1 to LINATTN_MAX_THREADS; results do not depend on it; 1",
        "kernel": "enum linattn_kernel (version.h); auto",
        "progress": "NULL",
        "user": "handed to progress; NULL",
    },
    "linattn_objective_callbacks": {
        "parameter_count": "p >= 1; to be set",
        "value": "NULL: taken from gradient",
        "gradient": "gradient (p); to be set",
    },
    "linattn_derivative_report": {
        "gradient_error": "max over i of |g_i - difference_i|, divided by max over i of |g_i| (not divided when that is 0)",
        "worst": "the i of that maximum",
        "analytic": "g_worst",
        "difference": "(f(theta + h e) - f(theta - h e)) / (2 h) at worst",
        "step": "the h used there",
        "kinks": "arguments of ReLU (scores, units of networks) that are exactly 0 at theta: the derivative there is 0"
        " by convention, and differences across such a kink tell something else; 0 for other models",
    },
    "linattn_optimizer_options": {
        "rule": "enum linattn_rule; SGD",
        "clip": "enum linattn_clip; none",
        "schedule": "enum linattn_schedule; constant",
        "nonfinite": "enum linattn_nonfinite; fail",
        "nesterov": "0 or 1; 1 needs momentum > 0 and dampening 0; read by SGD; 0",
        "learning_rate": ">= 0, finite; to be set (it is NaN until then)",
        "momentum": "[0, 1); read by SGD and sign descent; 0",
        "dampening": "[0, 1]; read by SGD and sign descent; without effect at momentum 0; 0",
        "beta1": "[0, 1); read by Adam and AdamW; 0.9",
        "beta2": "[0, 1); read by Adam and AdamW; 0.999",
        "epsilon": ">= 0, finite; added after the bias correction; at 0 an entry whose v is 0 is moved by AdamW's weight"
        " decay only; 1e-8",
        "weight_decay": ">= 0, finite; read by SGD, Adam and AdamW; 0",
        "clip_threshold": "c > 0, finite; read when clipping; 1",
        "warmup_steps": "w; 0",
        "decay_steps": "step: >= 1; cosine: > w; 1",
        "decay_factor": "(0, 1]; read by the step schedule; 0.1",
        "min_learning_rate": "[0, learning_rate]; read by the cosine schedule; 0",
        "minimum_value": "what f is at its minimum, finite; read by Polyak's step; 0. Since 0.4",
    },
    "linattn_update": {
        "p": "parameters",
        "step": "t = 1, 2, ...: this update's number; skipped steps do not count",
        "learning_rate": "of this step",
        "value": "f(theta), as handed to linattn_optimizer_step",
        "gradient": "(p), clipped, finite",
        "theta": "(p), to be moved",
        "state": "(state_count), the rule's memory: zero at first, kept and saved by the library",
        "tensors": "(tensor_count)",
    },
    "linattn_custom_rule": {
        "state_count": "doubles of state; 0",
        "name": "kept in checkpoints to tell rules apart, copied, at most 39 characters; \"custom\"",
        "update": "to be set",
    },
    "linattn_step_record": {
        "step": "t = 0, 1, ...: how many steps were taken before this one",
        "value": "f(theta_t; draw t)",
        "gradient_norm": "before clipping; Inf when it exceeds the largest double, NaN or Inf when the gradient holds one",
        "clipped_norm": "after clipping",
        "clipped": "1 when clipping changed the gradient",
        "skipped": "1 when a non-finite gradient was skipped",
    },
    "linattn_prompt_options": {
        "examples": "N >= 1; to be set",
        "tokens": "n >= 1; to be set",
        "dim": "d >= 1; to be set",
        "seed": "any value; 0",
        "attention": "enum linattn_prompt_attention; softmax",
        "loss": "enum linattn_prompt_loss; squared",
        "train_value": "0: theta is p (d); 1: theta is p, then v (2d); 0",
        "token_kind": "enum linattn_prompt_tokens; Gaussian",
        "key_map": "enum linattn_prompt_key_map; identity",
        "profile": "enum linattn_prompt_profile; scaled",
        "active": "1 to n, below n unless sparsity is 1; read by the profile `active`; 1",
        "sparsity": "of the teacher's attention, by the profile; 1e-300 to 1, and 1 when n = 1; 0.1",
        "temperature": "T > 0, finite; read by softmax, and by profiles; 1",
        "noise": "standard deviation of labels about f_i(p*), >= 0, finite; read with squared loss; 0",
        "progress": "while orthonormal keys are made, which takes about 4 (n N)^2 d operations; NULL",
        "user": "handed to progress; NULL",
    },
    "linattn_prompt_condition": {
        "rank": "r of G: singular values that are not 0, judged after its rows are given length 1",
        "largest": "eigenvalue of (1/N) G^T G: s_1^2 / N",
        "smallest": "s_r^2 / N",
        "condition": "(s_1 / s_r)^2",
        "spread_smallest": "of |b_i|^2 over examples, for softmax sum_k a_k^2 (u_k - f)^2",
        "key_condition": "ratio of the largest to the smallest eigenvalue of K K^T, K (n N, d) all keys; Inf when these are "
        "not linearly independent, as always when d < n N",
        "bound": "key_condition spread_largest / spread_smallest >= condition; theta = p only, otherwise NaN",
        "ratio_bound": "key_condition rho n^2 / (4 R^2) >= bound, rho the largest over the smallest |u - mean u|^2, R the "
        "smallest ratio of coefficients; softmax with theta = p only, otherwise NaN",
    },
    "linattn_recipe": {
        "name": "such as \"setting1\"",
        "layers": "L",
        "dim": "d",
        "context": "n",
        "prompts": "B, prompts of a batch",
        "seeds": "runs that are averaged",
        "covariates": "enum linattn_covariates",
        "form": "enum linattn_form",
        "gamma_shape": "read for gamma covariates",
        "gamma_scale": "read for gamma covariates",
        "clip_threshold": "of the global norm",
        "sgd_learning_rate": "NaN, in a recipe of the user's: not tuned",
        "adam_learning_rate": "NaN, in a recipe of the user's: not tuned",
        "attention": "enum linattn_attention",
        "task": "enum linattn_task",
        "mlp_hidden": "units of the model's front MLP; 0: there is none",
        "hidden": "units of the fixed MLP task's network; read for that task",
    },
    "linattn_sampler_options": {
        "dim": "d, 1 to LINATTN_MAX_DIM; to be set",
        "context": "n, 1 to LINATTN_MAX_CONTEXT; to be set",
        "seed": "any value; 0",
        "covariates": "enum linattn_covariates; normal",
        "task": "enum linattn_task; linear",
        "kind": "enum linattn_batch_kind; tokens",
        "stream": "enum linattn_stream; training",
        "gamma_shape": "k > 0, finite; read for gamma covariates; 1",
        "gamma_scale": "theta > 0, finite; read for gamma covariates; 1",
        "noise_std": "standard deviation of normal noise on the context's responses, >= 0, finite; 0",
        "noisy_target": "1: the target carries noise of the same standard deviation; 0: it does not; 0",
        "covariate_factor": "F (d, d), finite, copied; read for rotated covariates, where it is needed; NULL",
        "task_factor": "G (d, d), finite, copied; NULL means the identity",
        "sparsity": "s, 1 to dim; read for the sparse linear task, where it is to be set; 0",
        "hidden": "h, 1 to LINATTN_MAX_HIDDEN; read for fixed MLP and ReLU network; 10",
        "network_seed": "any value; read for the fixed MLP; 0",
        "covariate_table": "(table_rows, d), finite, copied; read for table covariates, where it is needed; NULL",
        "table_rows": "1 to 2^32 - 1; read for table covariates, where it is to be set; 0",
        "standardise": "1: the mean of each column is taken off and the rest divided by its standard deviation (divisor "
        "table_rows), so that no column may be constant; read for table covariates; 0",
        "reserved_2": "0",
    },
    "linattn_spectrum": {
        "count": "p eigenvalues",
        "smallest": "by value: negative where the function curves downwards",
        "largest": "by value",
        "smallest_magnitude": "min |lambda|",
        "spectral_norm": "max |lambda|",
        "trace": "sum of the matrix's diagonal",
        "frobenius": "sqrt(sum of the squares of all its entries)",
        "zeros": "|lambda| <= p epsilon max |lambda|, epsilon = 2^-52: as good as 0",
        "negatives": "lambda < 0 that are not such zeros",
        "driver": "enum linattn_eigen_driver: the one that gave the answer",
    },
    "linattn_condition": {
        "value": "max |x| / median |x|",
        "largest": "max |x|",
        "median": "of |x|",
        "zeros": "counted in the median like all others",
        "negatives": "x < 0, zeros left out",
        "kind": "enum linattn_condition_kind",
        "rule": "enum linattn_median_rule",
        "flags": "of enum linattn_condition_flag",
    },
    "linattn_spectra_distance": {
        "divergence": "Jensen and Shannon's, in bits: 0 for equal densities, 1 for disjoint ones",
        "distance": "its root, which is a metric",
        "low": "the range of both spectra together",
        "width": "sd of the smoothing, in the units of the eigenvalues",
    },
    "linattn_line": {
        "count": "points",
        "intercept": "a",
        "slope": "b",
        "intercept_error": "standard errors for independent residuals of equal variance; NaN for 2 points",
        "residual_sd": "sqrt(sum r^2 / (count - 2)); NaN for 2 points",
        "r_squared": "1 - sum r^2 / sum (y - mean y)^2; NaN when all y are equal",
    },
    "linattn_histogram": {
        "low": "the range covered",
        "below": "numbers < low",
        "inside": "the sum of the bins",
        "above": "numbers > high; below + inside + above = count",
    },
    "linattn_resampling_options": {
        "resamples": "B: 1 to LINATTN_MAX_RESAMPLES; moments want 2 at least, intervals 100; 2000",
        "seed": "any value; 0",
        "progress": "NULL",
        "user": "handed to progress; NULL",
    },
    "linattn_moments": {
        "count": "numbers in the sample",
        "mean": "their sum / count",
        "variance": "sum of squared deviations / (count - 1)",
        "sd": "its root",
        "skewness": "m_3 / m_2^(3/2), m_j = mean of (x - mean)^j",
        "excess_kurtosis": "m_4 / m_2^2 - 3",
        "moment5": "m_5 / m_2^(5/2): 0 for a normal distribution",
        "moment6": "m_6 / m_2^3: 15 for a normal distribution",
        "mean_error": "bootstrap standard errors of the numbers above: their sd over resamples",
        "sixth_share": "share of m_6 that comes from the ceil(count / 1000) numbers farthest from the mean",
        "sixth_dominated": "1: sixth_share > 1/2, so that moment6 tells of those few numbers, and its error is too small",
    },
    "linattn_interval": {
        "estimate": "of the whole sample",
        "low": "the interval's ends",
        "error": "standard error: by formula (t, Wilson) or the sd over resamples",
        "level": "the coverage asked for",
    },
    "linattn_normal_plot": {
        "correlation": "of ordered numbers and normal quantiles: Filliben's statistic, 1 for a straight plot",
        "intercept": "of the least-squares line: ordered = intercept + slope * quantile",
    },
    "linattn_normality": {
        "kolmogorov_smirnov": "D: the largest distance of the two distribution functions",
        "kolmogorov_smirnov_p": "Lilliefors' test: by simulation",
        "anderson_darling": "A^2",
        "anderson_darling_star": "A*^2 = A^2 (1 + 0.75/n + 2.25/n^2), Stephens",
        "anderson_darling_p": "its p-value by the formulas of D'Agostino and Stephens; NaN below 8 numbers",
        "anderson_darling_simulated_p": "the same p-value by simulation",
    },
    "linattn_comparison": {
        "kolmogorov_smirnov": "D: the largest distance of the two distribution functions",
        "wasserstein": "W_1: the area between them",
        "mean_difference": "mean of the first less mean of the second",
        "kolmogorov_smirnov_p": "permutation p-values (b + 1) / (B + 1); of the mean difference two-sided",
    },
    "linattn_tail": {
        "first": "the range of k that was used",
        "alpha": "the tail index: alpha_last when there is a plateau, otherwise NaN: no tail index",
        "error": "alpha / sqrt(last), or NaN",
        "alpha_first": "Hill's estimates at both ends of the range, and their extremes in it",
        "relative_range": "ln(alpha_max / alpha_min)",
        "tolerance": "3 / sqrt(first)",
        "plateau": "1: relative_range <= tolerance, over a range that can tell: first >= 10 and last >= 4 first",
    },
    "linattn_trainer_options": {
        "record_stride": "keep the records of steps 0, s, 2s, ...; 0 keeps none; 1",
        "observer_stride": "call the observer at steps 0, s, 2s, ...; >= 1; 1",
        "observer": "NULL",
        "user": "handed to observer; NULL",
    },
}
