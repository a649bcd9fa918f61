/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include <inttypes.h>

void reading_free(struct reading *reading)
{
    free(reading->indices);
    for (size_t i = 0; i <= FIELDS; i++)
        free(reading->slices[i]);
    *reading = (struct reading){0};
}

static void reserve(struct reading *reading, uint64_t count)
{
    if (count <= reading->capacity)
        return;
    reading->capacity = (size_t)count + (size_t)count / 4;
    reading->indices =
        need(realloc(reading->indices, reading->capacity * sizeof *reading->indices));
    for (size_t i = 0; i <= FIELDS; i++)
        reading->slices[i] =
            need(realloc(reading->slices[i], reading->capacity * sizeof *reading->slices[i]));
}

static void start(struct reading *reading, uint64_t floor, uint64_t bucket)
{
    reading->floor = floor;
    reading->bucket = bucket;
    reading->count = 0;
    memset(reading->has, 0, sizeof reading->has);
}

void reading_choose(struct reading *reading, uint64_t floor, uint64_t bucket)
{
    start(reading, floor, bucket);
    reserve(reading, floor / BUCKETS + 3);
    reading->indices[reading->count++] = ROOT;
    reading->indices[reading->count++] = ANCHOR(bucket);
    for (uint64_t i = FIRST + (bucket + BUCKETS - FIRST % BUCKETS) % BUCKETS; i < floor;
         i += BUCKETS)
        reading->indices[reading->count++] = i;
}

void reading_choose_all(struct reading *reading, uint64_t floor, uint64_t length)
{
    start(reading, floor, READ_ALL);
    reserve(reading, length);
    for (uint64_t i = 0; i < length; i++)
        reading->indices[reading->count++] = i;
}

/* ---- checks */

struct judgement {
    const struct reading *reading;
    struct record root;
    uint64_t anchors[BUCKETS]; /* stored sums, and computed ones */
    uint64_t sums[BUCKETS];
    uint64_t total;
    char *why;
    size_t size;
};

static bool judge_values(struct judgement *judgement, size_t at, const struct record *record)
{
    const struct reading *reading = judgement->reading;
    for (size_t field = NUMBER; field <= FIELDS; field++) {
        if (!reading->has[field])
            continue;
        const lx_slice *slice = &reading->slices[field][at];
        enum verdict verdict = record_compare(record, field, slice->data, slice->size);
        if (verdict == RIGHT)
            continue;
        snprintf(judgement->why, judgement->size,
                 verdict == TORN
                     ? "torn: field %zu of record %" PRIu64 " is no value that was written"
                     : "mixed record: field %zu of record %" PRIu64 " is of another state than its "
                       "head",
                 field, reading->indices[at]);
        return false;
    }
    return true;
}

/** Checks a record by itself, and as part of the snapshot of the root's commit. */
static bool judge_record(struct judgement *judgement, size_t at)
{
    const struct reading *reading = judgement->reading;
    uint64_t index = reading->indices[at];
    const lx_slice *head = &reading->slices[HEAD][at];
    struct record record;
    if (head->data == NULL || head->size != HEAD_SIZE || !record_parse(head->data, &record)) {
        snprintf(judgement->why, judgement->size,
                 "torn: the head of record %" PRIu64 " was never written", index);
        return false;
    }
    if (at == 0)
        judgement->root = record;
    if (record.commit > judgement->root.commit ||
        (index < FIRST ? record.identity != index : record.identity < FIRST)) {
        snprintf(judgement->why, judgement->size,
                 "mixed batch: record %" PRIu64 " is of commit %" PRIu64 ", the root of %" PRIu64,
                 index, record.commit, judgement->root.commit);
        return false;
    }
    if (index >= FIRST) {
        uint64_t sum = record_sum(index, &record);
        judgement->total += sum;
        if (index < reading->floor)
            judgement->sums[record_bucket(index)] += sum;
    } else if (index != ROOT) {
        judgement->anchors[index - ANCHOR(0)] = record.sum;
    }
    return judge_values(judgement, at, &record);
}

static bool judge_sums(struct judgement *judgement)
{
    const struct reading *reading = judgement->reading;
    bool all = reading->bucket == READ_ALL;
    for (uint64_t i = all ? 0 : reading->bucket; i < (all ? BUCKETS : reading->bucket + 1); i++) {
        if (judgement->sums[i] == judgement->anchors[i])
            continue;
        snprintf(judgement->why, judgement->size,
                 "mixed batch: the records of bucket %" PRIu64 " are not of one commit", i);
        return false;
    }
    if (!all ||
        (judgement->total == judgement->root.sum && reading->count == judgement->root.length))
        return true;
    snprintf(judgement->why, judgement->size,
             "mixed batch: all %zu records, of %" PRIu64 ", are not of one commit", reading->count,
             judgement->root.length);
    return false;
}

bool reading_judge(const struct reading *reading, uint64_t *commit, char *why, size_t size)
{
    struct judgement judgement = {.reading = reading, .why = why, .size = size};
    for (size_t i = 0; i < reading->count; i++)
        if (!judge_record(&judgement, i))
            return false;
    *commit = judgement.root.commit;
    return judge_sums(&judgement);
}
