/* SPDX-License-Identifier: MIT */
#include "ledger.h"

void ledger_init(struct ledger *ledger, uint64_t floor)
{
    *ledger = (struct ledger){.floor = floor, .commit = 1};
    while (ledger->length < FIRST)
        ledger_append(ledger);
}

void ledger_free(struct ledger *ledger)
{
    free(ledger->records);
}

/** Adds the record at @p index to the sums, or subtracts it. */
static void count(struct ledger *ledger, uint64_t index, bool add)
{
    if (index < FIRST)
        return;
    uint64_t sum = record_sum(index, &ledger->records[index]);
    ledger->total += add ? sum : 0 - sum;
    if (index >= ledger->floor)
        return;
    ledger->sums[record_bucket(index)] += add ? sum : 0 - sum;
    ledger->touched[record_bucket(index)] = true;
}

const struct record *ledger_append(struct ledger *ledger)
{
    uint64_t index = ledger->length++;
    if (index == ledger->capacity) {
        ledger->capacity = 2 * index + 1024;
        ledger->records =
            need(realloc(ledger->records, (size_t)ledger->capacity * sizeof *ledger->records));
    }
    ledger->records[index] = (struct record){.identity = ledger->next_identity++,
                                             .commit = ledger->commit};
    count(ledger, index, true);
    return &ledger->records[index];
}

const struct record *ledger_modify(struct ledger *ledger, uint64_t index, unsigned fields)
{
    struct record *record = &ledger->records[index];
    count(ledger, index, false);
    record->commit = ledger->commit;
    for (size_t i = NUMBER; i < FIELDS; i++)
        record->versions[i] += fields >> i & 1;
    count(ledger, index, true);
    return record;
}

void ledger_delete(struct ledger *ledger, uint64_t index)
{
    uint64_t last = ledger->length - 1;
    count(ledger, index, false);
    if (index != last) {
        count(ledger, last, false);
        ledger->records[index] = ledger->records[last];
        count(ledger, index, true);
    }
    ledger->length = last;
}

const struct record *ledger_close_bucket(struct ledger *ledger, uint64_t bucket)
{
    struct record *anchor = &ledger->records[ANCHOR(bucket)];
    anchor->commit = ledger->commit;
    anchor->sum = ledger->sums[bucket];
    ledger->touched[bucket] = false;
    return anchor;
}

const struct record *ledger_close(struct ledger *ledger)
{
    struct record *root = &ledger->records[ROOT];
    root->commit = ledger->commit++;
    root->length = ledger->length;
    root->sum = ledger->total;
    return root;
}
