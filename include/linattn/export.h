/* export.h: which symbols a program sees.
 *
 * LINATTN_API marks every public function. A binding generator may define it as empty. */
#ifndef LINATTN_EXPORT_H
#define LINATTN_EXPORT_H

#ifndef LINATTN_API
#define LINATTN_API __attribute__((visibility("default")))
#endif

#endif
