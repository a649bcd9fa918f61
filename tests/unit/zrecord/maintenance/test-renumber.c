/* SPDX-License-Identifier: MIT */
/* Rows that are renumbered are valid for the same payloads as before, and only if they were. */
#include "zrecord/maintenance/renumber.h"

#include <string.h>

#include "../../unit.h"

#define ROWS 4000
#define CHUNK_BYTES (1u << 20)

static const lx__chunk_item chunks[] = {{.id = 0, .records = 9, .bytes = CHUNK_BYTES},
                                        {.id = 3, .records = 9, .bytes = CHUNK_BYTES},
                                        {.id = 4, .records = 9, .bytes = CHUNK_BYTES},
                                        {.id = 900, .records = 9, .bytes = CHUNK_BYTES}};
#define CHUNKS (sizeof chunks / sizeof *chunks)

static const lx__entry_rules from = {
    .uuid = {1, 2, 3}, .field = 7, .align = 8, .size = LX_NONE, .codec = NULL};
static const lx__entry_rules to = {
    .uuid = {200, 9}, .field = 0, .align = 8, .size = LX_NONE, .codec = NULL};

/** The bytes of all chunks. */
static uint8_t payloads[CHUNK_BYTES];

static void fill_payloads(void)
{
    for (size_t i = 0; i < sizeof payloads; i++)
        payloads[i] = (uint8_t)(i * 31 + i / 253 + i / 65521);
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/** A value of any kind, with the CRC that it has at @p index. */
static lx__entry make_entry(uint32_t *random, uint64_t index)
{
    uint8_t slot[8];
    lx__entry entry = {.chunk = LX__CHUNK_INLINE};
    uint32_t kind = draw(random) % 4;
    if (kind == 0)
        return (lx__entry){0};
    if (kind == 1) { /* inline or empty */
        entry.physical = entry.logical = draw(random) % 9;
        entry.offset = draw(random) * 0x1000193ull;
        entry.offset &= entry.physical == 0 ? 0 : UINT64_MAX >> (64 - 8 * entry.physical);
    } else {
        entry.chunk = chunks[draw(random) % CHUNKS].id;
        entry.physical = entry.logical = kind == 2 ? 768 : 1 + draw(random) % 70000;
        entry.offset = draw(random) % (CHUNK_BYTES - 80000) / 8 * 8;
    }
    lx__store_le64(slot, entry.offset);
    entry.crc = lx__entry_crc(&entry, &from, kind == 1 ? slot : payloads + entry.offset) ^
                lx__index_crc(index);
    return entry;
}

static const void *stored_bytes(const lx__entry *entry, uint8_t slot[8])
{
    lx__store_le64(slot, entry->offset);
    return lx__entry_is_inline(entry) ? slot : payloads + entry->offset;
}

static bool is_intact(const lx__entry *entry, const lx__entry_rules *rules, uint64_t index)
{
    uint8_t slot[8];
    return lx__entry_is_missing(entry) ||
           lx__payload_check(entry, rules, index, stored_bytes(entry, slot), NULL) == LX_OK;
}

static lx__renumber begin(uint64_t first_index)
{
    lx__renumber made = {.chunks = chunks,
                         .chunk_count = CHUNKS,
                         .first_chunk = 11,
                         .first_index = first_index,
                         .from = &from,
                         .to = &to};
    lx__renumber_begin(&made);
    return made;
}

/** Renumbers one entry. */
static lx_status renumber(lx__entry *entry, uint64_t index, uint64_t first_index, lx_error *error)
{
    uint8_t offset_row[LX__OFFSET_ROW], check_row[LX__CHECK_ROW];
    size_t done;
    lx__renumber rows = begin(first_index);
    lx__entry_store(entry, offset_row, check_row);
    lx_status status = lx__renumber_rows(&rows, index, offset_row, check_row, 1, &done, error);
    ck_assert_uint_eq(done, status == LX_OK);
    *entry = lx__entry_load(offset_row, check_row);
    return status;
}

static void expect_moved(const lx__entry *old, const lx__entry *new)
{
    uint32_t chunk = old->chunk;
    for (uint32_t k = 0; k < CHUNKS; k++)
        if (lx__payload_is_stored(old) && chunks[k].id == old->chunk)
            chunk = 11 + k;
    ck_assert_uint_eq(new->chunk, chunk);
    ck_assert_uint_eq(new->offset, old->offset);
    ck_assert_uint_eq(new->physical, old->physical);
    ck_assert_uint_eq(new->logical, old->logical);
}

START_TEST(values_stay_intact)
{
    static uint8_t offset_rows[ROWS * LX__OFFSET_ROW], check_rows[ROWS * LX__CHECK_ROW];
    static lx__entry old[ROWS];
    const uint64_t index = 1000, first_index = 1ull << 33;
    lx_error error = LX_ERROR_INIT;
    uint32_t random = 1;
    size_t done;
    fill_payloads();
    for (size_t i = 0; i < ROWS; i++) {
        old[i] = make_entry(&random, index + i);
        lx__entry_store(&old[i], offset_rows + i * LX__OFFSET_ROW, check_rows + i * LX__CHECK_ROW);
    }
    lx__renumber rows = begin(first_index);
    unit_ok(lx__renumber_rows(&rows, index, offset_rows, check_rows, ROWS, &done, &error));
    ck_assert_uint_eq(done, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        lx__entry new = lx__entry_load(offset_rows + i * LX__OFFSET_ROW,
                                       check_rows + i * LX__CHECK_ROW);
        ck_assert_int_eq(lx__entry_is_missing(&new), lx__entry_is_missing(&old[i]));
        expect_moved(&old[i], &new);
        ck_assert(is_intact(&new, &to, first_index + index + i));
    }
}
END_TEST

/** Flips a bit of the CRC, or another one that leaves the entry valid. */
static void damage(lx__entry *entry, uint32_t *random)
{
    if (!lx__payload_is_stored(entry) || draw(random) % 2 == 0)
        entry->crc ^= 1u << draw(random) % 32;
    else if (draw(random) % 2 == 0)
        entry->offset ^= 8u << draw(random) % 10;
    else
        entry->physical = entry->logical = entry->logical / 2 + 1;
}

START_TEST(damaged_values_stay_damaged)
{
    lx_error error = LX_ERROR_INIT;
    uint32_t random = 7;
    size_t damaged = 0;
    fill_payloads();
    for (uint64_t index = 0; index < ROWS; index++) {
        lx__entry entry = make_entry(&random, index);
        if (lx__entry_is_missing(&entry))
            continue;
        damage(&entry, &random);
        bool intact = is_intact(&entry, &from, index);
        unit_ok(renumber(&entry, index, 5, &error));
        ck_assert_int_eq(is_intact(&entry, &to, 5 + index), intact);
        damaged += !intact;
    }
    ck_assert_uint_gt(damaged, ROWS / 2);
}
END_TEST

START_TEST(invalid_rows_are_refused)
{
    static const struct {
        lx__entry entry;
        const char *said;
    } cases[] = {
        {{.chunk = 1, .physical = 16, .logical = 16}, "chunk 1 not found"},
        {{.chunk = 901, .physical = 16, .logical = 16}, "chunk 901 not found"},
        {{.chunk = 3, .physical = 16, .logical = 16, .offset = 4}, "not a multiple"},
        {{.chunk = 3, .physical = 16, .logical = 16, .offset = CHUNK_BYTES - 8}, "extend past"},
        {{.chunk = 3, .physical = 16, .logical = 16, .offset = UINT64_MAX - 7}, "extend past"},
        {{.chunk = 3, .physical = 15, .logical = 16}, "is not compressed"},
        {{.chunk = 3, .physical = 17, .logical = 16}, "which is too many"},
        {{.chunk = 0, .crc = 1}, "no bytes"},
        {{.chunk = LX__CHUNK_INLINE, .physical = 9, .logical = 9}, "at most 8"},
        {{.chunk = LX__CHUNK_INLINE, .physical = 1, .logical = 1, .offset = 256}, "padding"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__entry entry = cases[i].entry;
        ck_assert_int_eq(renumber(&entry, 0, 5, &error), LX_ERR_CORRUPT);
        ck_assert_msg(strstr(error.message, cases[i].said) != NULL, "%s", error.message);
        ck_assert(memcmp(&entry, &cases[i].entry, sizeof entry) == 0);
    }
}
END_TEST

START_TEST(a_part_need_not_have_chunks)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t offset_row[LX__OFFSET_ROW] = {0}, check_row[LX__CHECK_ROW] = {0};
    const lx__entry stored = {.physical = 16, .logical = 16};
    size_t done;
    lx__renumber rows = {.from = &from, .to = &to};
    lx__renumber_begin(&rows);
    unit_ok(lx__renumber_rows(&rows, 0, offset_row, check_row, 1, &done, &error));
    lx__entry_store(&stored, offset_row, check_row);
    ck_assert_int_eq(lx__renumber_rows(&rows, 0, offset_row, check_row, 1, &done, &error),
                     LX_ERR_CORRUPT);
    ck_assert_uint_eq(done, 0);
}
END_TEST

START_TEST(a_part_without_missing_values_has_no_row_of_zeros)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t offset_row[LX__OFFSET_ROW] = {0}, check_row[LX__CHECK_ROW] = {0};
    size_t done;
    lx__renumber rows = begin(0);
    rows.complete = true;
    ck_assert_int_eq(lx__renumber_rows(&rows, 0, offset_row, check_row, 1, &done, &error),
                     LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "row was lost"));
}
END_TEST

UNIT_MAIN("zrecord/maintenance/renumber", values_stay_intact, damaged_values_stay_damaged,
          invalid_rows_are_refused, a_part_need_not_have_chunks,
          a_part_without_missing_values_has_no_row_of_zeros)
