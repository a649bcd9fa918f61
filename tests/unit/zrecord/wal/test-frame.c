/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/frame.h"

#include "../frames.h"

/** Frame 0 of a new dataset and frame 2 of the example, as the document shows them. */
static const uint8_t frame_0[] = {
    0x4c, 0x58, 0x4c, 0x46, 0x48, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0,    0,    0,
    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0,    0,    0,
    0,    0,    0,    0,    0,    0, 0, 0, 3, 0, 0, 0, 0x4f, 0x1c, 0x2a, 0x90, 0x7b, 0xe3,
    0x4d, 0x58, 0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0,    0,    0x1d, 0x83, 0x77, 0x2d};
#define BOOT 0x584de37b902a1c4fu

static const lx__chunk_item chunk = {0, 4, 48};
static const lx__update_item updates[] = {
    {0, 2, {0, 12, 36, 12, 0x8eaa1539}},
    {1, 2, {0xffffffff, 8, 300, 8, 0xa96d279b}},
    {2, 2, {0xffffffff, 0, 0, 0, 0xcd38bcfd}},
};

START_TEST(the_first_frame_matches_the_document)
{
    lx_error error = LX_ERROR_INIT;
    lx__frame_builder builder = {0};
    lx__frame frame = {.flags = LX__FRAME_SNAPSHOT | LX__FRAME_SYNCED, .boot = BOOT};
    unit_ok(lx__frame_begin(&builder, 0, 0, &error));
    lx__frame_finish(&builder, &frame, &example_log);
    ck_assert_uint_eq(builder.size, sizeof frame_0);
    ck_assert_mem_eq(builder.data, frame_0, sizeof frame_0);
    ck_assert_uint_eq(frame.crc, 0x2d77831d);
    ck_assert_uint_eq(frame.bytes, 72);
    lx__frame_builder_free(&builder);
}
END_TEST

START_TEST(a_frame_with_items_matches_the_document)
{
    lx_error error = LX_ERROR_INIT;
    lx__frame_builder builder = {0};
    lx__frame frame = {.sequence = 2,
                       .length = 3,
                       .rows = 2,
                       .previous_crc = 0x3ec21f18,
                       .flags = LX__FRAME_SYNCED,
                       .boot = BOOT,
                       .next_chunk = 1};
    unit_ok(lx__frame_begin(&builder, 5, 3, &error)); /* space for more than it will have */
    lx__frame_add_chunk(&builder, &chunk);
    for (size_t i = 0; i < 3; i++)
        lx__frame_add_update(&builder, &updates[i]);
    lx__frame_finish(&builder, &frame, &example_log);
    ck_assert_uint_eq(frame.bytes, 208);
    ck_assert_uint_eq(frame.crc, 0x3bfac4dc);

    /* It equals the frame of an independent encoder. */
    struct log log = {.identity = example_log, .sequence = 2, .crc = 0x3ec21f18};
    log_add(&log, &(struct frame){.length = 3,
                                  .rows = 2,
                                  .flags = SYNCED,
                                  .boot = BOOT,
                                  .next_chunk = 1,
                                  .chunks = &chunk,
                                  .chunk_count = 1,
                                  .updates = updates,
                                  .update_count = 3});
    ck_assert_uint_eq(builder.size, log.size);
    ck_assert_mem_eq(builder.data, log.bytes, log.size);
    log_free(&log);
    lx__frame_builder_free(&builder);
}
END_TEST

START_TEST(reads_back_headers_and_items)
{
    struct log log = {.identity = example_log, .sequence = 1ull << 40, .crc = 7};
    log_add(&log, &(struct frame){.length = 1ull << 50,
                                  .rows = 1ull << 49,
                                  .flags = SYNCED,
                                  .boot = UINT64_MAX,
                                  .table_generation = 9,
                                  .next_chunk = 10,
                                  .chunks = &chunk,
                                  .chunk_count = 1,
                                  .updates = updates,
                                  .update_count = 3});
    lx__frame frame;
    ck_assert(lx__frame_load(&frame, log.bytes));
    ck_assert_uint_eq(frame.bytes, 208);
    ck_assert_uint_eq(frame.sequence, 1ull << 40);
    ck_assert_uint_eq(frame.length, 1ull << 50);
    ck_assert_uint_eq(frame.rows, 1ull << 49);
    ck_assert_uint_eq(frame.chunk_count, 1);
    ck_assert_uint_eq(frame.update_count, 3);
    ck_assert_uint_eq(frame.previous_crc, 7);
    ck_assert_uint_eq(frame.flags, LX__FRAME_SYNCED);
    ck_assert_uint_eq(frame.boot, UINT64_MAX);
    ck_assert_uint_eq(frame.table_generation, 9);
    ck_assert_uint_eq(frame.next_chunk, 10);

    lx__chunk_item item = lx__chunk_item_load(log.bytes + 64);
    ck_assert(item.id == chunk.id && item.records == chunk.records && item.bytes == chunk.bytes);
    const uint8_t *second = log.bytes + 80 + 40;
    ck_assert(lx__load_le32(second) == 1 && lx__load_le64(second + 8) == 2);
    ck_assert_uint_eq(lx__entry_load(second + 16, second + 32).crc, updates[1].entry.crc);
    ck_assert(lx__update_item_reserved_is_zero(log.bytes + 80));
    log.bytes[80 + 7] = 1;
    ck_assert(!lx__update_item_reserved_is_zero(log.bytes + 80));
    log_free(&log);
}
END_TEST

START_TEST(rejects_invalid_headers)
{
    lx__frame frame;
    uint8_t header[LX__FRAME_HEADER];
    memcpy(header, frame_0, sizeof header);
    ck_assert(lx__frame_load(&frame, header));
    for (unsigned bit = 0; bit < 64; bit++) { /* of the magic, and of the size */
        memcpy(header, frame_0, sizeof header);
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert(!lx__frame_load(&frame, header));
    }
    for (unsigned bit = 32 * 8; bit < 40 * 8; bit++) { /* of the numbers of items */
        memcpy(header, frame_0, sizeof header);
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert(!lx__frame_load(&frame, header));
    }
}
END_TEST

START_TEST(limits_frames_to_a_gibibyte)
{
    lx_error error = LX_ERROR_INIT;
    lx__frame_builder builder = {0};
    uint64_t most = ((1ull << 30) - 72) / 40;
    ck_assert_uint_eq(lx__frame_size(0, 0), 72);
    ck_assert_uint_eq(lx__frame_size(2, 3), 72 + 32 + 120);
    ck_assert_uint_eq(lx__frame_size(0, most), 72 + 40 * most);
    ck_assert_uint_eq(lx__frame_size(0, most + 1), LX_NONE);
    ck_assert_uint_eq(lx__frame_size(1ull << 27, 0), LX_NONE);
    ck_assert_uint_eq(lx__frame_size(UINT64_MAX / 8, UINT64_MAX / 8), LX_NONE);
    unit_fails(lx__frame_begin(&builder, 0, most + 1, &error), LX_ERR_LIMIT);
    unit_fails(lx__frame_begin(&builder, UINT64_MAX, 0, &error), LX_ERR_LIMIT);
    lx__frame_builder_free(&builder);
}
END_TEST

START_TEST(reuses_a_builder)
{
    lx_error error = LX_ERROR_INIT;
    lx__frame_builder builder = {0};
    for (unsigned i = 0; i < 100; i++) {
        lx__frame frame = {.sequence = i};
        unit_ok(lx__frame_begin(&builder, i % 3, i % 7, &error));
        for (unsigned k = 0; k < i % 3; k++)
            lx__frame_add_chunk(&builder, &chunk);
        for (unsigned k = 0; k < i % 7; k++)
            lx__frame_add_update(&builder, &updates[0]);
        lx__frame_finish(&builder, &frame, &example_log);
        ck_assert_uint_eq(builder.size, 72 + 16 * (i % 3) + 40 * (i % 7));
        ck_assert_uint_eq(frame.crc, crc_of_frame(&example_log, builder.data, builder.size));
    }
    lx__frame_builder_free(&builder);
    lx__frame_builder_free(&builder);
}
END_TEST

UNIT_MAIN("zrecord/frame", the_first_frame_matches_the_document,
          a_frame_with_items_matches_the_document, reads_back_headers_and_items,
          rejects_invalid_headers, limits_frames_to_a_gibibyte, reuses_a_builder)
