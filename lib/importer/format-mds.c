/* SPDX-License-Identifier: MIT */
/* Mosaic MDS, the format of mosaicml-streaming: a folder with an index.json and shards. Each column
 * is a field.
 *
 * A shard is a u32 number of samples n, n + 1 u32 offsets, a JSON text that repeats the index, and
 * the samples: the u32 sizes of the columns whose size varies, and the values.
 *
 * Source: streaming/base/format/mds/ of mosaicml-streaming. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "importer/mds-index.h"

/* More samples in a shard are refused: their offsets would not fit in 64 MiB. */
#define MAX_SAMPLES (((uint32_t)1 << 24) - 1)

typedef struct mds_reader {
    lx__import_reader base;
    lx__mds_index index;
    size_t next_shard;
    lx__mds_shard shard;
    lx__input input;   /**< Of the shard. */
    uint32_t *offsets; /**< Of the samples, and of the end of the last one. */
    uint64_t sample;   /**< The next one; shard.samples: the shard is done. */
    uint64_t read;     /**< Bytes of the shards before this one. */
    lx__import_value *values;
    size_t value_capacity; /**< In columns. */
} mds_reader;

static lx__import_reader *create(void)
{
    mds_reader *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->input.fd = -1;
    return &self->base;
}

static lx_status open_mds(lx__import_reader *reader, lx_error *error)
{
    mds_reader *self = (mds_reader *)reader;
    return lx__mds_index_open(&self->index, reader->source.path, error);
}

static void close_shard(mds_reader *self)
{
    self->read += self->input.file_read;
    lx__input_close(&self->input);
    lx__mds_shard_close(&self->shard);
    lx__free(self->offsets);
    self->offsets = NULL;
    self->sample = 0;
}

static void close_mds(lx__import_reader *reader)
{
    mds_reader *self = (mds_reader *)reader;
    close_shard(self);
    lx__mds_index_close(&self->index);
    lx__free(self->values);
    lx__free(self);
}

/* ---- shards */

static lx_status never_wait(void *user, lx_error *error)
{
    (void)user, (void)error;
    return LX_OK;
}

static lx_status fail_shard(const char *what, lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT, "the shard is damaged: %s", what);
}

/** Reads the offsets at the beginning of the shard. */
static lx_status read_offsets(mds_reader *self, lx_error *error)
{
    lx__input *input = &self->input;
    lx_status status = lx__input_fill(input, 4, error);
    if (status != LX_OK)
        return status;
    uint32_t count = input->size >= 4 ? lx__load_le32(input->data) : 0;
    if (input->size < 4 || count != self->shard.samples)
        return fail_shard("its number of samples is not that of the index", error);
    if (count > MAX_SAMPLES)
        return lx_fail(error, LX_ERR_LIMIT, "the shard has %" PRIu32 " samples, more than %" PRIu32,
                       count, MAX_SAMPLES);
    size_t size = 4 * ((size_t)count + 2);
    status = lx__input_fill(input, size, error);
    if (status != LX_OK)
        return status;
    if (input->size < size)
        return fail_shard("it ends within its offsets", error);
    self->offsets = lx__alloc_array((size_t)count + 1, sizeof *self->offsets);
    if (self->offsets == NULL)
        return lx__fail_memory(error, "the offsets of a shard");
    for (size_t i = 0; i <= count; i++)
        self->offsets[i] = lx__load_le32(input->data + 4 + 4 * i);
    lx__input_take(input, size);
    bool grow = self->offsets[0] >= size;
    for (size_t i = 0; grow && i < count; i++)
        grow = self->offsets[i] < self->offsets[i + 1];
    if (!grow || self->offsets[count] != self->shard.bytes)
        return fail_shard("its offsets do not increase up to its size", error);
    uint64_t text = self->offsets[0] - size, skipped;
    status = lx__input_skip(input, text, &skipped, error);
    if (status == LX_OK && skipped != text)
        return fail_shard("it ends before its first sample", error);
    return status;
}

/** Makes room for the values of a sample. */
static lx_status make_values(mds_reader *self, lx_error *error)
{
    if (self->shard.column_count <= self->value_capacity)
        return LX_OK;
    size_t count = LX__VARYING_VALUES * self->shard.column_count;
    void *values = lx__resize_array(self->values, count, sizeof *self->values);
    if (values == NULL)
        return lx__fail_memory(error, "a record");
    self->values = values;
    self->value_capacity = self->shard.column_count;
    return LX_OK;
}

static lx_status open_file(mds_reader *self, lx_error *error)
{
    struct stat about;
    const char *path = self->shard.path;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) /* opening a pipe would wait */
        return fail_shard("it is not a regular file", error);
    return lx__input_open(&self->input, path, 0, never_wait, NULL, error);
}

/** Passes over the rest of the shard after a failure, which counts as one bad record. */
static void lose_samples(mds_reader *self, lx_error *error)
{
    if (self->sample != self->shard.samples)
        lx__error_append(error, "; samples of the shard that are lost: %" PRIu64,
                         self->shard.samples - self->sample);
    self->sample = self->shard.samples;
}

/** Opens the next shard; if it fails, the shard is passed over. */
static lx_status open_shard(mds_reader *self, lx_error *error)
{
    close_shard(self);
    lx_status status = lx__mds_shard_open(&self->shard, &self->index, self->next_shard++, error);
    if (status == LX_OK)
        status = make_values(self, error);
    if (status == LX_OK)
        status = open_file(self, error);
    if (status == LX_OK)
        status = read_offsets(self, error);
    if (status != LX_OK)
        lose_samples(self, error);
    lx_error_locate(error, self->shard.path, NULL, LX_NONE, LX_NONE);
    return status;
}

/* ---- samples */

static lx_status fail_sizes(lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT,
                   "the sizes of the values do not add up to that of the sample");
}

/** Reads the values of a sample. */
static lx_status read_values(mds_reader *self, const uint8_t *data, size_t size,
                             lx__import_record *record, lx_error *error)
{
    const uint8_t *sizes = data, *end = data + size;
    size_t head = 0;
    for (size_t i = 0; i < self->shard.column_count; i++)
        head += self->shard.columns[i].size == LX__MDS_VARIES ? 4 : 0;
    if (size < head)
        return fail_sizes(error);
    data += head;
    for (size_t i = 0; i < self->shard.column_count; i++) {
        lx__mds_column *column = &self->shard.columns[i];
        size_t length = column->size, count;
        if (length == LX__MDS_VARIES) {
            length = lx__load_le32(sizes);
            sizes += 4;
        }
        if (length > (size_t)(end - data))
            return fail_sizes(error);
        lx_status status = lx__mds_column_read(column, data, length, self->values + record->count,
                                               &count, error);
        if (status != LX_OK)
            return status;
        record->count += count;
        data += length;
    }
    record->values = self->values;
    return data == end ? LX_OK : fail_sizes(error);
}

static lx_status skip_sample(mds_reader *self, size_t size, lx_error *error)
{
    uint64_t skipped;
    lx_status status = lx__input_skip(&self->input, size, &skipped, error);
    return status != LX_OK ? status
                           : lx_fail(error, LX_ERR_LIMIT,
                                     "the sample has %zu bytes, more than %" PRIu64
                                     ": raise the limit of a record",
                                     size, self->base.source.record_limit);
}

static lx_status read_sample(mds_reader *self, lx__import_record *record, lx_error *error)
{
    lx__input *input = &self->input;
    size_t size = self->offsets[self->sample + 1] - self->offsets[self->sample];
    record->offset = self->offsets[self->sample++];
    if (size > self->base.source.record_limit)
        return skip_sample(self, size, error);
    lx_status status = lx__input_fill(input, size, error);
    if (status == LX_OK && input->size < size)
        status = fail_shard("it ends within a sample", error);
    if (status != LX_OK) {
        self->sample--;
        lose_samples(self, error);
        return status;
    }
    const uint8_t *data = input->data;
    lx__input_take(input, size);
    return read_values(self, data, size, record, error);
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    mds_reader *self = (mds_reader *)reader;
    record->offset = LX_NONE;
    while (self->sample == self->shard.samples) {
        if (self->next_shard == self->index.shard_count)
            return LX_END;
        lx_status status = open_shard(self, error);
        if (status != LX_OK)
            return status;
    }
    lx_status status = read_sample(self, record, error);
    reader->read = self->read + self->input.file_read;
    if (status != LX_OK) {
        record->count = 0;
        lx_error_locate(error, self->shard.path, NULL, LX_NONE, LX_NONE);
    }
    return status;
}

const lx__format_class lx__format_mds = {.name = "mds",
                                         .opens_paths = true,
                                         .create = create,
                                         .open = open_mds,
                                         .next = next,
                                         .close = close_mds};
