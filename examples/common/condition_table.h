/* condition_table.h: ratios of robust condition numbers, SGD over Adam: seeds crossed with evaluation batches. */
#ifndef EXAMPLES_CONDITION_TABLE_H
#define EXAMPLES_CONDITION_TABLE_H

#include "conditioning.h"

enum {
    CONDITION_TABLE_STOPS = 8, /* at most */
    CONDITION_TABLE_SEEDS = 6  /* as many as were published */
};

/* Prints the table and draws it. Returns 0, or EXIT_FAILED after a complaint. */
int condition_table(const conditioning *s);

#endif
