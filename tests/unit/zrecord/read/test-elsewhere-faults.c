/* SPDX-License-Identifier: MIT */
/* Bytes from a provider that are wrong are fetched once more before they count as damage, and a
 * failure to fetch them never counts as damage. */
#include <limits.h>

#include <loaderx/maintenance.h>

#include "../../scarce.h"
#include "../placed.h"
#include "../provider.h"
#include "../texts.h"

#define RECORDS 300
/* A wave that is stored in a chunk. */
#define INDEX 7

static lx_dataset *open_far(struct elsewhere *place, lx_damage_policy damage)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    elsewhere_begin(place);
    unit_ok(lx_dataset_options_set_damage_policy(options, damage, &error));
    unit_ok(elsewhere_dataset(place, "d", options, &dataset, &error));
    lx_dataset_options_free(options);
    return dataset;
}

static uint64_t damages(lx_dataset *dataset)
{
    lx_dataset_stats stats;
    lx_dataset_get_stats(dataset, &stats);
    return stats.damaged;
}

/** Flips a bit of what is read at @p offset of a file; @p heals: renewing it repairs it. */
static void flip(struct elsewhere *place, const char *file, uint64_t offset, bool heals)
{
    place->victim = file;
    place->flipped = offset;
    place->heals = heals;
    place->renewals = 0;
}

static uint64_t payload_offset(lx_dataset *dataset)
{
    lx__value_reader reader = lx__value_reader_of(dataset->snapshot);
    lx__value value;
    ck_assert_int_eq(lx__value_find(&reader, WAVE, INDEX, &value, NULL), LX_OK);
    ck_assert_ptr_nonnull(value.extent.chunk);
    lx__value_reader_end(&reader);
    return value.extent.offset;
}

enum way { ONE, MANY, SIZES, BYTES, VIEW, PART, PROBE, VERIFY, DIGEST, WAYS };

/** Reads the wave in one way. */
static lx_status read_wave(lx_dataset *dataset, enum way way, lx_error *error)
{
    uint64_t indices[64], offsets[65], digest, read;
    static uint8_t out[64 * 64];
    uint8_t damaged = 0, right[VALUE_MAX];
    size_t count = way == ONE ? 1 : 64, wave = WAVE;
    lx_slice slices[64];
    lx_view *view;
    for (uint64_t i = 0; i < 64; i++)
        indices[i] = (INDEX + 3 * i) % RECORDS;
    record_value(WAVE, INDEX, right);
    lx_status status;
    switch (way) {
    case ONE:
    case MANY:
        status = lx_dataset_gather(dataset, WAVE, indices, count, out, 64, error);
        if (status == LX_OK && damages(dataset) == 0)
            ck_assert_mem_eq(out, right, 64);
        return status;
    case SIZES:
        return lx_dataset_get_sizes(dataset, WAVE, indices, 64, offsets, NULL, error);
    case BYTES:
        for (uint64_t i = 0; i <= 64; i++)
            offsets[i] = 64 * i;
        return lx_dataset_gather_bytes(dataset, WAVE, indices, 64, offsets, out, error);
    case VIEW:
        status = lx_dataset_view(dataset, IMAGE, indices, 64, slices, &view, error);
        if (status == LX_OK)
            lx_view_free(view);
        return status;
    case PART:
        return lx_dataset_read_part(dataset, WAVE, INDEX, 0, 16, out, &read, error);
    case PROBE:
        status = lx_dataset_probe(dataset, &wave, 1, indices, 1, &damaged, error);
        return status == LX_OK && damaged ? LX_ERR_CORRUPT : status;
    case VERIFY:
        return lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, error);
    default:
        return lx_dataset_digest(dataset, NULL, NULL, &digest, error);
    }
}

START_TEST(wrong_bytes_are_fetched_again)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", RECORDS);
    for (enum way way = ONE; way < WAYS; way++) {
        struct elsewhere place;
        lx_dataset *dataset = open_far(&place, LX_DAMAGE_RAISE);
        const struct {
            const char *file;
            uint64_t offset;
        } places[] = {{"chunk/0.zr", payload_offset(dataset) + 5},
                      {"wave.offset", INDEX * LX__OFFSET_ROW + 9},
                      {"wave.offset", INDEX * LX__OFFSET_ROW},
                      {"wave.check", INDEX * LX__CHECK_ROW + 5}};
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            flip(&place, places[i].file, places[i].offset, true);
            unit_ok(read_wave(dataset, way, &error));
            ck_assert_int_eq(error.status, LX_OK);
        }
        ck_assert_uint_eq(damages(dataset), 0);
        lx_dataset_close(dataset);
        elsewhere_end(&place);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(bytes_that_stay_wrong_are_damage)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    for (enum way way = ONE; way < WAYS; way++) {
        struct elsewhere place;
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset = open_far(&place, LX_DAMAGE_RAISE);
        flip(&place, "chunk/0.zr", payload_offset(dataset) + 5, false);
        bool reads = way != SIZES && way != VIEW; /* the sizes, and another field */
        ck_assert_int_eq(read_wave(dataset, way, &error), reads ? LX_ERR_CORRUPT : LX_OK);
        ck_assert(!reads || place.renewals >= 3); /* two rows and the payload */
        if (reads && way != PROBE) {
            ck_assert_str_eq(error.field, "wave");
            ck_assert_uint_eq(error.record, INDEX);
            ck_assert_msg(strstr(error.path, "test:/d/chunk/0.zr") != NULL, "%s", error.path);
        }
        ck_assert_uint_eq(damages(dataset), reads && way < PROBE);
        lx_dataset_close(dataset);
        elsewhere_end(&place);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(damage_reads_as_zeros_and_leaves_no_error)
{
    char *scratch = scratch_make();
    struct elsewhere place;
    lx_error error = LX_ERROR_INIT;
    uint8_t out[64], zeros[64] = {0};
    uint64_t index = INDEX, read;
    records_make_sealed("d", RECORDS);
    lx_dataset *dataset = open_far(&place, LX_DAMAGE_ZEROS);
    flip(&place, "chunk/0.zr", payload_offset(dataset) + 5, false);
    unit_ok(lx_dataset_gather(dataset, WAVE, &index, 1, out, 64, &error));
    ck_assert_mem_eq(out, zeros, 64);
    unit_ok(lx_dataset_read_part(dataset, WAVE, INDEX, 0, 16, out, &read, &error));
    ck_assert_uint_eq(read, LX_NONE);
    ck_assert_uint_eq(damages(dataset), 2);
    ck_assert_int_eq(error.status, LX_OK);
    lx_dataset_close(dataset);
    elsewhere_end(&place);
    scratch_remove(scratch);
}
END_TEST

START_TEST(verified_values_are_verified_again)
{
    char *scratch = scratch_make();
    struct elsewhere place;
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", RECORDS);
    lx_dataset *dataset = open_far(&place, LX_DAMAGE_RAISE);
    unit_ok(read_wave(dataset, ONE, &error));
    flip(&place, "chunk/0.zr", payload_offset(dataset) + 5, false);
    unit_fails(read_wave(dataset, ONE, &error), LX_ERR_CORRUPT);
    lx_dataset_close(dataset);
    elsewhere_end(&place);
    scratch_remove(scratch);
}
END_TEST

START_TEST(failures_are_never_damage)
{
    static const lx_status failures[] = {LX_ERR_IO, LX_ERR_CANCELED, LX_ERR_UNSUPPORTED};
    static const char *const victims[] = {"chunk/0.zr", "wave.offset", "wave.check"};
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    for (enum way way = ONE; way < WAYS; way++) {
        for (int i = 0; i < 9; i++) {
            struct elsewhere place;
            lx_error error = LX_ERROR_INIT;
            lx_dataset *dataset = open_far(&place, LX_DAMAGE_ZEROS);
            place.fails = failures[i % 3];
            place.victim = victims[i / 3];
            lx_status status = read_wave(dataset, way, &error);
            if (way == VIEW && i / 3 != 0) { /* it reads another field */
                ck_assert_int_eq(status, LX_OK);
            } else {
                ck_assert_msg(strstr(error.message, "no answer from test://d/") != NULL,
                              "way %d, %s: %s", way, victims[i / 3], error.message);
                ck_assert_int_eq(status, failures[i % 3]);
                ck_assert_int_eq(error.status, failures[i % 3]);
                ck_assert_str_eq(error.field,
                                 way == VIEW || (way >= VERIFY && i < 3) ? "image" : "wave");
                /* The provider was patient for long enough. Other jobs may still be trying. */
                ck_assert_msg(way >= VERIFY || place.failures == 1, "way %d, %s: %u", way,
                              victims[i / 3], place.failures);
            }
            ck_assert_uint_eq(damages(dataset), 0);
            ck_assert_uint_eq(place.renewals, 0);
            lx_dataset_close(dataset);
            elsewhere_end(&place);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(missing_files_are_damage_of_the_dataset)
{
    char *scratch = scratch_make();
    struct elsewhere place;
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", RECORDS);
    lx_dataset *dataset = open_far(&place, LX_DAMAGE_RAISE);
    place.fails = LX_ERR_NOT_FOUND;
    place.victim = "chunk/0.zr";
    unit_fails(read_wave(dataset, MANY, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(damages(dataset), 1);
    lx_dataset_close(dataset);
    elsewhere_end(&place);
    scratch_remove(scratch);
}
END_TEST

START_TEST(wrong_files_are_fetched_again)
{
    static const char *const victims[] = {"meta.json", "LOG", "text.dict"};
    if (!WITH_ZSTD) /* the dictionary is one of zstd */
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = texts_create("d", NULL, 0, 2048);
    texts_append(writer, 0, 2000);
    commit(writer);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    ck_assert(file_exists("d/text.dict"));
    for (size_t i = 0; i < 3; i++) {
        struct elsewhere place;
        lx_dataset *dataset;
        elsewhere_begin(&place);
        flip(&place, victims[i], 100, true);
        unit_ok(elsewhere_dataset(&place, "d", NULL, &dataset, &error));
        texts_expect(dataset, 2000);
        ck_assert_uint_eq(place.renewals, 1);
        lx_dataset_close(dataset);
        elsewhere_end(&place);

        elsewhere_begin(&place);
        flip(&place, victims[i], 100, false);
        dataset = NULL;
        lx_status status = elsewhere_dataset(&place, "d", NULL, &dataset, &error);
        ck_assert_int_eq(status, i < 2 ? LX_ERR_CORRUPT : LX_OK);
        ck_assert_int_eq(error.status, status);
        lx_error_clear(&error);
        lx_dataset_close(dataset);
        elsewhere_end(&place);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(running_out_of_memory_leaves_nothing_open)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    scarce_begin(INT_MAX);
    for (int allocations = 0;; allocations++) {
        struct elsewhere place;
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset;
        elsewhere_begin(&place);
        scarce_left = INT_MAX;
        lx__file directory = elsewhere_directory(&place, "d");
        scarce_left = allocations;
        lx_status status = lx__dataset_open_in(&directory, NULL, &dataset, &error);
        if (status == LX_OK)
            status = read_wave(dataset, MANY, &error);
        scarce_left = INT_MAX;
        lx_dataset_close(dataset);
        elsewhere_end(&place);
        if (status == LX_OK)
            break;
        ck_assert_int_eq(status, LX_ERR_NOMEM);
        ck_assert_int_eq(error.status, LX_ERR_NOMEM);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/read/elsewhere-faults", wrong_bytes_are_fetched_again,
          bytes_that_stay_wrong_are_damage, damage_reads_as_zeros_and_leaves_no_error,
          verified_values_are_verified_again, failures_are_never_damage,
          missing_files_are_damage_of_the_dataset, wrong_files_are_fetched_again,
          running_out_of_memory_leaves_nothing_open)
