/* SPDX-License-Identifier: MIT */
#include "base/mapping.h"

#include "../scratch.h"
#include "../unit.h"

START_TEST(growth_appears_at_the_mapped_address)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file file;
    lx__mapping mapping;
    unit_ok(lx__file_open(&file, LX__CWD, "f", O_RDWR | O_CREAT, &error));
    unit_ok(lx__file_write(&file, "first", 5, 0, &error));
    unit_ok(lx__mapping_open(&mapping, &file, 1 << 30, LX__ADVICE_RANDOM, &error));
    ck_assert_mem_eq(mapping.data, "first", 5);
    unit_ok(lx__file_write(&file, "later", 5, 100000, &error));
    lx__file_close(&file);
    ck_assert_mem_eq(mapping.data + 100000, "later", 5);
    lx__mapping_close(&mapping);
    lx__mapping_close(&mapping);
    ck_assert_ptr_null(mapping.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(maps_empty_ranges_and_rejects_huge_ones)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__file file;
    lx__mapping mapping;
    unit_ok(lx__file_open(&file, LX__CWD, "f", O_RDWR | O_CREAT, &error));
    unit_ok(lx__mapping_open(&mapping, &file, 0, LX__ADVICE_SEQUENTIAL, &error));
    ck_assert_ptr_null(mapping.data);
    unit_fails(lx__mapping_open(&mapping, &file, UINT64_MAX, LX__ADVICE_RANDOM, &error),
               LX_ERR_LIMIT);
    lx__file_close(&file);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("base/mapping", growth_appears_at_the_mapped_address,
          maps_empty_ranges_and_rejects_huge_ones)
