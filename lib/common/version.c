/* version.c: what this library is, and how it was built. */
#include <linattn/version.h>

#ifndef LINATTN__VERSION_TEXT
#error "LINATTN__VERSION_TEXT is to be \"major.minor.patch\", as the Makefile takes it from version.h"
#endif

#if defined(__clang__)
#define COMPILER __VERSION__
#elif defined(__GNUC__)
#define COMPILER "GCC " __VERSION__
#else
#define COMPILER "an unknown compiler"
#endif

#if defined(__x86_64__)
#define KERNELS "baseline (SSE2), avx2, avx512"
#else
#define KERNELS "baseline"
#endif

int linattn_version_number(void) { return LINATTN_VERSION_NUMBER; }

const char *linattn_version_string(void) { return LINATTN__VERSION_TEXT; }

const char *linattn_build_info(void) { return "liblinattn " LINATTN__VERSION_TEXT "; compiler: " COMPILER "; kernels: " KERNELS; }
