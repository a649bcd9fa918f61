/* SPDX-License-Identifier: MIT */
#include "zrecord/write/training.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/log.h"
#include "zrecord/format/names.h"
#include "zrecord/write/install.h"
#include "zrecord/write/reap.h"

/* As many samples as zstd recommends for a dictionary, but not too many bytes of memory. */
#define SAMPLES_PER_BYTE 100
#define SAMPLES_MAX ((size_t)64 << 20)
/* A smaller one would hardly contain more than its entropy tables. */
#define DICTIONARY_MIN 1024
/* The part of a long value that is worth learning from: the size of a block of zstd. */
#define SAMPLE_MAX ((size_t)128 << 10)

/* ---- samples */

void lx__samples_begin(lx__samples *samples, size_t field, uint32_t dictionary)
{
    uint32_t size = dictionary < DICTIONARY_MIN ? DICTIONARY_MIN : dictionary;
    uint64_t wanted = (uint64_t)size * SAMPLES_PER_BYTE;
    *samples = (lx__samples){.field = field,
                             .dictionary = size,
                             .wanted = wanted < SAMPLES_MAX ? (size_t)wanted : SAMPLES_MAX};
}

bool lx__samples_add(lx__samples *samples, const void *data, uint64_t size)
{
    size_t taken = size < SAMPLE_MAX ? (size_t)size : SAMPLE_MAX;
    if (size == LX_NONE || size <= LX__INLINE_MAX || lx__samples_are_enough(samples))
        return true;
    size_t *sizes = lx__grow_array(samples->sizes, samples->count, &samples->size_capacity,
                                   sizeof *sizes);
    if (sizes == NULL)
        return false;
    samples->sizes = sizes;
    if (samples->data == NULL)
        samples->data = lx__alloc(samples->wanted + SAMPLE_MAX);
    if (samples->data == NULL)
        return false;
    memcpy(samples->data + samples->used, data, taken);
    samples->used += taken;
    sizes[samples->count++] = taken;
    return true;
}

void lx__samples_end(lx__samples *samples)
{
    lx__free(samples->data);
    lx__free(samples->sizes);
    *samples = (lx__samples){0};
}

/* ---- the fields of a writer */

/** Whether the field is to get a dictionary, which this library can train. */
static bool wants_dictionary(const lx__meta *meta, size_t position)
{
    const lx_field *field = &lx__schema_field(meta->schema, position)->shown;
    const lx__codec *codec = lx__codec_of(field->compression);
    return field->dictionary != 0 && codec != NULL && codec->dictionary_train != NULL &&
           !lx__meta_find_dict(meta, position, NULL);
}

void lx__training_begin(lx__training *training, const lx__meta *meta)
{
    *training = (lx__training){0};
    for (size_t i = 0; i < meta->schema->count; i++)
        training->count += wants_dictionary(meta, i);
    if (training->count != 0)
        training->fields = lx__alloc_array(training->count, sizeof *training->fields);
    training->count = 0;
    for (size_t i = 0; training->fields != NULL && i < meta->schema->count; i++)
        if (wants_dictionary(meta, i))
            lx__samples_begin(&training->fields[training->count++], i,
                              lx__schema_field(meta->schema, i)->shown.dictionary);
}

void lx__training_end(lx__training *training)
{
    for (size_t i = 0; i < training->count; i++)
        lx__samples_end(&training->fields[i]);
    lx__free(training->fields);
    *training = (lx__training){0};
}

/** Stops collecting samples of a field. */
static void stop(lx__training *training, size_t i)
{
    lx__samples_end(&training->fields[i]);
    training->fields[i] = training->fields[--training->count];
}

static lx__samples *samples_of(const lx__training *training, size_t field)
{
    for (size_t i = 0; i < training->count; i++)
        if (training->fields[i].field == field)
            return &training->fields[i];
    return NULL;
}

bool lx__training_has(const lx__training *training, size_t field)
{
    return samples_of(training, field) != NULL;
}

void lx__training_take(lx__training *training, size_t field, const void *data, uint64_t size)
{
    lx__samples *samples = samples_of(training, field);
    if (samples == NULL)
        return;
    if (!lx__samples_add(samples, data, size))
        stop(training, (size_t)(samples - training->fields));
    else
        training->due = training->due || lx__samples_are_enough(samples);
}

/* ---- training */

/** Writes the file, replacing one that an interrupted training left. @p made says whether there is
 * a new file now, even after a failure. */
static lx_status write_file(const lx_writer *writer, const char *name, const uint8_t *data,
                            size_t size, bool *made, lx_error *error)
{
    lx__file file;
    bool present;
    *made = false;
    lx_status status = lx__file_is_regular(&writer->directory, name, &present, error);
    if (status == LX_OK && present)
        status = lx__file_remove(&writer->directory, name, error);
    if (status == LX_OK)
        status = lx__file_open(&file, &writer->directory, name, O_RDWR | O_CREAT | O_EXCL, error);
    if (status != LX_OK)
        return status;
    *made = true;
    status = lx__file_write(&file, data, size, 0, error);
    if (status == LX_OK)
        status = lx__sync_or_poison(&file, error);
    lx__file_close(&file);
    return status;
}

/** Makes the dictionary durable, and then names it in meta.json. */
static lx_status install(lx_writer *writer, size_t position, const uint8_t *data, size_t size,
                         lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__install next;
    bool made = false;
    const lx__dict sum = {.bytes = size, .crc = lx__crc32c(0, data, size)};
    lx__dict_name(lx__schema_field(writer->meta.schema, position)->stem, name);
    lx_status status = lx__install_begin(&next, writer, error);
    if (status == LX_OK)
        status = write_file(writer, name, data, size, &made, error);
    if (status == LX_OK)
        status = lx__meta_set_dict(&next.meta, position, &sum, error);
    if (status == LX_OK)
        status = lx__install_finish(&next, error);
    if (made && !next.done && !next.named)
        (void)lx__file_remove(&writer->directory, name, NULL);
    lx__install_end(&next);
    return status;
}

/** Prepares the dictionary for compression, so that nothing can fail once meta.json names it. */
static lx_status prepare(lx_writer *writer, size_t position, const uint8_t *data, size_t size,
                         lx__dictionary **dictionary, lx_error *error)
{
    const lx_field *field = &lx__schema_field(writer->meta.schema, position)->shown;
    int level = writer->codec_settings[position].level;
    lx_status status = lx__dictionary_new(lx__codec_of(field->compression), data, size, level,
                                          dictionary, error);
    if (status != LX_OK)
        return status;
    status = lx__dictionary_list_add(&writer->dictionaries, field->id, level, *dictionary, error);
    if (status != LX_OK)
        lx__dictionary_free(*dictionary);
    return status;
}

lx_status lx__dictionary_install(lx_writer *writer, const lx__samples *samples, lx_error *error)
{
    const lx_field *field = &lx__schema_field(writer->meta.schema, samples->field)->shown;
    size_t size, capacity = samples->dictionary;
    lx__dictionary *dictionary;
    uint8_t *data = lx__alloc(capacity);
    if (data == NULL)
        return lx__fail_memory(error, "a dictionary");
    lx_status status = lx__dictionary_train(lx__codec_of(field->compression), samples->data,
                                            samples->sizes, samples->count, data, capacity, &size,
                                            error);
    if (status == LX_OK)
        status = prepare(writer, samples->field, data, size, &dictionary, error);
    if (status == LX_OK) {
        status = install(writer, samples->field, data, size, error);
        if (status == LX_OK)
            writer->codec_settings[samples->field].dictionary = dictionary;
        else
            lx__dictionary_list_drop_last(&writer->dictionaries);
    }
    lx_error_locate(error, writer->directory.path, field->name, LX_NONE, LX_NONE);
    lx__free(data);
    return status;
}

/** Trains one dictionary. If the samples are not suitable, logs a warning and succeeds: the values
 * are then compressed without a dictionary. */
static lx_status train(lx_writer *writer, const lx__samples *samples, lx_error *error)
{
    char line[600];
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__dictionary_install(writer, samples, &why);
    if (status == LX_ERR_STATE) {
        lx_error_describe(&why, line, sizeof line);
        lx__log(LX_LOG_WARNING, "%s", line);
        return LX_OK;
    }
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

lx_status lx__training_run(lx_writer *writer, lx_error *error)
{
    lx__training *training = &writer->training;
    training->due = false;
    lx__write_mutex_wait_for_commit(&writer->mutex);
    lx_status status = lx__writer_submit_buffer(writer, error);
    lx__flush_drain(&writer->flush);
    for (size_t i = training->count; status == LX_OK && i-- != 0;) {
        if (!lx__samples_are_enough(&training->fields[i]))
            continue;
        status = train(writer, &training->fields[i], error);
        stop(training, i);
    }
    return status;
}

void lx__training_warn(const lx_writer *writer)
{
    for (size_t i = 0; i < writer->training.count; i++) {
        const lx__samples *samples = &writer->training.fields[i];
        if (samples->used == 0)
            continue;
        lx__log(LX_LOG_WARNING,
                "%s: field '%s' has no dictionary yet: a writer trains it when it has appended %zu "
                "bytes of values, but this one has appended %zu; 'loaderx train' trains it on the "
                "stored values, and 'loaderx copy' then compresses them with it",
                writer->directory.path,
                lx__schema_field(writer->meta.schema, samples->field)->shown.name, samples->wanted,
                samples->used);
    }
}
