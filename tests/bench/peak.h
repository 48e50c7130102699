/* peak.h: how many multiply-adds a core can do, to hold the kernels against. */
#ifndef LINATTN_TESTS_BENCH_PEAK_H
#define LINATTN_TESTS_BENCH_PEAK_H

#include "kernels/isa.h"
#include <stdint.h>

/* 10^6 multiply-adds x <- a x + b of doubles, fused where the instruction set does that, in chains that do not wait for one another
 * and never leave the registers. Returns 0. */
int multiply_adds(enum linattn__isa isa, uint64_t turn);

#endif
