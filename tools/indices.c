/* SPDX-License-Identifier: MIT */
#include "indices.h"

#include <stdlib.h>

#include "column.h"
#include "failure.h"

/* Elements that are read at a time. */
#define BLOCK 65536

static lx_status check_form(const column *file, bool *is_signed, lx_error *error)
{
    lx_dtype dtype = file->header.dtype;
    *is_signed = dtype >= LX_INT8 && dtype <= LX_INT64;
    lx_status status = LX_OK;
    if (!*is_signed && !(dtype >= LX_UINT8 && dtype <= LX_UINT64))
        status = fail(error, LX_ERR_UNSUPPORTED, "it holds %s: indices are integers",
                      lx_dtype_get_name(dtype));
    else if (file->header.ndim != 0)
        status = fail(error, LX_ERR_UNSUPPORTED, "it has %zu axes: indices have one",
                      file->header.ndim + 1);
    locate(error, file->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Widens a block of elements, which are little-endian. */
static lx_status widen(const column *file, bool is_signed, uint64_t count, uint64_t *numbers,
                       lx_error *error)
{
    const unsigned char *at = file->blocks[0];
    size_t size = (size_t)file->header.size;
    for (uint64_t i = 0; i < count; i++, at += size) {
        uint64_t number = 0;
        for (size_t byte = 0; byte < size; byte++)
            number |= (uint64_t)at[byte] << (8 * byte);
        bool negative = is_signed && (at[size - 1] & 0x80) != 0;
        if (negative || number == UINT64_MAX) {
            lx_status status = fail(error, LX_ERR_CORRUPT, "it is %s, and no index",
                                    negative ? "negative" : "2^64 - 1");
            locate(error, file->path, NULL, file->read - count + i, LX_NONE);
            return status;
        }
        numbers[i] = number;
    }
    return LX_OK;
}

/** Makes room for twice as many, but not for more than there are: of a pipe nobody knows whether it
 * has all that its header tells of. */
static lx_status grow(uint64_t **numbers, uint64_t *room, uint64_t total, lx_error *error)
{
    uint64_t more = *room < BLOCK ? BLOCK : *room * 2;
    if (more > total)
        more = total;
    uint64_t *larger = more <= SIZE_MAX / sizeof *larger
                           ? realloc(*numbers, more != 0 ? (size_t)more * sizeof *larger : 1)
                           : NULL;
    if (larger == NULL)
        return fail_memory(error, "the indices");
    *numbers = larger;
    *room = more;
    return LX_OK;
}

static lx_status read_all(column *file, uint64_t **numbers, lx_error *error)
{
    bool is_signed;
    uint64_t total = file->header.length, room = 0;
    lx_status status = check_form(file, &is_signed, error);
    if (status == LX_OK)
        status = column_reserve(file, total < BLOCK ? total : BLOCK, error);
    do { /* an empty one is read, too: nothing may follow */
        uint64_t done = file->read, count = total - done < BLOCK ? total - done : BLOCK;
        if (status == LX_OK && (*numbers == NULL || done + count > room))
            status = grow(numbers, &room, total, error);
        if (status == LX_OK)
            status = column_read(file, 0, count, error);
        if (status == LX_OK)
            status = widen(file, is_signed, count, *numbers + done, error);
    } while (status == LX_OK && file->read < total);
    return status;
}

lx_status indices_read(const char *path, uint64_t **numbers, uint64_t *count, lx_error *error)
{
    column file = {.path = path, .kind = COLUMN_NPY};
    *numbers = NULL;
    lx_status status = column_open(&file, error);
    if (status == LX_OK)
        status = read_all(&file, numbers, error);
    *count = file.header.length;
    column_close(&file);
    if (status != LX_OK) {
        free(*numbers);
        *numbers = NULL;
    }
    return status;
}
