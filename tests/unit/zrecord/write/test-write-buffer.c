/* SPDX-License-Identifier: MIT */
#include "zrecord/write/write-buffer.h"

#include <string.h>

#include "../../unit.h"
#include "base/bytes.h"

static const lx__entry_rules packed = {.align = 1, .size = LX_NONE};
static const lx__entry_rules eight = {.align = 8, .size = LX_NONE};
static const lx__entry_rules page = {.align = 4096, .size = LX_NONE};

/** A write buffer with space for @p values values of @p bytes bytes in total. */
static lx__write_buffer *make(size_t values, uint64_t bytes)
{
    lx_error error = LX_ERROR_INIT;
    lx__write_buffer *buffer = lx__write_buffer_new();
    ck_assert_ptr_nonnull(buffer);
    lx__write_buffer_clear(buffer);
    unit_ok(lx__write_buffer_reserve(buffer, values, bytes, &error));
    return buffer;
}

START_TEST(small_values_are_inside_their_entries)
{
    lx__write_buffer *buffer = make(10, 0);
    for (uint64_t size = 0; size <= 8; size++)
        lx__write_buffer_add(buffer, 0, &eight, "\1\2\3\4\5\6\7\10", size);
    for (uint64_t size = 0; size <= 8; size++) {
        const lx__entry *entry = &buffer->values[size].entry;
        uint64_t expected = size == 8 ? 0x0807060504030201u
                                      : 0x0807060504030201u & ((1ull << 8 * size) - 1);
        ck_assert_uint_eq(entry->chunk, LX__CHUNK_INLINE);
        ck_assert_uint_eq(entry->physical, size);
        ck_assert_uint_eq(entry->logical, size);
        ck_assert_uint_eq(entry->offset, expected);
    }
    ck_assert_uint_eq(buffer->used, 0);
    lx__write_buffer_add(buffer, 0, &eight, NULL, 0); /* an empty value has no address */
    ck_assert_uint_eq(buffer->values[9].entry.chunk, LX__CHUNK_INLINE);
    lx__write_buffer_free(buffer);
    lx__write_buffer_free(NULL);
}
END_TEST

START_TEST(missing_values_are_all_zero)
{
    lx__write_buffer *buffer = make(2, 0);
    lx__write_buffer_add(buffer, 0, &eight, NULL, LX_NONE);
    ck_assert(lx__entry_is_missing(&buffer->values[0].entry));
    lx__write_buffer_add(buffer, 0, &eight, NULL, 0);
    ck_assert(!lx__entry_is_missing(&buffer->values[1].entry));
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(lays_out_larger_values_as_in_the_chunk)
{
    uint8_t value[100];
    memset(value, 0x77, sizeof value);
    lx__write_buffer *buffer =
        make(4, lx__write_buffer_room(&packed, 9) + lx__write_buffer_room(&eight, 10) +
                    lx__write_buffer_room(&page, 11) + lx__write_buffer_room(&packed, 100));
    memset(buffer->data, 0xee, buffer->capacity); /* old content must not be visible */
    lx__write_buffer_add(buffer, 0, &packed, value, 9);
    lx__write_buffer_add(buffer, 0, &eight, value, 10);
    lx__write_buffer_add(buffer, 0, &page, value, 11);
    lx__write_buffer_add(buffer, 0, &packed, value, 100);
    static const size_t places[] = {0, 16, 4096, 4107}, sizes[] = {9, 10, 11, 100};
    size_t end = 0;
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(buffer->values[i].entry.offset, places[i]);
        ck_assert_uint_eq(buffer->values[i].entry.physical, sizes[i]);
        ck_assert_uint_eq(buffer->values[i].entry.logical, sizes[i]);
        for (; end < places[i]; end++)
            ck_assert_uint_eq(buffer->data[end], 0); /* gaps are zeros */
        ck_assert_mem_eq(buffer->data + end, value, sizes[i]);
        end += sizes[i];
    }
    ck_assert_uint_eq(buffer->used, end);
    ck_assert_uint_eq(buffer->align, 4096);
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(values_are_copied)
{
    char value[20] = "the caller's memory";
    lx__write_buffer *buffer = make(1, lx__write_buffer_room(&eight, sizeof value));
    lx__write_buffer_add(buffer, 0, &eight, value, sizeof value);
    memset(value, 0, sizeof value);
    ck_assert_str_eq((char *)buffer->data, "the caller's memory");
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(is_full_by_bytes_or_values)
{
    static uint8_t value[65536];
    lx__write_buffer *buffer = make(0, 0);
    lx_error error = LX_ERROR_INIT;
    size_t count = 0;
    while (!lx__write_buffer_is_full(buffer)) {
        unit_ok(lx__write_buffer_reserve(buffer, 1, lx__write_buffer_room(&eight, sizeof value),
                                         &error));
        lx__write_buffer_add(buffer, 0, &eight, value, sizeof value);
        count++;
    }
    ck_assert_uint_eq(count, LX__WRITE_BUFFER_BYTES / sizeof value);
    lx__write_buffer_clear(buffer);
    ck_assert(!lx__write_buffer_is_full(buffer));
    for (count = 0; !lx__write_buffer_is_full(buffer); count++) {
        unit_ok(lx__write_buffer_reserve(buffer, 1, 0, &error));
        lx__write_buffer_add(buffer, 0, &eight, value, 1);
    }
    ck_assert_uint_eq(count, LX__WRITE_BUFFER_VALUES);
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(a_large_record_gets_a_larger_buffer_once)
{
    lx_error error = LX_ERROR_INIT;
    size_t size = 8 * LX__WRITE_BUFFER_BYTES;
    uint8_t *value = calloc(size, 1);
    lx__write_buffer *buffer = make(1, 0);
    size_t usual = buffer->capacity;
    unit_ok(lx__write_buffer_reserve(buffer, 1, lx__write_buffer_room(&eight, size), &error));
    lx__write_buffer_add(buffer, 0, &eight, value, size);
    ck_assert_uint_ge(buffer->capacity, size);
    lx__write_buffer_clear(buffer);
    ck_assert_uint_le(buffer->capacity, 2 * LX__WRITE_BUFFER_BYTES);
    ck_assert_uint_eq(buffer->count, 0);
    ck_assert_uint_eq(buffer->operation_count, 0);
    ck_assert_uint_eq(buffer->chunk_count, 0);
    ck_assert_uint_le(usual, 2 * LX__WRITE_BUFFER_BYTES);
    free(value);
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(values_record_their_field)
{
    uint8_t value[20] = {0};
    lx__write_buffer *buffer = make(3, 2 * lx__write_buffer_room(&eight, sizeof value));
    lx__write_buffer_add(buffer, 4, &eight, value, sizeof value);
    lx__write_buffer_add(buffer, 0, &eight, value, LX_NONE);
    lx__write_buffer_add(buffer, 2, &eight, value, 3);
    ck_assert_uint_eq(buffer->values[0].field, 4);
    ck_assert_uint_eq(buffer->values[1].field, 0);
    ck_assert_uint_eq(buffer->values[2].field, 2);
    for (int i = 0; i < 3; i++)
        ck_assert(!buffer->values[i].as_stored);
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(consecutive_appends_are_one_operation)
{
    lx_error error = LX_ERROR_INIT;
    lx__write_buffer *buffer = make(0, 0);
    static const lx__operation given[] = {{LX__APPEND, 2, 7, 0},   {LX__APPEND, 2, 8, 0},
                                          {LX__MODIFY, 1, 3, 0},   {LX__MODIFY, 1, 3, 0},
                                          {LX__APPEND, 2, 9, 0},   {LX__APPEND, 2, 10, 0},
                                          {LX__DELETE, 0, 4, 0},   {LX__DELETE, 0, 4, 0},
                                          {LX__TRUNCATE, 0, 5, 0}, {LX__APPEND, 2, 5, 0}};
    static const lx__operation kept[] = {{LX__APPEND, 2, 7, 2},   {LX__MODIFY, 1, 3, 1},
                                         {LX__MODIFY, 1, 3, 1},   {LX__APPEND, 2, 9, 2},
                                         {LX__DELETE, 0, 4, 1},   {LX__DELETE, 0, 4, 1},
                                         {LX__TRUNCATE, 0, 5, 1}, {LX__APPEND, 2, 5, 1}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        unit_ok(lx__write_buffer_reserve(buffer, 0, 0, &error));
        lx__write_buffer_add_operation(buffer, &given[i]);
    }
    ck_assert_uint_eq(buffer->operation_count, sizeof kept / sizeof *kept);
    for (size_t i = 0; i < buffer->operation_count; i++) {
        ck_assert_int_eq(buffer->operations[i].kind, kept[i].kind);
        ck_assert_uint_eq(buffer->operations[i].values, kept[i].values);
        ck_assert_uint_eq(buffer->operations[i].index, kept[i].index);
        ck_assert_uint_eq(buffer->operations[i].count, kept[i].count);
    }
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(is_full_by_operations_without_values)
{
    lx_error error = LX_ERROR_INIT;
    lx__write_buffer *buffer = make(0, 0);
    size_t count = 0;
    for (; !lx__write_buffer_is_full(buffer); count++) {
        unit_ok(lx__write_buffer_reserve(buffer, 0, 0, &error));
        lx__write_buffer_add_operation(buffer, &(lx__operation){.kind = LX__DELETE});
    }
    ck_assert_uint_eq(count, LX__WRITE_BUFFER_VALUES);
    lx__write_buffer_clear(buffer);
    ck_assert(!lx__write_buffer_is_full(buffer));
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(copies_stored_values_unchanged)
{
    static const char packed_bytes[] = "twelve bytes";
    lx__write_buffer *buffer = make(2, 2 * lx__write_buffer_room(&eight, 12));
    lx__write_buffer_add_stored(buffer, 1, &eight, packed_bytes, 5, 4000);
    lx__write_buffer_add_stored(buffer, 1, &eight, packed_bytes, 12, 12);
    const lx__buffered_value *values = buffer->values;
    ck_assert(values[0].as_stored && values[1].as_stored);
    ck_assert_uint_eq(values[0].entry.physical, 5);
    ck_assert_uint_eq(values[0].entry.logical, 4000);
    ck_assert(!lx__entry_is_inline(&values[0].entry));
    ck_assert_uint_eq(values[1].entry.offset, 8);
    ck_assert_mem_eq(buffer->data, "twelv\0\0\0twelve bytes", 20);
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(records_a_chunk_once_with_its_last_size)
{
    lx_error error = LX_ERROR_INIT;
    lx__write_buffer *buffer = make(0, 0);
    for (uint32_t id = 3; id < 40; id++)
        for (uint32_t records = 1; records < 5; records++)
            unit_ok(lx__write_buffer_add_chunk(
                buffer, &(lx__chunk_item){id, records, records * 100}, &error));
    ck_assert_uint_eq(buffer->chunk_count, 37);
    for (uint32_t i = 0; i < 37; i++) {
        ck_assert_uint_eq(buffer->chunks[i].id, i + 3);
        ck_assert_uint_eq(buffer->chunks[i].records, 4);
        ck_assert_uint_eq(buffer->chunks[i].bytes, 400);
    }
    lx__write_buffer_free(buffer);
}
END_TEST

START_TEST(rejects_impossible_sizes)
{
    lx_error error = LX_ERROR_INIT;
    lx__write_buffer *buffer = make(1, 0);
    unit_fails(lx__write_buffer_reserve(buffer, 1, 1ull << 60, &error), LX_ERR_NOMEM);
    unit_ok(lx__write_buffer_reserve(buffer, 1, 100, &error));
    lx__write_buffer_free(buffer);
}
END_TEST

UNIT_MAIN("zrecord/write-buffer", small_values_are_inside_their_entries,
          missing_values_are_all_zero, lays_out_larger_values_as_in_the_chunk, values_are_copied,
          is_full_by_bytes_or_values, a_large_record_gets_a_larger_buffer_once,
          values_record_their_field, consecutive_appends_are_one_operation,
          is_full_by_operations_without_values, copies_stored_values_unchanged,
          records_a_chunk_once_with_its_last_size, rejects_impossible_sizes)
