/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/sync-list.h"

#include "../../scarce.h"
#include "../records.h"

/** Some open files, and the present directory. */
struct fixture {
    char *scratch;
    lx__file here, files[40];
};

static void set_up(struct fixture *f)
{
    lx_error error = LX_ERROR_INIT;
    f->scratch = scratch_make();
    unit_ok(lx__directory_open(&f->here, LX__CWD, ".", &error));
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        unit_ok(lx__file_open(&f->files[i], &f->here, name, O_RDWR | O_CREAT, &error));
    }
}

static void tear_down(struct fixture *f)
{
    for (int i = 0; i < 40; i++)
        lx__file_close(&f->files[i]);
    lx__file_close(&f->here);
    scratch_remove(f->scratch);
}

START_TEST(an_empty_list_syncs_nothing)
{
    lx_error error = LX_ERROR_INIT;
    lx__sync_list list = {0};
    unit_ok(lx__sync_list_run(&list, &error));
    unit_ok(lx__sync_list_reserve(&list, 0, &error));
    unit_ok(lx__sync_list_run(&list, &error));
    ck_assert_uint_eq(atomic_load(&syncs), 0);
    lx__sync_list_free(&list);
    lx__sync_list_free(&list);
}
END_TEST

START_TEST(syncs_each_file_once)
{
    lx_error error = LX_ERROR_INIT;
    struct fixture f;
    lx__sync_list list = {0};
    set_up(&f);
    for (unsigned round = 1; round <= 3; round++) {
        unsigned before = atomic_load(&syncs);
        unit_ok(lx__sync_list_reserve(&list, 20, &error));
        for (int i = 0; i < 20; i++)
            lx__sync_list_add(&list, &f.files[i]);
        unit_ok(lx__sync_list_reserve(&list, 21, &error)); /* existing files stay */
        for (int i = 20; i < 40; i++)
            lx__sync_list_add(&list, &f.files[i]);
        lx__sync_list_add_directory(&list, &f.here);
        ck_assert_uint_eq(atomic_load(&syncs), before);
        unit_ok(lx__sync_list_run(&list, &error));
        ck_assert_uint_eq(atomic_load(&syncs) - before, 41);
        unit_ok(lx__sync_list_run(&list, &error));
        ck_assert_uint_eq(atomic_load(&syncs) - before, 41);
    }
    for (int i = 0; i < 40; i++)
        ck_assert_int_ne(f.files[i].fd, -1); /* they were only borrowed */
    lx__sync_list_free(&list);
    tear_down(&f);
}
END_TEST

START_TEST(stops_at_a_failed_sync_without_retry)
{
    struct fixture f;
    lx__sync_list list = {0};
    set_up(&f);
    for (unsigned n = 1; n <= 4; n++) {
        lx_error error = LX_ERROR_INIT;
        unit_ok(lx__sync_list_reserve(&list, 4, &error));
        for (int i = 0; i < 3; i++)
            lx__sync_list_add(&list, &f.files[i]);
        lx__sync_list_add_directory(&list, &f.here);
        unsigned before = atomic_load(&syncs);
        atomic_store(&sync_fails_at, before + n);
        lx_status status = lx__sync_list_run(&list, &error);
        atomic_store(&sync_fails_at, 0);
        ck_assert_int_eq(error.errnum, EIO);
        expect_error(status, LX_ERR_IO, "", n < 4 ? "f" : "");
        ck_assert_uint_eq(atomic_load(&syncs) - before, n);
        unit_ok(lx__sync_list_run(&list, &error)); /* it is dropped from the list */
        ck_assert_uint_eq(atomic_load(&syncs) - before, n);
    }
    lx__sync_list_free(&list);
    tear_down(&f);
}
END_TEST

START_TEST(a_failed_allocation_keeps_its_content)
{
    struct fixture f;
    lx__sync_list list = {0};
    lx_error error = LX_ERROR_INIT;
    set_up(&f);
    unit_ok(lx__sync_list_reserve(&list, 3, &error));
    for (int i = 0; i < 3; i++)
        lx__sync_list_add(&list, &f.files[i]);
    for (int left = 0; left < 2; left++) {
        scarce_begin(left);
        lx_status status = lx__sync_list_reserve(&list, 1000, &error);
        lx_set_allocator(NULL, NULL);
        ck_assert_int_eq(status, left < 1 ? LX_ERR_NOMEM : LX_OK);
        lx_error_clear(&error);
    }
    unit_ok(lx__sync_list_run(&list, &error));
    ck_assert_uint_eq(atomic_load(&syncs), 3);
    lx__sync_list_free(&list);
    tear_down(&f);
}
END_TEST

UNIT_MAIN("zrecord/sync-list", an_empty_list_syncs_nothing, syncs_each_file_once,
          stops_at_a_failed_sync_without_retry, a_failed_allocation_keeps_its_content)
