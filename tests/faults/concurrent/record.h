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

/** Fields: in the tables, in chunks as they are, and compressed there. An extra one comes and goes:
 * it is missing, or has the record's identity. */
enum { HEAD, NUMBER, BLOCK, TEXT, FIELDS, EXTRA = FIELDS };

#define HEAD_WORDS 8
#define HEAD_SIZE ((size_t)8 * HEAD_WORDS)
#define NUMBER_SIZE ((size_t)8)
#define BLOCK_SIZE ((size_t)200)
/** No value is longer. */
#define VALUE_SIZE ((size_t)256)

#define ROOT 0
#define BUCKETS 64
#define ANCHOR(bucket) (ROOT + 1 + (bucket))
/** The first record that is neither root nor anchor. */
#define FIRST ANCHOR(BUCKETS)

/** What a head says. */
struct record {
    uint64_t identity; /**< No other record has had it; of root and anchors it is the index. */
    uint64_t commit;   /**< That wrote it last. */
    uint32_t versions[FIELDS]; /**< That of the head is 0. */
    uint64_t length;           /**< Of the root: the length of the dataset. */
    uint64_t sum;              /**< Of the root and of anchors. */
};

/** What is wrong with a value, as one can see from it and from its record's head. */
enum verdict { RIGHT, MIXED /**< It is of another version, or record. */, TORN /**< Of none. */ };

lx_schema *record_schema(void);

/** Makes a value; its bytes are at @p data. */
lx_value record_value(const struct record *record, size_t field, uint8_t data[VALUE_SIZE]);

/** Parses a head; false if it is torn. */
bool record_parse(const void *head, struct record *record);

/** Compares a value that was read; NULL: it was missing. */
enum verdict record_compare(const struct record *record, size_t field, const void *data,
                            uint64_t size);

/** What a record at @p index adds to sums. */
uint64_t record_sum(uint64_t index, const struct record *record);

static inline uint64_t record_bucket(uint64_t index)
{
    return index % BUCKETS;
}

#endif
