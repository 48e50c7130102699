"""Gradient descent with ctypes alone: no cffi, no numpy, and types declared for what is used.

Without argtypes ctypes passes handles as 32-bit integers, which works until the heap lies high. ../ctypes_table.py, which may be
copied beside a program, declares every function and struct."""
import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint64, c_void_p, sizeof

lib = ctypes.CDLL(os.environ.get("LINATTN_LIBRARY", "liblinattn.so.1"))
doubles = POINTER(c_double)


class SamplerOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("dim", c_size_t), ("context", c_size_t), ("seed", c_uint64), ("covariates", c_int32),
                ("task", c_int32), ("kind", c_int32), ("stream", c_int32), ("gamma_shape", c_double), ("gamma_scale", c_double),
                ("noise_std", c_double), ("noisy_target", c_int32), ("reserved", c_int32), ("covariate_factor", doubles),
                ("task_factor", doubles)]


class ModelOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("dim", c_size_t), ("layers", c_size_t), ("heads", c_size_t), ("attention", c_int32),
                ("form", c_int32), ("init_std", c_double)]


for name, result, *arguments in [
    ("last_message", c_char_p),
    ("sampler_options_init", c_int, POINTER(SamplerOptions), c_size_t),
    ("sampler_create", c_int, POINTER(c_void_p), POINTER(SamplerOptions)),
    ("model_options_init", c_int, POINTER(ModelOptions), c_size_t),
    ("model_create", c_int, POINTER(c_void_p), POINTER(ModelOptions)),
    ("model_parameter_count", c_size_t, c_void_p),
    ("model_init_parameters", c_int, c_void_p, c_uint64, doubles),
    ("objective_create_sampled", c_int, POINTER(c_void_p), c_void_p, c_void_p, c_size_t, c_void_p),
    ("objective_gradient", c_int, c_void_p, c_uint64, doubles, doubles, doubles),
    ("sampler_destroy", None, c_void_p),
    ("model_destroy", None, c_void_p),
    ("objective_destroy", None, c_void_p),
]:
    function = getattr(lib, "linattn_" + name)
    function.restype, function.argtypes = result, arguments


def check(status):
    if status != 0:
        raise RuntimeError(lib.linattn_last_message().decode())


sampler, model, objective, value = c_void_p(), c_void_p(), c_void_p(), c_double()
data, shape = SamplerOptions(), ModelOptions()
check(lib.linattn_sampler_options_init(data, sizeof(data)))
check(lib.linattn_model_options_init(shape, sizeof(shape)))
data.dim, data.context, shape.dim, shape.layers = 5, 20, 5, 3
check(lib.linattn_sampler_create(byref(sampler), data))
check(lib.linattn_model_create(byref(model), shape))
check(lib.linattn_objective_create_sampled(byref(objective), model, sampler, 1000, None))
p = lib.linattn_model_parameter_count(model)
theta, gradient = (c_double * p)(), (c_double * p)()
check(lib.linattn_model_init_parameters(model, 1, theta))
for draw in range(501):
    check(lib.linattn_objective_gradient(objective, draw, theta, value, gradient))
    if draw % 250 == 0:
        print(f"step {draw}: loss {value.value:.4g}")
    length = sum(g * g for g in gradient)**0.5
    for i in range(p):
        theta[i] -= 0.02 * gradient[i] / max(1, length)
lib.linattn_sampler_destroy(sampler)
lib.linattn_model_destroy(model)
lib.linattn_objective_destroy(objective)
