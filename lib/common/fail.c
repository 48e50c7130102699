/* fail.c: the status names and the thread's message. */
#include "common/fail.h"
#include <linattn/number.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_SIZE = 512, /* final NUL included */
    REASON_SIZE = 128   /* room kept for the system's reason, so that a long path never pushes it out */
};

/* A plain array: nothing to destroy when a thread ends, so the library may be unloaded before its threads. */
static _Thread_local char message[MESSAGE_SIZE];
static _Thread_local unsigned failures; /* how often the message was set */

const char *linattn_status_name(int status) {
    switch (status) {
    case LINATTN_STOP:
        return "LINATTN_STOP";
    case LINATTN_OK:
        return "LINATTN_OK";
    case LINATTN_EINVAL:
        return "LINATTN_EINVAL";
    case LINATTN_ENOMEM:
        return "LINATTN_ENOMEM";
    case LINATTN_EOVERFLOW:
        return "LINATTN_EOVERFLOW";
    case LINATTN_ENONFINITE:
        return "LINATTN_ENONFINITE";
    case LINATTN_EVERSION:
        return "LINATTN_EVERSION";
    case LINATTN_EUNSUPPORTED:
        return "LINATTN_EUNSUPPORTED";
    case LINATTN_EMISMATCH:
        return "LINATTN_EMISMATCH";
    case LINATTN_EFORMAT:
        return "LINATTN_EFORMAT";
    case LINATTN_EIO:
        return "LINATTN_EIO";
    case LINATTN_ESYSTEM:
        return "LINATTN_ESYSTEM";
    case LINATTN_EDEGENERATE:
        return "LINATTN_EDEGENERATE";
    case LINATTN_ENOTCONVERGED:
        return "LINATTN_ENOTCONVERGED";
    default:
        return "unknown status";
    }
}

const char *linattn_last_message(void) { return message; }

unsigned linattn__failures(void) { return failures; }

int linattn__callback_status(const char *callback, int returned, unsigned failures_before) {
    if (returned == LINATTN_OK || returned == LINATTN_STOP) return returned;
    if (returned > 0)
        return linattn__fail(LINATTN_EINVAL, "the callback %s returned %d; allowed: 0, 1 (LINATTN_STOP) or a negative status",
                             callback, returned);
    if (failures != failures_before) return returned;
    return linattn__fail(returned, "the callback %s returned %d", callback, returned);
}

/* The length of the UTF-8 sequence that begins at text, 0 when it is not one (a cut one is not). */
static size_t utf8_length(const char *text) {
    const unsigned char lead = (unsigned char)text[0];
    const size_t length = lead < 0x80 ? 1 : lead >= 0xf5 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80) return 0;
    }
    return length;
}

/* Makes text the message: one line of valid UTF-8, whatever bytes a path or a file brought in, and also when it was cut. Text is
 * in a buffer of its own, because it may have been formatted from the last message. */
static void set_message(const char *text) {
    size_t out = 0;
    failures++;
    while (*text) {
        size_t length = utf8_length(text);
        const int clean = length > 1 || (length == 1 && *text >= 0x20 && *text != 0x7f);
        if (!clean) length = 1;
        if (out + length >= MESSAGE_SIZE) break;
        memcpy(message + out, clean ? text : "?", length);
        out += length;
        text += length;
    }
    message[out] = '\0';
}

/* Formats into text (size) and marks what was cut with "...". */
__attribute__((format(printf, 3, 0))) static void format_text(char *text, size_t size, const char *format, va_list arguments) {
    const int length = vsnprintf(text, size, format, arguments);
    if (length < 0) text[0] = '\0';
    if (length >= (int)size) memcpy(text + size - 4, "...", 4);
}

int linattn__fail(int status, const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    set_message(text);
    return status;
}

/* strerror without its shared buffer; two incompatible functions have the name strerror_r. */
static const char *system_reason(int error, char *buffer, size_t size) {
#if defined(__GLIBC__)
    return strerror_r(error, buffer, size);
#else
    return strerror_r(error, buffer, size) == 0 ? buffer : "unknown reason";
#endif
}

int linattn__fail_system(int status, int error, const char *format, ...) {
    char text[MESSAGE_SIZE], buffer[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof text - REASON_SIZE, format, arguments);
    va_end(arguments);
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, ": %s", system_reason(error, buffer, sizeof buffer));
    set_message(text);
    return status;
}

int linattn__fail_null(const char *argument) { return linattn__fail(LINATTN_EINVAL, "%s is NULL", argument); }

int linattn__fail_count(const char *argument, uint64_t value, const char *allowed) {
    return linattn__fail(LINATTN_EINVAL, "%s is %llu; allowed: %s", argument, (unsigned long long)value, allowed);
}

int linattn__fail_integer(const char *argument, int64_t value, const char *allowed) {
    return linattn__fail(LINATTN_EINVAL, "%s is %lld; allowed: %s", argument, (long long)value, allowed);
}

int linattn__fail_real(const char *argument, double value, const char *allowed) {
    char number[LINATTN_NUMBER_SIZE];
    linattn_number_write(value, number);
    return linattn__fail(LINATTN_EINVAL, "%s is %s; allowed: %s", argument, number, allowed);
}

int linattn__check_finite(const char *argument, const double *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (isfinite(x[i])) continue;
        char number[LINATTN_NUMBER_SIZE];
        linattn_number_write(x[i], number);
        return linattn__fail(LINATTN_ENONFINITE, "%s[%zu] is %s; allowed: finite numbers", argument, i, number);
    }
    return LINATTN_OK;
}
