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

/** Length of the character at @p text, which has @p size bytes; 0 if it is invalid. */
static size_t character_length(const char *text, size_t size)
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

bool lx__utf8_valid(const char *text)
{
    size_t left = strlen(text);
    while (left != 0) {
        size_t length = character_length(text, left);
        if (length == 0)
            return false;
        text += length;
        left -= length;
    }
    return true;
}
