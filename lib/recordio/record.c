/* SPDX-License-Identifier: MIT */
#include "recordio/record.h"

#include <string.h>

#include "base/bytes.h"

#define WORD 4
/* Bytes that are compared at once. */
#define BLOCK 64

/** Four words; compilers make one instruction of each operation, where there is one. */
typedef uint32_t words __attribute__((vector_size(16)));

void lx__recordio_put_head(uint8_t *to, lx__recordio_part part, uint32_t length)
{
    lx__store_le32(to, LX__RECORDIO_MAGIC);
    lx__store_le32(to + WORD, (uint32_t)part << 29 | length);
}

static lx__recordio_part part_of(const uint8_t *head)
{
    return (lx__recordio_part)(lx__load_le32(head + WORD) >> 29);
}

static uint32_t length_of(const uint8_t *head)
{
    return lx__load_le32(head + WORD) & (LX__RECORDIO_LIMIT - 1);
}

/** Compares four words with the magic number. An array of the words of a block would be copied to
 * the stack. */
static words compare(const uint8_t *data)
{
    words loaded;
    memcpy(&loaded, data, sizeof loaded);
    return (words)(loaded == LX__LE32(LX__RECORDIO_MAGIC));
}

size_t lx__recordio_find_magic(const uint8_t *data, size_t size)
{
    size_t at = 0;
    for (; size - at >= BLOCK; at += BLOCK) {
        uint64_t found[2];
        words equal = compare(data + at) | compare(data + at + sizeof(words)) |
                      compare(data + at + 2 * sizeof(words)) |
                      compare(data + at + 3 * sizeof(words));
        memcpy(found, &equal, sizeof found);
        if ((found[0] | found[1]) != 0)
            break;
    }
    for (; size - at >= WORD; at += WORD)
        if (lx__load_le32(data + at) == LX__RECORDIO_MAGIC)
            return at;
    return size;
}

size_t lx__recordio_find_record(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size; at += WORD) {
        at += lx__recordio_find_magic(data + at, size - at);
        if (size - at < LX__RECORDIO_HEAD || part_of(data + at) <= LX__RECORDIO_FIRST)
            return at;
    }
    return size;
}

/** Checks the head of the next part against the parts before it; returns what is wrong, or NULL. */
static const char *find_flaw(const lx__recordio_extent *extent, const uint8_t *head)
{
    lx__recordio_part part = part_of(head);
    if (lx__load_le32(head) != LX__RECORDIO_MAGIC)
        return extent->parts == 0 ? "no magic number is where it should begin"
                                  : "no magic number is where its next part should begin";
    if (part > LX__RECORDIO_LAST)
        return "the kind of a part is invalid";
    if (extent->parts == 0 && part > LX__RECORDIO_FIRST)
        return "its first part is missing";
    if (extent->parts != 0 && part < LX__RECORDIO_MIDDLE)
        return "its last part is missing";
    return NULL;
}

bool lx__recordio_add_part(lx__recordio_extent *extent, const uint8_t *head)
{
    extent->flaw = find_flaw(extent, head);
    if (extent->flaw != NULL)
        return false;
    lx__recordio_part part = part_of(head);
    uint32_t length = length_of(head);
    extent->stored += LX__RECORDIO_HEAD + lx__align_up(length, WORD);
    extent->size += (extent->parts != 0 ? WORD : 0) + (uint64_t)length;
    extent->parts++;
    extent->complete = part == LX__RECORDIO_WHOLE || part == LX__RECORDIO_LAST;
    return true;
}

/** Whether the data of a part or its padding contains the magic number, which no writer leaves
 * there. */
static bool hides_part(const uint8_t *head)
{
    size_t size = (size_t)lx__align_up(length_of(head), WORD);
    return lx__recordio_find_magic(head + LX__RECORDIO_HEAD, size) != size;
}

uint64_t lx__recordio_measure(const uint8_t *data, size_t size, lx__recordio_extent *extent)
{
    while (extent->flaw == NULL && extent->stored <= size) {
        if (extent->last < extent->stored && hides_part(data + extent->last)) {
            extent->flaw = "another part begins within one of its parts, whose length is wrong";
            break;
        }
        extent->last = extent->stored;
        if (extent->complete)
            break;
        if (size - extent->stored < LX__RECORDIO_HEAD)
            return extent->stored + LX__RECORDIO_HEAD;
        (void)lx__recordio_add_part(extent, data + extent->stored);
    }
    return extent->flaw != NULL ? 0 : extent->stored;
}

void lx__recordio_join(const uint8_t *data, const lx__recordio_extent *extent, uint8_t *out)
{
    for (uint64_t part = 0; part < extent->parts; part++) {
        uint32_t length = length_of(data);
        if (part != 0) {
            lx__store_le32(out, LX__RECORDIO_MAGIC);
            out += WORD;
        }
        memcpy(out, data + LX__RECORDIO_HEAD, length);
        out += length;
        data += LX__RECORDIO_HEAD + lx__align_up(length, WORD);
    }
}
