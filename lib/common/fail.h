/* fail.h: every failure of the library is made here: a status and one line that names the argument, its value and what is
 * allowed. Each function returns the status, so that a check reads `return linattn__fail_...`. */
#ifndef LINATTN_COMMON_FAIL_H
#define LINATTN_COMMON_FAIL_H

#include <linattn/status.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the message from a format; write no floating-point number with it (the separator depends on the locale): use
 * linattn__fail_real. */
__attribute__((format(printf, 2, 3))) int linattn__fail(int status, const char *format, ...);

/* The same, followed by ": " and the system's words for `error` (an errno), for which room is kept however long the format grows.
 */
__attribute__((format(printf, 3, 4))) int linattn__fail_system(int status, int error, const char *format, ...);

/* LINATTN_EINVAL "<argument> is NULL". */
int linattn__fail_null(const char *argument);

/* LINATTN_EINVAL "<argument> is <value>; allowed: <allowed>". */
int linattn__fail_count(const char *argument, uint64_t value, const char *allowed);
int linattn__fail_integer(const char *argument, int64_t value, const char *allowed);
int linattn__fail_real(const char *argument, double value, const char *allowed);

/* How often this thread has failed; linattn__callback_status wants the count from before the callback. */
unsigned linattn__failures(void);

/* Turns what a callback returned into a status: 0, LINATTN_STOP and negative numbers pass, anything else is LINATTN_EINVAL. When a
 * call of this library failed inside the callback, its message is kept: it knows more. */
int linattn__callback_status(const char *callback, int returned, unsigned failures_before);

/* LINATTN_OK when all of x (count) are finite, otherwise LINATTN_ENONFINITE "<argument>[<index>] is <value>; ...". */
int linattn__check_finite(const char *argument, const double *x, size_t count);

#endif
