/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A plain model of a dataset: for each value, the number of the record from which it is
 * taken.
 *
 * A value of field f and number n is record_value(f, n) of records.h; PLAIN_MISSING is a missing
 * value.
 */
#ifndef LX_TESTS_PLAIN_H
#define LX_TESTS_PLAIN_H

#include "records.h"

#define PLAIN_MISSING UINT32_MAX

struct plain_record {
    uint32_t numbers[FIELDS];
};

struct plain {
    struct plain_record *records;
    uint64_t length;
};

static inline void plain_copy(struct plain *to, const struct plain *from)
{
    size_t bytes = (size_t)(from->length + 1) * sizeof *to->records;
    to->records = realloc(to->records, bytes);
    ck_assert_ptr_nonnull(to->records);
    if (from->length != 0)
        memcpy(to->records, from->records, (size_t)from->length * sizeof *to->records);
    to->length = from->length;
}

static inline void plain_free(struct plain *plain)
{
    free(plain->records);
    *plain = (struct plain){0};
}

/** Appends @p count records, all of their values of the numbers from @p number on. */
static inline void plain_append(struct plain *plain, uint64_t count, uint32_t number)
{
    size_t bytes = (size_t)(plain->length + count + 1) * sizeof *plain->records;
    plain->records = realloc(plain->records, bytes);
    ck_assert_ptr_nonnull(plain->records);
    for (uint64_t i = 0; i < count; i++) {
        for (int field = 0; field < FIELDS; field++)
            plain->records[plain->length].numbers[field] = number + (uint32_t)i;
        plain->length++;
    }
}

/** Deletes a record, and returns the index that moved there. */
static inline uint64_t plain_delete(struct plain *plain, uint64_t index)
{
    uint64_t last = --plain->length;
    plain->records[index] = plain->records[last];
    return index != last ? last : LX_NONE;
}

static inline void plain_expect_value(lx_dataset *dataset, int field, uint64_t index,
                                      uint32_t number)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t right[VALUE_MAX] = {0}, got[VALUE_MAX];
    uint64_t wanted = number == PLAIN_MISSING ? LX_NONE : record_value(field, number, right);
    uint64_t size;
    bool there;
    unit_ok(read_value(dataset, (size_t)field, index, got, &size, &there, &error));
    ck_assert_msg(there == (wanted != LX_NONE) && (!there || size == wanted) &&
                      (!there || memcmp(got, right, (size_t)size) == 0),
                  "field %d of record %llu is not that of number %u", field,
                  (unsigned long long)index, number);
}

/** Everything that @p dataset shows must be in the model. */
static inline void plain_expect(const struct plain *plain, lx_dataset *dataset)
{
    ck_assert_uint_eq(lx_dataset_get_length(dataset), plain->length);
    for (uint64_t i = 0; i < plain->length; i++)
        for (int field = 0; field < FIELDS; field++)
            plain_expect_value(dataset, field, i, plain->records[i].numbers[field]);
}

#endif
