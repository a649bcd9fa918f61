/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Changes of a dataset of records.h by frames that a test adds to its log, and the expected
 * content.
 */
#ifndef LX_TESTS_CHANGE_H
#define LX_TESTS_CHANGE_H

#include "entry-in.h"
#include "frames.h"
#include "records.h"
#include "zrecord/format/names.h"
#include "zrecord/read/dataset.h"

/** The record at each index: shown[i] at index i. */
struct shown {
    uint64_t shown[5000];
    uint64_t length;
};

static inline struct shown shown_all(uint64_t length)
{
    struct shown all = {.length = length};
    for (uint64_t i = 0; i < length; i++)
        all.shown[i] = i;
    return all;
}

/** Adds a frame to the log of a dataset without a writer: members that are zero are as before,
 * except for the updates. */
static inline void log_extend(const char *path, struct frame frame)
{
    char name[LX__NAME_SIZE];
    lx_dataset *dataset = open_dataset(path);
    const lx__state *state = &dataset->snapshot->state;
    const lx__meta *meta = &dataset->snapshot->store->meta;
    struct log log = {.identity = {.generation = meta->generation},
                      .sequence = state->position.sequence,
                      .crc = state->position.crc};
    memcpy(log.identity.uuid, meta->uuid, sizeof log.identity.uuid);
    lx__wal_name(meta->generation, name);
    log.bytes = file_bytes(in(path, name), &log.size);
    ck_assert_uint_eq(log.size, state->position.offset);
    frame.flags = SYNCED;
    frame.table_generation = state->table_generation;
    frame.next_chunk = state->next_chunk;
    frame.rows = state->rows;
    log_add(&log, &frame);
    file_put(in(path, name), log.bytes, log.size);
    log_free(&log);
    lx_dataset_close(dataset);
}

/** Gives all frames from offset @p at on another boot, and restamps their CRCs. */
static inline void log_change_boot(const char *path, size_t at, uint64_t boot)
{
    size_t size;
    lx__frame frame;
    lx_dataset_identity identity;
    lx_dataset *dataset = open_dataset(path);
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    lx__wal_identity log = identity_of(identity.uuid);
    uint8_t *bytes = log_bytes(in(path, "LOG"), &size);
    uint32_t crc = lx__load_le32(bytes + at - 4);
    for (; at < size; at += frame.bytes) {
        ck_assert(lx__frame_load(&frame, bytes + at));
        lx__store_le32(bytes + at + 40, crc);
        lx__store_le64(bytes + at + 48, boot);
        crc = crc_of_frame(&log, bytes + at, frame.bytes);
        lx__store_le32(bytes + at + frame.bytes - 4, crc);
    }
    file_put(in(path, "LOG"), bytes, size);
    free(bytes);
}

/** The dataset must open, have @p length records, accept more, and have them. */
static inline void expect_usable(const char *path, uint64_t length)
{
    lx_writer *writer = records_reopen(path, NULL);
    ck_assert_uint_eq(lx_writer_get_length(writer), length);
    expect_dataset(path, length);
    records_append(writer, 4);
    commit(writer);
    expect_dataset(path, length + 4);
    records_append(writer, 3);
    close_writer(writer);
    expect_dataset(path, length + 7);
}

/** One commit: the record at each moves[i][0] is also copied to moves[i][1], in order, and then
 * there are @p length. */
static inline void records_move(const char *path, struct shown *shown, const uint64_t moves[][2],
                                size_t count, uint64_t length)
{
    lx_dataset *dataset = open_dataset(path);
    size_t fields = lx_schema_get_field_count(lx_dataset_get_schema(dataset));
    lx__update_item *updates = calloc(count * fields + 1, sizeof *updates);
    for (size_t i = 0; i < count * fields; i++) {
        uint64_t from = moves[i / fields][0], to = moves[i / fields][1];
        bool row;
        lx__entry entry = entry_in(dataset->snapshot, i % fields, from, &row);
        if (!lx__entry_is_missing(&entry))
            entry.crc ^= lx__index_crc(from) ^ lx__index_crc(to);
        const lx_field *field = lx_schema_get_field(lx_dataset_get_schema(dataset), i % fields);
        updates[i] = (lx__update_item){.field = field->id, .index = to, .entry = entry};
    }
    lx_dataset_close(dataset);
    log_extend(path, (struct frame){.length = length,
                                    .updates = updates,
                                    .update_count = (uint32_t)(count * fields)});
    uint64_t before[5000];
    memcpy(before, shown->shown, sizeof before);
    for (size_t i = 0; i < count; i++)
        shown->shown[moves[i][1]] = before[moves[i][0]];
    shown->length = length;
    free(updates);
}

/** Swaps some records, and deletes some: each remaining change is in one of three places. */
static inline void records_shuffle(const char *path, struct shown *shown, uint64_t seed)
{
    uint64_t moves[200][2], length = shown->length;
    size_t count = 0;
    for (uint64_t i = 0; i < length / 3 && count < 190; i++) {
        uint64_t a = mix(seed + 2 * i) % length, b = mix(seed + 2 * i + 1) % length;
        moves[count][0] = a, moves[count++][1] = b;
        moves[count][0] = b, moves[count++][1] = a;
    }
    /* A swap that meets another would lose a record of this frame: use one commit for each. */
    for (size_t i = 0; i < count; i += 2) {
        size_t both = moves[i][0] == moves[i][1] ? 1 : 2;
        records_move(path, shown, (const uint64_t(*)[2])moves + i, both, length);
    }
}

/** Deletes a record by swap: the last one takes its place. */
static inline void records_delete(const char *path, struct shown *shown, uint64_t index)
{
    const uint64_t move[1][2] = {{shown->length - 1, index}};
    records_move(path, shown, move, index + 1 != shown->length, shown->length - 1);
}

/** The value at @p index must be that of @p record. */
static inline void expect_value_of(lx_dataset *dataset, int field, uint64_t index, uint64_t record)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t right[VALUE_MAX] = {0}, got[VALUE_MAX];
    uint64_t wanted = record_value(field, record, right), size;
    bool there;
    unit_ok(read_value(dataset, (size_t)field, index, got, &size, &there, &error));
    ck_assert_msg(there == (wanted != LX_NONE), "field %d, index %d: is it there?", field,
                  (int)index);
    ck_assert_msg(!there || (size == wanted && memcmp(got, right, size) == 0),
                  "field %d, index %d is wrong", field, (int)index);
}

static inline void expect_shown_by(lx_dataset *dataset, const struct shown *shown)
{
    ck_assert_uint_eq(lx_dataset_get_length(dataset), shown->length);
    for (uint64_t i = 0; i < shown->length; i++)
        for (int field = 0; field < FIELDS; field++)
            expect_value_of(dataset, field, i, shown->shown[i]);
}

/** The dataset at @p path must hold exactly these records, all valid. */
static inline void expect_shown(const char *path, const struct shown *shown)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    expect_shown_by(dataset, shown);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

/** Appends the next records, whose values are new. */
static inline void shown_append(struct shown *shown, lx_writer *writer, uint64_t first,
                                uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++) {
        unit_ok(record_append(writer, first + i, &error));
        shown->shown[shown->length++] = first + i;
    }
}

static inline uint64_t generation_of(const char *path)
{
    lx_dataset_identity identity;
    lx_dataset *dataset = open_dataset(path);
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    return identity.generation;
}

/** The number of names in a directory that contain @p part. */
static inline size_t names_with(const char *path, const char *part)
{
    struct dirent *entry;
    size_t count = 0;
    DIR *list = opendir(path);
    ck_assert_ptr_nonnull(list);
    while ((entry = readdir(list)) != NULL)
        count += strstr(entry->d_name, part) != NULL;
    closedir(list);
    return count;
}

#endif
