/* complain.h: one line on stderr, beginning with the program's name. */
#ifndef EXAMPLES_COMPLAIN_H
#define EXAMPLES_COMPLAIN_H

enum {
    EXIT_FAILED = 1,       /* the work could not be done */
    EXIT_USAGE = 2,        /* the command line asks for something that cannot be */
    EXIT_INTERRUPTED = 130 /* 128 + SIGINT, as shells have it */
};

/* Sets the program's name from argv[0]; once, before threads are started. */
void complain_as(const char *program);

/* Writes "<program>: <message>" and returns status. Control characters in the message become '?', so that it stays one line. */
__attribute__((format(printf, 2, 3))) int complain(int status, const char *format, ...);

#endif
