/* arguments.h: the command line of an example, from a table of its options. */
#ifndef EXAMPLES_ARGUMENTS_H
#define EXAMPLES_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

enum argument_kind {
    ARGUMENT_FLAG,  /* no value; sets an int to 1 */
    ARGUMENT_COUNT, /* a whole number from 1 to `most`, into a uint64_t */
    ARGUMENT_REAL,  /* a finite number > 0, into a double */
    ARGUMENT_TEXT   /* anything but "", into a const char * */
};

typedef struct argument {
    const char *name; /* such as "--seeds" */
    enum argument_kind kind;
    void *value;      /* where it goes; left alone when the option is not given */
    uint64_t most;    /* read for counts */
    const char *help; /* what it means, and the default */
} argument;

enum { ARGUMENTS_GO_ON = -1 };

/* Reads argv by the table; "--name value" and "--name=value" are the same, the last one counts, and --help is known without a row.
 * Returns ARGUMENTS_GO_ON, or else what the program is to return: 0 after --help, EXIT_USAGE after a complaint. */
int arguments_read(const argument *table, size_t count, const char *purpose, int argc, char **argv);

#endif
