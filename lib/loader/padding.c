/* SPDX-License-Identifier: MIT */
#include <loaderx/padding.h>

#include <string.h>

#include "base/error.h"

uint64_t lx_column_get_max_size(const lx_column *column)
{
    uint64_t most = 0;
    if (column->offsets == NULL)
        return column->rows != 0 ? column->size : 0;
    for (uint64_t i = 0; i < column->rows; i++) {
        uint64_t size = column->offsets[i + 1] - column->offsets[i];
        most = size > most ? size : most;
    }
    return most;
}

/** Repeats an item over @p size bytes; NULL means zeros. */
static void repeat(uint8_t *out, uint64_t size, const void *item, uint64_t item_size)
{
    if (size == 0)
        return;
    if (item == NULL || item_size == 1) {
        memset(out, item != NULL ? *(const uint8_t *)item : 0, (size_t)size);
        return;
    }
    memcpy(out, item, (size_t)item_size);
    for (uint64_t done = item_size; done < size;) {
        uint64_t more = size - done < done ? size - done : done;
        memcpy(out + done, out, (size_t)more);
        done += more;
    }
}

static lx_status check_row(const lx_column *column, uint64_t row, uint64_t size, uint64_t item_size,
                           lx_error *error)
{
    uint64_t own = column->offsets[row + 1] - column->offsets[row];
    lx_status status = LX_OK;
    if (own > size)
        status = lx_fail(error, LX_ERR_RANGE,
                         "the value has %llu bytes, which do not fit in the padded size of %llu",
                         (unsigned long long)own, (unsigned long long)size);
    else if (own % item_size != 0)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "the value has %llu bytes, which is not a multiple of the item size, %llu",
                         (unsigned long long)own, (unsigned long long)item_size);
    if (status != LX_OK)
        lx_error_locate(error, NULL, column->name, row, LX_NONE);
    return status;
}

static void pad_row(const lx_column *column, uint64_t row, uint64_t size, uint64_t item_size,
                    const void *item, bool left, uint8_t *out, uint8_t *mask)
{
    uint64_t own = column->offsets[row + 1] - column->offsets[row], padding = size - own;
    uint64_t start = left ? padding : 0;
    if (own != 0)
        memcpy(out + start, (const uint8_t *)column->data + column->offsets[row], (size_t)own);
    repeat(out + (left ? 0 : own), padding, item, item_size);
    if (mask == NULL || size == 0)
        return;
    memset(mask, 0, (size_t)(size / item_size));
    memset(mask + start / item_size, 1, (size_t)(own / item_size));
}

lx_status lx_column_pad(const lx_column *column, uint64_t size, uint64_t item_size,
                        const void *item, bool left, void *out, uint8_t *mask, lx_error *error)
{
    if (column == NULL || (out == NULL && column->rows != 0 && size != 0))
        return lx__fail_null(error, column == NULL ? "column" : "out");
    if (column->offsets == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "all records of column '%s' have the same size: there is nothing to pad",
                       column->name);
    if (item_size == 0 || size % item_size != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "size (%llu) must be a multiple of item_size (%llu), which must not be 0",
                       (unsigned long long)size, (unsigned long long)item_size);
    for (uint64_t row = 0; row < column->rows; row++) {
        lx_status status = check_row(column, row, size, item_size, error);
        if (status != LX_OK)
            return status;
        pad_row(column, row, size, item_size, item, left, (uint8_t *)out + row * size,
                mask != NULL ? mask + row * (size / item_size) : NULL);
    }
    return LX_OK;
}
