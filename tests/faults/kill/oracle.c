/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <inttypes.h>

void oracle_init(struct oracle *oracle)
{
    *oracle = (struct oracle){.serial = 1};
    oracle_clear(oracle);
}

void oracle_free(struct oracle *oracle)
{
    free(oracle->found);
    free(oracle->requested);
    free(oracle->tries);
}

/** The next writer begins with the present content. */
static void begin(struct oracle *oracle)
{
    oracle->requested_count = oracle->try_count = oracle->acknowledged = 0;
    oracle->first_digest = oracle->digest;
}

void oracle_clear(struct oracle *oracle)
{
    oracle->length = 0;
    oracle->digest = rng_mix(0, 0);
    begin(oracle);
}

/* ---- reports of the writer */

static void ask(struct oracle *oracle, const struct mark *mark)
{
    oracle->requested = grow(oracle->requested, oracle->requested_count,
                             &oracle->requested_capacity, sizeof *oracle->requested);
    oracle->requested[oracle->requested_count++] = (struct requested){
        .operation = mark->operation, .may_end = (mark->flags & MARK_SHARED) != 0};
    oracle->serial += (uint32_t)mark->operation.count;
}

static void try(struct oracle *oracle, uint64_t number)
{
    if (oracle->requested_count != 0)
        oracle->requested[oracle->requested_count - 1].may_end = true;
    oracle->tries = grow(oracle->tries, oracle->try_count, &oracle->try_capacity,
                         sizeof *oracle->tries);
    oracle->tries[oracle->try_count++] = (struct try){number, oracle->requested_count};
}

static void acknowledge(struct oracle *oracle, uint64_t number)
{
    oracle->commits++;
    for (size_t i = oracle->try_count; i-- != 0;)
        if (oracle->tries[i].number == number && oracle->acknowledged < oracle->tries[i].requested)
            oracle->acknowledged = oracle->tries[i].requested;
}

void oracle_hear(struct oracle *oracle, const struct mark *mark)
{
    switch (mark->kind) {
    case MARK_ASKING:
        ask(oracle, mark);
        break;
    case MARK_TRYING:
        try(oracle, mark->number);
        break;
    case MARK_COMMITTED:
        acknowledge(oracle, mark->number);
        break;
    case MARK_UNDONE: /* back to the last requested commit */
        oracle->requested_count = oracle->try_count != 0
                                      ? oracle->tries[oracle->try_count - 1].requested
                                      : 0;
        break;
    default:
        break;
    }
}

/* ---- their result */

static void put(struct oracle *oracle, uint64_t index, size_t field, uint32_t found)
{
    oracle->found[index * VALUES_FIELDS + field] = found;
    oracle->digest += values_digest(index, field, found);
}

static void take(struct oracle *oracle, uint64_t index)
{
    for (size_t field = 0; field < VALUES_FIELDS; field++)
        oracle->digest -= values_digest(index, field, oracle->found[index * VALUES_FIELDS + field]);
}

static void set_length(struct oracle *oracle, uint64_t length)
{
    for (uint64_t i = length; i < oracle->length; i++)
        take(oracle, i);
    oracle->digest += rng_mix(length, 0) - rng_mix(oracle->length, 0);
    oracle->length = length;
    if (length <= oracle->capacity)
        return;
    oracle->capacity = 2 * length;
    oracle->found = need(
        realloc(oracle->found, (size_t)oracle->capacity * VALUES_FIELDS * sizeof *oracle->found));
}

static void apply(struct oracle *oracle, const struct operation *operation)
{
    uint64_t old = oracle->length;
    if (operation->kind == OPERATION_APPEND)
        set_length(oracle, old + operation->count);
    else if (operation->kind == OPERATION_TRUNCATE)
        set_length(oracle, operation->index);
    bool writes = operation->kind == OPERATION_APPEND || operation->kind == OPERATION_MODIFY;
    for (uint64_t i = 0; writes && i < operation->count; i++) {
        bool appends = operation->kind == OPERATION_APPEND;
        uint64_t index = appends ? old + i : operation_index(operation, i, old);
        for (size_t field = 0; field < VALUES_FIELDS; field++) {
            if (!appends && !(operation->fields >> field & 1))
                continue;
            if (!appends)
                oracle->digest -= values_digest(index, field,
                                                oracle->found[index * VALUES_FIELDS + field]);
            put(oracle, index, field, values_expected((uint32_t)(operation->first + i), field));
        }
    }
    if (operation->kind != OPERATION_DELETE)
        return;
    take(oracle, operation->index);
    for (size_t field = 0; field < VALUES_FIELDS; field++)
        put(oracle, operation->index, field, oracle->found[(old - 1) * VALUES_FIELDS + field]);
    set_length(oracle, old - 1);
}

/** The digest with the first @p count operations. */
static uint64_t digest_at(const struct oracle *oracle, size_t count)
{
    return count != 0 ? oracle->requested[count - 1].digest : oracle->first_digest;
}

/** Applies operations, from the last acknowledged commit on, until the content has @p digest. */
static bool find(struct oracle *oracle, uint64_t digest, size_t *found)
{
    for (size_t i = 0; i <= oracle->requested_count; i++) {
        if (i != 0) {
            apply(oracle, &oracle->requested[i - 1].operation);
            oracle->requested[i - 1].digest = oracle->digest;
        }
        *found = i;
        if (i >= oracle->acknowledged && oracle->digest == digest &&
            (i == 0 || i == oracle->acknowledged || oracle->requested[i - 1].may_end))
            return true;
    }
    return false;
}

static bool check_seen(const struct oracle *oracle, const uint64_t *seen, size_t count, size_t end,
                       char *why, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        while (at <= end && (digest_at(oracle, at) != seen[i] ||
                             (at != 0 && !oracle->requested[at - 1].may_end)))
            at++;
        if (at <= end)
            continue;
        snprintf(why, size,
                 "what a reader saw as number %zu of %zu was no commit, or is older "
                 "than what it saw before",
                 i, count);
        return false;
    }
    return true;
}

static void describe(const struct oracle *oracle, const uint32_t *found, uint64_t length, char *why,
                     size_t size)
{
    uint64_t i = 0, end = length < oracle->length ? length : oracle->length;
    while (i < end * VALUES_FIELDS && found[i] == oracle->found[i])
        i++;
    snprintf(why, size,
             "%" PRIu64 " records, which are no commit; with all of %zu operations, of "
             "which %zu are acknowledged, there would be %" PRIu64 ", and record %" PRIu64 " "
             "differs",
             length, oracle->requested_count, oracle->acknowledged, oracle->length,
             i / VALUES_FIELDS);
}

bool oracle_settle(struct oracle *oracle, lx_dataset *dataset, const uint64_t *seen, size_t count,
                   char *why, size_t size)
{
    uint64_t digest, length = lx_dataset_get_length(dataset);
    size_t end;
    uint32_t *found = values_read(dataset, &digest, why, size);
    if (found == NULL)
        return false;
    bool right = find(oracle, digest, &end);
    if (right && (length != oracle->length ||
                  (length != 0 && memcmp(found, oracle->found,
                                         (size_t)length * VALUES_FIELDS * sizeof *found) != 0)))
        right = false;
    if (!right)
        describe(oracle, found, length, why, size);
    free(found);
    right = right && check_seen(oracle, seen, count, end, why, size);
    begin(oracle);
    return right;
}
