/* SPDX-License-Identifier: MIT */
#include "image/codec/exif.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

/* Exif data is a TIFF file: a header of 8 bytes with the offset of a directory, which is a count
 * and so many entries of 12 bytes: tag, type, count, value. */
#define HEADER 8
#define ENTRY 12
#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT 3

typedef struct tiff {
    const uint8_t *bytes;
    size_t size;
    bool big_endian;
} tiff;

static uint32_t load16(const tiff *file, size_t at)
{
    const uint8_t *from = file->bytes + at;
    return file->big_endian ? (uint32_t)from[0] << 8 | from[1] : (uint32_t)from[1] << 8 | from[0];
}

static uint32_t load32(const tiff *file, size_t at)
{
    uint32_t first = load16(file, at), second = load16(file, at + 2);
    return file->big_endian ? first << 16 | second : second << 16 | first;
}

uint32_t lx__exif_get_orientation(const uint8_t *bytes, size_t size)
{
    if (size >= 6 && memcmp(bytes, "Exif\0", 6) == 0) {
        bytes += 6;
        size -= 6;
    }
    if (size < HEADER || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0))
        return 1;
    tiff file = {bytes, size, bytes[0] == 'M'};
    uint32_t directory = load32(&file, 4);
    if (!lx__range_fits(directory, 2, size))
        return 1;
    uint32_t count = load16(&file, directory);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t entry = (uint64_t)directory + 2 + (uint64_t)i * ENTRY;
        if (!lx__range_fits(entry, ENTRY, size))
            return 1;
        if (load16(&file, (size_t)entry) != TAG_ORIENTATION)
            continue;
        uint32_t value = load16(&file, (size_t)entry + 8);
        bool valid = load16(&file, (size_t)entry + 2) == TYPE_SHORT && value >= 1 && value <= 8;
        return valid ? value : 1;
    }
    return 1;
}
