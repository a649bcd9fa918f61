/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset whose records are all changed by each commit, with handmade frames.
 *
 * It has the fields "a" and "b" of inline numbers. In version v, record i has v * CHANGER_STEP + i
 * in "a", and the complement of that in "b": a reader of both detects whether they are of one
 * snapshot.
 */
#ifndef LX_TESTS_CHANGER_H
#define LX_TESTS_CHANGER_H

#include "frames.h"
#include "records.h"
#include "zrecord/format/meta.h"

#define CHANGER_STEP 1000000u

struct changer {
    const char *path;
    int file; /* LOG */
    struct log log;
    lx__entry_rules rules[2];
    uint64_t rows;    /* in the tables */
    uint64_t length;  /* records */
    uint64_t version; /* of the last commit */
};

static inline uint64_t changer_value(uint64_t version, int field, uint64_t index)
{
    uint64_t value = version * CHANGER_STEP + index;
    return field == 0 ? value : ~value;
}

/** Makes the dataset, in version 0. */
static inline void changer_create(const char *path, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "a", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "b", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < length; i++) {
        uint64_t numbers[] = {changer_value(0, 0, i), changer_value(0, 1, i)};
        const lx_value values[] = {{&numbers[0], 8}, {&numbers[1], 8}};
        unit_ok(lx_writer_append(writer, values, sizeof values / sizeof *values, NULL, &error));
    }
    unit_ok(lx_writer_seal(writer, &error));
    unit_ok(lx_writer_close(writer, &error));
    records_unseal(path);
}

/** Makes it, and opens it to be changed. */
static inline struct changer changer_new(const char *path, uint64_t length)
{
    struct changer changer = {.path = path, .rows = length, .length = length};
    lx_dataset_identity identity;
    changer_create(path, length);
    lx_dataset *dataset = open_dataset(path);
    lx_dataset_get_identity(dataset, &identity);
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    changer.log = (struct log){.identity = identity_of(identity.uuid),
                               .sequence = identity.sequence + 1,
                               .crc = identity.checksum};
    for (size_t i = 0; i < 2; i++)
        changer.rules[i] = lx__field_rules(lx__schema_field(schema, i), changer.log.identity.uuid);
    lx_dataset_close(dataset);
    changer.log.bytes = file_bytes(in(path, "LOG"), &changer.log.size);
    changer.file = open(in(path, "LOG"), O_RDWR | O_CLOEXEC);
    ck_assert_int_ne(changer.file, -1);
    return changer;
}

static inline void changer_free(struct changer *changer)
{
    close(changer->file);
    log_free(&changer->log);
}

/** Adds a frame to the log, which is a commit. */
static inline void changer_add(struct changer *changer, const struct frame *frame)
{
    size_t at = changer->log.size;
    log_add(&changer->log, frame);
    ssize_t size = (ssize_t)(changer->log.size - at);
    ck_assert_int_eq(pwrite(changer->file, changer->log.bytes + at, (size_t)size, (off_t)at), size);
    changer->length = frame->length;
    changer->rows = frame->rows;
}

/** The update that gives a record its value of that version. */
static inline lx__update_item changer_update(const struct changer *changer, uint64_t version,
                                             int field, uint64_t index)
{
    lx__update_item item = {.field = changer->rules[field].field,
                            .index = index,
                            .entry = {.chunk = LX__CHUNK_INLINE,
                                      .physical = 8,
                                      .logical = 8,
                                      .offset = changer_value(version, field, index)}};
    lx__entry_complete_inline(&item.entry, &changer->rules[field]);
    item.entry.crc ^= lx__index_crc(index);
    return item;
}

/** Commits the next version of all records, and the new @p length. */
static inline void changer_commit(struct changer *changer, uint64_t length)
{
    lx__update_item *updates = malloc((size_t)length * 2 * sizeof *updates);
    changer->version++;
    for (uint64_t i = 0; i < length; i++)
        for (int field = 0; field < 2; field++)
            updates[2 * i + (uint64_t)field] = changer_update(changer, changer->version, field, i);
    changer_add(changer, &(struct frame){.length = length,
                                         .rows = changer->rows,
                                         .flags = SYNCED,
                                         .updates = updates,
                                         .update_count = (uint32_t)length * 2});
    free(updates);
}

/** Both values of a record, from one handle that must show one snapshot; returns their version. */
static inline uint64_t changer_read(lx_dataset *dataset, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t a, b;
    unit_ok(lx_dataset_gather(dataset, 0, &index, 1, &a, 8, &error));
    unit_ok(lx_dataset_gather(dataset, 1, &index, 1, &b, 8, &error));
    ck_assert_msg(a == ~b && a % CHANGER_STEP == index, "record %d: %lu and %lu", (int)index,
                  (unsigned long)a, (unsigned long)~b);
    return a / CHANGER_STEP;
}

static inline lx_dataset *open_live(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_live(options, true, &error));
    unit_ok(lx_dataset_open(path, options, &dataset, &error));
    lx_dataset_options_free(options);
    return dataset;
}

/** Opens it with the defaults: values are verified once. */
static inline lx_dataset *open_first(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(lx_dataset_open(path, NULL, &dataset, &error));
    return dataset;
}

#endif
