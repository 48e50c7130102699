/* checkpoint.h: the file format of checkpoints, the same on every machine. All integers are little-endian, reals are the bits of
 * doubles as 64-bit integers.
 *
 *     header   "LINATTN\1", version u32, number of sections u32, size of the file u64, CRC-32 of these 24 bytes u32
 *     section  tag (4 characters), size of the payload u64, payload, CRC-32 of all of that u32; as many as the header says
 *
 *     FING     what the run was made of: count u32, then for each field: length of its name u16, name, value u64
 *     TRAI     steps taken u64, p u64
 *     PARA     theta (p)
 *     OPTI     length of the rule's name u16, name, steps u64, skips u64, state_count u64, state (state_count)
 *     END.     the last: CRC-32 of the file up to this section u32
 *
 * The header and the place of END. stay as they are in later versions. A section whose tag begins with a small letter may be
 * skipped by a library that does not know it; any other unknown one means that the file is of a later version. Sections come in any
 * order, each once. */
#ifndef LINATTN_TRAINER_CHECKPOINT_H
#define LINATTN_TRAINER_CHECKPOINT_H

#include "trainer/trainer.h"
#include <stddef.h>
#include <stdint.h>

enum {
    LINATTN__CHECKPOINT_VERSION = 1,
    LINATTN__CHECKPOINT_HEADER = 28,  /* bytes of the header */
    LINATTN__CHECKPOINT_FRAME = 16,   /* bytes of a section beside its payload: tag, size, CRC-32 */
    LINATTN__CHECKPOINT_END = 16 + 4, /* bytes of the section END. */
    LINATTN__CHECKPOINT_MAGIC = 8,
    LINATTN__CHECKPOINT_SLACK = 1 << 26, /* bytes that a file may be longer than ours: other fields, later sections, another p */
};

extern const unsigned char linattn__checkpoint_magic[LINATTN__CHECKPOINT_MAGIC];

/* Writes the trainer's checkpoint to bytes and returns its size; bytes NULL: only the size. */
size_t linattn__checkpoint_write(const linattn_trainer *trainer, unsigned char *bytes);

/* What a checkpoint holds, as found in its bytes. */
typedef struct linattn__checkpoint {
    uint64_t step, skips;
    double *theta; /* (p) */
    double *state; /* (state_count) */
} linattn__checkpoint;

/* Reads bytes (size) of the file `path` (for messages) for a trainer: everything is checked against it, and nothing of it changes.
 * into->theta and into->state are the caller's arrays, written also on failure. Returns LINATTN_EFORMAT, LINATTN_EVERSION or
 * LINATTN_EMISMATCH. */
int linattn__checkpoint_read(const linattn_trainer *trainer, const char *path, const unsigned char *bytes, size_t size,
                             linattn__checkpoint *into);

#endif
