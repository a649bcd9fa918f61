/* SPDX-License-Identifier: MIT */
/* Parts of files: whatever the parts, chunks, seeds and epochs, each record is read once. */
#include <unistd.h>

#include "records.h"

#define COUNT 200
#define FILES 4

static const char *const paths[FILES] = {"0.rec", "1.rec", "2.rec", "3.rec"};
static const char *const indexes[FILES] = {"0.idx", "1.idx", "2.idx", "3.idx"};
/* The first record of each file. The second file is empty. */
static const unsigned first[FILES + 1] = {0, 70, 70, 71, COUNT};

/** Where each record begins in the sequence of the files, and its end. */
static uint64_t offsets[COUNT + 1];

static void write_index(int file, unsigned begin, unsigned end)
{
    struct bytes lines = {NULL, 0};
    for (unsigned i = end; i-- > begin;) { /* descending, which must not matter */
        char line[48];
        bytes_add(&lines, line,
                  (size_t)snprintf(line, sizeof line, "%u\t%llu\n", i,
                                   (unsigned long long)(offsets[i] - offsets[first[file]])));
    }
    write_bytes(indexes[file], lines.data, lines.size);
    free(lines.data);
}

/** Writes the files; the magic number of record @p lost is damaged. */
static void write_files(unsigned lost)
{
    struct bytes bytes = bytes_make(COUNT, offsets);
    if (lost < COUNT)
        bytes.data[offsets[lost]] ^= 1;
    for (int i = 0; i < FILES; i++) {
        write_bytes(paths[i], bytes.data + offsets[first[i]],
                    offsets[first[i + 1]] - offsets[first[i]]);
        write_index(i, first[i], first[i + 1]);
    }
    free(bytes.data);
}

static lx_recordio_reader *open_part(bool indexed, uint64_t part, uint64_t parts)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_reader *reader;
    if (indexed)
        unit_ok(lx_recordio_reader_open_indexed(paths, indexes, FILES, part, parts, true, &reader,
                                                &error));
    else
        unit_ok(lx_recordio_reader_open_part(paths, FILES, part, parts, true, &reader, &error));
    return reader;
}

/** Reads to the end; returns the number of records, whose numbers @p order receives. */
static unsigned read_all(lx_recordio_reader *reader, unsigned order[COUNT])
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_record record;
    unsigned count = 0;
    lx_status status;
    while ((status = lx_recordio_reader_next(reader, &record, &error)) == LX_OK) {
        uint8_t right[RECORD_MAX];
        unsigned number = first[lx_recordio_reader_get_path(reader)[0] - '0'];
        uint64_t offset = offsets[number] + record.offset;
        while (number < COUNT && offsets[number] != offset)
            number++;
        ck_assert_uint_lt(number, COUNT);
        ck_assert_uint_eq(record.size, record_make(number, right));
        ck_assert(record.size == 0 || memcmp(record.data, right, record.size) == 0);
        ck_assert_uint_lt(count, COUNT);
        order[count++] = number;
    }
    unit_ok(error.status);
    ck_assert_int_eq(status, LX_END);
    ck_assert_int_eq(lx_recordio_reader_next(reader, &record, &error), LX_END);
    return count;
}

/** Shuffles a part and reads it; returns how often a record is not the next one of the part. */
static unsigned read_shuffled(lx_recordio_reader *reader, uint64_t chunks, uint64_t seed,
                              uint64_t epoch, unsigned *order, unsigned *count)
{
    lx_error error = LX_ERROR_INIT;
    unsigned jumps = 0;
    unit_ok(lx_recordio_reader_shuffle(reader, chunks, seed, epoch, &error));
    *count = read_all(reader, order);
    for (unsigned i = 1; i < *count; i++)
        jumps += order[i] != order[i - 1] + 1;
    return jumps;
}

/** Reads all parts, in order and shuffled. */
static void check_parts(bool indexed, uint64_t parts, uint64_t chunks, uint64_t seed, unsigned lost)
{
    bool seen[COUNT] = {false};
    uint64_t places = 0;
    for (uint64_t part = 0; part < parts; part++) {
        unsigned plain[COUNT], order[COUNT], again[COUNT], count;
        lx_recordio_reader *reader = open_part(indexed, part, parts);
        unsigned right = read_all(reader, plain);
        places += lx_recordio_reader_get_skipped(reader).places;
        for (unsigned i = 0; i < right; i++) {
            ck_assert(!seen[plain[i]]);
            seen[plain[i]] = true;
        }
        for (uint64_t epoch = 0; epoch < 2; epoch++) {
            unsigned jumps = read_shuffled(reader, chunks, seed, epoch, order, &count);
            ck_assert_uint_le(jumps, chunks - 1 + (lost < COUNT));
            ck_assert_uint_eq(count, right);
            bool there[COUNT] = {false};
            for (unsigned i = 0; i < count; i++)
                there[order[i]] = true;
            for (unsigned i = 0; i < right; i++)
                ck_assert(there[plain[i]]);
        }
        lx_recordio_reader_close(reader);
        reader = open_part(indexed, part, parts); /* another reader, in the middle of a pass */
        lx_recordio_record record;
        (void)lx_recordio_reader_next(reader, &record, NULL);
        (void)read_shuffled(reader, chunks, seed, 1, again, &count);
        ck_assert_mem_eq(again, order, count * sizeof *order);
        lx_recordio_reader_close(reader);
    }
    for (unsigned i = 0; i < COUNT; i++)
        ck_assert(seen[i] == (i != lost));
    ck_assert_uint_eq(places, lost < COUNT);
}

START_TEST(each_record_is_read_once)
{
    char *scratch = scratch_make();
    static const uint64_t parts[] = {1, 2, 3, 7, 64}, chunks[] = {1, 2, 5, 33, 1000, LX_NONE};
    for (unsigned lost = 0; lost <= COUNT; lost += 50) {
        write_files(lost);
        for (unsigned i = 0; i < 5; i++)
            for (unsigned k = 0; k < 5 + (parts[i] < 3); k++) {
                check_parts(true, parts[i], chunks[k], i * 31 + k, lost);
                if (k < 5) /* the chunks would have 4 bytes */
                    check_parts(false, parts[i], chunks[k], i * 31 + k, lost);
            }
    }
    scratch_remove(scratch);
}
END_TEST

static bool differ(const unsigned *a, const unsigned *b, unsigned count)
{
    return memcmp(a, b, count * sizeof *a) != 0;
}

START_TEST(the_order_depends_on_seed_and_epoch)
{
    char *scratch = scratch_make();
    write_files(COUNT);
    for (int indexed = 0; indexed < 2; indexed++) {
        unsigned plain[COUNT], order[4][COUNT], count;
        lx_recordio_reader *reader = open_part(indexed, 1, 2);
        unsigned right = read_all(reader, plain);
        uint64_t chunks = indexed ? LX_NONE : 20;
        unsigned jumps = read_shuffled(reader, chunks, 3, 0, order[0], &count);
        ck_assert_uint_gt(jumps, 14);
        read_shuffled(reader, chunks, 3, 1, order[1], &count);
        read_shuffled(reader, chunks, 4, 0, order[2], &count);
        read_shuffled(reader, chunks, 3, UINT32_MAX, order[3], &count);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++)
                ck_assert(differ(order[a], order[b], right));
        ck_assert_uint_eq(read_shuffled(reader, 1, 3, 0, order[0], &count), 0);
        ck_assert(!differ(order[0], plain, right));
        lx_recordio_reader_close(reader);
    }
    scratch_remove(scratch);
}
END_TEST

/* By index, parts have equal numbers of records, and only those that are in the index. */
START_TEST(parts_by_index_have_the_records_of_the_index)
{
    char *scratch = scratch_make();
    unsigned order[COUNT];
    lx_error error = LX_ERROR_INIT;
    lx_recordio_reader *reader;
    write_files(COUNT);
    for (uint64_t part = 0; part < 7; part++) {
        reader = open_part(true, part, 7);
        unsigned count = read_all(reader, order), step = (COUNT + 6) / 7;
        ck_assert_uint_eq(count, part < 6 ? step : COUNT - 6 * step);
        ck_assert_uint_eq(order[0], part * step);
        lx_recordio_reader_close(reader);
    }
    write_index(0, 5, 9);
    write_index(3, 100, 150);
    reader = open_part(true, 0, 1);
    ck_assert_uint_eq(read_all(reader, order), 4 + 1 + 50);
    ck_assert(order[3] == 8 && order[4] == 70 && order[5] == 100 && order[54] == 149);
    lx_recordio_reader_close(reader);
    for (int i = 0; i < FILES; i++)
        write_bytes(indexes[i], "", 0);
    reader = open_part(true, 0, 1);
    ck_assert_uint_eq(read_all(reader, order), 0);
    lx_recordio_reader_close(reader);
    write_bytes(indexes[1], "0\t0\n", 4);
    unit_fails(lx_recordio_reader_open_indexed(paths, indexes, FILES, 0, 1, true, &reader, &error),
               LX_ERR_MISMATCH);
    write_bytes(indexes[1], "0\n", 2);
    unit_fails(lx_recordio_reader_open_indexed(paths, indexes, FILES, 0, 1, true, &reader, &error),
               LX_ERR_CORRUPT);
    unlink(indexes[1]);
    unit_fails(lx_recordio_reader_open_indexed(paths, indexes, FILES, 0, 1, true, &reader, &error),
               LX_ERR_NOT_FOUND);
    scratch_remove(scratch);
}
END_TEST

/* An offset where no record begins is an error, or counted; the others are read. */
START_TEST(passes_over_wrong_offsets)
{
    char *scratch = scratch_make();
    unsigned order[COUNT];
    lx_error error = LX_ERROR_INIT;
    lx_recordio_reader *reader;
    lx_recordio_record record;
    write_files(COUNT);
    char lines[64];
    snprintf(lines, sizeof lines, "a\t0\nb\t%d\nc\t%d\n", (int)offsets[1] + 4, (int)offsets[2]);
    write_bytes(indexes[0], lines, strlen(lines));
    unit_ok(lx_recordio_reader_open_indexed(paths, indexes, 1, 0, 1, false, &reader, &error));
    expect_record(reader, 0, 0);
    unit_fails(lx_recordio_reader_next(reader, &record, &error), LX_ERR_CORRUPT);
    expect_record(reader, 2, offsets[2]);
    lx_recordio_reader_close(reader);
    reader = open_part(true, 0, 2);
    ck_assert_uint_eq(read_all(reader, order), 66);
    ck_assert_uint_eq(lx_recordio_reader_get_skipped(reader).places, 1);
    lx_recordio_reader_close(reader);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    char *scratch = scratch_make();
    static const char *const none[] = {NULL};
    lx_error error = LX_ERROR_INIT;
    lx_recordio_reader *reader;
    write_files(COUNT);
    unit_fails(lx_recordio_reader_open_indexed(NULL, indexes, 1, 0, 1, true, &reader, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_open_indexed(paths, NULL, 1, 0, 1, true, &reader, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_open_indexed(paths, none, 1, 0, 1, true, &reader, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_open_indexed(paths, indexes, 1, 1, 1, true, &reader, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_shuffle(NULL, 1, 0, 0, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_recordio_reader_open(paths[0], true, NULL, NULL, &reader, &error));
    unit_fails(lx_recordio_reader_shuffle(reader, 2, 0, 0, &error), LX_ERR_STATE);
    lx_recordio_reader_close(reader);
    reader = open_part(false, 0, 3);
    unit_fails(lx_recordio_reader_shuffle(reader, 0, 0, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_reader_shuffle(reader, 9, 0, UINT64_MAX, &error), LX_ERR_LIMIT);
    unit_fails(lx_recordio_reader_shuffle(reader, 9, 0, UINT64_MAX / 9, &error), LX_ERR_LIMIT);
    if (unit_in_child()) {
        bool refused = lx_recordio_reader_shuffle(reader, 2, 0, 0, NULL) == LX_ERR_FORKED;
        lx_recordio_reader_close(reader);
        _exit(refused ? 0 : 1);
    }
    lx_recordio_reader_close(reader);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("recordio/split", each_record_is_read_once, the_order_depends_on_seed_and_epoch,
          parts_by_index_have_the_records_of_the_index, passes_over_wrong_offsets,
          rejects_invalid_arguments)
