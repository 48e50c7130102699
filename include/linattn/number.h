/* number.h: numbers as text, the same in every locale.
 *
 * The decimal separator is always '.', and what is written reads back to the same bits. */
#ifndef LINATTN_NUMBER_H
#define LINATTN_NUMBER_H

#include <linattn/export.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for any number that linattn_number_write writes, final NUL included. */
enum { LINATTN_NUMBER_SIZE = 32 };

/* Writes `number` with the fewest significant digits that read back to the same double: "0.02", "1e-300", "nan", "inf", "-inf".
 * text: room for LINATTN_NUMBER_SIZE characters. Returns LINATTN_EINVAL when text is NULL. */
LINATTN_API int linattn_number_write(double number, char *text);

/* Reads the number that `text` (NUL-terminated, not NULL) begins with, correctly rounded: an optional sign, then decimal digits
 * with an optional '.' and exponent, or "inf", "infinity", "nan" in any case. No leading blanks, no hexadecimal.
 * out: the number. used: how many characters it took; NULL when the number must end where the text does.
 * Returns LINATTN_EINVAL for NULL, LINATTN_EFORMAT when there is no number, or something follows it and used is NULL; out and
 * used are then unchanged. A number too large for a double reads as infinity, one too small as zero. */
LINATTN_API int linattn_number_read(const char *text, double *out, size_t *used);

#ifdef __cplusplus
}
#endif
#endif
