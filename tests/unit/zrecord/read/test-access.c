/* SPDX-License-Identifier: MIT */
/* All access modes return the same records and errors; all except mmap report an error if a file is
 * truncated under its readers. */
#include "../placed.h"

#include <pthread.h>
#include <stdatomic.h>

#include "../../file-system.h"
#include "zrecord/snapshot/store.h"

#define NFS 0x6969

/** Random indices: near each other or far, some twice. */
static size_t draw(uint64_t seed, uint64_t length, uint64_t indices[300])
{
    size_t count = (size_t)(mix(seed) % 290);
    uint64_t from = mix(seed + 1) % length;
    for (size_t i = 0; i < count; i++)
        switch (seed % 3) {
        case 0:
            indices[i] = mix(seed * 1000 + i) % length;
            break;
        case 1:
            indices[i] = (from + i) % length;
            break;
        default:
            indices[i] = (from + mix(seed * 1000 + i) % 20) % length;
            break;
        }
    return count;
}

/** Reads @p draws draws of each field in all access modes, with the same handles, so that values
 * that were verified once are not verified again. */
static void compare(const char *path, lx_verify_policy verify, lx_damage_policy damage,
                    uint64_t seed, int draws)
{
    lx_dataset *handles[ACCESS_MODES];
    lx_dataset_stats stats[ACCESS_MODES];
    uint64_t indices[300];
    for (int p = 0; p < ACCESS_MODES; p++)
        handles[p] = open_placed(path, (struct placed){access_modes[p], verify, damage, false});
    uint64_t length = lx_dataset_get_length(handles[0]);
    for (int i = 0; length != 0 && i < draws; i++)
        for (size_t field = 0; field < FIELDS; field++) {
            size_t count = draw(seed * 100 + (uint64_t)i, length, indices);
            const lx_field *shown = lx_schema_get_field(lx_dataset_get_schema(handles[0]), field);
            size_t size = shown->size != LX_NONE ? (size_t)shown->size : 0;
            struct answers *right = ask(handles[0], field, indices, count);
            for (int p = 1; p < ACCESS_MODES; p++) {
                struct answers *got = ask(handles[p], field, indices, count);
                expect_same_answers(right, got, count, size);
                answers_free(got);
            }
            answers_free(right);
        }
    for (int p = 0; p < ACCESS_MODES; p++) {
        lx_dataset_get_stats(handles[p], &stats[p]);
        ck_assert_uint_eq(stats[p].damaged, stats[0].damaged);
        lx_dataset_close(handles[p]);
    }
}

START_TEST(all_modes_read_the_same_records)
{
    char *scratch = scratch_make();
    static const struct {
        uint64_t in_tables, in_log;
    } forms[] = {{0, 40}, {40, 0}, {700, 60}, {3000, 0}};
    static struct shown shown;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%zu", i);
        records_make(name, forms[i].in_tables, forms[i].in_log);
        compare(name, LX_VERIFY_FIRST, LX_DAMAGE_RAISE, i, SANITIZED ? 4 : 12);
        shown = shown_all(forms[i].in_tables + forms[i].in_log);
        records_delete(name, &shown, 7);
        records_shuffle(name, &shown, i);
        for (int v = 0; v < 3; v++)
            compare(name, (lx_verify_policy)v, LX_DAMAGE_RAISE, i + 10, SANITIZED ? 2 : 6);
    }
    records_make_sealed("s", 500);
    compare("s", LX_VERIFY_FIRST, LX_DAMAGE_RAISE, 77, 6);
    scratch_remove(scratch);
}
END_TEST

START_TEST(all_modes_report_the_same_damage)
{
    char *scratch = scratch_make();
    static const char *const files[] = {"chunk/0.zr",  "image.offset", "image.check",
                                        "wave.offset", "label.offset", "caption.check",
                                        "blob.offset"};
    for (uint64_t round = 0; round < (SANITIZED ? 6 : 30); round++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", (int)round);
        records_make_sealed(name, 200);
        for (uint64_t k = 0; k < 3; k++) {
            const char *file = in(name, files[mix(round * 10 + k) % 7]);
            file_flip(file, mix(round * 10 + k + 5) % (8 * file_size(file)));
        }
        compare(name, LX_VERIFY_ALWAYS, LX_DAMAGE_RAISE, round, 4);
        compare(name, LX_VERIFY_FIRST, LX_DAMAGE_ZEROS, round, 4);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(all_modes_report_a_short_or_absent_chunk_alike)
{
    char *scratch = scratch_make();
    records_make("d", 100, 0);
    file_cut("d/chunk/0.zr", file_size("d/chunk/0.zr") - 1);
    compare("d", LX_VERIFY_FIRST, LX_DAMAGE_RAISE, 1, 6);
    compare("d", LX_VERIFY_FIRST, LX_DAMAGE_ZEROS, 1, 6);
    ck_assert_int_eq(unlink("d/chunk/0.zr"), 0);
    compare("d", LX_VERIFY_FIRST, LX_DAMAGE_RAISE, 1, 6);
    scratch_remove(scratch);
}
END_TEST

START_TEST(no_mode_opens_a_dataset_with_a_short_table)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 100, 0);
    file_cut("d/image.offset", file_size("d/image.offset") - 1);
    for (int p = 0; p < ACCESS_MODES; p++) {
        lx_dataset *dataset;
        lx_dataset_options *options = lx_dataset_options_new();
        unit_ok(lx_dataset_options_set_access(options, access_modes[p], &error));
        lx_status status = lx_dataset_open("d", options, &dataset, &error);
        expect_error(status, LX_ERR_CORRUPT, "are committed", "d/image.offset");
        lx_dataset_options_free(options);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(live_handles_follow_a_writer)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *live[ACCESS_MODES];
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    for (int p = 0; p < ACCESS_MODES; p++)
        live[p] = open_placed("d", (struct placed){.access = access_modes[p], .live = true});
    for (int step = 0; step < 12; step++) {
        uint64_t indices[300];
        records_append(writer, 40);
        if (step % 3 == 1)
            unit_ok(lx_writer_checkpoint(writer, &error));
        if (step % 3 == 2) {
            uint64_t moved;
            unit_ok(lx_writer_delete(writer, 5, &moved, &error));
        }
        if (step == 7)
            unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
        commit(writer);
        for (size_t field = 0; field < FIELDS; field++) {
            size_t count = draw((uint64_t)step, lx_writer_get_length(writer), indices);
            const lx_field *shown = lx_schema_get_field(lx_dataset_get_schema(live[0]), field);
            size_t size = shown->size != LX_NONE ? (size_t)shown->size : 0;
            struct answers *right = ask(live[0], field, indices, count);
            ck_assert_int_eq(right->measured, LX_OK);
            for (int p = 1; p < ACCESS_MODES; p++) {
                struct answers *got = ask(live[p], field, indices, count);
                expect_same_answers(right, got, count, size);
                answers_free(got);
            }
            answers_free(right);
        }
    }
    for (int p = 0; p < ACCESS_MODES; p++)
        lx_dataset_close(live[p]);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(views_have_their_own_bytes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_slice slices[20];
    lx_view *view;
    uint64_t indices[20];
    uint8_t right[VALUE_MAX];
    for (uint64_t i = 0; i < 20; i++)
        indices[i] = 19 - i;
    records_make_sealed("d", 20);
    lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_PREAD});
    unit_ok(lx_dataset_view(dataset, BLOB, indices, 20, slices, &view, &error));
    lx_dataset_close(dataset);
    file_cut("d/chunk/0.zr", 0);
    for (size_t i = 0; i < 20; i++) {
        uint64_t size = record_value(BLOB, indices[i], right);
        ck_assert_int_eq(slices[i].data != NULL, size != LX_NONE);
        if (size != LX_NONE)
            ck_assert_uint_eq(slices[i].size, size);
        if (size != LX_NONE && size != 0)
            ck_assert_mem_eq(slices[i].data, right, size);
    }
    lx_view_free(view);
    scratch_remove(scratch);
}
END_TEST

/* ---- files truncated under readers */

#define CUT_RECORDS 4000
#define CUT_BATCH 100

/** Shared by four readers and the thread that truncates. */
struct cutting {
    lx_dataset *dataset;
    atomic_uint reads;  /* reads with the right values */
    atomic_uint errors; /* reads with the right error */
    atomic_bool cut, wrong;
};

static bool is_right(size_t field, const uint64_t *indices, const uint8_t *out, size_t size)
{
    uint8_t right[VALUE_MAX];
    for (size_t i = 0; i < CUT_BATCH; i++) {
        memset(right, 0, size);
        (void)record_value((int)field, indices[i], right);
        if (memcmp(right, out + i * size, size) != 0)
            return false;
    }
    return true;
}

static void *read_until_cut(void *argument)
{
    struct cutting *c = argument;
    static atomic_uint seeds;
    uint64_t indices[CUT_BATCH], random = atomic_fetch_add(&seeds, 1);
    static const size_t fields[] = {IMAGE, LABEL, WAVE}, sizes[] = {12, 8, 64};
    uint8_t out[CUT_BATCH * 64];
    for (unsigned after = 0; after < 6;) {
        bool was_cut = atomic_load(&c->cut);
        size_t f = (size_t)(random % 3);
        lx_error error = LX_ERROR_INIT;
        for (size_t i = 0; i < CUT_BATCH; i++)
            indices[i] = (random = mix(random)) % CUT_RECORDS;
        lx_status status = lx_dataset_gather(c->dataset, fields[f], indices, CUT_BATCH, out,
                                             sizes[f], &error);
        if (status == LX_OK) {
            atomic_fetch_add(&c->reads, 1);
            if (!is_right(fields[f], indices, out, sizes[f]))
                atomic_store(&c->wrong, true);
        } else if (status == LX_ERR_CORRUPT && error.field[0] != '\0' && error.path[0] != '\0') {
            atomic_fetch_add(&c->errors, 1);
        } else {
            atomic_store(&c->wrong, true);
        }
        after += was_cut;
    }
    return NULL;
}

static void cut_under_readers(lx_verify_policy verify, const char *file, uint64_t left)
{
    pthread_t threads[4];
    records_make("d", CUT_RECORDS, 0);
    struct cutting c = {.dataset = open_placed(
                            "d", (struct placed){LX_ACCESS_PREAD, verify, LX_DAMAGE_RAISE, false})};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_until_cut, &c), 0);
    while (atomic_load(&c.reads) < 8 && !atomic_load(&c.wrong))
        nap_ms(1);
    file_cut(in("d", file), left);
    atomic_store(&c.cut, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert(!atomic_load(&c.wrong));
    ck_assert_uint_gt(atomic_load(&c.errors), 0);
    lx_dataset_close(c.dataset);
}

START_TEST(pread_reports_a_file_truncated_during_reads)
{
    static const char *const files[] = {"chunk/0.zr", "image.offset", "label.offset", "wave.check"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int v = 0; v < 2; v++) {
            char *scratch = scratch_make();
            cut_under_readers(v == 0 ? LX_VERIFY_FIRST : LX_VERIFY_ALWAYS, files[i],
                              v == 0 ? 0 : 4096);
            scratch_remove(scratch);
        }
}
END_TEST

START_TEST(maintenance_reports_a_file_truncated_meanwhile)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_verify_result result;
    lx_storage_stats totals;
    records_make("d", 2000, 0);
    lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_MMAP});
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    file_cut("d/image.offset", 16 * 1000);
    unit_fails(lx_dataset_verify(dataset, NULL, NULL, NULL, &result, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(result.damages, 1000);
    ck_assert_uint_eq(result.records, 2000);
    lx_status status = lx_dataset_stat(dataset, &totals, NULL, &error);
    ck_assert_uint_eq(error.record, 1000);
    expect_error(status, LX_ERR_CORRUPT, "truncated", "d/image.offset");
    uint64_t index = 1500;
    uint8_t damaged;
    unit_ok(lx_dataset_probe(dataset, NULL, 0, &index, 1, &damaged, &error));
    ck_assert_uint_eq(damaged, 1);
    status = lx_dataset_backup(dataset, "copy", NULL, NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "bytes", "d/image.offset");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/* ---- limits */

START_TEST(reads_many_chunks_with_few_descriptors)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 4, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 400);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    ck_assert_uint_gt(directory_count("d/chunk"), 90);
    limit_descriptors(40);
    lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_PREAD});
    expect_records(dataset, 400);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    limit_descriptors(1024);
    dataset = open_placed("d", (struct placed){.access = LX_ACCESS_PREAD});
    size_t before = directory_count("/proc/self/fd");
    expect_records(dataset, 400);
    ck_assert_uint_le(directory_count("/proc/self/fd"), before + LX__FILES_MAX);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/* ---- network file systems */

START_TEST(network_file_systems_need_sealed_datasets)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_writer *writer;
    records_make("d", 20, 0);
    records_make_sealed("s", 20);
    dataset = open_placed("s", (struct placed){0});
    ck_assert_int_eq(lx_dataset_get_access(dataset), LX_ACCESS_MMAP);
    ck_assert_ptr_null(lx_dataset_get_network(dataset));
    lx_dataset_close(dataset);

    file_system_type = NFS;
    dataset = open_placed("s", (struct placed){0});
    ck_assert_int_eq(lx_dataset_get_access(dataset), LX_ACCESS_PREAD);
    ck_assert_str_eq(lx_dataset_get_network(dataset), "NFS");
    expect_records(dataset, 20);
    lx_dataset_close(dataset);
    dataset = open_placed("s", (struct placed){.access = LX_ACCESS_MMAP});
    ck_assert_int_eq(lx_dataset_get_access(dataset), LX_ACCESS_MMAP);
    lx_dataset_close(dataset);

    expect_refused("d", LX_ERR_UNSUPPORTED, "NFS", "d");
    expect_error(lx_writer_open("d", NULL, &writer, &error), LX_ERR_UNSUPPORTED, "NFS", "d");
    expect_error(lx_dataset_unseal("s", &error), LX_ERR_UNSUPPORTED, "NFS", "s");
    lx_schema *schema = records_schema();
    expect_error(lx_writer_create("new", schema, NULL, &writer, &error), LX_ERR_UNSUPPORTED, "NFS",
                 "");
    ck_assert(!file_exists("new"));
    unit_fails(lx_writer_create("none/new/", schema, NULL, &writer, &error), LX_ERR_NOT_FOUND);
    lx_schema_free(schema);
    file_system_type = 0;
    expect_dataset("d", 20);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_network_handle_does_not_follow_an_unsealing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("s", 20);
    file_system_type = NFS;
    lx_dataset *dataset = open_placed("s", (struct placed){0});
    file_system_type = 0;
    unit_ok(lx_dataset_unseal("s", &error));
    file_system_type = NFS;
    unit_fails(lx_dataset_refresh(dataset, NULL, &error), LX_ERR_UNSUPPORTED);
    expect_records(dataset, 20);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(accepts_three_modes)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = lx_dataset_options_new();
    for (int i = 0; i < 3; i++)
        unit_ok(lx_dataset_options_set_access(options, (lx_access)i, &error));
    unit_fails(lx_dataset_options_set_access(options, (lx_access)3, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_options_set_access(options, (lx_access)-1, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_dataset_options_set_access(NULL, LX_ACCESS_PREAD, &error), "options");
    lx_dataset_options_free(options);
}
END_TEST

UNIT_MAIN("zrecord/access", all_modes_read_the_same_records, all_modes_report_the_same_damage,
          all_modes_report_a_short_or_absent_chunk_alike,
          no_mode_opens_a_dataset_with_a_short_table, live_handles_follow_a_writer,
          views_have_their_own_bytes, pread_reports_a_file_truncated_during_reads,
          maintenance_reports_a_file_truncated_meanwhile, reads_many_chunks_with_few_descriptors,
          network_file_systems_need_sealed_datasets, a_network_handle_does_not_follow_an_unsealing,
          accepts_three_modes)
