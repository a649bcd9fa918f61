/* SPDX-License-Identifier: MIT */
#include "../goldens.h"
#include "../harm.h"

static void stat_of(const char *path, lx_storage_stats *totals, lx_field_stats *fields)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    unit_ok(lx_dataset_stat(dataset, totals, fields, &error));
    lx_dataset_close(dataset);
}

/** The numbers of a field of a dataset of records.h, except those that depend on compression. */
static lx_field_stats wanted_of(int field, uint64_t length)
{
    lx_field_stats wanted = {0};
    for (uint64_t index = 0; index < length; index++) {
        uint8_t value[VALUE_MAX];
        uint64_t size = record_value(field, index, value);
        wanted.missing += size == LX_NONE;
        wanted.present += size != LX_NONE;
        if (size == LX_NONE)
            continue;
        wanted.inlined += size <= 8;
        wanted.inline_bytes += size <= 8 ? size : 0;
        wanted.logical_bytes += size;
        wanted.stored_bytes += size > 8 ? size : 0;
    }
    return wanted;
}

static void expect_fields(const lx_field_stats *fields, uint64_t length)
{
    for (int field = 0; field < FIELDS; field++) {
        lx_field_stats wanted = wanted_of(field, length);
        bool raw = field == IMAGE || field == LABEL || field == BLOB;
        ck_assert_uint_eq(fields[field].present, wanted.present);
        ck_assert_uint_eq(fields[field].missing, wanted.missing);
        ck_assert_uint_eq(fields[field].inlined, wanted.inlined);
        ck_assert_uint_eq(fields[field].inline_bytes, wanted.inline_bytes);
        ck_assert_uint_eq(fields[field].logical_bytes, wanted.logical_bytes);
        if (raw) {
            ck_assert_uint_eq(fields[field].compressed, 0);
            ck_assert_uint_eq(fields[field].stored_bytes, wanted.stored_bytes);
        } else if (length >= 10) {
            ck_assert_uint_gt(fields[field].compressed, 0);
            ck_assert_uint_lt(fields[field].compressed, wanted.present - wanted.inlined);
            ck_assert_uint_lt(fields[field].stored_bytes, wanted.stored_bytes);
        }
    }
}

/** The relations between the numbers of a dataset without changes or deletions. */
static void expect_sums(const lx_storage_stats *totals, const lx_field_stats *fields, size_t count)
{
    uint64_t live = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        live += fields[i].present - fields[i].inlined;
        bytes += fields[i].stored_bytes;
        ck_assert_uint_eq(fields[i].present + fields[i].missing, totals->length);
    }
    ck_assert_uint_eq(totals->payloads, live);
    ck_assert_uint_eq(totals->live_bytes, bytes);
    ck_assert_uint_ge(totals->chunk_bytes, bytes);
    double room = (double)totals->chunks * (double)totals->chunk_records;
    ck_assert_double_eq(totals->utilisation, (double)live / room);
    ck_assert_double_eq(totals->live_ratio, (double)bytes / (double)totals->chunk_bytes);
}

START_TEST(the_numbers_match_the_written_data)
{
    char *scratch = scratch_make();
    static const uint64_t lengths[][2] = {{40, 0}, {0, 40}, {25, 15}};
    for (size_t i = 0; i < 3; i++) {
        lx_storage_stats totals;
        lx_field_stats fields[FIELDS];
        char name[] = {(char)('a' + i), '\0'};
        records_make(name, lengths[i][0], lengths[i][1]);
        stat_of(name, &totals, fields);
        ck_assert_uint_eq(totals.length, 40);
        ck_assert_uint_eq(totals.chunks, 1);
        ck_assert_uint_eq(totals.chunk_records, 1048576);
        ck_assert_uint_eq(totals.chunk_limit, 1u << 30);
        ck_assert_uint_eq(totals.table_bytes, lengths[i][0] * FIELDS * 24);
        ck_assert_uint_eq(totals.log_entries, lengths[i][1] * FIELDS);
        ck_assert_uint_eq(totals.log_bytes, file_size(in(name, "LOG")));
        expect_fields(fields, 40);
        expect_sums(&totals, fields, FIELDS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_empty_dataset_has_no_numbers)
{
    char *scratch = scratch_make();
    lx_storage_stats totals;
    lx_field_stats fields[FIELDS];
    records_make("d", 0, 0);
    stat_of("d", &totals, fields);
    ck_assert_uint_eq(totals.length + totals.chunks + totals.payloads + totals.chunk_bytes +
                          totals.live_bytes + totals.table_bytes + totals.log_entries,
                      0);
    ck_assert_double_eq(totals.utilisation, 0);
    ck_assert_double_eq(totals.live_ratio, 1);
    expect_fields(fields, 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(chunks_are_shown_one_by_one)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_field_stats fields[FIELDS];
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 20, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 60);
    close_writer(writer);
    stat_of("d", &totals, fields);
    ck_assert_uint_eq(totals.chunk_records, 20);
    ck_assert_uint_eq(totals.chunk_limit, 1 << 20);
    ck_assert_uint_eq(totals.chunks, (totals.payloads + 19) / 20);
    expect_sums(&totals, fields, FIELDS);

    lx_dataset *dataset = open_dataset("d");
    uint64_t payloads = 0, bytes = 0;
    lx_chunk_stats chunk;
    for (size_t i = 0; i < totals.chunks; i++) {
        char name[64];
        ck_assert(chunk_at(dataset, i, &chunk));
        ck_assert_uint_eq(chunk.id, i);
        snprintf(name, sizeof name, "d/chunk/%u.zr", chunk.id);
        ck_assert_uint_ge(file_size(name), chunk.bytes);
        ck_assert(chunk.payloads == 20 || i + 1 == totals.chunks);
        payloads += chunk.payloads;
        bytes += chunk.bytes;
    }
    ck_assert_uint_eq(payloads, totals.payloads);
    ck_assert_uint_eq(bytes, totals.chunk_bytes);
    ck_assert(!chunk_at(dataset, totals.chunks, &chunk));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(unreferenced_payloads_are_not_live)
{
    char *scratch = scratch_make();
    lx_storage_stats totals;
    lx_field_stats field;
    golden_copy("replayed"); /* six values were written, three are live; all of 12 bytes */
    stat_of("replayed", &totals, &field);
    ck_assert_uint_eq(totals.length, 3);
    ck_assert_uint_eq(totals.payloads, 6);
    ck_assert_uint_eq(totals.live_bytes, 36);
    ck_assert_uint_eq(totals.chunk_bytes, 5 * 16 + 12);
    ck_assert_uint_eq(totals.table_bytes, 4 * 24);
    ck_assert_uint_eq(totals.log_entries, 3);
    ck_assert_double_eq(totals.live_ratio, 36.0 / 92.0);
    ck_assert_double_eq(totals.utilisation, 3.0 / 1048576.0);
    ck_assert_uint_eq(field.present, 3);
    ck_assert_uint_eq(field.stored_bytes, 36);
    scratch_remove(scratch);
}
END_TEST

START_TEST(counts_only_the_snapshot)
{
    char *scratch = scratch_make();
    lx_storage_stats totals;
    lx_field_stats field;
    golden_copy("torn");
    stat_of("torn", &totals, &field);
    ck_assert_uint_eq(totals.length, 1);
    ck_assert_uint_eq(totals.payloads, 1);
    ck_assert_uint_eq(totals.log_bytes, 72 + 72 + 16 + 40);
    ck_assert_uint_lt(totals.log_bytes, file_size("torn/LOG"));
    golden_copy("generations"); /* chunks whose ids begin at 5 */
    stat_of("generations", &totals, &field);
    ck_assert_uint_eq(totals.chunks, 3);
    ck_assert_uint_eq(field.inlined, 1);
    lx_dataset *dataset = open_dataset("generations");
    static const uint32_t ids[] = {5, 7, 9};
    lx_chunk_stats chunk;
    for (size_t i = 0; i < 3; i++)
        ck_assert(chunk_at(dataset, i, &chunk) && chunk.id == ids[i]);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(live_and_dead_bytes_are_counted_by_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_chunk_stats infos[100];
    size_t count = 99, again;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 10, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 30);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    /* A value that became missing: its payload is dead. */
    static const uint8_t zeros[16];
    lx__entry entry = entry_of("d", "image", 4);
    file_patch("d/image.offset", 4 * 16, zeros, 16);
    file_patch("d/image.check", 4 * 8, zeros, 8);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_stat(dataset, &totals, NULL, &error));
    unit_ok(lx_dataset_stat_chunks(dataset, infos, 100, &count, &error));
    ck_assert_uint_gt(count, 3);
    ck_assert_uint_eq(count, totals.chunks);
    uint64_t payloads = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == entry.chunk)
            ck_assert_uint_gt(infos[i].dead_bytes, 0);
        else
            ck_assert_uint_eq(infos[i].dead_bytes, 0);
        ck_assert_uint_eq(infos[i].live_payloads, infos[i].payloads - (i == entry.chunk));
        ck_assert_uint_le(infos[i].live_bytes, infos[i].bytes);
        payloads += infos[i].live_payloads;
        bytes += infos[i].live_bytes;
    }
    ck_assert_uint_eq(payloads, totals.live_payloads);
    ck_assert_uint_eq(bytes, totals.live_bytes);
    ck_assert_uint_eq(totals.live_payloads, totals.payloads - 1);
    /* The values left may need more padding in their new places than the dead one occupied. */
    ck_assert_uint_le(totals.dead_bytes, totals.chunk_bytes - totals.live_bytes);
    unit_fails(lx_dataset_stat_chunks(dataset, infos, 2, &again, &error), LX_ERR_LIMIT);
    ck_assert_uint_eq(again, count);
    unit_ok(lx_dataset_stat_chunks(dataset, NULL, 0, &again, &error));
    ck_assert_uint_eq(again, count);
    unit_refuses_null(lx_dataset_stat_chunks(NULL, infos, 2, &again, &error), "dataset");
    unit_refuses_null(lx_dataset_stat_chunks(dataset, NULL, 2, &again, &error), "infos");
    unit_refuses_null(lx_dataset_stat_chunks(dataset, infos, 2, NULL, &error), "count");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/* ---- dead bytes are what a rebalance frees */

/** Changes a dataset of records.h in @p count random ways. The values of record @p i are at first
 * those of record i, and then those of any record. */
static void change_at_random(lx_writer *writer, uint64_t seed, uint64_t count)
{
    static const size_t fields[FIELDS] = {IMAGE, LABEL, WAVE, CAPTION, BLOB};
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t random = mix(seed + i), length = lx_writer_get_length(writer);
        uint64_t index = length != 0 ? (random >> 8) % length : 0;
        size_t first = (size_t)(random >> 40) % FIELDS;
        uint8_t memory[FIELDS][VALUE_MAX];
        lx_value values[FIELDS];
        record_values(random >> 16, memory, values);
        if (length == 0 || random % 8 < 3)
            unit_ok(lx_writer_append(writer, values, FIELDS, NULL, &error));
        else if (random % 8 < 5)
            unit_ok(lx_writer_delete(writer, index, NULL, &error));
        else if (random % 64 == 5)
            unit_ok(lx_writer_truncate(writer, index, &error));
        else
            unit_ok(lx_writer_modify(writer, index, fields + first, values + first, FIELDS - first,
                                     &error));
    }
}

/** Compares the dead bytes with the result of a rebalance; returns the dead bytes. */
static uint64_t expect_dead(const char *path, lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats before, after;
    lx_rebalance_result result;
    lx_chunk_stats chunk;
    uint64_t sum = 0;
    commit(writer);
    stat_of(path, &before, NULL);
    lx_dataset *dataset = open_dataset(path);
    for (size_t i = 0; chunk_at(dataset, i, &chunk); i++)
        sum += chunk.dead_bytes;
    lx_dataset_close(dataset);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, &result, &error));
    stat_of(path, &after, NULL);
    ck_assert_uint_eq(after.chunk_bytes, result.bytes_after);
    ck_assert_uint_eq(before.dead_bytes, before.chunk_bytes > after.chunk_bytes
                                             ? before.chunk_bytes - after.chunk_bytes
                                             : 0);
    ck_assert_uint_eq(after.dead_bytes, 0);
    uint64_t padding = 7 * before.live_payloads; /* no field has a larger alignment than 8 */
    ck_assert_uint_le(sum, before.dead_bytes + padding);
    ck_assert_uint_le(before.dead_bytes, sum + padding);
    return before.dead_bytes;
}

START_TEST(dead_bytes_are_what_a_rebalance_frees)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t limits[][2] = {
        {1048576, 1 << 30}, {17, 1 << 30}, {1000, 4096}, {30, 5000}, {1, 1 << 30}};
    uint64_t dead = 0;
    for (uint64_t i = 0; i < 25; i++) {
        const uint64_t *limit = limits[i % 5];
        char path[] = {(char)('a' + i), '\0'};
        lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
        unit_ok(lx_writer_options_set_chunk_limits(options, limit[0], limit[1], &error));
        lx_writer *writer = records_create(path, options);
        for (uint64_t round = 0; round < 4; round++) {
            records_append(writer, 30 * (round == 0));
            change_at_random(writer, 1000 * (4 * i + round), mix(i + round) % 120);
            dead += expect_dead(path, writer);
        }
        close_writer(writer);
    }
    ck_assert_uint_gt(dead, 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(padding_of_live_values_is_not_dead)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "blob", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    for (size_t i = 0; i < 100; i++) /* each is followed by 7 bytes of padding, except the last */
        unit_ok(lx_writer_append(writer, &(lx_value){"123456789", 9}, 1, NULL, &error));
    commit(writer);
    stat_of("d", &totals, NULL);
    ck_assert_uint_eq(totals.dead_bytes, 0);
    unit_ok(lx_writer_delete(writer, 50, NULL, &error));
    commit(writer);
    stat_of("d", &totals, NULL);
    ck_assert_uint_eq(totals.dead_bytes, 16);
    close_writer(writer);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_an_entry_without_a_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_chunk_stats infos[4];
    size_t count;
    static const struct harm other = {.chunk = 1};
    records_make("d", 10, 0);
    harm_entry("d", "image", 7, &other);
    lx_dataset *dataset;
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    lx_status status = lx_dataset_stat_chunks(dataset, infos, 4, &count, &error);
    ck_assert_uint_eq(error.record, 7);
    expect_error(status, LX_ERR_CORRUPT, "chunk 1 not found", "image.offset");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(fields_may_be_left_out)
{
    char *scratch = scratch_make();
    lx_storage_stats totals, with;
    lx_field_stats fields[FIELDS];
    records_make("d", 10, 10);
    stat_of("d", &totals, NULL);
    stat_of("d", &with, fields);
    ck_assert_int_eq(memcmp(&totals, &with, sizeof totals), 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_no_payload)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_field_stats fields[FIELDS];
    records_make("d", 10, 10);
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    lx_dataset *dataset;
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    unit_ok(lx_dataset_stat(dataset, &totals, fields, &error));
    expect_fields(fields, 20);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_damaged_entry)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_storage_stats totals;
    lx_field_stats fields[FIELDS];
    static const struct harm longer = {.logical = 1};
    records_make("d", 10, 0);
    harm_entry("d", "image", 7, &longer);
    lx_dataset *dataset;
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    lx_status status = lx_dataset_stat(dataset, &totals, fields, &error);
    ck_assert_str_eq(error.field, "image");
    ck_assert_uint_eq(error.record, 7);
    expect_error(status, LX_ERR_CORRUPT, "is not compressed", "d/");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/stat", the_numbers_match_the_written_data, an_empty_dataset_has_no_numbers,
          chunks_are_shown_one_by_one, live_and_dead_bytes_are_counted_by_chunk,
          reports_an_entry_without_a_chunk, unreferenced_payloads_are_not_live,
          counts_only_the_snapshot, fields_may_be_left_out, reads_no_payload,
          dead_bytes_are_what_a_rebalance_frees, padding_of_live_values_is_not_dead,
          reports_a_damaged_entry)
