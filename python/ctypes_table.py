"""liblinattn for ctypes, written by tools/cdef.py; edit the headers instead.

    library = declare(ctypes.CDLL(path))

gives every function its argtypes and restype. Handles are c_void_p: make one by `s = c_void_p()` and pass byref(s).
Keep every callback referenced for as long as the library may call it."""
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint64, c_void_p

LINATTN_MAX_DIM = 1024
LINATTN_MAX_CONTEXT = 4194304
LINATTN_MAX_HIDDEN = 4096
LINATTN_COVARIATES_NORMAL = 0
LINATTN_COVARIATES_SPHERE = 1
LINATTN_COVARIATES_GAMMA = 2
LINATTN_COVARIATES_ROTATED = 3
LINATTN_COVARIATES_TABLE = 4
LINATTN_TASK_LINEAR = 0
LINATTN_TASK_SPARSE_LINEAR = 1
LINATTN_TASK_SINE = 2
LINATTN_TASK_QUADRATIC = 3
LINATTN_TASK_FIXED_MLP = 4
LINATTN_TASK_RELU_NETWORK = 5
LINATTN_BATCH_TOKENS = 0
LINATTN_BATCH_MOMENTS = 1
LINATTN_STREAM_TRAINING = 0
LINATTN_STREAM_EVALUATION = 1
LINATTN_STREAM_NOISE = 2
LINATTN_MAX_LAYERS = 256
LINATTN_MAX_HEADS = 64
LINATTN_MAX_RANK = 1024
LINATTN_ATTENTION_LINEAR = 0
LINATTN_ATTENTION_SOFTMAX = 1
LINATTN_ATTENTION_SOFTMAX_CONTEXT = 2
LINATTN_ATTENTION_RELU = 3
LINATTN_FORM_BLOCK = 0
LINATTN_FORM_FULL = 1
LINATTN_TENSOR_P = 0
LINATTN_TENSOR_Q = 1
LINATTN_TENSOR_WQ = 2
LINATTN_TENSOR_WK = 3
LINATTN_TENSOR_W1 = 4
LINATTN_TENSOR_B1 = 5
LINATTN_TENSOR_W2 = 6
LINATTN_TENSOR_B2 = 7
LINATTN_TENSOR_FF_W1 = 8
LINATTN_TENSOR_FF_B1 = 9
LINATTN_TENSOR_FF_W2 = 10
LINATTN_TENSOR_FF_B2 = 11
LINATTN_STOP = 1
LINATTN_OK = 0
LINATTN_EINVAL = -1
LINATTN_ENOMEM = -2
LINATTN_EOVERFLOW = -3
LINATTN_ENONFINITE = -4
LINATTN_EVERSION = -5
LINATTN_EUNSUPPORTED = -6
LINATTN_EMISMATCH = -7
LINATTN_EFORMAT = -8
LINATTN_EIO = -9
LINATTN_ESYSTEM = -10
LINATTN_EDEGENERATE = -11
LINATTN_ENOTCONVERGED = -12
LINATTN_MAX_BASELINE_STEPS = 1048576
LINATTN_BASELINE_LEAST_SQUARES = 0
LINATTN_BASELINE_GRADIENT_DESCENT = 1
LINATTN_MAX_THREADS = 256
LINATTN_MINIBATCH_EPOCHS = 0
LINATTN_MINIBATCH_REPLACEMENT = 1
LINATTN_HVP_NONE = 0
LINATTN_HVP_EXACT = 1
LINATTN_HVP_DIFFERENCES = 2
LINATTN_MAX_RESAMPLES = 16777216
LINATTN_MAX_BINS = 16777216
LINATTN_MEDIAN_LOWER = 0
LINATTN_MEDIAN_MEAN = 1
LINATTN_LOCATION_MEAN = 0
LINATTN_LOCATION_MEDIAN = 1
LINATTN_DRIVER_DSYEVD = 0
LINATTN_DRIVER_DSYEVR = 1
LINATTN_CONDITION_EIGENVALUES = 0
LINATTN_CONDITION_DIAGONAL = 1
LINATTN_CONDITION_ZERO_MEDIAN = 1
LINATTN_CONDITION_ALL_ZERO = 2
LINATTN_ERROR_NORM = 0
LINATTN_ERROR_SQUARED = 1
LINATTN_NUMBER_SIZE = 32
LINATTN_RULE_SGD = 0
LINATTN_RULE_ADAM = 1
LINATTN_RULE_ADAMW = 2
LINATTN_RULE_SIGN = 3
LINATTN_RULE_NORMALIZED_GD = 4
LINATTN_RULE_CUSTOM = 5
LINATTN_RULE_POLYAK = 6
LINATTN_CLIP_NONE = 0
LINATTN_CLIP_GLOBAL_NORM = 1
LINATTN_CLIP_TENSOR_NORM = 2
LINATTN_CLIP_COORDINATE = 3
LINATTN_SCHEDULE_CONSTANT = 0
LINATTN_SCHEDULE_STEP = 1
LINATTN_SCHEDULE_COSINE = 2
LINATTN_NONFINITE_FAIL = 0
LINATTN_NONFINITE_SKIP = 1
LINATTN_PROMPT_SOFTMAX = 0
LINATTN_PROMPT_LINEAR = 1
LINATTN_PROMPT_SQUARED = 0
LINATTN_PROMPT_LOGISTIC = 1
LINATTN_PROMPT_GAUSSIAN = 0
LINATTN_PROMPT_ORTHONORMAL = 1
LINATTN_PROMPT_IDENTITY = 0
LINATTN_PROMPT_ORTHOGONAL = 1
LINATTN_PROMPT_SCALED = 0
LINATTN_PROMPT_LOG_UNIFORM = 1
LINATTN_PROMPT_ACTIVE = 2
LINATTN_VERSION_MAJOR = 1
LINATTN_VERSION_MINOR = 0
LINATTN_VERSION_PATCH = 0
LINATTN_VERSION_NUMBER = 10000
LINATTN_BLAS_INFO_SIZE = 128
LINATTN_KERNEL_AUTO = 0
LINATTN_KERNEL_BASELINE = 1
LINATTN_KERNEL_AVX2 = 2
LINATTN_KERNEL_AVX512 = 3


class linattn_sampler_options(Structure):
    pass


class linattn_model_options(Structure):
    pass


class linattn_tensor(Structure):
    pass


class linattn_baseline_options(Structure):
    pass


class linattn_theory_distance(Structure):
    pass


class linattn_objective_options(Structure):
    pass


class linattn_objective_callbacks(Structure):
    pass


class linattn_derivative_report(Structure):
    pass


class linattn_line(Structure):
    pass


class linattn_histogram(Structure):
    pass


class linattn_resampling_options(Structure):
    pass


class linattn_moments(Structure):
    pass


class linattn_interval(Structure):
    pass


class linattn_normal_plot(Structure):
    pass


class linattn_normality(Structure):
    pass


class linattn_comparison(Structure):
    pass


class linattn_tail(Structure):
    pass


class linattn_spectrum(Structure):
    pass


class linattn_condition(Structure):
    pass


class linattn_spectra_distance(Structure):
    pass


class linattn_diagnostics_options(Structure):
    pass


class linattn_curvature_options(Structure):
    pass


class linattn_heterogeneity(Structure):
    pass


class linattn_lanczos_options(Structure):
    pass


class linattn_extremes(Structure):
    pass


class linattn_gradient_error_options(Structure):
    pass


class linattn_gradient_error(Structure):
    pass


class linattn_smoothness(Structure):
    pass


class linattn_concentration(Structure):
    pass


class linattn_optimizer_options(Structure):
    pass


class linattn_update(Structure):
    pass


class linattn_custom_rule(Structure):
    pass


class linattn_step_record(Structure):
    pass


class linattn_prompt_options(Structure):
    pass


class linattn_prompt_condition(Structure):
    pass


class linattn_recipe(Structure):
    pass


class linattn_trainer_options(Structure):
    pass


linattn_fill = CFUNCTYPE(c_int, c_uint64, c_size_t, c_size_t, POINTER(c_double), POINTER(c_double), c_void_p)
linattn_progress = CFUNCTYPE(c_int, c_double, c_void_p)
linattn_observer = CFUNCTYPE(c_int, POINTER(linattn_step_record), POINTER(c_double), c_void_p)

linattn_sampler_options._fields_ = [
    ("struct_size", c_size_t),
    ("dim", c_size_t),
    ("context", c_size_t),
    ("seed", c_uint64),
    ("covariates", c_int32),
    ("task", c_int32),
    ("kind", c_int32),
    ("stream", c_int32),
    ("gamma_shape", c_double),
    ("gamma_scale", c_double),
    ("noise_std", c_double),
    ("noisy_target", c_int32),
    ("reserved", c_int32),
    ("covariate_factor", POINTER(c_double)),
    ("task_factor", POINTER(c_double)),
    ("sparsity", c_size_t),
    ("hidden", c_size_t),
    ("network_seed", c_uint64),
    ("covariate_table", POINTER(c_double)),
    ("table_rows", c_size_t),
    ("standardise", c_int32),
    ("reserved_2", c_int32),
]

linattn_model_options._fields_ = [
    ("struct_size", c_size_t),
    ("dim", c_size_t),
    ("layers", c_size_t),
    ("heads", c_size_t),
    ("attention", c_int32),
    ("form", c_int32),
    ("init_std", c_double),
    ("qk_rank", c_size_t),
    ("mlp_hidden", c_size_t),
    ("ff_hidden", c_size_t),
]

linattn_tensor._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char * 40),
    ("rows", c_size_t),
    ("columns", c_size_t),
    ("offset", c_size_t),
    ("layer", c_size_t),
    ("head", c_size_t),
    ("kind", c_int32),
    ("reserved", c_int32),
]

linattn_baseline_options._fields_ = [
    ("struct_size", c_size_t),
    ("baseline", c_int32),
    ("reserved", c_int32),
    ("lambda", c_double),
    ("task_factor", POINTER(c_double)),
    ("steps", c_size_t),
    ("rates", POINTER(c_double)),
    ("preconditioner", POINTER(c_double)),
    ("progress", linattn_progress),
    ("user", c_void_p),
]

linattn_theory_distance._fields_ = [
    ("struct_size", c_size_t),
    ("q_error", c_double),
    ("q_scale", c_double),
    ("q_distance", c_double),
    ("p_scale", c_double),
    ("p_distance", c_double),
    ("outside", c_double),
]

linattn_objective_options._fields_ = [
    ("struct_size", c_size_t),
    ("threads", c_size_t),
    ("kernel", c_int32),
    ("reserved", c_int32),
    ("progress", linattn_progress),
    ("user", c_void_p),
]

linattn_objective_callbacks._fields_ = [
    ("struct_size", c_size_t),
    ("parameter_count", c_size_t),
    ("value", CFUNCTYPE(c_int, c_uint64, POINTER(c_double), POINTER(c_double), c_void_p)),
    ("gradient", CFUNCTYPE(c_int, c_uint64, POINTER(c_double), POINTER(c_double), POINTER(c_double), c_void_p)),
    ("hvp", CFUNCTYPE(c_int, c_uint64, POINTER(c_double), POINTER(c_double), c_size_t, POINTER(c_double), c_void_p)),
    ("difference_step", c_double),
]

linattn_derivative_report._fields_ = [
    ("struct_size", c_size_t),
    ("gradient_error", c_double),
    ("worst", c_size_t),
    ("analytic", c_double),
    ("difference", c_double),
    ("step", c_double),
    ("kinks", c_uint64),
]

linattn_line._fields_ = [
    ("struct_size", c_size_t),
    ("count", c_size_t),
    ("intercept", c_double),
    ("slope", c_double),
    ("intercept_error", c_double),
    ("slope_error", c_double),
    ("residual_sd", c_double),
    ("r_squared", c_double),
]

linattn_histogram._fields_ = [
    ("struct_size", c_size_t),
    ("low", c_double),
    ("high", c_double),
    ("below", c_uint64),
    ("inside", c_uint64),
    ("above", c_uint64),
]

linattn_resampling_options._fields_ = [
    ("struct_size", c_size_t),
    ("resamples", c_size_t),
    ("seed", c_uint64),
    ("progress", linattn_progress),
    ("user", c_void_p),
]

linattn_moments._fields_ = [
    ("struct_size", c_size_t),
    ("count", c_size_t),
    ("mean", c_double),
    ("variance", c_double),
    ("sd", c_double),
    ("skewness", c_double),
    ("excess_kurtosis", c_double),
    ("moment5", c_double),
    ("moment6", c_double),
    ("mean_error", c_double),
    ("variance_error", c_double),
    ("sd_error", c_double),
    ("skewness_error", c_double),
    ("kurtosis_error", c_double),
    ("moment5_error", c_double),
    ("moment6_error", c_double),
    ("sixth_share", c_double),
    ("sixth_dominated", c_int32),
    ("reserved", c_int32),
]

linattn_interval._fields_ = [
    ("struct_size", c_size_t),
    ("estimate", c_double),
    ("low", c_double),
    ("high", c_double),
    ("error", c_double),
    ("level", c_double),
]

linattn_normal_plot._fields_ = [
    ("struct_size", c_size_t),
    ("correlation", c_double),
    ("intercept", c_double),
    ("slope", c_double),
]

linattn_normality._fields_ = [
    ("struct_size", c_size_t),
    ("kolmogorov_smirnov", c_double),
    ("kolmogorov_smirnov_p", c_double),
    ("anderson_darling", c_double),
    ("anderson_darling_star", c_double),
    ("anderson_darling_p", c_double),
    ("anderson_darling_simulated_p", c_double),
]

linattn_comparison._fields_ = [
    ("struct_size", c_size_t),
    ("kolmogorov_smirnov", c_double),
    ("wasserstein", c_double),
    ("mean_difference", c_double),
    ("kolmogorov_smirnov_p", c_double),
    ("wasserstein_p", c_double),
    ("mean_difference_p", c_double),
]

linattn_tail._fields_ = [
    ("struct_size", c_size_t),
    ("first", c_size_t),
    ("last", c_size_t),
    ("alpha", c_double),
    ("error", c_double),
    ("alpha_first", c_double),
    ("alpha_last", c_double),
    ("alpha_min", c_double),
    ("alpha_max", c_double),
    ("relative_range", c_double),
    ("tolerance", c_double),
    ("plateau", c_int32),
    ("reserved", c_int32),
]

linattn_spectrum._fields_ = [
    ("struct_size", c_size_t),
    ("count", c_size_t),
    ("smallest", c_double),
    ("largest", c_double),
    ("smallest_magnitude", c_double),
    ("spectral_norm", c_double),
    ("trace", c_double),
    ("frobenius", c_double),
    ("zeros", c_size_t),
    ("negatives", c_size_t),
    ("driver", c_int32),
    ("reserved", c_int32),
]

linattn_condition._fields_ = [
    ("struct_size", c_size_t),
    ("value", c_double),
    ("largest", c_double),
    ("median", c_double),
    ("count", c_size_t),
    ("zeros", c_size_t),
    ("negatives", c_size_t),
    ("kind", c_int32),
    ("rule", c_int32),
    ("flags", c_int32),
    ("reserved", c_int32),
]

linattn_spectra_distance._fields_ = [
    ("struct_size", c_size_t),
    ("divergence", c_double),
    ("distance", c_double),
    ("low", c_double),
    ("high", c_double),
    ("width", c_double),
]

linattn_diagnostics_options._fields_ = [
    ("struct_size", c_size_t),
    ("threads", c_size_t),
    ("progress", linattn_progress),
    ("user", c_void_p),
]

linattn_curvature_options._fields_ = [
    ("struct_size", c_size_t),
    ("first", c_size_t),
    ("count", c_size_t),
    ("preconditioner", POINTER(c_double)),
    ("median_rule", c_int32),
    ("reserved", c_int32),
]

linattn_heterogeneity._fields_ = [
    ("struct_size", c_size_t),
    ("blocks", c_size_t),
    ("mean_distance", c_double),
    ("largest_distance", c_double),
]

linattn_lanczos_options._fields_ = [
    ("struct_size", c_size_t),
    ("steps", c_size_t),
    ("tolerance", c_double),
    ("seed", c_uint64),
    ("preconditioner", POINTER(c_double)),
]

linattn_extremes._fields_ = [
    ("struct_size", c_size_t),
    ("steps", c_size_t),
    ("smallest", c_double),
    ("largest", c_double),
    ("spectral_norm", c_double),
    ("smallest_error", c_double),
    ("largest_error", c_double),
]

linattn_gradient_error_options._fields_ = [
    ("struct_size", c_size_t),
    ("samples", c_size_t),
    ("reference_draws", c_size_t),
    ("first_draw", c_uint64),
    ("measure", c_int32),
    ("reserved", c_int32),
    ("reference", POINTER(c_double)),
    ("directions", POINTER(c_double)),
    ("direction_count", c_size_t),
    ("surrogates", c_size_t),
    ("seed", c_uint64),
]

linattn_gradient_error._fields_ = [
    ("struct_size", c_size_t),
    ("samples", c_size_t),
    ("reference_draws", c_size_t),
    ("measure", c_int32),
    ("reserved", c_int32),
    ("reference_norm", c_double),
    ("mean_error_norm", c_double),
    ("covariance_trace", c_double),
]

linattn_smoothness._fields_ = [
    ("struct_size", c_size_t),
    ("count", c_size_t),
    ("zero_steps", c_size_t),
    ("nonpositive", c_size_t),
    ("zero_gradients", c_size_t),
    ("log_count", c_size_t),
    ("slope", c_double),
    ("slope_low", c_double),
    ("slope_high", c_double),
    ("intercept", c_double),
    ("correlation", c_double),
    ("l0", c_double),
    ("l0_low", c_double),
    ("l0_high", c_double),
    ("l1", c_double),
    ("l1_low", c_double),
    ("l1_high", c_double),
    ("r_squared", c_double),
    ("level", c_double),
]

linattn_concentration._fields_ = [
    ("struct_size", c_size_t),
    ("rows", c_size_t),
    ("empty", c_size_t),
    ("entropy", c_double),
    ("largest", c_double),
    ("top_share", c_double),
    ("ratio_median", c_double),
    ("ratio_smallest", c_double),
]

linattn_optimizer_options._fields_ = [
    ("struct_size", c_size_t),
    ("rule", c_int32),
    ("clip", c_int32),
    ("schedule", c_int32),
    ("nonfinite", c_int32),
    ("nesterov", c_int32),
    ("reserved", c_int32),
    ("learning_rate", c_double),
    ("momentum", c_double),
    ("dampening", c_double),
    ("beta1", c_double),
    ("beta2", c_double),
    ("epsilon", c_double),
    ("weight_decay", c_double),
    ("clip_threshold", c_double),
    ("warmup_steps", c_uint64),
    ("decay_steps", c_uint64),
    ("decay_factor", c_double),
    ("min_learning_rate", c_double),
    ("minimum_value", c_double),
]

linattn_update._fields_ = [
    ("struct_size", c_size_t),
    ("p", c_size_t),
    ("step", c_uint64),
    ("learning_rate", c_double),
    ("value", c_double),
    ("gradient", POINTER(c_double)),
    ("theta", POINTER(c_double)),
    ("state", POINTER(c_double)),
    ("tensors", POINTER(linattn_tensor)),
    ("tensor_count", c_size_t),
]

linattn_custom_rule._fields_ = [
    ("struct_size", c_size_t),
    ("state_count", c_size_t),
    ("name", c_char_p),
    ("update", CFUNCTYPE(c_int, POINTER(linattn_update), c_void_p)),
]

linattn_step_record._fields_ = [
    ("struct_size", c_size_t),
    ("step", c_uint64),
    ("value", c_double),
    ("gradient_norm", c_double),
    ("clipped_norm", c_double),
    ("learning_rate", c_double),
    ("clipped", c_int32),
    ("skipped", c_int32),
]

linattn_prompt_options._fields_ = [
    ("struct_size", c_size_t),
    ("examples", c_size_t),
    ("tokens", c_size_t),
    ("dim", c_size_t),
    ("seed", c_uint64),
    ("attention", c_int32),
    ("loss", c_int32),
    ("train_value", c_int32),
    ("token_kind", c_int32),
    ("key_map", c_int32),
    ("profile", c_int32),
    ("active", c_size_t),
    ("sparsity", c_double),
    ("temperature", c_double),
    ("noise", c_double),
    ("progress", linattn_progress),
    ("user", c_void_p),
]

linattn_prompt_condition._fields_ = [
    ("struct_size", c_size_t),
    ("rank", c_size_t),
    ("largest", c_double),
    ("smallest", c_double),
    ("condition", c_double),
    ("spread_smallest", c_double),
    ("spread_largest", c_double),
    ("key_condition", c_double),
    ("bound", c_double),
    ("ratio_bound", c_double),
]

linattn_recipe._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char * 24),
    ("layers", c_size_t),
    ("dim", c_size_t),
    ("context", c_size_t),
    ("prompts", c_size_t),
    ("seeds", c_size_t),
    ("steps", c_uint64),
    ("covariates", c_int32),
    ("form", c_int32),
    ("gamma_shape", c_double),
    ("gamma_scale", c_double),
    ("init_std", c_double),
    ("clip_threshold", c_double),
    ("sgd_learning_rate", c_double),
    ("sgd_momentum", c_double),
    ("adam_learning_rate", c_double),
    ("adam_beta1", c_double),
    ("adam_beta2", c_double),
    ("adam_epsilon", c_double),
    ("attention", c_int32),
    ("task", c_int32),
    ("mlp_hidden", c_size_t),
    ("hidden", c_size_t),
]

linattn_trainer_options._fields_ = [
    ("struct_size", c_size_t),
    ("record_stride", c_uint64),
    ("observer_stride", c_uint64),
    ("observer", linattn_observer),
    ("user", c_void_p),
]

# name: (restype, argtypes)
FUNCTIONS = {
    "linattn_sampler_options_init": (c_int, [POINTER(linattn_sampler_options), c_size_t]),
    "linattn_sampler_create": (c_int, [POINTER(c_void_p), POINTER(linattn_sampler_options)]),
    "linattn_sampler_create_custom": (c_int, [POINTER(c_void_p), c_size_t, c_size_t, linattn_fill, c_void_p]),
    "linattn_sampler_destroy": (None, [c_void_p]),
    "linattn_sampler_dim": (c_size_t, [c_void_p]),
    "linattn_sampler_context": (c_size_t, [c_void_p]),
    "linattn_batch_create_from_sampler": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, c_uint64]),
    "linattn_batch_create_from_arrays": (c_int, [POINTER(c_void_p), POINTER(c_double), POINTER(c_double), c_size_t, c_size_t,
    c_size_t]),
    "linattn_batch_destroy": (None, [c_void_p]),
    "linattn_batch_prompts": (c_size_t, [c_void_p]),
    "linattn_batch_context": (c_size_t, [c_void_p]),
    "linattn_batch_dim": (c_size_t, [c_void_p]),
    "linattn_batch_get_arrays": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double)]),
    "linattn_batch_get_moments": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double)]),
    "linattn_model_options_init": (c_int, [POINTER(linattn_model_options), c_size_t]),
    "linattn_model_create": (c_int, [POINTER(c_void_p), POINTER(linattn_model_options)]),
    "linattn_model_destroy": (None, [c_void_p]),
    "linattn_model_parameter_count": (c_size_t, [c_void_p]),
    "linattn_model_tensor_count": (c_size_t, [c_void_p]),
    "linattn_model_get_tensor": (c_int, [c_void_p, c_size_t, POINTER(linattn_tensor)]),
    "linattn_model_init_parameters": (c_int, [c_void_p, c_uint64, POINTER(c_double)]),
    "linattn_model_predict": (c_int, [c_void_p, c_void_p, POINTER(c_double), POINTER(c_double)]),
    "linattn_model_attention": (c_int, [c_void_p, c_void_p, POINTER(c_double), c_size_t, c_size_t, POINTER(c_double)]),
    "linattn_status_name": (c_char_p, [c_int]),
    "linattn_last_message": (c_char_p, []),
    "linattn_baseline_options_init": (c_int, [POINTER(linattn_baseline_options), c_size_t]),
    "linattn_baseline_predict": (c_int, [c_void_p, POINTER(linattn_baseline_options), POINTER(c_double)]),
    "linattn_theory_one_layer": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double)]),
    "linattn_theory_compare": (c_int, [c_void_p, c_void_p, POINTER(c_double), c_size_t, c_size_t,
    POINTER(linattn_theory_distance)]),
    "linattn_objective_options_init": (c_int, [POINTER(linattn_objective_options), c_size_t]),
    "linattn_objective_create_fixed": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(linattn_objective_options)]),
    "linattn_objective_create_sampled": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_size_t,
    POINTER(linattn_objective_options)]),
    "linattn_objective_create_dataset": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_size_t, c_int32, c_uint64,
    POINTER(linattn_objective_options)]),
    "linattn_objective_callbacks_init": (c_int, [POINTER(linattn_objective_callbacks), c_size_t]),
    "linattn_objective_create_callbacks": (c_int, [POINTER(c_void_p), POINTER(linattn_objective_callbacks),
    POINTER(linattn_objective_options), c_void_p]),
    "linattn_objective_clone": (c_int, [POINTER(c_void_p), c_void_p]),
    "linattn_objective_destroy": (None, [c_void_p]),
    "linattn_objective_parameter_count": (c_size_t, [c_void_p]),
    "linattn_objective_value": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(c_double)]),
    "linattn_objective_gradient": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(c_double), POINTER(c_double)]),
    "linattn_objective_hvp_kind": (c_int, [c_void_p]),
    "linattn_objective_hvp": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(c_double), c_size_t, POINTER(c_double)]),
    "linattn_objective_hessian": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(c_double)]),
    "linattn_objective_hessian_block": (c_int, [c_void_p, c_uint64, POINTER(c_double), c_size_t, c_size_t, POINTER(c_double)]),
    "linattn_objective_hessian_diagonal": (c_int, [c_void_p, c_uint64, POINTER(c_double), c_size_t, c_size_t,
    POINTER(c_double)]),
    "linattn_objective_hessian_workspace": (c_size_t, [c_void_p]),
    "linattn_objective_check_derivatives": (c_int, [c_void_p, c_uint64, POINTER(c_double), c_double,
    POINTER(linattn_derivative_report)]),
    "linattn_line_fit": (c_int, [POINTER(c_double), POINTER(c_double), c_size_t, POINTER(linattn_line)]),
    "linattn_series_rate": (c_int, [POINTER(c_double), c_size_t, c_double, c_double, POINTER(linattn_line)]),
    "linattn_sample_median": (c_int, [POINTER(c_double), c_size_t, c_int32, POINTER(c_double)]),
    "linattn_sample_quantiles": (c_int, [POINTER(c_double), c_size_t, POINTER(c_double), c_size_t, POINTER(c_double)]),
    "linattn_sample_histogram": (c_int, [POINTER(c_double), c_size_t, c_double, c_double, c_size_t, POINTER(c_uint64),
    POINTER(c_double), POINTER(linattn_histogram)]),
    "linattn_normal_quantile": (c_int, [c_double, POINTER(c_double)]),
    "linattn_student_quantile": (c_int, [c_double, c_double, POINTER(c_double)]),
    "linattn_resampling_options_init": (c_int, [POINTER(linattn_resampling_options), c_size_t]),
    "linattn_sample_moments": (c_int, [POINTER(c_double), c_size_t, POINTER(linattn_resampling_options),
    POINTER(linattn_moments)]),
    "linattn_sample_interval": (c_int, [POINTER(c_double), c_size_t, c_double, POINTER(linattn_interval)]),
    "linattn_share_interval": (c_int, [c_uint64, c_uint64, c_double, POINTER(linattn_interval)]),
    "linattn_sample_bootstrap": (c_int, [POINTER(c_double), c_size_t, c_int32, c_double, POINTER(linattn_resampling_options),
    POINTER(linattn_interval)]),
    "linattn_series_bootstrap": (c_int, [POINTER(c_double), c_size_t, c_size_t, c_double, POINTER(linattn_resampling_options),
    POINTER(linattn_interval)]),
    "linattn_line_bootstrap": (c_int, [POINTER(c_double), POINTER(c_double), c_size_t, c_size_t, c_double,
    POINTER(linattn_resampling_options), POINTER(linattn_interval), POINTER(linattn_interval)]),
    "linattn_sample_normal_plot": (c_int, [POINTER(c_double), c_size_t, POINTER(c_double), POINTER(c_double),
    POINTER(linattn_normal_plot)]),
    "linattn_sample_normality": (c_int, [POINTER(c_double), c_size_t, POINTER(linattn_resampling_options),
    POINTER(linattn_normality)]),
    "linattn_samples_compare": (c_int, [POINTER(c_double), c_size_t, POINTER(c_double), c_size_t,
    POINTER(linattn_resampling_options), POINTER(linattn_comparison)]),
    "linattn_sample_tail": (c_int, [POINTER(c_double), c_size_t, c_size_t, c_size_t, POINTER(c_double), POINTER(linattn_tail)]),
    "linattn_matrix_spectrum": (c_int, [POINTER(c_double), c_size_t, POINTER(c_double), POINTER(c_double),
    POINTER(linattn_spectrum)]),
    "linattn_robust_condition": (c_int, [POINTER(c_double), c_size_t, c_int32, c_int32, POINTER(linattn_condition)]),
    "linattn_spectrum_density": (c_int, [POINTER(c_double), POINTER(c_double), c_size_t, c_double, POINTER(c_double), c_size_t,
    POINTER(c_double)]),
    "linattn_spectra_compare": (c_int, [POINTER(c_double), c_size_t, POINTER(c_double), c_size_t, c_double,
    POINTER(linattn_spectra_distance)]),
    "linattn_matrix_precondition": (c_int, [POINTER(c_double), c_size_t, POINTER(c_double), POINTER(c_double)]),
    "linattn_diagnostics_options_init": (c_int, [POINTER(linattn_diagnostics_options), c_size_t]),
    "linattn_diagnostics_create": (c_int, [POINTER(c_void_p), c_void_p, POINTER(linattn_diagnostics_options)]),
    "linattn_diagnostics_destroy": (None, [c_void_p]),
    "linattn_diagnostics_parameter_count": (c_size_t, [c_void_p]),
    "linattn_diagnostics_hvp_kind": (c_int, [c_void_p]),
    "linattn_curvature_options_init": (c_int, [POINTER(linattn_curvature_options), c_size_t]),
    "linattn_diagnostics_spectrum": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(linattn_curvature_options),
    POINTER(c_double), POINTER(c_double), POINTER(linattn_spectrum)]),
    "linattn_diagnostics_robust_condition": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(linattn_curvature_options),
    POINTER(linattn_condition), POINTER(linattn_condition)]),
    "linattn_diagnostics_heterogeneity": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(c_size_t), c_size_t,
    POINTER(c_double), c_double, POINTER(c_double), POINTER(linattn_heterogeneity)]),
    "linattn_lanczos_options_init": (c_int, [POINTER(linattn_lanczos_options), c_size_t]),
    "linattn_diagnostics_extremes": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(linattn_lanczos_options),
    POINTER(c_double), POINTER(c_double), POINTER(linattn_extremes)]),
    "linattn_gradient_error_options_init": (c_int, [POINTER(linattn_gradient_error_options), c_size_t]),
    "linattn_diagnostics_gradient_error": (c_int, [c_void_p, POINTER(c_double), POINTER(linattn_gradient_error_options),
    POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(linattn_gradient_error)]),
    "linattn_diagnostics_directional_smoothness": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(c_double),
    POINTER(c_double)]),
    "linattn_diagnostics_gradient_ratios": (c_int, [c_void_p, c_uint64, POINTER(c_double), POINTER(c_double), POINTER(c_double),
    c_size_t, POINTER(c_double)]),
    "linattn_smoothness_fit": (c_int, [POINTER(c_double), POINTER(c_double), c_size_t, c_size_t, c_double,
    POINTER(linattn_resampling_options), POINTER(linattn_smoothness)]),
    "linattn_attention_concentration": (c_int, [POINTER(c_double), c_size_t, c_size_t, c_size_t, c_size_t,
    POINTER(linattn_concentration)]),
    "linattn_number_write": (c_int, [c_double, c_char_p]),
    "linattn_number_read": (c_int, [c_char_p, POINTER(c_double), POINTER(c_size_t)]),
    "linattn_optimizer_options_init": (c_int, [POINTER(linattn_optimizer_options), c_size_t]),
    "linattn_optimizer_create": (c_int, [POINTER(c_void_p), POINTER(linattn_optimizer_options), POINTER(linattn_tensor),
    c_size_t, c_size_t]),
    "linattn_custom_rule_init": (c_int, [POINTER(linattn_custom_rule), c_size_t]),
    "linattn_optimizer_create_custom": (c_int, [POINTER(c_void_p), POINTER(linattn_optimizer_options),
    POINTER(linattn_custom_rule), c_void_p, POINTER(linattn_tensor), c_size_t, c_size_t]),
    "linattn_optimizer_destroy": (None, [c_void_p]),
    "linattn_optimizer_step": (c_int, [c_void_p, c_double, POINTER(c_double), POINTER(c_double), POINTER(linattn_step_record)]),
    "linattn_optimizer_step_count": (c_uint64, [c_void_p]),
    "linattn_optimizer_skip_count": (c_uint64, [c_void_p]),
    "linattn_optimizer_learning_rate": (c_double, [c_void_p, c_uint64]),
    "linattn_optimizer_state_count": (c_size_t, [c_void_p]),
    "linattn_optimizer_get_state": (c_int, [c_void_p, POINTER(c_double), POINTER(c_uint64), POINTER(c_uint64)]),
    "linattn_optimizer_set_state": (c_int, [c_void_p, POINTER(c_double), c_uint64, c_uint64]),
    "linattn_optimizer_preconditioner": (c_int, [c_void_p, POINTER(c_double)]),
    "linattn_prompt_options_init": (c_int, [POINTER(linattn_prompt_options), c_size_t]),
    "linattn_prompt_create": (c_int, [POINTER(c_void_p), POINTER(linattn_prompt_options)]),
    "linattn_prompt_create_from_arrays": (c_int, [POINTER(c_void_p), POINTER(linattn_prompt_options), POINTER(c_double),
    POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double)]),
    "linattn_prompt_destroy": (None, [c_void_p]),
    "linattn_prompt_examples": (c_size_t, [c_void_p]),
    "linattn_prompt_tokens": (c_size_t, [c_void_p]),
    "linattn_prompt_dim": (c_size_t, [c_void_p]),
    "linattn_prompt_parameter_count": (c_size_t, [c_void_p]),
    "linattn_prompt_get_arrays": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double),
    POINTER(c_double)]),
    "linattn_objective_create_prompt": (c_int, [POINTER(c_void_p), c_void_p, POINTER(linattn_objective_options)]),
    "linattn_objective_create_prompt_dataset": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, c_int32, c_uint64,
    POINTER(linattn_objective_options)]),
    "linattn_prompt_evaluate": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double),
    POINTER(c_double)]),
    "linattn_prompt_gauss_newton": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double)]),
    "linattn_prompt_softmax_spectrum": (c_int, [c_void_p, POINTER(c_double), c_size_t, POINTER(c_double)]),
    "linattn_prompt_measure_condition": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double),
    POINTER(linattn_prompt_condition)]),
    "linattn_prompt_distance": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double), POINTER(c_double)]),
    "linattn_prompt_predict_rate": (c_int, [c_void_p, POINTER(c_double), c_double, POINTER(c_double)]),
    "linattn_recipe_count": (c_size_t, []),
    "linattn_recipe_get": (c_int, [c_size_t, POINTER(linattn_recipe)]),
    "linattn_recipe_find": (c_int, [c_char_p, POINTER(linattn_recipe)]),
    "linattn_recipe_source": (c_char_p, [c_size_t, c_char_p]),
    "linattn_recipe_sampler_options": (c_int, [POINTER(linattn_recipe), POINTER(linattn_sampler_options), c_size_t]),
    "linattn_recipe_model_options": (c_int, [POINTER(linattn_recipe), POINTER(linattn_model_options), c_size_t]),
    "linattn_recipe_optimizer_options": (c_int, [POINTER(linattn_recipe), c_int32, POINTER(linattn_optimizer_options),
    c_size_t]),
    "linattn_trainer_options_init": (c_int, [POINTER(linattn_trainer_options), c_size_t]),
    "linattn_trainer_create": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(c_double),
    POINTER(linattn_trainer_options)]),
    "linattn_trainer_destroy": (None, [c_void_p]),
    "linattn_trainer_run": (c_int, [c_void_p, c_uint64, POINTER(c_uint64)]),
    "linattn_trainer_request_stop": (None, [c_void_p]),
    "linattn_trainer_step_count": (c_uint64, [c_void_p]),
    "linattn_trainer_parameter_count": (c_size_t, [c_void_p]),
    "linattn_trainer_get_parameters": (c_int, [c_void_p, POINTER(c_double)]),
    "linattn_trainer_record_count": (c_size_t, [c_void_p]),
    "linattn_trainer_get_records": (c_int, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(linattn_step_record)]),
    "linattn_trainer_save": (c_int, [c_void_p, c_char_p]),
    "linattn_trainer_load": (c_int, [c_void_p, c_char_p]),
    "linattn_version_number": (c_int, []),
    "linattn_version_string": (c_char_p, []),
    "linattn_build_info": (c_char_p, []),
    "linattn_blas_info": (c_int, [c_char_p]),
    "linattn_kernel_available": (c_int, [c_int32]),
    "linattn_kernel_name": (c_char_p, [c_int32]),
}


def declare(library):
    """Gives every function of the library its types, and returns the library."""
    for name, (restype, argtypes) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = restype, argtypes
    return library
