/* SPDX-License-Identifier: MIT */
#include "changes.h"

#include "content.h"
#include "zrecord/read/row-digest.h"

static struct changes read_changes(lx_dataset *dataset)
{
    lx_error error = LX_ERROR_INIT;
    lx__row_digest digest;
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    struct changes changes = {.count = lx_schema_get_field_count(schema)};
    if (lx__dataset_digest_rows(dataset, 0, LX_NONE, &digest, &error) != LX_OK)
        give_up("numbers of changes");
    for (size_t i = 0; i < changes.count; i++) {
        changes.list[i].field = lx_schema_get_field(schema, i)->id;
        changes.list[i].number = digest.changes[i];
    }
    lx__row_digest_free(&digest);
    return changes;
}

/** How the values of a field differ between two versions, as far as both have records. */
enum difference { NO_CHANGES, EQUAL_VALUES, OTHER_VALUES };

static enum difference find_difference(struct records *records, const struct version *left,
                                       size_t left_field, const struct version *right,
                                       size_t right_field)
{
    uint64_t length = left->length < right->length ? left->length : right->length;
    uint8_t kind = left->columns.list[left_field].kind;
    enum difference difference = NO_CHANGES;
    for (size_t i = 0; i < length; i++) {
        uint32_t before = left->cells[i * left->columns.count + left_field];
        uint32_t now = right->cells[i * right->columns.count + right_field];
        if (before == now)
            continue;
        if (!content_equal_values(records_get(records, before, kind),
                                  records_get(records, now, kind)))
            return OTHER_VALUES;
        difference = EQUAL_VALUES;
    }
    return difference;
}

/** Compares the fields that two candidates have in common. Between adjacent ones, there is one
 * commit. */
static const char *compare(struct records *records, const struct candidate *before,
                           const struct candidate *now, bool adjacent)
{
    bool shortened = now->version.length < before->version.length;
    for (size_t i = 0; i < now->changes.count; i++)
        for (size_t k = 0; k < before->changes.count; k++) {
            if (now->changes.list[i].field != before->changes.list[k].field)
                continue;
            bool same = now->changes.list[i].number == before->changes.list[k].number;
            enum difference difference = find_difference(records, &before->version, k,
                                                         &now->version, i);
            if (same && (difference == OTHER_VALUES || (adjacent && shortened)))
                return "a number of changes does not show a change";
            if (!same && difference == NO_CHANGES && adjacent && !shortened)
                return "a number of changes shows a change that there is not";
        }
    return NULL;
}

const char *changes_check(const struct history *history, size_t found, lx_dataset *dataset)
{
    struct candidate *now = &history->list[found];
    if (history->copies || now->version.length == 0 || history_is_ambiguous(history, found))
        return NULL;
    const struct changes seen = read_changes(dataset);
    for (size_t i = 0; i < now->changes.count; i++)
        if (now->changes.list[i].number != seen.list[i].number)
            return "a number of changes was different at another crash of the same job";
    now->changes = seen;
    for (size_t i = found; i-- > 0;)
        if (history->list[i].changes.count != 0)
            return compare(history->records, &history->list[i], now, i + 1 == found);
    return NULL;
}
