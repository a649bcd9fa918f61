/* SPDX-License-Identifier: MIT */
/* Reading RecordIO files: whole, damaged, cut, compressed, and from pipes. */
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "records.h"

#define COUNT 200

static lx_recordio_reader *open_reader(const char *path, bool skip)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_reader *reader;
    unit_ok(lx_recordio_reader_open(path, skip, NULL, NULL, &reader, &error));
    return reader;
}

static void expect_end(lx_recordio_reader *reader)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record record;
    ck_assert_int_eq(lx_recordio_reader_next(reader, &record, &error), LX_END);
    ck_assert_int_eq(lx_recordio_reader_next(reader, &record, &error), LX_END);
    ck_assert_int_eq(error.status, LX_OK);
}

START_TEST(reads_all_records_in_order)
{
    char *scratch = scratch_make();
    uint64_t offsets[COUNT + 1];
    struct bytes bytes = bytes_make(COUNT, offsets);
    write_bytes("a.rec", bytes.data, bytes.size);
    gzFile zipped = gzopen("a.rec.gz", "wb");
    gzwrite(zipped, bytes.data, (unsigned)bytes.size);
    gzclose(zipped);
    static const char *const paths[] = {"a.rec", "a.rec.gz"};
    for (int k = 0; k < 2; k++) {
        lx_recordio_reader *reader = open_reader(paths[k], false);
        for (unsigned i = 0; i < COUNT; i++) {
            ck_assert_uint_eq(lx_recordio_reader_tell(reader), offsets[i]);
            expect_record(reader, i, offsets[i]);
        }
        expect_end(reader);
        ck_assert_uint_eq(lx_recordio_reader_get_skipped(reader).places, 0);
        lx_recordio_reader_close(reader);
    }
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(seeks_to_any_record)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record record;
    uint64_t offsets[COUNT + 1];
    struct bytes bytes = bytes_make(COUNT, offsets);
    write_bytes("a.rec", bytes.data, bytes.size);
    lx_recordio_reader *reader = open_reader("a.rec", false);
    for (unsigned i = 0; i < 3 * COUNT; i++) {
        unsigned place = i * 7919 % COUNT;
        unit_ok(lx_recordio_reader_seek(reader, offsets[place], &error));
        expect_record(reader, place, offsets[place]);
    }
    unit_ok(lx_recordio_reader_seek(reader, offsets[COUNT], &error));
    expect_end(reader);
    unit_fails(lx_recordio_reader_seek(reader, 2, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_recordio_reader_seek(reader, offsets[1] + 4, &error));
    unit_fails(lx_recordio_reader_next(reader, &record, &error), LX_ERR_CORRUPT);
    expect_record(reader, 2, offsets[2]);
    lx_recordio_reader_close(reader);
    reader = open_reader("a.rec", true); /* another record would be wrong, not only late */
    unit_ok(lx_recordio_reader_seek(reader, offsets[1] + 4, &error));
    unit_fails(lx_recordio_reader_next(reader, &record, &error), LX_ERR_CORRUPT);
    expect_record(reader, 2, offsets[2]);
    lx_recordio_reader_close(reader);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

/** Reads a file that was cut after @p size bytes. */
static void read_cut(const struct bytes *bytes, const uint64_t *offsets, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record record;
    write_bytes("cut.rec", bytes->data, size);
    lx_recordio_reader *reader = open_reader("cut.rec", false);
    unsigned i = 0;
    for (; offsets[i + 1] <= size && i < COUNT; i++)
        expect_record(reader, i, offsets[i]);
    if (offsets[i] != size) {
        ck_assert_int_eq(lx_recordio_reader_next(reader, &record, &error), LX_ERR_CORRUPT);
        ck_assert_uint_eq(error.offset, offsets[i]);
        ck_assert_str_eq(error.path, "cut.rec");
    }
    expect_end(reader);
    lx_recordio_reader_close(reader);
}

START_TEST(reads_what_precedes_a_cut)
{
    char *scratch = scratch_make();
    uint64_t offsets[COUNT + 1];
    struct bytes bytes = bytes_make(COUNT, offsets);
    for (size_t size = 0; size < 12000; size += size < 3000 ? 1 : 97)
        read_cut(&bytes, offsets, size);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

/* Whatever word is damaged, the records before and after the damaged one are read. */
START_TEST(finds_the_next_record_after_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t offsets[COUNT + 1];
    struct bytes bytes = bytes_make(COUNT, offsets);
    for (unsigned bad = 0; bad < COUNT; bad += 7) {
        lx_recordio_record record;
        uint8_t *head = bytes.data + offsets[bad], before[8];
        memcpy(before, head, 8);
        lx__store_le32(head + (bad % 2) * 4, bad % 2 ? 0x1ffffff0 : 77);
        write_bytes("bad.rec", bytes.data, bytes.size);
        memcpy(head, before, 8);
        lx_recordio_reader *reader = open_reader("bad.rec", true);
        for (unsigned i = 0; i < bad; i++)
            expect_record(reader, i, offsets[i]);
        for (unsigned i = bad + 1; i < COUNT; i++) {
            unit_ok(lx_recordio_reader_next(reader, &record, &error));
            ck_assert_uint_eq(record.offset, offsets[i]);
        }
        expect_end(reader);
        lx_recordio_skipped skipped = lx_recordio_reader_get_skipped(reader);
        ck_assert_uint_eq(skipped.places, 1);
        ck_assert_uint_eq(skipped.bytes, offsets[bad + 1] - offsets[bad]);
        lx_recordio_reader_close(reader);
    }
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(refuses_records_above_the_limit)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record record;
    uint64_t offsets[COUNT + 1];
    struct bytes bytes = bytes_make(COUNT, offsets);
    uint8_t memory[RECORD_MAX];
    write_bytes("a.rec", bytes.data, bytes.size);
    lx_recordio_reader *reader = open_reader("a.rec", false);
    lx_recordio_reader_set_limit(reader, 2000);
    for (unsigned i = 0; i < COUNT; i++) {
        if (record_make(i, memory) <= 2000)
            expect_record(reader, i, offsets[i]);
        else
            unit_fails(lx_recordio_reader_next(reader, &record, &error), LX_ERR_LIMIT);
    }
    expect_end(reader);
    lx_recordio_reader_close(reader);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ends_at_damage_of_compressed_data)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record record;
    struct bytes bytes = bytes_make(COUNT, NULL), zipped = {NULL, 0};
    gzFile file = gzopen("a.gz", "wb");
    gzwrite(file, bytes.data, (unsigned)bytes.size);
    gzclose(file);
    char block[4096];
    FILE *from = fopen("a.gz", "rb");
    for (size_t got; (got = fread(block, 1, sizeof block, from)) != 0;)
        bytes_add(&zipped, block, got);
    fclose(from);
    write_bytes("a.gz", zipped.data, zipped.size / 2);
    for (int skip = 0; skip < 2; skip++) {
        lx_status status;
        unsigned read = 0;
        uint64_t end = 0;
        lx_recordio_reader *reader = open_reader("a.gz", skip);
        while ((status = lx_recordio_reader_next(reader, &record, &error)) == LX_OK)
            end = lx_recordio_reader_tell(reader), read++;
        ck_assert_uint_gt(read, 0);
        ck_assert_int_eq(status, skip ? LX_END : LX_ERR_CORRUPT);
        lx_error_clear(&error);
        expect_end(reader);
        lx_recordio_skipped skipped = lx_recordio_reader_get_skipped(reader);
        ck_assert(skipped.places == 1 && skipped.rest);
        ck_assert_uint_gt(skipped.bytes, 0); /* what was decompressed of the next record */
        ck_assert_uint_eq(end + skipped.bytes, lx_recordio_reader_tell(reader));
        lx_recordio_reader_close(reader);
    }
    free(bytes.data);
    free(zipped.data);
    scratch_remove(scratch);
}
END_TEST

/* The copy has the same bytes, also those that this writer would not have written. */
START_TEST(copies_records_as_they_are_stored)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    lx_recordio_record record;
    uint64_t offsets[COUNT + 1];
    struct bytes bytes = bytes_make(COUNT, offsets);
    static const uint8_t padded[] = {0x0a, 0x23, 0xd7, 0xce, 1, 0, 0, 0, 'a', 'p', 'a', 'd'};
    bytes_add(&bytes, padded, sizeof padded);
    write_bytes("a.rec", bytes.data, bytes.size);
    lx_recordio_reader *reader = open_reader("a.rec", false);
    unit_ok(lx_recordio_writer_create("b.rec", "b.idx", false, &writer, &error));
    unit_fails(lx_recordio_reader_copy(NULL, writer, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_copy(reader, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_copy(reader, writer, NULL, &error), LX_ERR_STATE);
    for (unsigned i = 0; i <= COUNT; i++) {
        char key[24];
        snprintf(key, sizeof key, "%u", 7 * i);
        unit_ok(lx_recordio_reader_next(reader, &record, &error));
        unit_fails(lx_recordio_reader_copy(reader, writer, "", &error), LX_ERR_ARGUMENT);
        unit_ok(lx_recordio_reader_copy(reader, writer, key, &error));
    }
    expect_end(reader);
    unit_fails(lx_recordio_reader_copy(reader, writer, NULL, &error), LX_ERR_STATE);
    unit_ok(lx_recordio_writer_close(writer, &error));
    lx_recordio_reader_close(reader);
    expect_file("b.rec", &bytes);
    bytes.size = 0;
    for (unsigned i = 0; i <= COUNT; i++) {
        char line[48];
        bytes_add(&bytes, line,
                  (size_t)snprintf(line, sizeof line, "%u\t%llu\n", 7 * i,
                                   (unsigned long long)offsets[i]));
    }
    expect_file("b.idx", &bytes);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

#define FILES 4

/* The first record of each file. The second file is empty. */
static const unsigned first[FILES + 1] = {0, 70, 70, 71, COUNT};

/** Reads all parts, which must be the records of the files in order; record @p lost is damaged, which
 * one part counts. */
static void read_parts(const char *const *paths, uint64_t parts, unsigned lost)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record record;
    uint64_t places = 0;
    unsigned next = 0;
    for (uint64_t part = 0; part < parts; part++) {
        lx_recordio_reader *reader;
        lx_status status;
        unit_ok(lx_recordio_reader_open_part(paths, FILES, part, parts, true, &reader, &error));
        while ((status = lx_recordio_reader_next(reader, &record, &error)) == LX_OK) {
            uint8_t right[RECORD_MAX];
            next += next == lost;
            int file = lx_recordio_reader_get_path(reader)[0] - '0';
            ck_assert(first[file] <= next && next < first[file + 1]);
            size_t size = record_make(next++, right);
            ck_assert_uint_eq(record.size, size);
            ck_assert(size == 0 || memcmp(record.data, right, size) == 0);
        }
        ck_assert_int_eq(status, LX_END);
        unit_fails(lx_recordio_reader_seek(reader, 0, &error), LX_ERR_STATE);
        expect_end(reader);
        places += lx_recordio_reader_get_skipped(reader).places;
        lx_recordio_reader_close(reader);
    }
    ck_assert_uint_eq(places, lost < COUNT);
    ck_assert_uint_eq(next + (lost < COUNT && next == lost), COUNT);
}

START_TEST(each_record_is_in_one_part)
{
    static const char *const paths[FILES] = {"0", "1", "2", "3"};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_reader *reader;
    lx_recordio_record record;
    uint64_t offsets[COUNT + 1];
    struct bytes bytes = bytes_make(COUNT, offsets);
    for (unsigned lost = 0; lost <= COUNT; lost += 40) {
        uint8_t *damaged = bytes.data + offsets[lost];
        if (lost < COUNT)
            *damaged ^= 1;
        for (int i = 0; i < FILES; i++)
            write_bytes(paths[i], bytes.data + offsets[first[i]],
                        offsets[first[i + 1]] - offsets[first[i]]);
        for (uint64_t parts = 1; parts < 400; parts += parts / 3 + 1)
            read_parts(paths, parts, lost);
        if (lost < COUNT)
            *damaged ^= 1;
    }
    unit_ok(lx_recordio_reader_open_part(&paths[3], 1, 1, 2, false, &reader, &error));
    unit_ok(lx_recordio_reader_next(reader, &record, &error));
    uint64_t half = (offsets[COUNT] - offsets[71]) / 2;
    ck_assert_uint_ge(record.offset, half);
    ck_assert_uint_lt(record.offset, half + RECORD_MAX + 200);
    lx_recordio_reader_close(reader);
    unit_ok(lx_recordio_reader_open_part(paths, FILES, UINT64_MAX - 1, UINT64_MAX, false, &reader,
                                         &error));
    expect_end(reader);
    lx_recordio_reader_close(reader);
    unit_fails(lx_recordio_reader_open_part(paths, FILES, 3, 3, false, &reader, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_open_part(paths, 0, 0, 1, false, &reader, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_open_part(NULL, 1, 0, 1, false, &reader, &error),
               LX_ERR_ARGUMENT);
    write_bytes("2", "abc", 3);
    unit_fails(lx_recordio_reader_open_part(paths, FILES, 0, 1, false, &reader, &error),
               LX_ERR_CORRUPT);
    write_bytes("2", "\x1f\x8b\x8\0", 4);
    unit_fails(lx_recordio_reader_open_part(paths, FILES, 0, 1, false, &reader, &error),
               LX_ERR_ARGUMENT);
    unlink("2");
    unit_fails(lx_recordio_reader_open_part(paths, FILES, 0, 1, false, &reader, &error),
               LX_ERR_NOT_FOUND);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_a_pipe)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t offsets[COUNT + 1];
    struct bytes bytes = bytes_make(COUNT, offsets);
    write_bytes("a.rec", bytes.data, bytes.size);
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    ck_assert_int_eq(system("cat a.rec >pipe &"), 0);
    lx_recordio_reader *reader = open_reader("pipe", false);
    for (unsigned i = 0; i < COUNT; i++)
        expect_record(reader, i, offsets[i]);
    unit_fails(lx_recordio_reader_seek(reader, 0, &error), LX_ERR_STATE);
    expect_end(reader);
    lx_recordio_reader_close(reader);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

/** Ends the first three waits; later ones take longer. */
static lx_status interrupt(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    unsigned *calls = user;
    (void)error;
    ck_assert_uint_eq(total, LX_NONE);
    ck_assert_uint_le(done, 8);
    return ++*calls <= 3 ? LX_ERR_CANCELED : LX_OK;
}

START_TEST(ends_a_wait_for_a_pipe)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_reader *reader;
    lx_recordio_record record;
    uint64_t offsets[4];
    unsigned calls = 0;
    struct bytes bytes = bytes_make(3, offsets);
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    int pipe = open("pipe", O_RDWR);
    unit_fails(lx_recordio_reader_open("pipe", true, interrupt, &calls, &reader, &error),
               LX_ERR_CANCELED);
    ck_assert_int_eq(write(pipe, bytes.data, 8), 8);
    unit_ok(lx_recordio_reader_open("pipe", true, interrupt, &calls, &reader, &error));
    unit_ok(lx_recordio_reader_next(reader, &record, &error)); /* record 0 is empty */
    for (int i = 0; i < 2; i++)
        unit_fails(lx_recordio_reader_next(reader, &record, &error), LX_ERR_CANCELED);
    ck_assert_uint_eq(calls, 3);
    ck_assert_int_eq(write(pipe, bytes.data + 8, bytes.size - 8), (ssize_t)(bytes.size - 8));
    for (unsigned i = 1; i < 3; i++)
        expect_record(reader, i, offsets[i]);
    lx_recordio_reader_close(reader);
    close(pipe);
    /* a part is refused before it waits */
    static const char *const paths[] = {"pipe"};
    unit_fails(lx_recordio_reader_open_part(paths, 1, 0, 1, true, &reader, &error),
               LX_ERR_ARGUMENT);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(belongs_to_one_process)
{
    char *scratch = scratch_make();
    struct bytes bytes = bytes_make(COUNT, NULL);
    write_bytes("a.rec", bytes.data, bytes.size);
    lx_recordio_reader *reader = open_reader("a.rec", false);
    if (unit_in_child()) {
        lx_recordio_record record;
        bool refused = lx_recordio_reader_next(reader, &record, NULL) == LX_ERR_FORKED &&
                       lx_recordio_reader_seek(reader, 0, NULL) == LX_ERR_FORKED;
        lx_recordio_reader_close(reader);
        _exit(refused ? 0 : 1);
    }
    expect_record(reader, 0, 0);
    lx_recordio_reader_close(reader);
    free(bytes.data);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_reader *reader;
    lx_recordio_record record;
    unit_fails(lx_recordio_reader_open(NULL, false, NULL, NULL, &reader, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_open("a", false, NULL, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_open("a", false, NULL, NULL, &reader, &error), LX_ERR_NOT_FOUND);
    ck_assert_ptr_null(reader);
    unit_fails(lx_recordio_reader_next(NULL, &record, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_seek(NULL, 0, &error), LX_ERR_ARGUMENT);
    lx_recordio_reader_close(NULL);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("recordio/recordio-reader", reads_all_records_in_order, seeks_to_any_record,
          reads_what_precedes_a_cut, finds_the_next_record_after_damage,
          refuses_records_above_the_limit, ends_at_damage_of_compressed_data,
          copies_records_as_they_are_stored, each_record_is_in_one_part, reads_a_pipe,
          ends_a_wait_for_a_pipe, belongs_to_one_process, rejects_invalid_arguments)
