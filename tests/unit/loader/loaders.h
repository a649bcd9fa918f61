/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources with known records, and loaders over them, for the tests of the loader.
 */
#ifndef LX_TESTS_LOADERS_H
#define LX_TESTS_LOADERS_H

#include <loaderx/loaderx.h>

#include "../executor/workload.h"
#include "../../new-sources.h"

/** Byte @p k of record @p index, the same for all sources here. */
static inline uint8_t byte_of(uint64_t index, uint64_t k)
{
    uint64_t mixed = (index * 1000003 + k) * 0x9E3779B97F4A7C15u;
    return (uint8_t)(mixed >> 56);
}

/** Records of the columns "label", the index as a uint64, and "image", bytes of byte_of(). Set the
 * length, and other members that are not zero; it must exist until its source is freed. */
struct numbers {
    uint64_t length;
    uint64_t width; /* bytes an image */
    struct gate *gate;
    bool failing; /* records whose index is bad modulo bad_of, with this status */
    uint64_t bad, bad_of;
    uint64_t slow_ns; /* delay before the lowest of these fails */
    lx_status status;
    bool silent; /* the error is not filled in */
    const char *identity;
    atomic_uint fills, released;
};

static inline lx_status numbers_fill(const uint64_t *indices, size_t count,
                                     const lx_target *targets, void *user, lx_error *error)
{
    struct numbers *self = user;
    atomic_fetch_add(&self->fills, 1);
    if (self->gate != NULL)
        gate_pass(self->gate);
    for (size_t i = 0; i < count; i++) {
        if (self->failing && indices[i] % self->bad_of == self->bad) {
            if (indices[i] == self->bad && self->slow_ns != 0)
                nap(self->slow_ns);
            if (!self->silent) {
                error->status = self->status;
                error->record = indices[i];
                snprintf(error->message, sizeof error->message, "a bad record");
            }
            return self->status;
        }
        if (targets[0].data != NULL)
            memcpy((uint8_t *)targets[0].data + i * targets[0].stride, &indices[i], 8);
        uint8_t *image = targets[1].data;
        for (uint64_t k = 0; image != NULL && k < self->width; k++)
            image[i * targets[1].stride + k] = byte_of(indices[i], k);
    }
    return LX_OK;
}

static inline void numbers_release(void *user)
{
    atomic_fetch_add(&((struct numbers *)user)->released, 1);
}

static inline lx_source *numbers_source(struct numbers *numbers)
{
    static const source_functions functions = {.fill = numbers_fill, .release = numbers_release};
    const lx_column_info columns[2] = {
        {.name = "label", .dtype = LX_UINT64},
        {.name = "image", .dtype = LX_UINT8, .ndim = 1, .shape = &numbers->width}};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_ok(new_source(&functions, numbers, numbers->length, columns, 2, numbers->identity, &source,
                       &error));
    return source;
}

/** Options of a loader: zero is the default, except that there are no threads. */
struct setup {
    uint64_t batch_size, world, rank;
    uint64_t epochs; /* 0: one */
    uint64_t first_epoch;
    bool endless, drop_last, uneven, pad_last;
    uint64_t skipped[2][2]; /* ranges of positions; the end is 0: none */
    uint32_t threads;
    lx_order *order;
    lx_executor *executor; /* instead of threads */
    uint64_t prefetch_bytes;
    lx_transform_function transform;
    void *user;
    const char *const *fields;
    size_t field_count;
    lx_damage_policy damage;
    lx_missing_policy missing;
};

static inline lx_loader_options *make_options(struct setup setup)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader_options *options = lx_loader_options_new();
    ck_assert_ptr_nonnull(options);
    if (setup.batch_size != 0)
        unit_ok(lx_loader_options_set_batch_size(options, setup.batch_size, &error));
    if (setup.world != 0)
        unit_ok(lx_loader_options_set_rank(options, setup.rank, setup.world, &error));
    if (setup.endless || setup.epochs != 0)
        unit_ok(lx_loader_options_set_epoch_count(options, setup.epochs, &error));
    unit_ok(lx_loader_options_set_first_epoch(options, setup.first_epoch, &error));
    unit_ok(lx_loader_options_set_drop_last(options, setup.drop_last, &error));
    unit_ok(lx_loader_options_set_uneven(options, setup.uneven, &error));
    unit_ok(lx_loader_options_set_pad_last(options, setup.pad_last, &error));
    for (int i = 0; i < 2; i++)
        if (setup.skipped[i][1] != 0)
            unit_ok(lx_loader_options_add_skipped(options, setup.skipped[i][0], setup.skipped[i][1],
                                                  &error));
    if (setup.executor != NULL)
        unit_ok(lx_loader_options_set_executor(options, setup.executor, &error));
    else
        unit_ok(lx_loader_options_set_reader_count(options, setup.threads, &error));
    unit_ok(lx_loader_options_set_order(options, setup.order, &error));
    if (setup.prefetch_bytes != 0)
        unit_ok(lx_loader_options_set_prefetch_bytes(options, setup.prefetch_bytes, &error));
    unit_ok(lx_loader_options_set_transform(options, setup.transform, setup.user, &error));
    unit_ok(lx_loader_options_set_columns(options, setup.fields, setup.field_count, &error));
    unit_ok(lx_loader_options_set_damage_policy(options, setup.damage, &error));
    unit_ok(lx_loader_options_set_missing(options, NULL, setup.missing, &error));
    return options;
}

static inline lx_loader *open_loader(lx_source *source, struct setup setup)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_loader_options *options = make_options(setup);
    unit_ok(lx_loader_open(source, options, &loader, &error));
    lx_loader_options_free(options);
    return loader;
}

/** A loader over numbers; it takes over the reference to the source. */
static inline lx_loader *open_numbers(struct numbers *numbers, struct setup setup)
{
    lx_source *source = numbers_source(numbers);
    lx_loader *loader = open_loader(source, setup);
    lx_source_unref(source);
    return loader;
}

/** The next batch, which must exist; NULL at the end. */
static inline lx_batch *next_batch(lx_loader *loader)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    lx_status status = lx_loader_next(loader, &batch, &error);
    if (status == LX_END) {
        ck_assert_ptr_null(batch);
        return NULL;
    }
    unit_ok(status);
    ck_assert_ptr_nonnull(batch);
    return batch;
}

/** Checks every column of the batch against its indices. */
static inline void check_numbers(const lx_batch *batch)
{
    uint64_t rows = lx_batch_get_row_count(batch);
    const uint64_t *indices = lx_batch_get_indices(batch);
    const lx_column *label = lx_batch_find_column(batch, "label");
    const lx_column *image = lx_batch_find_column(batch, "image");
    if (label != NULL) {
        ck_assert_uint_eq(label->rows, rows);
        ck_assert_uint_eq(label->size, 8);
        ck_assert_mem_eq(label->data, indices, rows * 8);
    }
    for (uint64_t i = 0; image != NULL && i < rows; i++)
        for (uint64_t k = 0; k < image->size; k++)
            if (((const uint8_t *)image->data)[i * image->size + k] != byte_of(indices[i], k))
                ck_abort_msg("byte %d of row %d is wrong", (int)k, (int)i);
}

/** A digest of a batch: FNV-1a over position, rows, indices and columns. */
static inline uint64_t add_digest(uint64_t digest, const lx_batch *batch)
{
    uint64_t rows = lx_batch_get_row_count(batch);
    const uint64_t head[2] = {lx_batch_get_position(batch), rows};
    for (size_t i = 0; i < 2 + lx_batch_get_column_count(batch); i++) {
        const lx_column *column = i < 2 ? NULL : lx_batch_get_column(batch, i - 2);
        const uint8_t *bytes = i == 0   ? (const uint8_t *)head
                               : i == 1 ? (const uint8_t *)lx_batch_get_indices(batch)
                                        : column->data;
        uint64_t size = i == 0 ? sizeof head : i == 1 ? rows * 8 : rows * column->size;
        for (uint64_t k = 0; k < size; k++)
            digest = (digest ^ bytes[k]) * 0x100000001B3u;
    }
    return digest;
}

/** Counts the batches of a loader's rank in an epoch. */
static inline uint64_t batches_per_epoch(const lx_loader *loader)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t count;
    unit_ok(lx_loader_get_batch_count(loader, &count, &error));
    return count;
}

#endif
