/* SPDX-License-Identifier: MIT */
#include <loaderx/recordio.h>

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "importer/input.h"
#include "recordio/record.h"
#include "recordio/recordio-writer.h"
#include "recordio/split.h"

#define WORD 4

struct lx_recordio_reader {
    lx__process process; /**< The position in the file is shared with children of fork(). */
    lx__input input;
    lx_progress_function progress; /**< NULL: none. */
    void *user;
    char **paths;          /**< The files; NULL after the last one. */
    size_t file;           /**< The current one. */
    lx__split split;       /**< If the reader was opened for a part: which; otherwise no files. */
    lx__split_range range; /**< What is read of it now. */
    bool skip;
    bool lost;    /**< The next record is still to be found. */
    bool counted; /**< What is passed over until then was damaged. */
    bool ended;   /**< The rest is compressed data that is damaged. */
    bool sought;  /**< A seek came last: the caller wants the record that begins here, or none. */
    bool after_record; /**< The last record ends here. */
    uint64_t limit;
    size_t stored; /**< Bytes of the last record, which are taken by the next call. */
    uint8_t *joined;
    size_t capacity;
    lx_recordio_skipped skipped;
};

static lx_status fail_forked(lx_error *error)
{
    return lx_fail(error, LX_ERR_FORKED,
                   "the reader belongs to the parent process: open another in this process");
}

/** Called while the input waits for a pipe. */
static lx_status report(void *user, lx_error *error)
{
    const lx_recordio_reader *self = user;
    return self->progress == NULL
               ? LX_OK
               : lx__error_return(error,
                                  self->progress(self->input.file_read, LX_NONE, self->user, error),
                                  "progress");
}

/* ---- files */

static lx_recordio_reader *make(const char *const *paths, size_t count, bool skip)
{
    lx_recordio_reader *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (lx_recordio_reader){.input = {.fd = -1},
                                 .skip = skip,
                                 .limit = LX_DEFAULT_RECORDIO_LIMIT,
                                 .paths = lx__alloc_array(count + 1, sizeof *made->paths)};
    lx__process_record(&made->process);
    bool complete = made->paths != NULL;
    for (size_t i = 0; complete && i < count; i++)
        complete = (made->paths[i] = lx__path_join("", paths[i])) != NULL;
    if (complete)
        return made;
    lx_recordio_reader_close(made);
    return NULL;
}

static lx_status open_file(lx_recordio_reader *self, lx_error *error)
{
    return lx__input_open(&self->input, self->paths[self->file], 0, report, self, error);
}

lx_status lx_recordio_reader_open(const char *path, bool skip, lx_progress_function progress,
                                  void *user, lx_recordio_reader **reader, lx_error *error)
{
    LX__CLEAR(reader);
    if (path == NULL || reader == NULL)
        return lx__fail_null(error, path == NULL ? "path" : "reader");
    lx_recordio_reader *made = make(&path, 1, skip);
    if (made == NULL)
        return lx__fail_memory(error, "a reader");
    made->progress = progress;
    made->user = user;
    lx_status status = open_file(made, error);
    if (status == LX_OK)
        *reader = made;
    else
        lx_recordio_reader_close(made);
    return status;
}

/* ---- parts */

/** Opens file @p i, and adds it to those of which a part is read. */
static lx_status add_file(lx_recordio_reader *self, size_t i, lx_error *error)
{
    struct stat about;
    const lx__input *input = &self->input;
    lx_status status = LX_OK;
    self->file = i;
    if (stat(self->paths[i], &about) != 0 || S_ISREG(about.st_mode)) /* a pipe could wait */
        status = open_file(self, error);
    if (status == LX_OK && (input->fd == -1 || input->gzip != NULL || input->zstd != NULL))
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "only parts of regular files that are not compressed can be read");
    if (status == LX_OK && input->file_size % WORD != 0)
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the length of the file is %" PRIu64
                         ", which is not a multiple of 4: the file was cut",
                         input->file_size);
    if (status == LX_OK)
        status = lx__split_add_file(&self->split, input->file_size, error);
    lx_error_locate(error, self->paths[i], NULL, LX_NONE, LX_NONE);
    lx__input_close(&self->input);
    return status;
}

/** Opens a file of a part again, which is known not to be compressed. */
static lx_status open_again(lx_recordio_reader *self, size_t file, lx_error *error)
{
    lx__input_close(&self->input);
    self->file = file;
    return lx__input_open_stored(&self->input, self->paths[file], report, self, error);
}

/** Moves to the first byte of the next range, from which a record is searched if the part was cut by
 * bytes. Returns LX_END at the end of the part. */
static lx_status enter_next_range(lx_recordio_reader *self, lx_error *error)
{
    lx__split_range range;
    lx_status status = lx__split_next(&self->split, &range, error);
    if (status != LX_OK)
        return status;
    size_t file = lx__split_find_file(&self->split, range.begin);
    uint64_t offset = range.begin - self->split.starts[file];
    if (file != self->file || self->input.fd == -1)
        status = open_again(self, file, error);
    if (status == LX_OK)
        status = lx__input_seek(&self->input, offset, error);
    lx__input_expect(&self->input, range.ahead);
    self->range = range;
    self->lost = self->split.records == NULL && offset != 0;
    self->counted = self->after_record = false;
    return status;
}

static bool is_after_range(const lx_recordio_reader *self)
{
    const lx__split *split = &self->split;
    return split->files != 0 && split->starts[self->file] + self->input.offset >= self->range.end;
}

/** Whether nothing is left to read in the current range: that of an index has one record. */
static bool is_between_ranges(const lx_recordio_reader *self)
{
    return self->split.files != 0 &&
           (self->input.fd == -1 || (self->split.records != NULL && self->after_record));
}

/** Moves from the end of a file or of a range to what follows; returns LX_END if nothing does. */
static lx_status go_on(lx_recordio_reader *self, lx_error *error)
{
    const lx__split *split = &self->split;
    if (split->files == 0)
        return LX_END;
    if (self->input.size != 0 || split->starts[self->file + 1] >= self->range.end)
        return enter_next_range(self, error);
    self->after_record = false;
    return open_again(self, self->file + 1, error);
}

static lx_status check_part(const char *const *paths, const char *const *indexes, size_t count,
                            uint64_t part, uint64_t parts, lx_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (paths[i] == NULL || (indexes != NULL && indexes[i] == NULL))
            return lx__fail_null(error, paths[i] == NULL ? "a path" : "an index");
    return count != 0 && part < parts
               ? LX_OK
               : lx_fail(error, LX_ERR_ARGUMENT,
                         "part %" PRIu64 " of %" PRIu64 " of %zu files does not exist", part, parts,
                         count);
}

/** Opens a part that is cut by bytes, or by records if there are indexes. */
static lx_status open_part(const char *const *paths, const char *const *indexes, size_t count,
                           uint64_t part, uint64_t parts, bool skip, lx_recordio_reader **reader,
                           lx_error *error)
{
    lx_status status = check_part(paths, indexes, count, part, parts, error);
    if (status != LX_OK)
        return status;
    lx_recordio_reader *made = make(paths, count, skip);
    if (made == NULL)
        return lx__fail_memory(error, "a reader");
    status = lx__split_init(&made->split, count, error);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        status = add_file(made, i, error);
        if (status == LX_OK && indexes != NULL)
            status = lx__split_add_index(&made->split, indexes[i], error);
    }
    if (status == LX_OK) {
        lx__split_choose(&made->split, part, parts);
        status = enter_next_range(made, error);
    }
    if (status == LX_OK || status == LX_END) {
        *reader = made;
        return LX_OK;
    }
    lx_recordio_reader_close(made);
    return status;
}

lx_status lx_recordio_reader_open_part(const char *const *paths, size_t count, uint64_t part,
                                       uint64_t parts, bool skip, lx_recordio_reader **reader,
                                       lx_error *error)
{
    LX__CLEAR(reader);
    if (paths == NULL || reader == NULL)
        return lx__fail_null(error, paths == NULL ? "paths" : "reader");
    return open_part(paths, NULL, count, part, parts, skip, reader, error);
}

lx_status lx_recordio_reader_open_indexed(const char *const *paths, const char *const *indexes,
                                          size_t count, uint64_t part, uint64_t parts, bool skip,
                                          lx_recordio_reader **reader, lx_error *error)
{
    LX__CLEAR(reader);
    if (paths == NULL || indexes == NULL || reader == NULL)
        return lx__fail_null(error, paths == NULL     ? "paths"
                                    : indexes == NULL ? "indexes"
                                                      : "reader");
    return open_part(paths, indexes, count, part, parts, skip, reader, error);
}

lx_status lx_recordio_reader_shuffle(lx_recordio_reader *reader, uint64_t chunks, uint64_t seed,
                                     uint64_t epoch, lx_error *error)
{
    if (reader == NULL)
        return lx__fail_null(error, "reader");
    if (!lx__process_is_this(&reader->process))
        return fail_forked(error);
    if (reader->split.files == 0)
        return lx_fail(error, LX_ERR_STATE, "the reader was not opened for a part");
    if (chunks == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "the number of chunks must be 1 or more");
    lx_status status = lx__split_shuffle(&reader->split, chunks, seed, epoch, error);
    if (status != LX_OK)
        return status;
    reader->stored = 0;
    status = enter_next_range(reader, error);
    return status == LX_END ? LX_OK : status;
}

void lx_recordio_reader_close(lx_recordio_reader *reader)
{
    if (reader == NULL)
        return;
    lx__input_close(&reader->input);
    for (size_t i = 0; reader->paths != NULL && reader->paths[i] != NULL; i++)
        lx__free(reader->paths[i]);
    lx__free(reader->paths);
    lx__split_clear(&reader->split);
    lx__free(reader->joined);
    lx__free(reader);
}

const char *lx_recordio_reader_get_path(const lx_recordio_reader *reader)
{
    return reader->paths[reader->file];
}

void lx_recordio_reader_set_limit(lx_recordio_reader *reader, uint64_t limit)
{
    reader->limit = limit;
}

lx_recordio_skipped lx_recordio_reader_get_skipped(const lx_recordio_reader *reader)
{
    return reader->skipped;
}

/* ---- damage */

/** Passes over bytes up to the next place where a record may begin, or to the end of the range if
 * that comes first and nothing is counted. */
static lx_status find_next(lx_recordio_reader *self, lx_error *error)
{
    lx__input *input = &self->input;
    for (;;) {
        lx_status status = lx__input_fill(input, LX__RECORDIO_HEAD, error);
        if (status != LX_OK)
            return status;
        size_t passed = lx__recordio_find_record(input->data, input->size);
        if (passed == input->size && !input->ended) /* keeps offsets multiples of 4 */
            passed = input->size / WORD * WORD;
        bool found = input->size - passed >= LX__RECORDIO_HEAD;
        if (!found && input->ended)
            passed = input->size;
        lx__input_take(input, passed);
        if (self->counted)
            self->skipped.bytes += passed;
        if (found || input->ended || (!self->counted && is_after_range(self)))
            return LX_OK;
    }
}

/** Leaves a damaged record: the search for the next one begins after its first word. */
static lx_status leave(lx_recordio_reader *self, lx_status why, const char *what, lx_error *error)
{
    lx__input *input = &self->input;
    uint64_t offset = input->offset;
    size_t step = input->size < WORD ? input->size : WORD;
    lx__input_take(input, step);
    self->skipped.places++;
    self->skipped.bytes += step;
    self->lost = self->counted = true;
    self->after_record = false;
    lx_fail(error, why, "the record is damaged: %s", what);
    lx_error_locate(error, self->paths[self->file], NULL, LX_NONE, offset);
    return why;
}

/** Ends the reader if the compressed data is damaged, because nothing after it can be read. */
static lx_status leave_rest(lx_recordio_reader *self, lx_status status)
{
    lx__input *input = &self->input;
    if (status != LX_ERR_CORRUPT || !input->failed || (input->gzip == NULL && input->zstd == NULL))
        return status;
    self->skipped.places++;
    self->skipped.bytes += input->size;
    self->skipped.rest = self->ended = true;
    lx__input_take(input, input->size);
    return self->skip ? LX_END : status;
}

/* ---- records */

static lx_status fail_too_long(lx_recordio_reader *self, uint64_t size, lx_error *error)
{
    char what[120];
    snprintf(what, sizeof what, "it has %" PRIu64 " bytes or more, but the limit is %" PRIu64, size,
             self->limit);
    return leave(self, LX_ERR_LIMIT, what, error);
}

/** Ends a range. The range or part that follows in the file passes over what precedes its first
 * record, so this one checks that a record begins where its last record ends. */
static lx_status end_range(lx_recordio_reader *self, lx_error *error)
{
    const lx__input *input = &self->input;
    if (!self->after_record || (input->size >= LX__RECORDIO_HEAD &&
                                lx__recordio_find_record(input->data, LX__RECORDIO_HEAD) == 0))
        return LX_END;
    return leave(self, LX_ERR_CORRUPT, "no magic number is where it should begin", error);
}

/** Has a whole record in the buffer, or returns LX_END. */
static lx_status fetch(lx_recordio_reader *self, lx__recordio_extent *extent, lx_error *error)
{
    lx__input *input = &self->input;
    *extent = (lx__recordio_extent){.complete = false};
    for (uint64_t wanted = LX__RECORDIO_HEAD;;) {
        lx_status status = lx__input_fill(input, (size_t)wanted, error);
        if (status != LX_OK)
            return status;
        if (input->size == 0)
            return LX_END;
        if (extent->stored == 0 && is_after_range(self))
            return end_range(self, error);
        wanted = lx__recordio_measure(input->data, input->size, extent);
        if (extent->flaw != NULL)
            return leave(self, LX_ERR_CORRUPT, extent->flaw, error);
        if (extent->size > self->limit || wanted > SIZE_MAX / 2)
            return fail_too_long(self, extent->size, error);
        if (wanted <= input->size)
            return LX_OK;
        if (input->ended)
            return leave(self, LX_ERR_CORRUPT, "the file ends within it", error);
    }
}

static lx_status deliver(lx_recordio_reader *self, const lx__recordio_extent *extent,
                         lx_recordio_record *record, lx_error *error)
{
    const uint8_t *data = self->input.data;
    *record = (lx_recordio_record){.data = data + LX__RECORDIO_HEAD,
                                   .size = (size_t)extent->size,
                                   .offset = self->input.offset};
    if (extent->parts > 1) {
        if (!lx__reserve(&self->joined, &self->capacity, (size_t)extent->size))
            return lx__fail_memory(error, "a record");
        lx__recordio_join(data, extent, self->joined);
        record->data = self->joined;
    }
    self->stored = (size_t)extent->stored;
    self->sought = false;
    self->after_record = true;
    return LX_OK;
}

lx_status lx_recordio_reader_next(lx_recordio_reader *reader, lx_recordio_record *record,
                                  lx_error *error)
{
    if (reader == NULL || record == NULL)
        return lx__fail_null(error, reader == NULL ? "reader" : "record");
    if (!lx__process_is_this(&reader->process))
        return fail_forked(error);
    while (!reader->ended) {
        lx_error why = LX_ERROR_INIT;
        lx__recordio_extent extent;
        lx__input_take(&reader->input, reader->stored);
        reader->stored = 0;
        reader->input.failed = false; /* a call that was interrupted may be repeated */
        lx_status status = is_between_ranges(reader) ? enter_next_range(reader, &why) : LX_OK;
        if (status == LX_OK && reader->lost)
            status = find_next(reader, &why);
        if (status == LX_OK) {
            reader->lost = reader->counted = false;
            status = fetch(reader, &extent, &why);
        }
        if (status == LX_OK)
            return deliver(reader, &extent, record, error);
        bool passes = reader->lost && reader->skip && !reader->sought;
        reader->sought = false;
        if (passes && (status == LX_ERR_CORRUPT || status == LX_ERR_LIMIT) && !reader->input.failed)
            continue;
        if (status == LX_END && (status = go_on(reader, &why)) == LX_OK)
            continue;
        status = leave_rest(reader, status);
        if (status != LX_END)
            lx__error_propagate(error, &why);
        return status;
    }
    return LX_END;
}

lx_status lx_recordio_reader_copy(const lx_recordio_reader *reader, lx_recordio_writer *writer,
                                  const char *key, lx_error *error)
{
    if (reader == NULL || writer == NULL)
        return lx__fail_null(error, reader == NULL ? "reader" : "writer");
    if (reader->stored == 0)
        return lx_fail(error, LX_ERR_STATE, "the last call of the reader returned no record");
    return lx__recordio_writer_add_parts(writer, key, reader->input.data, reader->stored, error);
}

lx_status lx_recordio_reader_seek(lx_recordio_reader *reader, uint64_t offset, lx_error *error)
{
    if (reader == NULL)
        return lx__fail_null(error, "reader");
    if (!lx__process_is_this(&reader->process))
        return fail_forked(error);
    if (reader->split.files != 0)
        return lx_fail(error, LX_ERR_STATE, "a reader of a part cannot be moved");
    if (offset % WORD != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "no record begins at offset %" PRIu64 ", which is not a multiple of 4",
                       offset);
    lx_status status = lx__input_seek(&reader->input, offset, error);
    if (status != LX_OK)
        return status;
    reader->stored = 0;
    reader->lost = reader->counted = reader->after_record = false;
    reader->sought = true;
    return LX_OK;
}

uint64_t lx_recordio_reader_tell(const lx_recordio_reader *reader)
{
    return reader->input.offset + reader->stored;
}
