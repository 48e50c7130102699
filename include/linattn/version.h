/* version.h: the version, and what this build can do.
 *
 * Versions follow semantic versioning. The numbers below are those of the header; the functions tell those of the library that
 * runs, which may be newer. */
#ifndef LINATTN_VERSION_H
#define LINATTN_VERSION_H

#include <linattn/export.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LINATTN_VERSION_MAJOR = 1,
    LINATTN_VERSION_MINOR = 0,
    LINATTN_VERSION_PATCH = 0,
    LINATTN_VERSION_NUMBER = 10000 * LINATTN_VERSION_MAJOR + 100 * LINATTN_VERSION_MINOR + LINATTN_VERSION_PATCH
};

/* The running library's version as 10000 major + 100 minor + patch. */
LINATTN_API int linattn_version_number(void);

/* The running library's version, such as "1.0.0". Never NULL; the text lives as long as the library. */
LINATTN_API const char *linattn_version_string(void);

/* One line on how the library was built: version, compiler, instruction sets. Never NULL; the text lives as long as the library. */
LINATTN_API const char *linattn_build_info(void);

/* Room for linattn_blas_info, final NUL included. */
enum { LINATTN_BLAS_INFO_SIZE = 128 };

/* One line on the BLAS that answers behind LAPACK, such as "OpenBLAS 0.3.21; kernels: Haswell; integers: 32 bits; threads of its
 * own"; "unknown BLAS; integers: 32 bits" for one that does not tell. Eigenvalues may depend on it, in their last digits.
 * text: room for LINATTN_BLAS_INFO_SIZE characters. Returns LINATTN_EINVAL when text is NULL. */
LINATTN_API int linattn_blas_info(char *text);

/* The instruction sets that kernels are compiled for. Samples do not depend on the choice; values and gradients agree to about
 * 1e-13 of their largest entry. */
enum linattn_kernel {
    LINATTN_KERNEL_AUTO = 0,     /* the fastest one this machine can run */
    LINATTN_KERNEL_BASELINE = 1, /* what every processor of the architecture has: SSE2, or NEON */
    LINATTN_KERNEL_AVX2 = 2,     /* AVX2 and FMA */
    LINATTN_KERNEL_AVX512 = 3    /* AVX-512 F, DQ and VL */
};

/* 1 when this machine can run the kernel (enum linattn_kernel) and the library holds it, otherwise 0; AUTO: 1. */
LINATTN_API int linattn_kernel_available(int32_t kernel);

/* The name of a kernel: "auto", "baseline", "avx2", "avx512"; "unknown" for a number that is none. AUTO is not resolved. */
LINATTN_API const char *linattn_kernel_name(int32_t kernel);

#ifdef __cplusplus
}
#endif
#endif
