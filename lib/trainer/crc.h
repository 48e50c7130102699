/* crc.h: the checksum of checkpoints. */
#ifndef LINATTN_TRAINER_CRC_H
#define LINATTN_TRAINER_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 (polynomial 0x04C11DB7, reflected 0xEDB88320, begun with and finally inverted by 0xFFFFFFFF, as in zip and PNG): it
 * notices every change of one bit and every burst up to 32 bits. "123456789" has 0xCBF43926. crc: 0, or the checksum of the bytes
 * before these. */
uint32_t linattn__crc32(uint32_t crc, const unsigned char *bytes, size_t size);

#endif
