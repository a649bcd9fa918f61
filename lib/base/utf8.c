/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/** Length implied by the first byte, and the valid range of the second byte: RFC 3629, section
 * 4. */
static size_t announced(uint8_t first, uint8_t *least, uint8_t *most)
{
    *least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t lx__utf8_character(const char *text, size_t size)
{
    uint8_t least, most;
    size_t length = size != 0 ? announced((uint8_t)*text, &least, &most) : 0;
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        uint8_t byte = (uint8_t)text[i];
        if (byte < (i == 1 ? least : 0x80) || byte > (i == 1 ? most : 0xbf))
            return 0;
    }
    return length;
}

size_t lx__utf8_span(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        uint64_t word;
        if (size - at >= sizeof word) {
            memcpy(&word, text + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t length = lx__utf8_character(text + at, size - at);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}

bool lx__utf8_valid(const char *text)
{
    size_t size = strlen(text);
    return lx__utf8_span(text, size) == size;
}
