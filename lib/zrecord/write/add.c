/* SPDX-License-Identifier: MIT */
#include "zrecord/write/add.h"

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/write/group-commit.h"
#include "zrecord/write/handle.h"
#include "zrecord/write/reap.h"
#include "zrecord/write/rotate.h"
#include "zrecord/write/value.h"

/* With periodic durability, the writer commits automatically after this many payload bytes. */
#define AUTO_COMMIT_BYTES (256ull << 20)

/** Makes room in a full ring. Waits for a commit in progress, which relies on what was applied
 * before it began. Submitted calls are committed first, so that their commit contains no part of
 * the current call. */
static lx_status make_room(lx_writer *writer, lx_error *error)
{
    lx__write_mutex_wait_for_commit(&writer->mutex);
    lx_status status = lx__writer_commit_submitted(writer, error);
    if (status == LX_OK)
        status = lx__writer_usable(writer, error);
    if (status != LX_OK || !lx__write_ring_is_full(&writer->ring))
        return status;
    return lx__writer_reap_oldest(writer, error);
}

/** Returns the write buffer that is being filled; starts a new one if there is none. */
static lx_status begin_buffer(lx_writer *writer, lx__write_buffer **buffer, lx_error *error)
{
    lx_status status = LX_OK;
    if (!writer->ring.filling && lx__write_ring_is_full(&writer->ring))
        status = make_room(writer, error);
    if (status != LX_OK)
        return status;
    *buffer = lx__write_ring_fill(&writer->ring);
    return *buffer != NULL ? LX_OK : lx__fail_memory(error, "a write buffer");
}

/** Begins an operation that has @p bytes bytes of payload. If a dictionary can be trained, first
 * trains it. */
static lx_status begin(lx_writer *writer, const lx__operation *operation, uint64_t bytes,
                       lx__write_buffer **buffer, lx_error *error)
{
    lx_status status = writer->training.due ? lx__training_run(writer, error) : LX_OK;
    if (status == LX_OK)
        status = begin_buffer(writer, buffer, error);
    if (status == LX_OK)
        status = lx__write_buffer_reserve(*buffer, operation->values, bytes, error);
    if (status != LX_OK)
        return status;
    if ((*buffer)->operation_count == 0)
        (*buffer)->first_call = writer->calls.made + 1;
    lx__write_buffer_add_operation(*buffer, operation);
    (*buffer)->last_call = writer->calls.made + 1;
    writer->pending_bytes += bytes;
    return LX_OK;
}

static lx_status finish(lx_writer *writer, const lx__write_buffer *buffer, lx_error *error)
{
    return lx__write_buffer_is_full(buffer) ? lx__writer_submit_buffer(writer, error) : LX_OK;
}

lx_status lx__writer_add(lx_writer *writer, const lx__operation *operation, const size_t *fields,
                         const lx_value *values, lx_error *error)
{
    uint64_t bytes = 0;
    lx__write_buffer *buffer;
    for (size_t i = 0; i < operation->values; i++)
        bytes += lx__write_buffer_room(&writer->rules[fields != NULL ? fields[i] : i],
                                       values[i].size);
    lx_status status = begin(writer, operation, bytes, &buffer, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < operation->values; i++) {
        size_t field = fields != NULL ? fields[i] : i;
        lx__value_log_format(writer, &lx__schema_field(writer->meta.schema, field)->shown,
                             &values[i]);
        lx__write_buffer_add(buffer, (uint32_t)field, &writer->rules[field], values[i].data,
                             values[i].size);
        if (writer->training.count != 0)
            lx__training_take(&writer->training, field, values[i].data, values[i].size);
    }
    return finish(writer, buffer, error);
}

/* Compressed values are stored in a chunk even if they are short enough to be inline. */
static uint64_t stored_room(const lx__entry_rules *rules, const lx__stored *value)
{
    return value->as_stored ? value->size + rules->align - 1
                            : lx__write_buffer_room(rules, value->size);
}

lx_status lx__writer_add_stored(lx_writer *writer, const lx__operation *operation,
                                const lx__stored *values, lx_error *error)
{
    uint64_t bytes = 0;
    lx__write_buffer *buffer;
    for (size_t i = 0; i < operation->values; i++)
        bytes += stored_room(&writer->rules[i], &values[i]);
    lx_status status = begin(writer, operation, bytes, &buffer, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < operation->values; i++) {
        const lx__stored *value = &values[i];
        const lx__entry_rules *rules = &writer->rules[i];
        if (value->as_stored)
            lx__write_buffer_add_stored(buffer, (uint32_t)i, rules, value->data,
                                        (uint32_t)value->size, value->logical);
        else
            lx__write_buffer_add(buffer, (uint32_t)i, rules, value->data, value->size);
        if (!value->as_stored && writer->training.count != 0)
            lx__training_take(&writer->training, i, value->data, value->size);
    }
    return finish(writer, buffer, error);
}

/** Does the commit and the sync if they are due. */
static lx_status commit_and_sync_due(lx_writer *writer, lx_error *error)
{
    lx_status status = LX_OK;
    if (writer->durability == LX_DURABILITY_PERIODIC && !writer->transaction &&
        writer->pending_bytes >= AUTO_COMMIT_BYTES) {
        status = lx__group_commit(writer, writer->calls.made, 0, error);
        if (status == LX_OK)
            lx__writer_maintain(writer);
        lx__writer_start_timer(writer);
    }
    return status == LX_OK ? lx__writer_sync_due(writer, error) : status;
}

lx_status lx__writer_end_call(lx_writer *writer, lx_status status, const lx_error *failure,
                              lx_error *error)
{
    writer->calls.made++;
    if (status != LX_OK)
        return lx__calls_fail(&writer->calls, writer->calls.made, status, failure, error);
    return commit_and_sync_due(writer, error);
}

/* ---- records */

lx_status lx__writer_add_record(lx_writer *writer, const lx_value *values, lx_error *error)
{
    lx__operation operation = {.kind = LX__APPEND,
                               .index = writer->length,
                               .values = (uint32_t)writer->tables.field_count};
    lx_status status = lx__writer_add(writer, &operation, NULL, values, error);
    if (status == LX_OK)
        writer->length++;
    return status;
}

lx_status lx__writer_check_room(const lx_writer *writer, uint64_t count, lx_error *error)
{
    if (count <= LX__LENGTH_MAX - writer->length)
        return LX_OK;
    return lx_fail(error, LX_ERR_LIMIT,
                   "cannot add %llu records to %llu: the dataset would have too many records: "
                   "split it into several datasets",
                   (unsigned long long)count, (unsigned long long)writer->length);
}

lx_status lx__writer_add_records(lx_writer *writer, uint64_t count, lx__fill_record *fill,
                                 void *records, uint64_t *first, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = LX_OK;
    lx_value *values = lx__alloc_array(writer->tables.field_count, sizeof *values);
    if (values == NULL)
        return lx__fail_memory(error, "a record");
    if (first != NULL)
        *first = writer->length;
    for (uint64_t i = 0; status == LX_OK && i < count; i++) {
        fill(writer, records, i, values);
        status = lx__writer_add_record(writer, values, &failure);
    }
    lx__free(values);
    return lx__writer_end_call(writer, status, &failure, error);
}
