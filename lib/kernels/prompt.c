/* prompt.c: which instruction set's kernels for prompt attention. */
#include "kernels/prompt.h"

LINATTN__ISA_TABLE(linattn__prompt_kernels, prompt, PROMPT);

const linattn__prompt_kernels *linattn__prompt_kernels_for(enum linattn__isa isa) { return PROMPT[isa]; }
