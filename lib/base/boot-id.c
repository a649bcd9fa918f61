/* SPDX-License-Identifier: MIT */
#include "base/boot-id.h"

#include <ctype.h>
#include <errno.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"

/** Parses the text of a boot id; returns 0 if it is invalid. */
static uint64_t parse_boot_id(const char *text, size_t size)
{
    uint8_t bytes[8] = {0};
    size_t digits = 0;
    for (size_t i = 0; i < size && digits < 16; i++) {
        if (text[i] == '-')
            continue;
        if (!isxdigit((unsigned char)text[i]))
            return 0;
        int value = text[i] <= '9' ? text[i] - '0' : (text[i] | 32) - 'a' + 10;
        bytes[digits / 2] = (uint8_t)(bytes[digits / 2] << 4 | value);
        digits++;
    }
    return digits == 16 ? lx__load_le64(bytes) : 0;
}

lx_status lx__boot_id_read(uint64_t *boot, lx_error *error)
{
    lx__file file;
    char text[64];
    size_t got = 0;
    lx_error why = LX_ERROR_INIT;
    *boot = 0;
    lx_status status = lx__file_open(&file, LX__CWD, "/proc/sys/kernel/random/boot_id", O_RDONLY,
                                     &why);
    if (status == LX_OK) {
        status = lx__file_read_some(&file, text, sizeof text, 0, &got, &why);
        lx__file_close(&file);
        *boot = status == LX_OK ? parse_boot_id(text, got) : 0;
    } else if (status != LX_ERR_NOMEM &&
               (status != LX_ERR_IO || why.errnum == EACCES || why.errnum == EPERM)) {
        return LX_OK; /* the system has no boot id, or hides it */
    }
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

uint64_t lx__boot_id(void)
{
    uint64_t boot;
    return lx__boot_id_read(&boot, NULL) == LX_OK ? boot : 0;
}
