/* SPDX-License-Identifier: MIT */
#include "sampler/core/index-table.h"

#include <limits.h>

#include "../../scarce.h"
#include "../../unit.h"

START_TEST(stores_indices_as_narrow_as_possible)
{
    static const struct {
        uint64_t largest;
        bool narrow;
    } cases[] = {{0, true}, {UINT32_MAX, true}, {1ull << 32, false}, {UINT64_MAX - 1, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t indices[] = {0, cases[c].largest, 0}, places[] = {2, 1, 1, 0};
        lx_error error = LX_ERROR_INIT;
        lx__index_table table;
        unit_ok(lx__index_table_new(indices, 3, &table, &error));
        ck_assert_uint_eq(table.bound, cases[c].largest + 1);
        ck_assert_int_eq(table.narrow != NULL, cases[c].narrow);
        ck_assert_int_eq(table.wide == NULL, cases[c].narrow);
        unit_ok(lx__index_table_map(&table, places, 4, &error));
        ck_assert_uint_eq(places[0], 0);
        ck_assert_uint_eq(places[1], cases[c].largest);
        ck_assert_uint_eq(places[2], cases[c].largest);
        ck_assert_uint_eq(places[3], 0);
        lx__index_table_free(&table);
        lx__index_table_free(&table);
    }
}
END_TEST

START_TEST(checksum_is_that_of_wide_indices)
{
    /* crc32c of le64 0, and of le64 2^32, from doc/zrecord-format.md. */
    static const struct {
        uint64_t index;
        const char *crc;
    } known[] = {{0, "8c28b28a"}, {1ull << 32, "516d1832"}};
    for (size_t k = 0; k < 2; k++) {
        lx_error error = LX_ERROR_INIT;
        lx__index_table table;
        unit_ok(lx__index_table_new(&known[k].index, 1, &table, &error));
        json_t *json = lx__index_table_to_json(&table);
        ck_assert_str_eq(json_string_value(json), known[k].crc);
        json_decref(json);
        lx__index_table_free(&table);
    }
}
END_TEST

START_TEST(rejects_indices_out_of_bounds)
{
    static const uint64_t indices[] = {4, UINT64_MAX};
    lx_error error = LX_ERROR_INIT;
    lx__index_table table;
    lx_status status = lx__index_table_new(indices, 2, &table, &error);
    ck_assert_int_eq(status, LX_ERR_ARGUMENT);
    ck_assert(strstr(error.message, "indices[1]") != NULL);
    lx_error_clear(&error);
    scarce_begin(0);
    unit_fails(lx__index_table_new(indices, 1, &table, &error), LX_ERR_NOMEM);
    unit_ok(lx__index_table_new(NULL, 0, &table, &error));
    scarce_left = INT_MAX;
    lx__index_table_free(&table);
}
END_TEST

UNIT_MAIN("sampler/index-table", stores_indices_as_narrow_as_possible,
          checksum_is_that_of_wide_indices, rejects_indices_out_of_bounds)
