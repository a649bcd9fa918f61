/* SPDX-License-Identifier: MIT */
#include "loader/sources/dataset-state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "sampler/core/saved-state.h"
#include "zrecord/read/dataset.h"
#include "zrecord/read/row-digest.h"

/** The list of states to compare with, and how far the comparison has progressed. */
typedef struct comparison {
    const json_t *states;
    size_t place;
} comparison;

/* ---- saving */

/** The id of a field as a JSON key. */
typedef struct field_key {
    char text[16];
} field_key;

static field_key key_of(const lx_field *field)
{
    field_key key;
    snprintf(key.text, sizeof key.text, "%" PRIu32, field->id);
    return key;
}

/** An unknown digest is null. */
static json_t *digest_to_json(uint64_t digest)
{
    return digest != LX__DIGEST_UNKNOWN ? lx__state_crc((uint32_t)digest) : json_null();
}

/** Returns {"<id of the field>": <value>, ..}. */
static json_t *values_to_json(const lx_schema *schema, const uint64_t *values,
                              json_t *(*convert)(uint64_t value))
{
    json_t *fields = json_object();
    for (size_t i = 0; fields != NULL && i < lx_schema_get_field_count(schema); i++) {
        field_key key = key_of(lx_schema_get_field(schema, i));
        if (json_object_set_new(fields, key.text, convert(values[i])) != 0) {
            json_decref(fields);
            return NULL;
        }
    }
    return fields;
}

/** Returns {"<name of the field>": <id>, ..}. */
static json_t *names_to_json(const lx_schema *schema)
{
    json_t *names = json_object();
    for (size_t i = 0; names != NULL && i < lx_schema_get_field_count(schema); i++) {
        const lx_field *field = lx_schema_get_field(schema, i);
        if (json_object_set_new(names, field->name, json_integer(field->id)) != 0) {
            json_decref(names);
            return NULL;
        }
    }
    return names;
}

static json_t *identity_to_json(const lx_dataset_identity *identity, uint64_t length)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:I}", "uuid", identity->uuid, "length",
                     lx__state_number(length), "generation", lx__state_number(identity->generation),
                     "sequence", lx__state_number(identity->sequence), "checksum",
                     (json_int_t)identity->checksum);
}

/** The records of a live dataset may change at any time, so they have no digest. */
static lx_status make_live(const lx__dataset_use *use, json_t **state, lx_error *error)
{
    lx_dataset_identity identity;
    lx_dataset_get_identity(use->dataset, &identity);
    *state = identity_to_json(&identity, use->length);
    return *state != NULL ? LX_OK : lx__fail_memory(error, "a state");
}

static lx_status make_state(const lx__dataset_use *use, json_t **state, lx_error *error)
{
    lx__row_digest digest;
    if (lx__dataset_is_live(use->dataset))
        return make_live(use, state, error);
    lx_status status = lx__dataset_digest_rows(use->dataset, use->length, LX_NONE, &digest, error);
    if (status != LX_OK)
        return status;
    const lx_schema *schema = lx_dataset_get_schema(use->dataset);
    json_t *made = identity_to_json(&digest.identity, use->length);
    int failed = json_object_set_new(made, "tables", json_integer(digest.table_generation));
    failed |= json_object_set_new(made, "rows", lx__state_number(digest.rows));
    failed |= json_object_set_new(made, "fields",
                                  values_to_json(schema, digest.fields, digest_to_json));
    failed |= json_object_set_new(made, "changes",
                                  values_to_json(schema, digest.changes, lx__state_number));
    failed |= json_object_set_new(made, "names", names_to_json(schema));
    lx__row_digest_free(&digest);
    if (failed == 0) {
        *state = made;
        return LX_OK;
    }
    json_decref(made);
    return lx__fail_memory(error, "a state");
}

static lx_status add_state(void *user, const lx__dataset_use *use, lx_error *error)
{
    json_t *state = NULL;
    lx_status status = LX_OK;
    if (use->dataset != NULL)
        status = make_state(use, &state, error);
    else
        state = json_deep_copy(use->state);
    if (status != LX_OK)
        return status;
    return json_array_append_new(user, state) == 0 ? LX_OK : lx__fail_memory(error, "a state");
}

lx_status lx__dataset_states_new(const lx_source *source, json_t **states, lx_error *error)
{
    *states = json_array();
    lx_status status = *states != NULL
                           ? lx__source_visit_datasets(source, NULL, add_state, *states, error)
                           : lx__fail_memory(error, "a state");
    if (status != LX_OK) {
        json_decref(*states);
        *states = NULL;
    }
    return status;
}

/* ---- lengths */

static lx_status fail_length(const lx__dataset_use *use, uint64_t then, uint64_t now,
                             lx_error *error)
{
    lx_status status;
    if (now > then)
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the dataset has %" PRIu64 " records, but had %" PRIu64
                         " when the state was saved: to continue with those, open the dataset with "
                         "length=%" PRIu64 "; otherwise, start without the state",
                         now, then, then);
    else if (use->dataset != NULL && use->dataset->options.length == now)
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the dataset was opened with length=%" PRIu64 ", but had %" PRIu64
                         " records when the state was saved: open it with length=%" PRIu64
                         ", or start without the state",
                         now, then, then);
    else
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the dataset has only %" PRIu64 " records, but had %" PRIu64
                         " when the state was saved; the order of a run depends on the number of "
                         "records, so the run cannot continue with fewer, even if changed records "
                         "are allowed: append records until there are %" PRIu64
                         " again, and allow changed records with changed='allow'; or start without "
                         "the state",
                         now, then, then);
    if (use->dataset != NULL)
        lx_error_locate(error, lx_dataset_get_path(use->dataset), NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status match_length(void *user, const lx__dataset_use *use, lx_error *error)
{
    comparison *self = user;
    const json_t *saved = json_array_get(self->states, self->place++);
    lx_dataset_identity identity = {.uuid = ""};
    const char *then_uuid, *uuid = identity.uuid;
    uint64_t then, now = use->length;
    if (use->dataset != NULL)
        lx_dataset_get_identity(use->dataset, &identity);
    else if (lx__json_get_text(use->state, "uuid", &uuid, NULL) != LX_OK ||
             lx__state_get_number(use->state, "length", &now, NULL) != LX_OK)
        return LX_OK;
    if (lx__json_get_text(saved, "uuid", &then_uuid, NULL) != LX_OK ||
        lx__state_get_number(saved, "length", &then, NULL) != LX_OK ||
        strcmp(uuid, then_uuid) != 0 || now == then)
        return LX_OK;
    return fail_length(use, then, now, error);
}

lx_status lx__dataset_states_match_lengths(const lx_source *source, const json_t *states,
                                           lx_error *error)
{
    comparison self = {.states = states};
    return lx__source_visit_datasets(source, NULL, match_length, &self, error);
}

/* ---- records */

/** Whether the state was saved with the snapshot that is read now. */
static bool is_same_snapshot(const json_t *saved, const lx_dataset_identity *now)
{
    uint64_t generation, sequence, checksum;
    return lx__state_get_number(saved, "generation", &generation, NULL) == LX_OK &&
           lx__state_get_number(saved, "sequence", &sequence, NULL) == LX_OK &&
           lx__state_get_number(saved, "checksum", &checksum, NULL) == LX_OK &&
           generation == now->generation && sequence == now->sequence && checksum == now->checksum;
}

static lx_status fail_changed(const lx__dataset_use *use, const lx_field *field, const char *what,
                              lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                               "records changed after the state was saved, so the run would not "
                               "continue with the same samples%s: to continue with the records as "
                               "they are now, restore the state with changed='allow', or in C by "
                               "lx_loader_restore_changed()",
                               what);
    lx_error_locate(error, lx_dataset_get_path(use->dataset), field->name, LX_NONE, LX_NONE);
    return status;
}

static void warn_unknown(const lx__dataset_use *use, const char *why)
{
    lx__log(LX_LOG_WARNING,
            "%s: %s, so it is not known whether records changed after the state was saved",
            lx_dataset_get_path(use->dataset), why);
}

static bool is_wanted(const lx__dataset_use *use, size_t field)
{
    if (use->only != SIZE_MAX)
        return field == use->only;
    return use->wanted == NULL || use->wanted[field];
}

/** The result of comparing digests. */
typedef struct findings {
    const lx_field *changed; /**< A field that is read and whose digest differs; NULL if none. */
    bool unknown;            /**< The digest of a field that is read could not be computed. */
} findings;

static void compare_field(findings *found, const lx_field *field, const json_t *fields, bool wanted,
                          uint64_t digest)
{
    char now[9];
    snprintf(now, sizeof now, "%08" PRIx32, (uint32_t)digest);
    const json_t *then = json_object_get(fields, key_of(field).text);
    if (!wanted || then == NULL)
        return;
    if (digest == LX__DIGEST_UNKNOWN || json_is_null(then))
        found->unknown = true;
    else if (!json_is_string(then) || strcmp(json_string_value(then), now) != 0)
        found->changed = field;
}

/** Compares the digests of the fields that are read. A field that was added after the state was
 * saved has no digest in it. */
static lx_status match_digests(const lx__dataset_use *use, const json_t *fields,
                               const lx__row_digest *digest, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(use->dataset);
    findings found = {NULL, false};
    for (size_t i = 0; i < lx_schema_get_field_count(schema); i++)
        compare_field(&found, lx_schema_get_field(schema, i), fields, is_wanted(use, i),
                      digest->fields[i]);
    if (found.changed != NULL)
        return fail_changed(use, found.changed, "", error);
    if (found.unknown)
        warn_unknown(use, "a table could not be read");
    return LX_OK;
}

/** Compares the numbers of changes, because the digests of other tables cannot be compared. The
 * states of earlier releases have none. */
static lx_status match_changes(const lx__dataset_use *use, const json_t *saved,
                               const lx__row_digest *digest, lx_error *error)
{
    json_t *changes;
    const lx_schema *schema = lx_dataset_get_schema(use->dataset);
    if (json_object_get(saved, "changes") == NULL) {
        warn_unknown(use, "its tables were rewritten by a rebalance, a recovery, a seal or a "
                          "checkpoint");
        return LX_OK;
    }
    lx_status status = lx__json_get(saved, "changes", JSON_OBJECT, &changes, error);
    for (size_t i = 0; status == LX_OK && i < lx_schema_get_field_count(schema); i++) {
        const lx_field *field = lx_schema_get_field(schema, i);
        field_key key = key_of(field);
        uint64_t then;
        if (!is_wanted(use, i) || json_object_get(changes, key.text) == NULL)
            continue;
        status = lx__state_get_number(changes, key.text, &then, error);
        if (status == LX_OK && then != digest->changes[i])
            status =
                fail_changed(use, field,
                             " (the tables were rewritten in the meantime, so it is not known "
                             "which records changed; perhaps only some that were appended later)",
                             error);
    }
    return status;
}

static lx_status compare_digests(const lx__dataset_use *use, const json_t *saved, lx_error *error)
{
    uint64_t tables, rows;
    json_t *fields;
    lx__row_digest digest;
    lx_status status = lx__json_get(saved, "fields", JSON_OBJECT, &fields, error);
    if (status == LX_OK)
        status = lx__json_get_integer(saved, "tables", 0, UINT32_MAX, &tables, error);
    if (status == LX_OK)
        status = lx__state_get_number(saved, "rows", &rows, error);
    if (status == LX_OK)
        status = lx__dataset_digest_rows(use->dataset, use->length, rows, &digest, error);
    if (status != LX_OK)
        return status;
    if (tables == digest.table_generation)
        status = match_digests(use, fields, &digest, error);
    else
        status = match_changes(use, saved, &digest, error);
    lx__row_digest_free(&digest);
    return status;
}

/** Fails if a field that is read has a name that belonged to a different field when the state was
 * saved. Comparing snapshots cannot detect this, because renaming a field commits nothing. */
static lx_status match_names(const lx__dataset_use *use, const json_t *saved, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(use->dataset);
    const json_t *names = json_object_get(saved, "names");
    for (size_t i = 0; i < lx_schema_get_field_count(schema); i++) {
        const lx_field *field = lx_schema_get_field(schema, i);
        const json_t *then = json_object_get(names, field->name);
        if (is_wanted(use, i) && then != NULL && json_integer_value(then) != field->id)
            return fail_changed(use, field, "", error);
    }
    return LX_OK;
}

static lx_status match_records(void *user, const lx__dataset_use *use, lx_error *error)
{
    comparison *self = user;
    const json_t *saved = json_array_get(self->states, self->place++);
    lx_dataset_identity identity;
    if (!json_is_object(saved))
        return lx_fail(error, LX_ERR_CORRUPT, "\"datasets[%zu]\" is missing", self->place - 1);
    if (use->dataset == NULL || lx__dataset_is_live(use->dataset))
        return LX_OK;
    lx_status status = match_names(use, saved, error);
    lx_dataset_get_identity(use->dataset, &identity);
    if (status != LX_OK || is_same_snapshot(saved, &identity))
        return status;
    if (json_object_get(saved, "fields") != NULL)
        return compare_digests(use, saved, error);
    warn_unknown(use, "the state was saved from a live dataset");
    return LX_OK;
}

lx_status lx__dataset_states_match_records(const lx_source *source, const bool *wanted,
                                           const json_t *states, lx_error *error)
{
    comparison self = {.states = states};
    if (!json_is_array(states))
        return lx_fail(error, LX_ERR_CORRUPT, "\"datasets\" is missing");
    return lx__source_visit_datasets(source, wanted, match_records, &self, error);
}
