/* SPDX-License-Identifier: MIT */
/* What can be read of a dataset, whole or damaged, and which commits count. */
#include "zrecord/maintenance/rescue.h"

#include <errno.h>
#include <sys/resource.h>

#include "../harm.h"

static void open_rescue(lx__rescue *rescue, bool writing)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__rescue_open(rescue, "d", writing, &error));
}

START_TEST(a_whole_dataset_is_read_as_it_is)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__rescue rescue;
    records_make("d", 30, 12);
    open_rescue(&rescue, false);
    ck_assert_uint_eq(rescue.state.length, 42);
    ck_assert(!rescue.cut);
    for (uint64_t i = 0; i < 42; i++) {
        uint64_t index = i * 11 % 42;
        for (int field = 0; field < FIELDS; field++) {
            lx__entry entry;
            uint8_t value[VALUE_MAX];
            uint64_t size = record_value(field, index, value);
            unit_ok(lx__rescue_check(&rescue, (size_t)field, index, &entry, &error));
            ck_assert(lx__entry_is_missing(&entry) == (size == LX_NONE));
            if (size == LX_NONE)
                continue;
            ck_assert_uint_eq(entry.logical, size);
            if (rescue.stored == size) /* raw, in a chunk */
                ck_assert(memcmp(rescue.payload, value, size) == 0);
        }
    }
    lx__rescue_close(&rescue);
    scratch_remove(scratch);
}
END_TEST

START_TEST(damage_is_told_as_readers_tell_it)
{
    char *scratch = scratch_make();
    records_make("whole", 20, 3);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__rescue rescue;
        lx__entry entry;
        directory_copy("whole", "d");
        harm_entry("d", "image", 7, &harms[i]);
        open_rescue(&rescue, false);
        lx_status status = lx__rescue_check(&rescue, IMAGE, 7, &entry, &error);
        ck_assert_uint_eq(error.record, 7);
        ck_assert_str_eq(error.field, "image");
        expect_error(status, LX_ERR_CORRUPT, harms[i].said, harms[i].where);
        unit_ok(lx__rescue_check(&rescue, IMAGE, 8, &entry, &error));
        lx__rescue_close(&rescue);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_table_is_read_as_far_as_it_reaches)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__rescue rescue;
    lx__entry entry;
    records_make("d", 20, 3);
    file_cut("d/label.offset", 16 * 9 + 15);
    open_rescue(&rescue, false);
    ck_assert_uint_eq(rescue.columns[LABEL].rows, 9);
    ck_assert_uint_eq(rescue.columns[IMAGE].rows, 20);
    ck_assert_int_eq(rescue.columns[LABEL].failure.status, LX_ERR_CORRUPT);
    ck_assert_uint_eq(rescue.columns[LABEL].failure.record, 9);
    unit_ok(lx__rescue_check(&rescue, LABEL, 8, &entry, &error));
    ck_assert(!lx__entry_is_missing(&entry));
    unit_ok(lx__rescue_check(&rescue, LABEL, 9, &entry, &error));
    ck_assert(lx__entry_is_missing(&entry));
    unit_ok(lx__rescue_check(&rescue, LABEL, 21, &entry, &error)); /* a set of the log */
    ck_assert(!lx__entry_is_missing(&entry));
    lx__rescue_close(&rescue);
    scratch_remove(scratch);
}
END_TEST

START_TEST(locks_are_those_of_readers_and_writers)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__rescue reading, writing, other;
    records_make("d", 5, 3);
    open_rescue(&reading, false);
    open_rescue(&writing, true);
    unit_fails(lx__rescue_open(&other, "d", true, &error), LX_ERR_BUSY);
    lx__rescue_close(&other);
    lx_writer *writer = NULL;
    unit_fails(lx_writer_open("d", NULL, &writer, &error), LX_ERR_BUSY);
    lx__rescue_close(&writing);
    unit_fails(lx_dataset_remove("d", &error), LX_ERR_BUSY); /* it is being read */
    lx__rescue_close(&reading);
    unit_ok(lx_dataset_remove("d", &error));
    scratch_remove(scratch);
}
END_TEST

START_TEST(commits_that_were_not_synced_count)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__rescue rescue;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 5);
    unit_ok(lx_writer_sync(writer, &error));
    for (int i = 0; i < 3; i++) {
        records_append(writer, 4);
        commit(writer);
    }
    directory_copy("d", "e"); /* as after a kill */
    close_writer(writer);
    nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    ck_assert_int_eq(rename("e", "d"), 0);
    open_rescue(&rescue, false);
    ck_assert_uint_eq(rescue.state.length, 17);
    ck_assert_uint_eq(rescue.settled.length, 5);
    ck_assert(!rescue.cut);
    uint64_t bytes = rescue.state.chunks[0].bytes;
    lx__rescue_close(&rescue);
    /* What the last of them names is lost: that is damage of its values. */
    file_cut("d/chunk/0.zr", bytes - 1);
    open_rescue(&rescue, false);
    ck_assert(!rescue.cut);
    ck_assert_uint_eq(rescue.state.length, 17);
    lx__rescue_close(&rescue);
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_the_system_refuses_is_no_damage_of_a_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT, damage = LX_ERROR_INIT;
    lx__rescue rescue;
    struct rlimit usual, none;
    uint64_t bytes;
    records_make("d", 20, 3);
    open_rescue(&rescue, false);
    const lx__chunk_item *chunk = &rescue.state.chunks[0];
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){0, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    lx_status status = lx__rescue_chunk_bytes(&rescue, chunk, &bytes, &damage, &error);
    setrlimit(RLIMIT_NOFILE, &usual);
    ck_assert_int_eq(status, error.status);
    ck_assert_int_eq(error.errnum, EMFILE);
    ck_assert_int_eq(damage.status, LX_OK);
    file_cut("d/chunk/0.zr", 5);
    lx_error_clear(&error);
    unit_ok(lx__rescue_chunk_bytes(&rescue, chunk, &bytes, &damage, &error));
    ck_assert_uint_eq(bytes, 5);
    ck_assert_int_eq(damage.status, LX_ERR_CORRUPT);
    lx__rescue_close(&rescue);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/rescue", a_whole_dataset_is_read_as_it_is, damage_is_told_as_readers_tell_it,
          a_table_is_read_as_far_as_it_reaches, locks_are_those_of_readers_and_writers,
          commits_that_were_not_synced_count,
          what_the_system_refuses_is_no_damage_of_a_chunk)
