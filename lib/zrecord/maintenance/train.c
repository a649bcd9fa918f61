/* SPDX-License-Identifier: MIT */
/* Trains the dictionary of a field on values that are already stored. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/value-reader.h"
#include "zrecord/write/alter.h"
#include "zrecord/write/install.h"

/* How many values are measured to find out how many samples are needed. */
#define MEASURED 1000

typedef struct job {
    const char *name;
    lx_dataset *dataset;
    lx__snapshot *from;
    size_t field; /* position in the other dataset */
    lx__value_reader reader;
    uint8_t *buffer;
    size_t capacity;
} job;

static lx_status read_value(job *self, uint64_t index, lx__value *value, lx_error *error)
{
    lx_status status = lx__value_fetch_verified(&self->reader, self->field, index, value, error);
    if (status != LX_OK || value->data == NULL)
        return status;
    if (!lx__reserve(&self->buffer, &self->capacity, value->entry.logical))
        return lx__fail_memory(error, "a sample");
    return lx__value_decode(&self->reader, self->field, index, value, self->buffer, error);
}

/** Reads a value and adds it to the samples; leaves out missing and damaged values. */
static lx_status take(job *self, uint64_t index, lx__samples *samples, lx_error *error)
{
    lx__value value;
    lx_error why = LX_ERROR_INIT;
    lx_status status = read_value(self, index, &value, &why);
    if (status == LX_OK && value.data != NULL &&
        !lx__samples_add(samples, self->buffer, value.entry.logical))
        status = lx__fail_memory(&why, "a sample");
    if (status == LX_ERR_CORRUPT ||
        (lx__file_is_unreadable(&why) && !lx__store_is_elsewhere(self->from->store)))
        return LX_OK;
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

/** Estimates how many evenly spaced values are needed for enough samples. */
static uint64_t count_needed(job *self, const lx__samples *samples)
{
    uint64_t length = self->from->length, measured = length < MEASURED ? length : MEASURED,
             bytes = 0;
    for (uint64_t i = 0; i < measured; i++) {
        lx__value value;
        if (lx__value_find(&self->reader, self->field, length / measured * i, &value, NULL) ==
            LX_OK)
            bytes += value.entry.logical;
    }
    if (bytes == 0)
        return length;
    uint64_t needed = (uint64_t)samples->wanted / (bytes / measured + 1) + 1;
    return needed < length ? needed : length;
}

static lx_status collect(job *self, lx__samples *samples, lx_error *error)
{
    uint64_t count = count_needed(self, samples),
             step = count != 0 ? self->from->length / count : 0;
    lx_status status = LX_OK;
    for (uint64_t i = 0; status == LX_OK && i < count; i++)
        status = take(self, i * step, samples, error);
    return status;
}

static lx_status check(const lx_writer *writer, size_t position, lx_error *error)
{
    const lx_field *field = &lx__schema_field(writer->meta.schema, position)->shown;
    lx_status status = lx__compression_check(field->name, field->compression, error);
    if (status == LX_OK)
        status = lx__codec_settings_check(field->name, field->compression, 0, LX_DEFAULT_DICTIONARY,
                                          error);
    if (status == LX_OK && lx__meta_find_dict(&writer->meta, position, NULL))
        status = lx_fail(error, LX_ERR_STATE,
                         "field '%s' already has a dictionary: copy the dataset to train another "
                         "one",
                         field->name);
    return status;
}

/** Collects samples and trains the dictionary of the field at @p position. */
static lx_status train_on(job *self, lx_writer *writer, size_t position, uint32_t size,
                          lx_error *error)
{
    lx__samples samples;
    lx__samples_begin(&samples, position, size);
    self->reader = lx__value_reader_of(self->from);
    lx_status status = collect(self, &samples, error);
    if (status == LX_OK)
        status = lx__dictionary_install(writer, &samples, error);
    lx__value_reader_end(&self->reader);
    lx__free(self->buffer);
    lx__samples_end(&samples);
    return status;
}

static lx_status train_from(job *self, lx_writer *writer, size_t position, uint32_t size,
                            lx_dataset *from, lx_error *error)
{
    lx_status status = lx_schema_find_field(from->schema, self->name, &self->field, error);
    if (status == LX_OK)
        status = lx__dataset_pin_newest(from, &self->from, error);
    if (status != LX_OK)
        return status;
    status = train_on(self, writer, position, size, error);
    lx__snapshot_unref(self->from);
    return status;
}

/** Runs after the commit, so the writer's own dataset has all records of earlier calls. */
static lx_status train(lx_writer *writer, void *user, lx_error *error)
{
    job *self = user;
    size_t position;
    lx_dataset *own = NULL;
    lx_status status = lx_schema_find_field(writer->meta.schema, self->name, &position, error);
    if (status == LX_OK)
        status = check(writer, position, error);
    if (status != LX_OK)
        return status;
    const lx_field *field = &lx__schema_field(writer->meta.schema, position)->shown;
    uint32_t size = field->dictionary != 0 ? field->dictionary : LX_DEFAULT_DICTIONARY;
    if (self->dataset == NULL)
        status = lx_dataset_open(writer->directory.path, NULL, &own, error);
    if (status == LX_OK)
        status = train_from(self, writer, position, size, own != NULL ? own : self->dataset, error);
    lx_dataset_close(own);
    if (status != LX_OK)
        return status;
    if (field->dictionary == 0) /* also restarts the collection of samples */
        return lx__alter_codec_settings(writer, position, field->level, size, error);
    lx__training_end(&writer->training);
    lx__training_begin(&writer->training, &writer->meta);
    return LX_OK;
}

lx_status lx_writer_train_dictionary(lx_writer *writer, const char *name, lx_dataset *from,
                                     lx_error *error)
{
    job self = {.name = name, .dataset = from};
    if (name == NULL)
        return lx__fail_null(error, "name");
    return lx__install_call(writer, train, &self, error);
}
