/* SPDX-License-Identifier: MIT */
#include "zrecord/format/uuid.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"

lx_status lx__uuid_make(uint8_t uuid[LX__UUID_BYTES], lx_error *error)
{
    if (getrandom(uuid, LX__UUID_BYTES, 0) != LX__UUID_BYTES)
        return lx_fail_errno(error, errno, NULL, "cannot generate a UUID");
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
    return LX_OK;
}

static bool is_dash(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

void lx__uuid_print(const uint8_t uuid[LX__UUID_BYTES], char text[LX__UUID_TEXT + 1])
{
    static const char digits[] = "0123456789abcdef";
    size_t nibble = 0;
    for (size_t i = 0; i < LX__UUID_TEXT; i++) {
        if (is_dash(i)) {
            text[i] = '-';
            continue;
        }
        text[i] = digits[uuid[nibble / 2] >> (nibble % 2 == 0 ? 4 : 0) & 15];
        nibble++;
    }
    text[LX__UUID_TEXT] = '\0';
}

bool lx__uuid_parse(const char *text, uint8_t uuid[LX__UUID_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    size_t nibble = 0;
    memset(uuid, 0, LX__UUID_BYTES);
    for (size_t i = 0; i < LX__UUID_TEXT; i++) {
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;
        if (is_dash(i) ? text[i] != '-' : digit == NULL)
            return false;
        if (!is_dash(i)) {
            uuid[nibble / 2] = (uint8_t)(uuid[nibble / 2] << 4 | (digit - digits));
            nibble++;
        }
    }
    return text[LX__UUID_TEXT] == '\0';
}
