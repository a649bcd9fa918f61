/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The records of the test of concurrent readers. A reader can tell from the bytes of some
 * records alone whether they are all of one committed snapshot.
 *
 * - Each byte of a value depends on the record's identity and the version: a torn value is the
 *   value of no version.
 * - The head of a record, a field that every change writes, has the versions of the other values:
 *   it does not match values of another snapshot.
 * - Record 0, the root, is written by every commit: no other record is of a later commit.
 * - The length never falls below a floor. Records below it are in buckets by their index. Each
 *   bucket has an anchor, one of the records after the root, which contains the sum of the bucket's
 *   heads: heads of two snapshots have another sum. The root contains the sum of all records.
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

/** The defect of a value that the value and its record's head show. */
enum verdict {
    RIGHT,
    MIXED, /**< The value of another version or record. */
    TORN   /**< The value of no record. */
};

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
