#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *program_name = "example";

void complain_as(const char *program) {
    if (program == NULL || program[0] == '\0') return;
    const char *slash = strrchr(program, '/');
    program_name = slash == NULL ? program : slash + 1;
}

int complain(int status, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
    fprintf(stderr, "%s: %s\n", program_name, line); /* one call, one line: threads do not interleave */
    return status;
}
