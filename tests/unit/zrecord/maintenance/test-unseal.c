/* SPDX-License-Identifier: MIT */
/* Unsealing: doc/zrecord-format.md, 11.7. */
#include "../change.h"

static bool is_sealed(const char *path)
{
    lx_dataset_identity identity;
    lx_dataset *dataset = open_dataset(path);
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    return identity.sealed;
}

START_TEST(an_unsealed_dataset_can_be_written_and_sealed_again)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    records_make_sealed("d", 20);
    ck_assert_int_eq(lx_writer_open("d", NULL, &writer, NULL), LX_ERR_STATE);
    unit_ok(lx_dataset_unseal("d", &error));
    ck_assert(!is_sealed("d"));
    expect_dataset("d", 20);
    writer = records_reopen("d", NULL);
    records_append(writer, 30);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    ck_assert(is_sealed("d"));
    expect_dataset("d", 50);
    scratch_remove(scratch);
}
END_TEST

/* Object stores have no empty directories. */
START_TEST(a_copy_without_the_directory_of_chunks_can_be_unsealed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 0);
    ck_assert_int_eq(rmdir("d/chunk"), 0);
    expect_dataset("d", 0);
    unit_ok(lx_dataset_unseal("d", &error));
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 10);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(readers_of_the_sealed_dataset_continue)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 20);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_unseal("d", &error));
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 10);
    commit(writer);
    expect_records(dataset, 20);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    expect_records(dataset, 30);
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_change_a_dataset_that_is_not_sealed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    size_t size, same;
    records_make("d", 5, 5);
    uint8_t *before = file_bytes("d/meta.json", &size);
    unsigned count = atomic_load(&syncs);
    unit_ok(lx_dataset_unseal("d", &error));
    ck_assert_uint_gt(atomic_load(&syncs), count); /* an earlier process may have died before its
                                                    * sync */
    uint8_t *after = file_bytes("d/meta.json", &same);
    ck_assert_uint_eq(same, size);
    ck_assert_mem_eq(after, before, size);
    free(before);
    free(after);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_datasets_that_cannot_be_unsealed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_dataset_unseal("nothing", &error);
    expect_error(status, LX_ERR_NOT_FOUND, "", "nothing");
    ck_assert_int_eq(mkdir("empty", 0777), 0);
    status = lx_dataset_unseal("empty", &error);
    expect_error(status, LX_ERR_NOT_FOUND, "meta.json", "empty");
    ck_assert_uint_eq(directory_count("empty"), 0);
    unit_refuses_null(lx_dataset_unseal(NULL, &error), "path");
    lx_writer *writer = records_create("d", NULL);
    status = lx_dataset_unseal("d", &error);
    expect_error(status, LX_ERR_BUSY, "process", "d");
    close_writer(writer);
    file_put("d/meta.json", "{}", 2);
    status = lx_dataset_unseal("d", &error);
    expect_error(status, LX_ERR_CORRUPT, "", "d/meta.json");
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failure_leaves_it_sealed_or_a_second_call_unseals_it)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("made", 10);
    for (unsigned n = 1;; n++) {
        char path[16];
        snprintf(path, sizeof path, "d%u", n);
        directory_copy("made", path);
        atomic_store(&sync_fails_at, atomic_load(&syncs) + n);
        lx_status status = lx_dataset_unseal(path, &error);
        atomic_store(&sync_fails_at, 0);
        if (status == LX_OK) {
            ck_assert_uint_eq(n, 3);
            break;
        }
        expect_error(status, LX_ERR_IO, "", path);
        expect_dataset(path, 10);
        unit_ok(lx_dataset_unseal(path, &error));
        close_writer(records_reopen(path, NULL));
        expect_dataset(path, 10);
    }
    limit_files(50);
    lx_status status = lx_dataset_unseal("made", &error);
    unlimit_files();
    expect_error(status, LX_ERR_IO, "", "made/meta.json.new");
    ck_assert(is_sealed("made"));
    unit_ok(lx_dataset_unseal("made", &error));
    ck_assert(!is_sealed("made"));
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/unseal", an_unsealed_dataset_can_be_written_and_sealed_again,
          a_copy_without_the_directory_of_chunks_can_be_unsealed,
          readers_of_the_sealed_dataset_continue, does_not_change_a_dataset_that_is_not_sealed,
          rejects_datasets_that_cannot_be_unsealed,
          a_failure_leaves_it_sealed_or_a_second_call_unseals_it)
