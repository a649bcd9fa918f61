/* SPDX-License-Identifier: MIT */
/* Scenarios of RecordIO files: writing, appending and reading. */
#include "scenario.h"

#include <stdlib.h>
#include <unistd.h>

#include <loaderx/recordio.h>

/* More than a buffer. */
#define RECORDS 40
#define RECORD 40000

struct names {
    char records[400], index[400], copy[400];
};

static void write_records(struct run *run, lx_recordio_writer *writer, uint64_t *written)
{
    static const uint8_t record[RECORD] = {1, 2, 3, 4, 0x0a, 0x23, 0xd7, 0xce, 5};
    for (int i = 0; i < RECORDS; i++)
        if (TRY(run,
                lx_recordio_writer_write(writer, NULL, record, RECORD - (size_t)i, &run->error)))
            ++*written;
}

/** Writes and appends; returns how many records the file has, or UINT64_MAX after a failure. */
static uint64_t write_all(struct run *run, const struct names *names)
{
    lx_recordio_writer *writer;
    uint64_t written = 0, before = run->failures;
    for (int append = 0; append < 2; append++) {
        bool opened = append ? TRY(run, lx_recordio_writer_append(names->records, names->index,
                                                                  &writer, &run->error))
                             : TRY(run, lx_recordio_writer_create(names->records, names->index,
                                                                  true, &writer, &run->error));
        if (!opened)
            return UINT64_MAX;
        write_records(run, writer, &written);
        if (!TRY(run, lx_recordio_writer_close(writer, &run->error)) || run->failures != before)
            return UINT64_MAX;
    }
    return written;
}

static void copy_record(struct run *run, const struct names *names, lx_recordio_reader *reader)
{
    lx_recordio_writer *writer;
    lx_recordio_record record;
    if (!TRY(run, lx_recordio_writer_create(names->copy, NULL, true, &writer, &run->error)))
        return;
    if (TRY(run, lx_recordio_reader_next(reader, &record, &run->error)))
        (void)TRY(run, lx_recordio_reader_copy(reader, writer, NULL, &run->error));
    (void)TRY(run, lx_recordio_writer_close(writer, &run->error));
    (void)TRY(run, lx_recordio_reader_seek(reader, 0, &run->error));
}

static void read_all(struct run *run, const struct names *names, uint64_t written)
{
    lx_recordio_reader *reader;
    lx_recordio_index *index;
    lx_recordio_record record;
    uint64_t count = 0, before = run->failures;
    if (TRY(run, lx_recordio_index_open(names->index, &index, &run->error))) {
        if (written != UINT64_MAX && lx_recordio_index_get_count(index) != written)
            run_fail(run, "the index has another number of records");
        lx_recordio_index_free(index);
    }
    const char *const paths[] = {names->records, names->records};
    const char *const indexes[] = {names->index, names->index};
    if (TRY(run, lx_recordio_reader_open_indexed(paths, indexes, 2, 0, 2, false, &reader,
                                                 &run->error))) {
        (void)TRY(run, lx_recordio_reader_shuffle(reader, LX_NONE, 1, 2, &run->error));
        (void)TRY(run, lx_recordio_reader_next(reader, &record, &run->error));
        lx_recordio_reader_close(reader);
    }
    if (TRY(run, lx_recordio_reader_open_part(paths, 2, 1, 2, false, &reader, &run->error))) {
        (void)TRY(run, lx_recordio_reader_next(reader, &record, &run->error));
        lx_recordio_reader_close(reader);
    }
    if (!TRY(run, lx_recordio_reader_open(names->records, false, NULL, NULL, &reader, &run->error)))
        return;
    if (written != UINT64_MAX)
        copy_record(run, names, reader);
    for (int pass = 0; pass < 2; pass++) {
        lx_status status;
        for (count = 0;
             (status = lx_recordio_reader_next(reader, &record, &run->error)) == LX_OK;) {
            lx_recordio_label label;
            (void)lx_recordio_label_read(record.data, record.size, &label, NULL);
            count++;
        }
        if (status != LX_END)
            (void)run_took(run, "lx_recordio_reader_next", status);
        else if (written != UINT64_MAX && run->failures == before && count != written)
            run_fail(run, "the file has another number of records");
        (void)TRY(run, lx_recordio_reader_seek(reader, 0, &run->error));
    }
    lx_recordio_reader_close(reader);
}

/** Reads the last record through a source, which has an index or none. */
static void read_source(struct run *run, const struct names *names, const char *index)
{
    lx_source *source;
    if (!TRY(run,
             lx_source_open_recordio(names->records, index, 0, NULL, NULL, &source, &run->error)))
        return;
    uint64_t last = lx_source_get_length(source) - 1, offsets[2];
    if (TRY(run, lx_source_get_sizes(source, 0, &last, 1, offsets, &run->error))) {
        uint8_t *out = malloc((size_t)offsets[1] + 1);
        if (TRY(run, lx_source_fill_bytes(source, 0, &last, 1, offsets, out, &run->error)) &&
            (offsets[1] != RECORD - RECORDS + 1 || out[0] != 1 || out[8] != 5))
            run_fail(run, "the last record is wrong");
        free(out);
    }
    lx_source_unref(source);
}

static void write_and_read(struct run *run)
{
    struct names names;
    snprintf(names.records, sizeof names.records, "%s.rec", run->path);
    snprintf(names.index, sizeof names.index, "%s.idx", run->path);
    snprintf(names.copy, sizeof names.copy, "%s.copy", run->path);
    uint64_t written = write_all(run, &names);
    if (written != UINT64_MAX)
        read_all(run, &names, written);
    if (written != UINT64_MAX) {
        read_source(run, &names, names.index);
        read_source(run, &names, NULL);
    }
    unlink(names.records);
    unlink(names.index);
    unlink(names.copy);
}

const struct scenario recordio_scenarios[] = {
    {"recordio", NULL, false, write_and_read},
    {NULL, NULL, false, NULL},
};
