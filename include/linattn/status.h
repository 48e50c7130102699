/* status.h: how a call says what happened.
 *
 * Every function that can fail returns a status: 0 is success, a negative number a failure, a positive number a note that is
 * not a failure. The numbers never change their meaning. After a failure the calling thread's message says, in one line, which
 * argument was wrong, what it was and what was allowed. */
#ifndef LINATTN_STATUS_H
#define LINATTN_STATUS_H

#include <linattn/export.h>

#ifdef __cplusplus
extern "C" {
#endif

enum linattn_status {
    LINATTN_STOP = 1,           /* a callback or a stop request ended the work early; everything done so far counts */
    LINATTN_OK = 0,
    LINATTN_EINVAL = -1,        /* an argument or option is outside what is allowed (NULL, zero, NaN, unknown enum value) */
    LINATTN_ENOMEM = -2,        /* memory could not be allocated */
    LINATTN_EOVERFLOW = -3,     /* sizes are each allowed, but their product does not fit */
    LINATTN_ENONFINITE = -4,    /* NaN or Inf in an input array, or in a value or gradient that was computed */
    LINATTN_EVERSION = -5,      /* a struct or file of a version that this library does not know */
    LINATTN_EUNSUPPORTED = -6,  /* a valid request that this object or machine cannot serve */
    LINATTN_EMISMATCH = -7,     /* two objects, or an object and a file, do not belong together */
    LINATTN_EFORMAT = -8,       /* a file or text is truncated, damaged or not of the expected kind */
    LINATTN_EIO = -9,           /* the operating system refused to read or write a file */
    LINATTN_ESYSTEM = -10,      /* the operating system refused another resource, such as a thread */
    LINATTN_EDEGENERATE = -11,  /* the answer is not defined for this input (a zero direction, equal points) */
    LINATTN_ENOTCONVERGED = -12 /* an iterative method did not reach its tolerance */
};

/* The name of a status as written above, such as "LINATTN_EINVAL"; "unknown status" for a number that is none. Never NULL; the
 * text lives as long as the library. */
LINATTN_API const char *linattn_status_name(int status);

/* The message of the last failure in the calling thread; "" when there was none. Never NULL. Owned by the library and
 * overwritten by the thread's next failure; a call that succeeds leaves it alone. */
LINATTN_API const char *linattn_last_message(void);

/* Called now and then during a call that may last; fraction, in [0, 1], is the share done. Return 0 to go on, LINATTN_STOP or a
 * negative status to end the call, which then returns that. Runs on the calling thread. */
typedef int (*linattn_progress)(double fraction, void *user);

#ifdef __cplusplus
}
#endif
#endif
