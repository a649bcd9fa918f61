/* SPDX-License-Identifier: MIT */
/* Copies of payloads to new chunks: doc/zrecord-format.md, 7.1, 7.3 and 11.4. */
#include "../change.h"
#include "zrecord/write/install.h"

/** Bytes that no other value has. */
static uint8_t *make_bytes(uint64_t size, uint64_t seed)
{
    uint8_t *bytes = malloc(size);
    for (uint64_t i = 0; i + 8 <= size; i += 8) {
        uint64_t random = mix(seed + i);
        memcpy(bytes + i, &random, 8);
    }
    memset(bytes + size / 8 * 8, 0x5a, size % 8);
    return bytes;
}

/** A dataset of one field of bytes, with values of these sizes. */
static void make_sizes(const char *path, const uint64_t *sizes, size_t count, uint64_t limit)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 1000, limit, &error));
    unit_ok(lx_schema_add_field(schema, "blob", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, options, &writer, &error));
    for (size_t i = 0; i < count; i++) {
        uint8_t *bytes = make_bytes(sizes[i], i);
        unit_ok(lx_writer_append(writer, &(lx_value){bytes, sizes[i]}, 1, NULL, &error));
        free(bytes);
    }
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    unit_ok(lx_dataset_unseal(path, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
}

static void expect_sizes(const char *path, const uint64_t *sizes, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t offsets[2];
        uint8_t *right = make_bytes(sizes[i], i), *got = malloc(sizes[i] + 1);
        unit_ok(lx_dataset_get_sizes(dataset, 0, &i, 1, offsets, NULL, &error));
        ck_assert_uint_eq(offsets[1], sizes[i]);
        unit_ok(lx_dataset_gather_bytes(dataset, 0, &i, 1, offsets, got, &error));
        ck_assert_msg(memcmp(got, right, sizes[i]) == 0, "value %d", (int)i);
        free(right);
        free(got);
    }
    lx_dataset_close(dataset);
}

static const uint64_t sizes[] = {100,     3000000, 1048576, 1048577, 8192,    9,       7,
                                 0,       5000000, 1048575, 12,      9000000, 8388608, 1,
                                 8388609, 400000,  400001,  1000000, 64};
#define COUNT (sizeof sizes / sizeof *sizes)

START_TEST(moves_payloads_of_all_sizes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    /* The second holds some of them only in chunks of their own. */
    static const uint64_t limits[] = {1 << 30, 4 << 20};
    for (size_t i = 0; i < 2; i++) {
        char path[] = {(char)('a' + i), '\0'};
        make_sizes(path, sizes, COUNT, limits[i]);
        lx_writer *writer = records_reopen(path, NULL);
        uint64_t reversed[COUNT];
        for (size_t k = 0; k < COUNT; k++)
            reversed[k] = sizes[COUNT - 1 - k];
        unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
        expect_sizes(path, sizes, COUNT);
        /* And again, with each value in another place. */
        for (uint64_t k = 0; k < COUNT; k++) {
            uint8_t *bytes = make_bytes(reversed[k], k);
            size_t field = 0;
            unit_ok(
                lx_writer_modify(writer, k, &field, &(lx_value){bytes, reversed[k]}, 1, &error));
            free(bytes);
        }
        lx_rebalance_result result;
        unit_ok(lx_writer_rebalance(writer, NULL, NULL, &result, &error));
        close_writer(writer);
        expect_sizes(path, reversed, COUNT);
        ck_assert_double_lt(result.live_ratio_before, .6);
        ck_assert_double_gt(result.live_ratio_after, .99);
        lx_dataset *dataset = open_dataset(path);
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        lx_chunk_stats chunk;
        for (size_t k = 0; chunk_at(dataset, k, &chunk); k++)
            ck_assert(chunk.bytes <= limits[i] || chunk.payloads == 1);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(detects_a_damaged_byte_of_a_long_payload)
{
    char *scratch = scratch_make();
    make_sizes("whole", sizes, COUNT, 1 << 30);
    static const uint64_t at[] = {100 + 4, 1500000, 3000100};
    for (size_t i = 0; i < 3; i++) {
        lx_error error = LX_ERROR_INIT;
        directory_copy("whole", "d");
        file_flip("d/chunk/0.zr", at[i] * 8);
        lx_writer *writer = records_reopen("d", NULL);
        lx_status status = lx_writer_rebalance(writer, NULL, NULL, NULL, &error);
        ck_assert_uint_eq(error.record, 1);
        ck_assert_str_eq(error.field, "blob");
        ck_assert_uint_eq(error.offset, 104);
        expect_error(status, LX_ERR_CORRUPT, "checksum", "d/chunk/0.zr");
        ck_assert_uint_eq(directory_count("d/chunk"), 1);
        close_writer(writer);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(gaps_are_zeros)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    static const uint64_t page[] = {4096}, odd[] = {4093};
    static uint8_t full[2][4096];
    memset(full, 0xff, sizeof full);
    unit_ok(lx_schema_add_field(schema, "odd", LX_UINT8, odd, 1, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "page", LX_UINT8, page, 1, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    for (size_t i = 0; i < 700; i++)
        unit_ok(lx_writer_append(writer, (lx_value[]){{full[0], 4093}, {full[1], 4096}}, 2, NULL,
                                 &error));
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
    size_t size;
    uint8_t *bytes = file_bytes("d/chunk/1.zr", &size);
    ck_assert_uint_eq(size, 700 * 8192);
    for (size_t i = 0; i < size; i++)
        ck_assert(bytes[i] == (i % 8192 >= 4093 && i % 8192 < 4096 ? 0 : 0xff));
    free(bytes);
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/relocate", moves_payloads_of_all_sizes, detects_a_damaged_byte_of_a_long_payload,
          gaps_are_zeros)
