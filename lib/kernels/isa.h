/* isa.h: one kernel source, several instruction sets.
 *
 * A file named *.kernel.c is compiled once per instruction set with LINATTN__ISA (a name: baseline, avx2, avx512) and
 * LINATTN__LANES defined, and exports its table as LINATTN__ISA_NAME(table). The tables of all instruction sets make one array,
 * indexed by enum linattn__isa: LINATTN__ISA_TABLE. */
#ifndef LINATTN_KERNELS_ISA_H
#define LINATTN_KERNELS_ISA_H

#include <stdint.h>

enum linattn__isa { LINATTN__ISA_BASELINE, LINATTN__ISA_AVX2, LINATTN__ISA_AVX512, LINATTN__ISA_COUNT };

/* Prompts lie in blocks of 8, the prompt being the innermost index: two entries of a block's array are this far apart. */
enum { LINATTN__BLOCK = 8 };

#define LINATTN__ISA_PASTE2(name, isa) linattn__##name##_##isa
#define LINATTN__ISA_PASTE(name, isa)  LINATTN__ISA_PASTE2(name, isa)
#define LINATTN__ISA_NAME(name)        LINATTN__ISA_PASTE(name, LINATTN__ISA)

/* Declares the tables `name` of struct type `type`, and the array `tables` of pointers to them. */
#if defined(__x86_64__)
#define LINATTN__ISA_TABLE(type, name, tables)                                                                                     \
    extern const type linattn__##name##_baseline, linattn__##name##_avx2, linattn__##name##_avx512;                                \
    static const type *const tables[LINATTN__ISA_COUNT] = {&linattn__##name##_baseline, &linattn__##name##_avx2,                   \
                                                           &linattn__##name##_avx512}
#else
#define LINATTN__ISA_TABLE(type, name, tables)                                                                                     \
    extern const type linattn__##name##_baseline;                                                                                  \
    static const type *const tables[LINATTN__ISA_COUNT] = {&linattn__##name##_baseline, 0, 0}
#endif

/* The fastest instruction set of this machine. */
enum linattn__isa linattn__isa_best(void);

/* Turns an option (enum linattn_kernel) into an instruction set. Returns LINATTN_EINVAL (no such kernel) or
 * LINATTN_EUNSUPPORTED (the machine lacks it); *isa is then unchanged. */
int linattn__isa_resolve(int32_t kernel, enum linattn__isa *isa);

#endif
