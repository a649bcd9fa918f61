/* SPDX-License-Identifier: MIT */
/* A dataset whose files come from a provider: it is opened, read and maintained like a local one,
 * and the number of times that a call waits does not grow with the number of records. */
#include <loaderx/arrow.h>
#include <loaderx/maintenance.h>

#include "../placed.h"
#include "../provider.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/residency.h"
#include "zrecord/read/row-digest.h"

#define RECORDS 6000
#define BATCH 256

/** A sealed dataset "d" in a scratch directory, and the same dataset elsewhere. */
struct pair {
    char *scratch;
    struct elsewhere place;
    lx_dataset *near, *far;
};

static void open_pair(struct pair *pair, uint64_t length, lx_damage_policy damage)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = lx_dataset_options_new();
    pair->scratch = scratch_make();
    records_make_sealed("d", length);
    elsewhere_begin(&pair->place);
    unit_ok(lx_dataset_options_set_damage_policy(options, damage, &error));
    unit_ok(lx_dataset_options_set_durable(options, true, &error)); /* as all that is sealed is */
    unit_ok(elsewhere_dataset(&pair->place, "d", options, &pair->far, &error));
    unit_ok(lx_dataset_open("d", options, &pair->near, &error));
    lx_dataset_options_free(options);
}

static void close_pair(struct pair *pair)
{
    lx_dataset_close(pair->near);
    lx_dataset_close(pair->far);
    elsewhere_end(&pair->place);
    scratch_remove(pair->scratch);
}

/** How often the reads since the last call of this function waited, with all pages absent before
 * them. */
static unsigned waits(struct pair *pair)
{
    unsigned rounds = pair->place.rounds - 1;
    pair->place.rounds = 1;
    elsewhere_forget(&pair->place);
    return rounds;
}

START_TEST(reads_every_value)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    open_pair(&pair, 300, LX_DAMAGE_RAISE);
    ck_assert_int_eq(lx_dataset_get_access(pair.far), LX_ACCESS_PREAD);
    ck_assert_str_eq(lx_dataset_get_network(pair.far), "test");
    ck_assert_str_eq(lx_dataset_get_path(pair.far), "test:/d");
    ck_assert_ptr_nonnull(lx__dataset_get_directory(pair.far)->provider);
    ck_assert_ptr_null(lx__dataset_get_directory(pair.near)->provider);
    expect_records(pair.far, 300);
    uint64_t indices[290];
    for (uint64_t i = 0; i < 290; i++)
        indices[i] = mix(i) % 300;
    for (size_t field = 0; field < FIELDS; field++) {
        struct answers *near = ask(pair.near, field, indices, 290);
        struct answers *far = ask(pair.far, field, indices, 290);
        char *path = far->errors[3].path; /* compressed values cannot be viewed */
        if (path[0] != '\0')
            memmove(path, path + strlen("test:/"), strlen(path) - strlen("test:/") + 1);
        expect_same_answers(near, far, 290, field < CAPTION ? dense_sizes[field] : 0);
        answers_free(near);
        answers_free(far);
    }
    uint64_t none = 300;
    uint8_t out[12];
    lx_status status = lx_dataset_gather(pair.far, IMAGE, &none, 1, out, 12, &error);
    expect_error(status, LX_ERR_RANGE, "out of range", "test:/d");
    close_pair(&pair);
}
END_TEST

START_TEST(opens_without_asking_for_sizes)
{
    struct pair pair;
    open_pair(&pair, 300, LX_DAMAGE_RAISE);
    ck_assert_uint_eq(pair.place.sizes, 2); /* of meta.json and LOG, which are read whole */
    (void)waits(&pair);
    expect_value(pair.far, IMAGE, 3); /* opens tables and a chunk */
    ck_assert_uint_eq(pair.place.sizes, 2);
    ck_assert_uint_le(waits(&pair), 2);
    close_pair(&pair);
}
END_TEST

/** Opening it elsewhere must fail with that status and message. */
static void refuses(const lx_dataset_options *options, lx_status status, const char *said)
{
    struct elsewhere place;
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = (lx_dataset *)&place;
    elsewhere_begin(&place);
    lx_status got = elsewhere_dataset(&place, "d", options, &dataset, &error);
    expect_error(got, status, said, "d");
    ck_assert_ptr_null(dataset);
    elsewhere_end(&place);
}

START_TEST(refuses_what_it_cannot_do)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = lx_dataset_options_new();
    ck_assert_int_eq(mkdir("d", 0777), 0);
    refuses(NULL, LX_ERR_NOT_FOUND, "there is no dataset");
    ck_assert_int_eq(rmdir("d"), 0);
    records_make_sealed("d", 5);
    unit_ok(lx_dataset_options_set_live(options, true, &error));
    refuses(options, LX_ERR_UNSUPPORTED, "cannot be live");
    unit_ok(lx_dataset_options_set_live(options, false, &error));
    unit_ok(lx_dataset_options_set_access(options, LX_ACCESS_MMAP, &error));
    refuses(options, LX_ERR_UNSUPPORTED, "use access mode auto or pread");
    unit_ok(lx_dataset_options_set_access(options, LX_ACCESS_PREAD, &error));
    unit_ok(lx_dataset_options_set_length(options, 6, &error));
    refuses(options, LX_ERR_MISMATCH, "has only 5 records");
    lx_dataset_options_free(options);
    records_unseal("d");
    refuses(NULL, LX_ERR_UNSUPPORTED, "not sealed: seal it on the machine that wrote it");
    scratch_remove(scratch);
}
END_TEST

START_TEST(never_changes)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    lx_dataset *pinned, *shared;
    bool changed = true;
    open_pair(&pair, 50, LX_DAMAGE_RAISE);
    unit_ok(lx_dataset_refresh(pair.far, &changed, &error));
    ck_assert(!changed);
    ck_assert_int_eq(lx_dataset_wait(pair.far, 51, 0, &error), LX_ERR_TIMEOUT);
    unit_ok(lx_dataset_pin(pair.far, &pinned, &error));
    unit_ok(lx__dataset_share(pair.far, &shared, &error));
    ck_assert_ptr_eq(lx__dataset_get_directory(pinned), lx__dataset_get_directory(pair.far));
    expect_records(shared, 50);
    lx_dataset_close(pinned);
    lx_dataset_close(shared);
    close_pair(&pair);
}
END_TEST

static void scatter(uint64_t *indices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        indices[i] = i * 4001 % RECORDS; /* no index twice */
}

START_TEST(waits_twice_for_any_number_of_records)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    static uint64_t indices[1024], offsets[1025];
    static uint8_t out[1024 * VALUE_MAX];
    uint64_t read;
    open_pair(&pair, RECORDS, LX_DAMAGE_RAISE);
    scatter(indices, 1024);
    (void)waits(&pair);

    unit_ok(lx_dataset_gather(pair.far, WAVE, indices, 1, out, 64, &error));
    ck_assert_uint_eq(waits(&pair), 2);
    unit_ok(lx_dataset_gather(pair.far, LABEL, indices, 1, out, 8, &error));
    ck_assert_uint_eq(waits(&pair), 1); /* it is in its row */
    unit_ok(lx_dataset_read_part(pair.far, WAVE, indices[0], 2, 3, out, &read, &error));
    ck_assert_uint_eq(waits(&pair), 2);

    unit_ok(lx_dataset_gather(pair.far, WAVE, indices, BATCH, out, 64, &error));
    ck_assert_uint_eq(waits(&pair), 2);
    unit_ok(lx_dataset_gather(pair.far, LABEL, indices, BATCH, out, 8, &error));
    ck_assert_uint_eq(waits(&pair), 1);
    unit_ok(lx_dataset_get_sizes(pair.far, BLOB, indices, BATCH, offsets, NULL, &error));
    ck_assert_uint_eq(pair.place.rounds - 1, 1);
    unit_ok(lx_dataset_gather_bytes(pair.far, BLOB, indices, BATCH, offsets, out, &error));
    ck_assert_uint_eq(waits(&pair), 2);

    unit_ok(lx_dataset_gather(pair.far, WAVE, indices, 1024, out, 64, &error));
    ck_assert_uint_eq(waits(&pair), 2);
    ck_assert(lx__dataset_read_ahead(pair.far, WAVE, indices, 1024));
    ck_assert_uint_eq(pair.place.rounds - 1, 1);
    unit_ok(lx_dataset_gather(pair.far, WAVE, indices, 1024, out, 64, &error));
    ck_assert_uint_eq(waits(&pair), 2);
    /* A handle that was read ahead still does not wait for each value. */
    unit_ok(lx_dataset_gather(pair.far, WAVE, indices, BATCH, out, 64, &error));
    ck_assert_uint_eq(waits(&pair), 2);
    close_pair(&pair);
}
END_TEST

START_TEST(waits_rarely_for_views_and_values_to_verify)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    static uint64_t indices[BATCH], offsets[BATCH + 1];
    lx_slice slices[BATCH];
    lx_view *view;
    open_pair(&pair, RECORDS, LX_DAMAGE_ZEROS);
    scatter(indices, BATCH);
    (void)waits(&pair);
    unit_ok(lx_dataset_view(pair.far, BLOB, indices, BATCH, slices, &view, &error));
    lx_view_free(view);
    ck_assert_uint_eq(waits(&pair), 2);
    unit_ok(lx_dataset_get_sizes(pair.far, BLOB, indices, BATCH, offsets, NULL, &error));
    ck_assert_uint_eq(waits(&pair), 2);
    close_pair(&pair);
}
END_TEST

START_TEST(requests_little_more_than_it_reads)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    uint64_t index = RECORDS / 2, bytes;
    uint8_t out[64];
    open_pair(&pair, RECORDS, LX_DAMAGE_RAISE);
    pair.place.wanted = 0;
    unit_ok(lx_dataset_gather(pair.far, WAVE, &index, 1, out, 64, &error));
    ck_assert_uint_le(pair.place.wanted, LX__ENTRY_BYTES + 64);
    ck_assert(lx__dataset_wants_read_ahead(pair.far));
    bytes = pair.place.wanted;
    for (int i = 0; i < 40; i++) /* it never learns that values are in memory */
        unit_ok(lx_dataset_gather(pair.far, WAVE, &index, 1, out, 64, &error));
    ck_assert(lx__dataset_wants_read_ahead(pair.far));
    ck_assert_uint_le(pair.place.wanted, 41 * bytes);
    close_pair(&pair);
}
END_TEST

static void expect_same_file(const char *a, const char *b)
{
    size_t size, other;
    uint8_t *left = file_bytes(a, &size), *right = file_bytes(b, &other);
    ck_assert_uint_eq(size, other);
    ck_assert_mem_eq(left, right, size);
    free(left);
    free(right);
}

START_TEST(maintenance_finds_what_it_finds_locally)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    uint64_t near, far;
    lx_storage_stats totals[2];
    lx_field_stats fields[2][FIELDS];
    lx_field_diff diff = {.a = WAVE, .b = WAVE};
    lx_card *card = NULL;
    open_pair(&pair, 700, LX_DAMAGE_RAISE);
    unit_ok(lx_dataset_verify(pair.far, NULL, NULL, NULL, NULL, &error));
    unit_ok(lx_dataset_digest(pair.near, NULL, NULL, &near, &error));
    unit_ok(lx_dataset_digest(pair.far, NULL, NULL, &far, &error));
    ck_assert_uint_eq(near, far);
    unit_ok(lx_dataset_stat(pair.near, &totals[0], fields[0], &error));
    unit_ok(lx_dataset_stat(pair.far, &totals[1], fields[1], &error));
    ck_assert_mem_eq(&totals[0], &totals[1], sizeof totals[0]);
    ck_assert_mem_eq(fields[0], fields[1], sizeof fields[0]);
    unit_ok(lx_dataset_diff(pair.near, pair.far, &diff, 1, NULL, NULL, &error));
    ck_assert_uint_eq(diff.count, 0);
    unit_ok(lx_dataset_export_npy(pair.near, WAVE, "near.npy", NULL, NULL, &error));
    unit_ok(lx_dataset_export_npy(pair.far, WAVE, "far.npy", NULL, NULL, &error));
    expect_same_file("near.npy", "far.npy");
    unit_ok(lx_dataset_export_files(pair.far, BLOB, "files", NULL, NULL, &error));
    unit_ok(lx_dataset_read_card(pair.far, &card, &error));
    lx_card_free(card);
    close_pair(&pair);
}
END_TEST

START_TEST(maintenance_waits_rarely)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    uint64_t digest, fields = FIELDS, indices[BATCH], offsets[BATCH + 1];
    uint8_t damaged[BATCH];
    lx_export_options *first = lx_export_options_new();
    scatter(indices, BATCH);
    unit_ok(lx_export_options_set_indices(first, indices, BATCH, &error));
    lx__row_digest rows;
    open_pair(&pair, RECORDS, LX_DAMAGE_RAISE);
    (void)waits(&pair);
    unit_ok(lx_dataset_stat(pair.far, &totals, NULL, &error));
    ck_assert_uint_le(waits(&pair), 2 * fields);
    unit_ok(lx__dataset_digest_rows(pair.far, LX_NONE, LX_NONE, &rows, &error));
    lx__row_digest_free(&rows);
    ck_assert_uint_le(waits(&pair), 2 * fields);
    unit_ok(lx_dataset_digest(pair.far, NULL, NULL, &digest, &error));
    ck_assert_uint_le(waits(&pair), 4 * fields + 4);
    unit_ok(lx_dataset_export_files(pair.far, BLOB, "files", first, NULL, &error));
    lx_export_options_free(first);
    ck_assert_uint_le(waits(&pair), 2 * 2);
    lx_writer *writer = records_create("copy", writer_options(LX_DURABILITY_NONE));
    unit_ok(lx_writer_copy(writer, pair.far, NULL, 0, indices, BATCH, NULL, &error));
    close_writer(writer);
    ck_assert_uint_le(waits(&pair), 2 * fields + 2); /* with missing values: the whole tables */
    unit_ok(lx_dataset_probe(pair.far, NULL, 0, indices, BATCH, damaged, &error));
    ck_assert_uint_le(waits(&pair), 2 * fields);
    for (uint64_t at = 0; at < RECORDS; at += BATCH) { /* as the sizes of documents are read */
        if (at == 0)
            lx__dataset_ask_rows(pair.far, BLOB, 0, LX_NONE);
        for (size_t i = 0; i < BATCH; i++)
            indices[i] = at + i < RECORDS ? at + i : 0;
        unit_ok(lx_dataset_get_sizes(pair.far, BLOB, indices, BATCH, offsets, NULL, &error));
    }
    ck_assert_uint_eq(waits(&pair), 1);
    close_pair(&pair);
}
END_TEST

START_TEST(copies_and_refuses_a_backup)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[60];
    open_pair(&pair, 60, LX_DAMAGE_RAISE);
    lx_writer *writer = records_create("copy", NULL);
    for (uint64_t i = 0; i < 60; i++)
        indices[i] = i;
    unit_ok(lx_writer_copy(writer, pair.far, NULL, 0, indices, 60, NULL, &error));
    close_writer(writer);
    expect_dataset("copy", 60);
    lx_status status = lx_dataset_backup(pair.far, "backup", NULL, NULL, &error);
    expect_error(status, LX_ERR_UNSUPPORTED, "copy its files to a local disk first", "test:/d");
    ck_assert(!file_exists("backup"));
    close_pair(&pair);
}
END_TEST

START_TEST(exports_the_same_arrow_arrays)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    struct ArrowArrayStream streams[2];
    open_pair(&pair, 90, LX_DAMAGE_RAISE);
    unit_ok(lx_dataset_to_arrow(pair.near, NULL, 0, NULL, 0, 1 << 20, &streams[0], &error));
    unit_ok(lx_dataset_to_arrow(pair.far, NULL, 0, NULL, 0, 1 << 20, &streams[1], &error));
    struct ArrowArray near, far;
    ck_assert_int_eq(streams[0].get_next(&streams[0], &near), 0);
    ck_assert_int_eq(streams[1].get_next(&streams[1], &far), 0);
    ck_assert_int_eq(near.length, far.length);
    ck_assert_mem_eq(near.children[LABEL]->buffers[1], far.children[LABEL]->buffers[1],
                     8 * (size_t)near.length);
    near.release(&near);
    far.release(&far);
    streams[0].release(&streams[0]);
    streams[1].release(&streams[1]);
    close_pair(&pair);
}
END_TEST

START_TEST(identity_and_row_digests_are_those_of_the_local_dataset)
{
    struct pair pair;
    lx_error error = LX_ERROR_INIT;
    lx_dataset_identity near, far;
    lx__row_digest rows[2];
    open_pair(&pair, 400, LX_DAMAGE_RAISE);
    lx_dataset_get_identity(pair.near, &near);
    lx_dataset_get_identity(pair.far, &far);
    ck_assert_str_eq(near.uuid, far.uuid);
    ck_assert_uint_eq(near.checksum, far.checksum);
    unit_ok(lx__dataset_digest_rows(pair.near, LX_NONE, LX_NONE, &rows[0], &error));
    unit_ok(lx__dataset_digest_rows(pair.far, LX_NONE, LX_NONE, &rows[1], &error));
    ck_assert_mem_eq(rows[0].fields, rows[1].fields, FIELDS * sizeof *rows[0].fields);
    lx__row_digest_free(&rows[0]);
    lx__row_digest_free(&rows[1]);
    close_pair(&pair);
}
END_TEST

UNIT_MAIN("zrecord/read/elsewhere", reads_every_value, opens_without_asking_for_sizes,
          refuses_what_it_cannot_do, never_changes, waits_twice_for_any_number_of_records,
          waits_rarely_for_views_and_values_to_verify, requests_little_more_than_it_reads,
          maintenance_finds_what_it_finds_locally, maintenance_waits_rarely,
          copies_and_refuses_a_backup, exports_the_same_arrow_arrays,
          identity_and_row_digests_are_those_of_the_local_dataset)
