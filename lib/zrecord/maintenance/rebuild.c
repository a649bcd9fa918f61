/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/rebuild.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/format/meta-file.h"

/* Rows that are written at once. */
#define ROWS 4096

/* ---- tables */

/** Removes the files that are to be made: leftovers, if they are there. */
static lx_status remove_new(const lx__rebuild *rebuild, lx_error *error)
{
    const lx__rescue *rescue = rebuild->rescue;
    char name[LX__NAME_SIZE];
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < rescue->meta.schema->count; i++) {
        const char *stem = lx__schema_field(rescue->meta.schema, i)->stem;
        lx__table_name(stem, LX__OFFSET_KIND, rebuild->table_generation, name);
        status = lx__file_remove(&rescue->directory, name, error);
        lx__table_name(stem, LX__CHECK_KIND, rebuild->table_generation, name);
        if (status == LX_OK)
            status = lx__file_remove(&rescue->directory, name, error);
    }
    lx__log_name(rescue->identity.generation + 1, name);
    if (status == LX_OK)
        status = lx__file_remove(&rescue->directory, name, error);
    return status == LX_OK ? lx__file_remove(&rescue->directory, LX__META_NEW_NAME, error)
                           : status;
}

lx_status lx__rebuild_begin(lx__rebuild *rebuild, lx__rescue *rescue, lx_error *error)
{
    const lx__state *state = &rescue->state;
    *rebuild = (lx__rebuild){.rescue = rescue, .table_generation = state->table_generation + 1};
    if (state->table_generation == UINT32_MAX || rescue->meta.generation >= LX__GENERATION_MAX)
        return lx__fail(error, LX_ERR_LIMIT, "all generations are used up: copy the dataset");
    lx_status status = remove_new(rebuild, error);
    rebuild->made = status == LX_OK;
    return status == LX_OK ? lx__rows_open(&rebuild->rows, &rescue->directory, rescue->meta.schema,
                                           rebuild->table_generation, 0, 0, error)
                           : status;
}

lx_status lx__rebuild_add(lx__rebuild *rebuild, lx_error *error)
{
    lx_status status = LX_OK;
    if (rebuild->rows.count == ROWS)
        status = lx__rows_write(&rebuild->rows, error);
    if (status == LX_OK)
        status = lx__rows_add(&rebuild->rows, error);
    if (status == LX_OK)
        rebuild->length++;
    return status;
}

void lx__rebuild_put(lx__rebuild *rebuild, size_t field, uint64_t index, const lx__entry *entry)
{
    lx__entry moved = *entry;
    if (!lx__entry_is_missing(entry))
        moved.crc ^= lx__index_crc(index) ^ lx__index_crc(rebuild->length - 1);
    lx__rows_put(&rebuild->rows, field, rebuild->length - 1, &moved);
}

lx_status lx__rebuild_delete(lx__rebuild *rebuild, lx_error *error)
{
    uint64_t *list = lx__grow_array(rebuild->deleted, rebuild->deleted_count,
                                    &rebuild->deleted_capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a repair");
    rebuild->deleted = list;
    list[rebuild->deleted_count++] = rebuild->length - 1;
    return LX_OK;
}

/** Writes the rows of one record over those of another. */
static lx_status move_record(lx__rebuild *rebuild, uint64_t from, uint64_t to, lx_error *error)
{
    lx_status status = LX_OK;
    uint32_t crcs = lx__index_crc(from) ^ lx__index_crc(to);
    for (size_t i = 0; status == LX_OK && i < rebuild->rows.field_count; i++) {
        const lx__table_files *files = &rebuild->rows.fields[i];
        uint8_t offset_row[LX__OFFSET_ROW], check_row[LX__CHECK_ROW];
        lx__entry entry;
        status = lx__rows_read(&rebuild->rows, i, from, &entry, error);
        if (status != LX_OK)
            break;
        if (!lx__entry_is_missing(&entry))
            entry.crc ^= crcs;
        lx__entry_store(&entry, offset_row, check_row);
        status = lx__file_write(&files->offsets, offset_row, sizeof offset_row,
                                to * LX__OFFSET_ROW, error);
        if (status == LX_OK)
            status = lx__file_write(&files->checks, check_row, sizeof check_row,
                                    to * LX__CHECK_ROW, error);
    }
    return status;
}

lx_status lx__rebuild_close_up(lx__rebuild *rebuild, lx__aside *aside, lx_error *error)
{
    lx_status status = lx__rows_write(&rebuild->rows, error);
    const uint64_t *deleted = rebuild->deleted;
    uint64_t end = rebuild->length;
    for (size_t first = 0, last = rebuild->deleted_count; status == LX_OK; first++) {
        while (last > first && deleted[last - 1] == end - 1) {
            last--;
            end--;
        }
        if (first == last)
            break;
        end--; /* the last that stays */
        status = move_record(rebuild, end, deleted[first], error);
        if (status == LX_OK)
            status = lx__aside_add_move(aside, end, deleted[first], error);
    }
    rebuild->length = end;
    return status;
}

static lx_status sync_tables(const lx__rebuild *rebuild, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < rebuild->rows.field_count; i++) {
        status = lx__file_sync(&rebuild->rows.fields[i].offsets, error);
        if (status == LX_OK)
            status = lx__file_sync(&rebuild->rows.fields[i].checks, error);
    }
    return status;
}

/* ---- chunks */

/** Makes durable what no settled frame has of a chunk: a sync of it may have failed. */
static lx_status settle_chunk(const lx__rescue *rescue, const lx__chunk_item *chunk,
                              lx_error *error)
{
    const lx__chunk_item *settled = lx__state_find_chunk(&rescue->settled, chunk->id);
    uint64_t start = settled != NULL ? settled->bytes : 0;
    char name[LX__NAME_SIZE];
    lx__file file;
    if (start >= chunk->bytes)
        return LX_OK;
    lx__chunk_name(chunk->id, name);
    lx_status status = lx__file_open(&file, &rescue->chunk_directory, name, O_RDWR, error);
    if (status != LX_OK)
        return status;
    status = lx__file_write_back(&file, start, chunk->bytes, error);
    if (status == LX_OK)
        status = lx__file_sync(&file, error);
    lx__file_close(&file);
    return status;
}

/** The chunks of the new log: those that are there, as long as they are. One that was cut short, or
 * in which there may be payloads of commits that are lost, counts as full, so that nothing is
 * written over them. */
static lx_status add_chunks(const lx__rebuild *rebuild, lx__frame_builder *builder,
                            lx_error *error)
{
    const lx__rescue *rescue = rebuild->rescue;
    const lx__state *state = &rescue->state;
    lx_status status = lx__frame_begin(builder, state->chunk_count, 0, error);
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        lx__chunk_item item = state->chunks[i];
        status = lx__rescue_chunk_bytes(rescue, &state->chunks[i], &item.bytes, NULL, error);
        if (status != LX_OK)
            break;
        bool is_short = item.bytes < state->chunks[i].bytes;
        if ((is_short || rescue->cut) && item.records < rescue->meta.chunk_records)
            item.records = (uint32_t)rescue->meta.chunk_records;
        if (is_short && item.bytes == 0)
            continue;
        status = settle_chunk(rescue, &item, error);
        lx__frame_add_chunk(builder, &item);
    }
    return status;
}

static lx_status find_chunk(void *user, const char *name, lx_error *error)
{
    uint64_t id, *next = user;
    (void)error;
    if (lx__name_is_chunk(name, &id) && id >= *next)
        *next = id + 1;
    return LX_OK;
}

/** Above the id of each chunk that there was: also of those that only lost commits name. */
static lx_status find_next_chunk(const lx__rescue *rescue, uint32_t *next, lx_error *error)
{
    uint64_t found = rescue->state.next_chunk;
    lx_status status = LX_OK;
    if (rescue->cut && rescue->chunk_directory.fd != -1)
        status = lx__directory_each(&rescue->chunk_directory, find_chunk, &found, error);
    *next = found <= LX__CHUNK_ID_MAX ? (uint32_t)found : UINT32_MAX;
    return status;
}

/* ---- the log, and the switch */

static lx_status write_log(const lx__rebuild *rebuild, const lx__frame_builder *builder,
                           lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__file log;
    const lx__file *directory = &rebuild->rescue->directory;
    lx__log_name(rebuild->rescue->identity.generation + 1, name);
    lx_status status = lx__file_open(&log, directory, name, O_WRONLY | O_CREAT | O_EXCL, error);
    if (status != LX_OK)
        return status;
    status = lx__file_write(&log, builder->data, builder->size, 0, error);
    if (status == LX_OK)
        status = lx__file_sync(&log, error);
    lx__file_close(&log);
    return status;
}

static lx_status make_log(const lx__rebuild *rebuild, lx_error *error)
{
    lx__log_identity identity = rebuild->rescue->identity;
    lx__frame frame = {.length = rebuild->length,
                       .rows = rebuild->length,
                       .flags = LX__FRAME_BASE | LX__FRAME_SYNCED,
                       .boot = lx__boot_id(),
                       .table_generation = rebuild->table_generation};
    lx__frame_builder builder = {0};
    identity.generation++;
    lx_status status = find_next_chunk(rebuild->rescue, &frame.next_chunk, error);
    if (status == LX_OK)
        status = add_chunks(rebuild, &builder, error);
    if (status == LX_OK) {
        lx__frame_finish(&builder, &frame, &identity);
        status = write_log(rebuild, &builder, error);
    }
    lx__frame_builder_free(&builder);
    return status;
}

/** What meta.json is to say. The list of chunks with room counts only where it is sealed. */
static lx_status write_meta(lx__rebuild *rebuild, lx_error *error)
{
    lx__meta *meta = &rebuild->rescue->meta;
    json_t *document = meta->document;
    int failed = json_object_set_new(document, "generation",
                                     json_integer((json_int_t)meta->generation + 1));
    failed |= json_object_set_new(document, "sealed", json_false());
    failed |= json_object_set_new(document, "length", json_integer((json_int_t)rebuild->length));
    (void)json_object_del(document, "tables");
    if (failed)
        return lx__fail_memory(error, LX__META_NAME);
    lx_status status = lx__meta_replace(meta, &rebuild->rescue->directory, error);
    return status == LX_ERR_POISONED ? LX_ERR_IO : status; /* there is no writer that could be */
}

/** After a failure: whether another meta.json than @p before is, or may be, in its place. */
static bool is_switched(const lx__rebuild *rebuild, const struct stat *before)
{
    struct stat now;
    return fstatat(rebuild->rescue->directory.fd, LX__META_NAME, &now, AT_SYMLINK_NOFOLLOW) == -1 ||
           now.st_dev != before->st_dev || now.st_ino != before->st_ino;
}

lx_status lx__rebuild_switch(lx__rebuild *rebuild, lx_error *error)
{
    const lx__rescue *rescue = rebuild->rescue;
    struct stat before;
    lx_status status = LX_OK;
    if (fstatat(rescue->directory.fd, LX__META_NAME, &before, AT_SYMLINK_NOFOLLOW) == -1)
        status = lx__fail_errno(error, errno, rescue->directory.path, "cannot look at meta.json");
    if (status == LX_OK)
        status = sync_tables(rebuild, error);
    if (status == LX_OK)
        status = make_log(rebuild, error);
    if (status == LX_OK && rescue->chunk_directory.fd == -1) /* every dataset has one */
        status = lx__directory_make(&rescue->directory, LX__CHUNK_DIRECTORY, error);
    if (status == LX_OK && rescue->chunk_directory.fd != -1)
        status = lx__file_sync(&rescue->chunk_directory, error);
    if (status == LX_OK)
        status = lx__file_sync(&rescue->directory, error);
    if (status != LX_OK)
        return status;
    status = write_meta(rebuild, error);
    rebuild->made = status != LX_OK && !is_switched(rebuild, &before);
    return status;
}

void lx__rebuild_end(lx__rebuild *rebuild)
{
    lx__rows_close(&rebuild->rows);
    if (rebuild->made)
        (void)remove_new(rebuild, NULL);
    lx__free(rebuild->deleted);
    *rebuild = (lx__rebuild){0};
}
