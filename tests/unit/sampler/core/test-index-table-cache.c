/* SPDX-License-Identifier: MIT */
#include "sampler/core/index-table-cache.h"

#include <limits.h>

#include "../../scratch.h"
#include "../../unit.h"
#include "base/alloc.h"

/* Tests of folders for all kinds are in ../test-tables.c. */

static int made;

static int describe(const void *user, json_t *inputs)
{
    return lx__index_table_describe(inputs, "some kind", 3, "seed", *(const uint32_t *)user);
}

static lx_status make(void *user, lx__index_table *table, lx_error *error)
{
    const uint64_t indices[] = {7, *(uint32_t *)user, 9};
    made++;
    table->count = 3;
    return lx__index_table_fill(indices, table, error);
}

static const lx__index_table_maker maker = {"some kind", describe, make};

static void expect_table(const char *folder, uint32_t seed, uint64_t bound, int times)
{
    lx_error error = LX_ERROR_INIT;
    lx__index_table table = {.count = LX__INDEX_TABLE_ANY, .bound = bound};
    uint64_t places[] = {2, 1, 0};
    unit_ok(lx__index_table_cache_get(folder, &maker, &seed, &table, &error));
    ck_assert_uint_eq(table.count, 3);
    unit_ok(lx__index_table_map(&table, places, 3, &error));
    ck_assert(places[0] == 9 && places[1] == seed && places[2] == 7);
    ck_assert_int_eq(made, times);
    lx__index_table_free(&table);
}

START_TEST(makes_a_table_once)
{
    char *scratch = scratch_make();
    expect_table(NULL, 4, 10, 1);
    expect_table("t", 4, 10, 2);
    expect_table("t", 4, 10, 2);
    expect_table("t/../t", 4, 10, 2);
    expect_table("t", 5, 10, 3); /* another one */
    expect_table("wide", 4, UINT64_C(1) << 40, 4);
    expect_table("wide", 4, UINT64_C(1) << 40, 4);
    uint32_t seed = 4;
    lx__index_table_cache_remove("t", &maker, &seed);
    lx__index_table_cache_remove("t", &maker, &seed);
    lx__index_table_cache_remove(NULL, &maker, &seed);
    expect_table("t", 5, 10, 4);
    expect_table("t", 4, 10, 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(names_files_as_documented)
{
    char *scratch = scratch_make();
    expect_table("t", 4, 10, 1);
    /* The hash of {"count":3,"formula":1,"kind":"some kind","seed":"00000004"}. */
    ck_assert_int_eq(access("t/some-kind-eed5a85fa643f313.table", R_OK), 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(accepts_an_absolute_folder)
{
    char *scratch = scratch_make(), *path, whole[PATH_MAX];
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__index_table_cache_folder("t", &path, &error));
    ck_assert_ptr_nonnull(realpath("t", whole));
    ck_assert_str_eq(path, whole);
    lx__free(path);
    unit_fails(lx__index_table_cache_folder("no/t", &path, &error), LX_ERR_NOT_FOUND);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("sampler/index-table-cache", makes_a_table_once, names_files_as_documented,
          accepts_an_absolute_folder)
