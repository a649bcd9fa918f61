/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The records of the test of concurrent readers. From the bytes of some of them, and
 * nothing else, a reader can determine whether they are all of one committed state.
 *
 * - Each value is made of its record's identity and of its version, to its last byte: one that is
 *   torn is the value of no version.
 * - The head of a record, a field that every change writes, says which versions its other values
 *   have: values of two states do not fit together.
 * - Record 0, the root, is written by every commit: no other record is of a later one.
 * - Records below a floor, under which the length never falls, are in buckets by their index. The
 *   anchor of a bucket, one of the records after the root, has the sum of what is in it: heads of
 *   a bucket that are of two states have another sum. The root has that of all records.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_RECORD_H
#define LX_TESTS_FAULTS_CONCURRENT_RECORD_H

#include <loaderx/zrecord.h>

#include "../support.h"

/** Fields: in the tables, in chunks uncompressed, and in chunks compressed. The extra one is added
 * and dropped: it is missing, or has the record's identity. */
enum { HEAD, NUMBER, BLOCK, TEXT, FIELDS, EXTRA = FIELDS };

#define HEAD_WORDS 8
#define HEAD_SIZE ((size_t)8 * HEAD_WORDS)
#define NUMBER_SIZE ((size_t)8)
#define BLOCK_SIZE ((size_t)200)
/** The longest value. */
#define VALUE_SIZE ((size_t)256)

#define ROOT 0
#define BUCKETS 64
#define ANCHOR(bucket) (ROOT + 1 + (bucket))
/** The first record after the root and the anchors. */
#define FIRST ANCHOR(BUCKETS)

/** The contents of a head. */
struct record {
    uint64_t identity;         /**< Unique to the record; the index for the root and anchors. */
    uint64_t commit;           /**< The commit that wrote it last. */
    uint32_t versions[FIELDS]; /**< The head has version 0. */
    uint64_t length;           /**< For the root: the length of the dataset. */
    uint64_t sum;              /**< For the root and anchors. */
};

/** The defect of a value, as far as the value and its record's head show it. */
enum verdict { RIGHT, MIXED /**< It is of another version, or record. */, TORN /**< Of none. */ };

lx_schema *record_schema(void);

/** Makes a value; its bytes are at @p data. */
lx_value record_value(const struct record *record, size_t field, uint8_t data[VALUE_SIZE]);

/** Parses a head; false if it is torn. */
bool record_parse(const void *head, struct record *record);

/** Checks a value that was read; NULL if it was missing. */
enum verdict record_compare(const struct record *record, size_t field, const void *data,
                            uint64_t size);

/** The contribution of a record at @p index to sums. */
uint64_t record_sum(uint64_t index, const struct record *record);

static inline uint64_t record_bucket(uint64_t index)
{
    return index % BUCKETS;
}

#endif
