/* SPDX-License-Identifier: MIT */
/* Outputs of maps that vary in size, like an input: lib/loader/sources/source-map.c. */
#include <loaderx/map.h>

#include "loader/sources/source-options.h"

#include "../../sampler/orders.h"
#include "../../scarce.h"
#include "../../scratch.h"
#include "../loaders.h"

/** A note has rows of three numbers. */
#define ROW 3

static const uint64_t note_shape[] = {LX_NONE, ROW};
static const char *const both[] = {"note", "text"};
static const lx_column_info outputs_of_map[] = {
    {.name = "seen", .dtype = LX_UINT64},
    {.name = "note", .dtype = LX_UINT16, .ndim = 2, .shape = note_shape}};

/* What records have: notes of up to 10 rows, some of which are missing, as are some texts. */

static uint64_t rows_of(uint64_t index)
{
    return byte_of(index, 1) % 11;
}

static bool has_note(uint64_t index)
{
    return index % 5 != 4;
}

static bool has_both(uint64_t index)
{
    return has_note(index) && index % 7 != 3;
}

/** Number @p k of a note. */
static uint16_t number_of(uint64_t index, uint64_t k)
{
    return (uint16_t)(index * 31 + k);
}

/** What the function of the map adds to the numbers of a note. */
static uint16_t change_of(uint64_t position, uint64_t epoch)
{
    return (uint16_t)(position * 7 + epoch * 1000);
}

static lx_status change(const lx_samples *samples, const lx_column *inputs,
                        const lx_target *outputs, void *worker, void *user, lx_error *error)
{
    const lx_column *note = &inputs[0];
    const uint64_t *bad = user;
    (void)worker;
    for (size_t i = 0; i < samples->count; i++) {
        ck_assert(has_both(samples->indices[i]));
        if (bad != NULL && samples->indices[i] == *bad) {
            lx_status status = lx_fail(error, LX_ERR_CORRUPT, "a bad note");
            lx_error_locate(error, NULL, "note", *bad, LX_NONE);
            return status;
        }
        if (outputs[0].data != NULL) {
            ck_assert_ptr_null(outputs[1].data);
            memcpy((uint8_t *)outputs[0].data + i * outputs[0].stride, &samples->positions[i], 8);
            continue;
        }
        uint16_t by = change_of(samples->positions[i], samples->epoch);
        for (uint64_t at = note->offsets[i]; at < note->offsets[i + 1]; at += 2) {
            uint16_t number;
            memcpy(&number, (uint8_t *)note->data + at, 2);
            number = (uint16_t)(number + by);
            memcpy((uint8_t *)outputs[1].data + at, &number, 2);
        }
    }
    return LX_OK;
}

/** Writes the dataset "d". */
static void write_notes(uint64_t length, bool missing)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(
        lx_schema_add_field(schema, "note", LX_UINT16, note_shape, 2, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < length; i++) {
        uint16_t note[10 * ROW];
        for (uint64_t k = 0; k < rows_of(i) * ROW; k++)
            note[k] = number_of(i, k);
        const lx_value values[] = {{note, missing && !has_note(i) ? LX_NONE : rows_of(i) * ROW * 2},
                                   {"x", missing && has_note(i) && !has_both(i) ? LX_NONE : 1}};
        unit_ok(lx_writer_append(writer, values, 2, NULL, &error));
    }
    unit_ok(lx_writer_close(writer, &error));
}

static lx_source *open_notes(const uint64_t *bad)
{
    lx_source_options options = {.map = change, .user = (void *)bad};
    lx_error error = LX_ERROR_INIT;
    lx_source *part, *source;
    unit_ok(lx_source_open("d", NULL, &part, &error));
    unit_ok(lx_source_new_map(part, both, 2, outputs_of_map, 2, &options, &source, &error));
    lx_source_unref(part);
    return source;
}

static void check_note(const uint8_t *data, uint64_t size, uint64_t index, uint64_t position,
                       uint64_t epoch)
{
    ck_assert_uint_eq(size, has_both(index) ? rows_of(index) * ROW * 2 : 0);
    for (uint64_t k = 0; k < size / 2; k++) {
        uint16_t number;
        memcpy(&number, data + 2 * k, 2);
        ck_assert_uint_eq(number, (uint16_t)(number_of(index, k) + change_of(position, epoch)));
    }
}

/** Checks the batches of a loader up to @p limit samples; @p order has the indices of all
 * positions. Returns the number of samples. */
static uint64_t check_loader(lx_loader *loader, uint64_t length, const uint64_t *order,
                             uint64_t world, uint64_t rank, uint64_t limit)
{
    uint64_t count = 0;
    for (lx_batch *batch; count < limit && (batch = next_batch(loader)) != NULL;) {
        const lx_column *note = lx_batch_find_column(batch, "note");
        const uint8_t *present = lx_batch_get_present(batch, 1);
        uint64_t epoch = lx_batch_get_epoch(batch), first = lx_batch_get_position(batch);
        uint64_t offset = first - epoch * length;
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, count++) {
            uint64_t index = lx_batch_get_indices(batch)[i];
            uint64_t position = epoch * length + (offset + world - 1 - rank) / world * world +
                                rank + i * world;
            ck_assert_uint_eq(order[position], index);
            ck_assert(present == NULL ? has_both(index) : present[i] == has_both(index));
            check_note((uint8_t *)note->data + note->offsets[i],
                       note->offsets[i + 1] - note->offsets[i], index, position, epoch);
        }
        lx_batch_unref(batch);
    }
    return count;
}

/* Whichever ranks, threads and batches there are, and after a resume. */
START_TEST(values_depend_on_their_places_alone)
{
    enum { LENGTH = 211 };
    static uint64_t indices[2 * LENGTH];
    char state[65536], *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("shuffle", LENGTH, 9, 0);
    lx_sampler *sampler;
    uint64_t taken;
    write_notes(LENGTH, true);
    lx_source *source = open_notes(NULL);
    unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
    unit_ok(lx_sampler_take(sampler, 2 * LENGTH, indices, &taken, &error));
    lx_sampler_free(sampler);
    for (uint64_t world = 1; world <= 3; world++) {
        uint64_t count = 0;
        for (uint64_t rank = 0; rank < world; rank++) {
            struct setup setup = {.batch_size = 6 + world,
                                  .world = world,
                                  .rank = rank,
                                  .epochs = 2,
                                  .threads = (uint32_t)world - 1,
                                  .uneven = true,
                                  .missing = LX_MISSING_MASK,
                                  .order = order};
            lx_loader *loader = open_loader(source, setup);
            count += check_loader(loader, LENGTH, indices, world, rank, 20);
            unit_ok(lx_loader_save(loader, state, sizeof state, NULL, &error));
            lx_loader_close(loader);
            loader = open_loader(source, setup);
            unit_ok(lx_loader_restore(loader, state, &error));
            count += check_loader(loader, LENGTH, indices, world, rank, UINT64_MAX);
            lx_loader_close(loader);
        }
        ck_assert_uint_eq(count, 2 * LENGTH);
    }
    lx_order_unref(order);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/* A concatenation of subsets of zips of maps; more records than are marked at a time. */
START_TEST(places_pass_through_other_sources)
{
    enum { LENGTH = 700, PARTS = 3, COUNT = LENGTH * PARTS, NOTE = 1 };
    static uint64_t table[LENGTH], indices[COUNT], positions[COUNT], offsets[COUNT + 1];
    static uint8_t out[COUNT * 10 * ROW * 2];
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *parts[PARTS], *all;
    write_notes(LENGTH, true);
    for (uint64_t i = 0; i < LENGTH; i++)
        table[i] = LENGTH - 1 - i;
    for (size_t i = 0; i < PARTS; i++) {
        lx_source *map = open_notes(NULL), *zip;
        unit_ok(lx_source_new_zip(&map, NULL, 1, &zip, &error));
        unit_ok(lx_source_new_subset(zip, table, LENGTH, &parts[i], &error));
        lx_source_unref(map);
        lx_source_unref(zip);
    }
    unit_ok(lx_source_new_concat(parts, PARTS, &all, &error));
    for (uint64_t i = 0; i < COUNT; i++) {
        indices[i] = i < COUNT / 2 ? i : i * 1009 % COUNT; /* runs of a part, then scattered */
        positions[i] = 5 * COUNT + i;
    }
    const lx_samples samples = {
        .count = COUNT, .indices = indices, .positions = positions, .epoch = 5};
    unit_ok(lx_source_get_sizes(all, NOTE, indices, COUNT, offsets, &error));
    unit_ok(lx_source_fill_sample_bytes(all, NOTE, &samples, offsets, out, &error));
    for (uint64_t i = 0; i < COUNT; i++)
        check_note(out + offsets[i], offsets[i + 1] - offsets[i], LENGTH - 1 - indices[i] % LENGTH,
                   positions[i], 5);
    unit_ok(lx_source_fill_bytes(all, NOTE, indices, COUNT, offsets, out, &error));
    for (uint64_t i = 0; i < COUNT; i++) /* there is no order */
        check_note(out + offsets[i], offsets[i + 1] - offsets[i], LENGTH - 1 - indices[i] % LENGTH,
                   indices[i], 0);
    lx_source_unref(all);
    for (size_t i = 0; i < PARTS; i++)
        lx_source_unref(parts[i]);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_damaged_value_is_empty)
{
    enum { LENGTH = 60, BAD = 12 };
    static const uint64_t bad = BAD;
    char *scratch = scratch_make();
    write_notes(LENGTH, true);
    lx_source *source = open_notes(&bad);
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        struct setup setup = {.batch_size = 16,
                              .threads = threads,
                              .damage = LX_DAMAGE_ZEROS,
                              .missing = LX_MISSING_MASK};
        lx_loader *loader = open_loader(source, setup);
        uint64_t index = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            const lx_column *note = lx_batch_find_column(batch, "note");
            for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, index++) {
                uint64_t size = note->offsets[i + 1] - note->offsets[i];
                if (index == BAD)
                    ck_assert_uint_eq(size, 0);
                else
                    check_note((uint8_t *)note->data + note->offsets[i], size, index, index, 0);
            }
        }
        ck_assert_uint_eq(index, LENGTH);
        lx_loader_close(loader);
    }
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_size_that_changed_is_an_error)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    const uint64_t present = 1, missing = 4, offsets[] = {0, 66};
    uint8_t out[66];
    write_notes(10, true);
    ck_assert_uint_ne(rows_of(1) * ROW * 2, 66);
    lx_source *source = open_notes(NULL);
    unit_fails(lx_source_fill_bytes(source, 1, &present, 1, offsets, out, &error), LX_ERR_MISMATCH);
    unit_fails(lx_source_fill_bytes(source, 1, &missing, 1, offsets, out, &error), LX_ERR_MISMATCH);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/* Only the name, the dtype and the shape of an input that varies in size will do. */
START_TEST(other_outputs_must_have_a_fixed_size)
{
    static const uint64_t wide[] = {LX_NONE, ROW + 1};
    static const lx_column_info others[] = {
        {.name = "notes", .dtype = LX_UINT16, .ndim = 2, .shape = note_shape},
        {.name = "note", .dtype = LX_INT16, .ndim = 2, .shape = note_shape},
        {.name = "note", .dtype = LX_UINT16, .ndim = 1, .shape = note_shape},
        {.name = "note", .dtype = LX_UINT16, .ndim = 2, .shape = wide},
        {.name = "note", .dtype = LX_BYTES}};
    lx_source_options options = {.map = change};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *part, *source;
    write_notes(3, false);
    unit_ok(lx_source_open("d", NULL, &part, &error));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_int_eq(lx_source_new_map(part, both, 2, &others[i], 1, &options, &source, &error),
                         LX_ERR_ARGUMENT);
        ck_assert_str_eq(error.field, others[i].name);
        lx_error_clear(&error);
    }
    lx_source_unref(part);
    scratch_remove(scratch);
}
END_TEST

START_TEST(survives_failing_allocations)
{
    const uint64_t index = 1;
    uint64_t offsets[2];
    uint8_t out[10 * ROW * 2];
    lx_error error = LX_ERROR_INIT;
    lx_status status = LX_ERR_NOMEM;
    char *scratch = scratch_make();
    lx_source *part, *source;
    write_notes(3, false);
    unit_ok(lx_source_open("d", NULL, &part, &error));
    for (int left = 0; status != LX_OK; left++) {
        lx_source_options options = {.map = change};
        lx_error_clear(&error);
        scarce_begin(left);
        status = lx_source_new_map(part, both, 2, outputs_of_map, 2, &options, &source, &error);
        if (status == LX_OK)
            status = lx_source_get_sizes(source, 1, &index, 1, offsets, &error);
        if (status == LX_OK)
            status = lx_source_fill_bytes(source, 1, &index, 1, offsets, out, &error);
        lx_source_unref(source);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    lx_source_unref(part);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/sources/map-varying", values_depend_on_their_places_alone,
          places_pass_through_other_sources, a_damaged_value_is_empty,
          a_size_that_changed_is_an_error, other_outputs_must_have_a_fixed_size,
          survives_failing_allocations)
