/* SPDX-License-Identifier: MIT */
/* RecordIO files: a byte for options, and the file. Every byte of a file that is read with damage
 * skipped belongs to a record or is counted as skipped; what was read can be written, and is read
 * again as it was. However the file is cut into parts and chunks, they have the same records. */
#include "fuzz.h"

#include <loaderx/recordio.h>

#include "base/bytes.h"
#include "base/crc32c.h"

enum {
    REPAIR = 1, /* put the magic number where records probably begin */
    LIMIT = 2,  /* accept short records only */
    INDEX = 4,  /* the file is an index */
    CHUNKS = 8  /* from here on: the number of chunks of each part */
};

#define SHORT 100
#define FILE_MAX 16384

static void repair(uint8_t *file, size_t size)
{
    for (size_t at = 0; at + 8 <= size; at += 64)
        lx__store_le32(file + at, 0xced7230a);
}

/** What was read. */
struct sum {
    uint64_t stored;  /* bytes in the file */
    uint32_t content; /* a checksum of the records and their lengths */
    uint64_t set;     /* the sum of the checksums of the records and their offsets */
};

/** Reads all records; writes them to @p writer unless it is NULL. */
static struct sum read_all(lx_recordio_reader *reader, bool skip, lx_recordio_writer *writer)
{
    lx_recordio_record record;
    struct sum sum = {0, 0, 0};
    for (int i = 0; i <= FILE_MAX; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_status status = lx_recordio_reader_next(reader, &record, &error);
        if (status != error.status && status != LX_END)
            fuzz_fail("the error is not that of the status");
        if (status == LX_END)
            return sum;
        if (status != LX_OK && (skip || (status != LX_ERR_CORRUPT && status != LX_ERR_LIMIT)))
            fuzz_fail("a record is %s", lx_status_get_name(status));
        if (status != LX_OK)
            continue;
        uint64_t length = record.size;
        sum.content = lx__crc32c(sum.content, record.data, record.size);
        sum.content = lx__crc32c(sum.content, &length, sizeof length);
        sum.set += lx__crc32c((uint32_t)record.offset, record.data, record.size);
        sum.stored += lx_recordio_reader_tell(reader) - record.offset;
        if (writer != NULL &&
            lx_recordio_writer_write(writer, NULL, record.data, record.size, NULL) != LX_OK)
            fuzz_fail("a record that was read cannot be written");
    }
    fuzz_fail("the file does not end");
}

/** Reads the file in parts, each in shuffled chunks: they must have these records. */
static void read_parts(uint64_t parts, unsigned options, uint64_t set)
{
    const char *path = fuzz_path("a");
    for (uint64_t part = 0; part < parts; part++) {
        lx_recordio_reader *reader;
        if (lx_recordio_reader_open_part(&path, 1, part, parts, true, &reader, NULL) != LX_OK)
            fuzz_fail("a part cannot be opened");
        if (options & LIMIT)
            lx_recordio_reader_set_limit(reader, SHORT);
        if (lx_recordio_reader_shuffle(reader, 1 + options / CHUNKS, options, 0, NULL) != LX_OK)
            fuzz_fail("a part cannot be shuffled");
        set -= read_all(reader, true, NULL).set;
        lx_recordio_reader_close(reader);
    }
    if (set != 0)
        fuzz_fail("%llu parts have other records than the file", (unsigned long long)parts);
}

/** Opens the file as a source without an index, which finds all damage: each record can be read. */
static void scan(bool damaged)
{
    lx_source *source;
    uint64_t offsets[2];
    lx_status status = lx_source_open_recordio(fuzz_path("a"), NULL, 0, NULL, NULL, &source, NULL);
    if (status != (damaged ? LX_ERR_CORRUPT : LX_OK))
        fuzz_fail("a source of a %s file: %s", damaged ? "damaged" : "good",
                  lx_status_get_name(status));
    for (uint64_t i = 0; source != NULL && i < lx_source_get_length(source); i++)
        if (lx_source_get_sizes(source, 0, &i, 1, offsets, NULL) != LX_OK)
            fuzz_fail("a record of a good file cannot be read");
    lx_source_unref(source);
}

/** Whether a reader unpacks the file, so that its length is another. */
static bool is_packed(const uint8_t *file, size_t size)
{
    return size >= 2 && (memcmp(file, "\x1f\x8b", 2) == 0 || memcmp(file, "\x28\xb5", 2) == 0);
}

static void read_index(void)
{
    lx_recordio_index *index;
    uint64_t position;
    if (lx_recordio_index_open(fuzz_path("a"), &index, NULL) != LX_OK)
        return;
    for (uint64_t i = 0; i < lx_recordio_index_get_count(index); i++)
        if (!lx_recordio_index_find(index, lx_recordio_index_get_key(index, i), &position) ||
            position < i || lx_recordio_index_get_offset(index, position) % 4 != 0)
            fuzz_fail("a key is not found");
    lx_recordio_index_free(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    unsigned options = input_byte(&input);
    uint8_t file[FILE_MAX];
    lx_recordio_reader *reader;
    lx_recordio_writer *writer;
    size_t length = input.size < sizeof file ? input.size : sizeof file;
    if (length != 0)
        memcpy(file, input.data, length);
    if (options & REPAIR)
        repair(file, length);
    fuzz_write("a", file, length);
    if (options & INDEX) {
        read_index();
        return 0;
    }
    if (lx_recordio_reader_open(fuzz_path("a"), true, NULL, NULL, &reader, NULL) != LX_OK)
        return 0; /* it looks like gzip or zstd */
    if (options & LIMIT)
        lx_recordio_reader_set_limit(reader, SHORT);
    if (lx_recordio_writer_create(fuzz_path("b"), NULL, true, &writer, NULL) != LX_OK)
        fuzz_fail("cannot create a file");
    struct sum sum = read_all(reader, true, writer);
    uint64_t skipped = lx_recordio_reader_get_skipped(reader).bytes;
    if (lx_recordio_writer_close(writer, NULL) != LX_OK)
        fuzz_fail("the records cannot be written");
    if (sum.stored + skipped != length && !is_packed(file, length))
        fuzz_fail("%llu bytes are missing", (unsigned long long)(length - sum.stored - skipped));
    lx_recordio_reader_close(reader);
    if (length % 4 == 0 && !is_packed(file, length)) {
        read_parts(1, options, sum.set);
        read_parts(3, options, sum.set);
        if (!(options & LIMIT))
            scan(skipped != 0);
    }
    if (lx_recordio_reader_open(fuzz_path("a"), false, NULL, NULL, &reader, NULL) == LX_OK)
        (void)read_all(reader, false, NULL);
    lx_recordio_reader_close(reader);
    if (lx_recordio_reader_open(fuzz_path("b"), false, NULL, NULL, &reader, NULL) != LX_OK ||
        read_all(reader, true, NULL).content != sum.content)
        fuzz_fail("the written records are others");
    lx_recordio_reader_close(reader);
    return 0;
}
