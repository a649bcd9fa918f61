/* SPDX-License-Identifier: MIT */
/* Padding of values that vary in size: lib/loader/padding.c. */
#include <loaderx/padding.h>

#include "../unit.h"

#define ROWS 6
#define MOST 12

/* Sizes 0, 1, .. 5 items. */
static uint8_t values[100];

static lx_column make_column(uint64_t *offsets, uint64_t item_size)
{
    offsets[0] = 0;
    for (uint64_t i = 0; i < ROWS; i++)
        offsets[i + 1] = offsets[i] + i * item_size;
    for (size_t k = 0; k < sizeof values; k++)
        values[k] = (uint8_t)(k + 1);
    return (lx_column){.name = "text",
                       .dtype = LX_BYTES,
                       .rows = ROWS,
                       .data = values,
                       .size = LX_NONE,
                       .offsets = offsets};
}

/** What byte @p k of padded row @p row must be. */
static uint8_t expected(const lx_column *column, uint64_t row, uint64_t size, uint64_t k,
                        const uint8_t *item, uint64_t item_size, bool left)
{
    uint64_t own = column->offsets[row + 1] - column->offsets[row];
    uint64_t begin = left ? size - own : 0;
    if (k >= begin && k < begin + own)
        return values[column->offsets[row] + k - begin];
    return item != NULL ? item[k % item_size] : 0;
}

START_TEST(pads_on_either_side_with_any_item)
{
    static const uint8_t item[] = {201, 202, 203};
    for (uint64_t item_size = 1; item_size <= 3; item_size++)
        for (int i = 0; i < 8; i++) {
            lx_error error = LX_ERROR_INIT;
            uint64_t offsets[ROWS + 1], size = (5 + (uint64_t)(i & 1) * 7) * item_size;
            uint8_t out[ROWS * MOST * 3], mask[ROWS * MOST];
            lx_column column = make_column(offsets, item_size);
            const uint8_t *with = i & 2 ? item : NULL;
            bool left = i & 4;
            ck_assert_uint_eq(lx_column_get_max_size(&column), 5 * item_size);
            unit_ok(lx_column_pad(&column, size, item_size, with, left, out, mask, &error));
            for (uint64_t row = 0; row < ROWS; row++)
                for (uint64_t k = 0; k < size; k++) {
                    uint64_t at = k / item_size, items = size / item_size;
                    ck_assert_uint_eq(out[row * size + k],
                                      expected(&column, row, size, k, with, item_size, left));
                    ck_assert_uint_eq(mask[row * items + at], left ? at >= items - row : at < row);
                }
            unit_ok(lx_column_pad(&column, size, item_size, with, left, out, NULL, &error));
        }
}
END_TEST

START_TEST(refuses_values_that_do_not_fit)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t offsets[ROWS + 1];
    uint8_t out[ROWS * MOST];
    lx_column column = make_column(offsets, 1);
    ck_assert_int_eq(lx_column_pad(&column, 4, 1, NULL, false, out, NULL, &error), LX_ERR_RANGE);
    ck_assert_uint_eq(error.record, 5);
    ck_assert_str_eq(error.field, "text");
    unit_fails(lx_column_pad(&column, 6, 2, NULL, false, out, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_column_pad(&column, 7, 2, NULL, false, out, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_column_pad(&column, 6, 0, NULL, false, out, NULL, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_column_pad(NULL, 6, 1, NULL, false, out, NULL, &error), "column");
    unit_refuses_null(lx_column_pad(&column, 6, 1, NULL, false, NULL, NULL, &error), "out");
    column.offsets = NULL;
    column.size = 8;
    unit_fails(lx_column_pad(&column, 8, 1, NULL, false, out, NULL, &error), LX_ERR_ARGUMENT);
    ck_assert_uint_eq(lx_column_get_max_size(&column), 8);
}
END_TEST

START_TEST(accepts_a_column_without_bytes)
{
    lx_error error = LX_ERROR_INIT;
    const uint64_t offsets[ROWS + 1] = {0};
    lx_column column = {.name = "text", .rows = ROWS, .size = LX_NONE, .offsets = offsets};
    uint8_t out[ROWS * 2];
    ck_assert_uint_eq(lx_column_get_max_size(&column), 0);
    unit_ok(lx_column_pad(&column, 0, 1, NULL, false, NULL, NULL, &error));
    unit_ok(lx_column_pad(&column, 2, 1, "-", false, out, NULL, &error));
    ck_assert_mem_eq(out, "------------", sizeof out);
    column.rows = 0;
    ck_assert_uint_eq(lx_column_get_max_size(&column), 0);
}
END_TEST

UNIT_MAIN("loader/padding", pads_on_either_side_with_any_item, refuses_values_that_do_not_fit,
          accepts_a_column_without_bytes)
