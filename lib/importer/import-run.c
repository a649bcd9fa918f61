/* SPDX-License-Identifier: MIT */
/* Runs an import: derives the fields, opens the dataset, and appends the records of all inputs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <loaderx/card.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "importer/class-names.h"
#include "importer/columns.h"
#include "importer/cursor.h"
#include "importer/derived-fields.h"
#include "importer/import-state.h"
#include "importer/split-records.h"
#include "zrecord/format/card.h"
#include "zrecord/format/meta.h"
#include "zrecord/write/writer-options.h"
#include "zrecord/write/writer.h"

/* Version 1.0.0-rc1 stored the state of an import in a file next to the dataset. */
#define FORMER                                                                                     \
    "if an import of loaderx 1.0.0-rc1 left this file, it is not complete and cannot continue: "   \
    "remove the file and the dataset, and import again; otherwise, move the file away"

typedef struct run {
    lx_importer *importer;
    const char *path;
    const lx_writer_options *options;
    lx_writer *writer;
    lx__import_state state;  /**< What the card has; @c next is ahead of it between commits. */
    lx__class_labels labels; /**< If the format has classes. */
    lx__import_fields fields;
    lx__import_columns columns;
    lx__split_records split;
    lx__cursor cursor;
    uint64_t uncommitted; /**< Bytes since the last commit. */
    uint64_t skip;        /**< Records of the input that the interrupted import had committed. */
    bool broken;          /**< A call of the writer failed. */
    bool saw_all;         /**< No record precedes those that this call reads. */
} run;

/* ---- what identifies an import */

static uint32_t digest_text(uint32_t digest, const char *text)
{
    return lx__crc32c(digest, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

/** A digest of everything that decides which records the inputs give. */
static uint32_t digest(const lx_importer *importer)
{
    char type[768];
    uint32_t value = digest_text(0, importer->format->name);
    for (size_t i = 0; i < LX__FORMAT_OPTIONS; i++)
        value = digest_text(value, importer->options[i]);
    for (size_t i = 0; i < importer->fields.count; i++) {
        value = digest_text(value, importer->fields.list[i].source);
        value = digest_text(value,
                            lx__import_type_print(&importer->fields.list[i], type, sizeof type));
    }
    for (size_t i = 0; i < importer->input_count; i++)
        value = digest_text(value, importer->inputs[i]);
    uint64_t limit = LX__LE64(importer->record_limit); /* larger records may be skipped */
    return lx__crc32c(value, &limit, sizeof limit);
}

/** Bytes of all inputs; LX_NONE if that is unknown. Failures show when the input is opened. */
static uint64_t measure_inputs(const lx_importer *importer)
{
    uint64_t total = 0;
    for (size_t i = 0; i < importer->input_count; i++) {
        struct stat about;
        if (importer->format->opens_paths || stat(importer->inputs[i], &about) != 0 ||
            !S_ISREG(about.st_mode))
            return LX_NONE;
        total += (uint64_t)about.st_size;
    }
    return total;
}

/** Whether there is a file whose name is @p path, without slashes at its end, and @p suffix. If
 * @p refusal is not NULL, the call fails with it if there is. */
static lx_status file_exists(const char *path, const char *suffix, const char *refusal,
                             bool *exists, lx_error *error)
{
    size_t length = strlen(path), size = length + strlen(suffix) + 1;
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *name = lx__alloc(size);
    if (name == NULL)
        return lx__fail_memory(error, "a path");
    snprintf(name, size, "%.*s%s", (int)length, path, suffix);
    lx_status status = lx__file_is_regular(LX__CWD, name, exists, error);
    if (status == LX_OK && *exists && refusal != NULL)
        status = lx_fail(error, LX_ERR_UNSUPPORTED, "%s", refusal);
    lx_error_locate(error, name, NULL, LX_NONE, LX_NONE);
    lx__free(name);
    return status;
}

/* ---- the entry of the card */

/** Finds out whether an import into the dataset is not complete. If this import has the dataset open
 * for writing, so that no other changes it, gets the state, too. */
static lx_status look(run *self, bool *begun, lx_error *error)
{
    lx_card *card = NULL;
    lx_dataset *dataset = NULL;
    lx_dataset_identity now;
    lx_status status = lx_dataset_open(self->path, NULL, &dataset, error);
    if (status == LX_OK)
        status = lx_dataset_read_card(dataset, &card, error);
    const char *text = status == LX_OK ? lx_card_get_text(card, LX_CARD_IMPORT) : NULL;
    *begun = text != NULL;
    if (status == LX_OK && self->writer != NULL) {
        lx_dataset_get_identity(dataset, &now);
        self->state.changes = now.changes;
        if (*begun)
            status = lx__import_state_parse(&self->state, text, error);
        if (*begun && status == LX_OK)
            status = lx__import_state_match(&self->state, lx_dataset_get_length(dataset),
                                            now.changes, error);
    }
    lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
    lx_card_free(card);
    lx_dataset_close(dataset);
    return status;
}

/** Sets the state of an import into a dataset of this length. */
static void begin_state(run *self, uint64_t length)
{
    lx__import_state *state = &self->state;
    state->digest = digest(self->importer);
    state->classes = lx__class_labels_digest(&self->labels);
    state->first = length;
    state->done = state->next = (lx__import_point){.length = length, .before = length};
}

/** Stores the state in the card; if the import is complete, removes the entry. */
static lx_status mark(run *self, bool complete, lx_error *error)
{
    lx_card_entry entry = {.key = LX_CARD_IMPORT};
    char *text = complete ? NULL : lx__import_state_print(&self->state);
    if (text == NULL && !complete)
        return lx__fail_memory(error, "the state of an import");
    entry.text = text;
    lx_status status = lx_writer_set_card(self->writer, &entry, 1, error);
    lx__free(text);
    return status;
}

/* ---- opening the dataset */

/** Numbers the classes of all inputs, after those of the first @p length records of the dataset. */
static lx_status number_classes(run *self, uint64_t length, lx_error *error)
{
    const lx_importer *importer = self->importer;
    if (importer->format->add_classes == NULL)
        return LX_OK;
    lx_status status = length != 0 ? lx__class_labels_read(&self->labels, self->path, length, error)
                                   : LX_OK;
    if (status == LX_OK && length != 0)
        status = lx__class_names_read(&self->labels, lx__meta_get_card(&self->writer->meta), error);
    for (size_t i = 0; status == LX_OK && i < importer->input_count; i++) {
        lx_error why = LX_ERROR_INIT;
        const lx__import_source source = {.path = importer->inputs[i],
                                          .options = (const char *const *)importer->options};
        status = importer->format->add_classes(&source, &self->labels, &why);
        if (importer->policy == LX_BAD_SKIP &&
            (status == LX_ERR_NOT_FOUND || status == LX_ERR_CORRUPT))
            status = LX_OK; /* it fails again, and is passed over, when the input is read */
        else
            lx__error_propagate(error, &why);
    }
    return status == LX_OK ? lx__class_labels_number(&self->labels, error) : status;
}

/** Creates the dataset with its entries in the card. */
static lx_status create_with(run *self, const lx_schema *schema, lx_writer_options *with,
                             lx_error *error)
{
    bool begun;
    begin_state(self, 0);
    char *text = lx__import_state_print(&self->state), *names = NULL;
    with->card = with->card != NULL ? json_deep_copy(with->card) : json_object();
    lx_status status = text == NULL || with->card == NULL
                           ? lx__fail_memory(error, "a card")
                           : lx__class_names_print(&self->labels, schema, with->card, &names,
                                                   error);
    const lx_card_entry entries[] = {{LX_CARD_IMPORT, text}, {LX__CLASSES_KEY, names}};
    if (status == LX_OK)
        status = lx__card_change(with->card, entries, names != NULL ? 2 : 1, error);
    if (status == LX_OK)
        status = lx_writer_create(self->path, schema, with, &self->writer, error);
    json_decref(with->card);
    lx__free(text);
    lx__free(names);
    return status == LX_OK ? look(self, &begun, error) : status;
}

static lx_status create(run *self, const lx_schema *schema, lx_error *error)
{
    lx_writer_options *defaults = lx_writer_options_new();
    if (defaults == NULL)
        return lx__fail_memory(error, "options");
    lx_writer_options with = self->options != NULL ? *self->options : *defaults;
    lx_status status = create_with(self, schema, &with, error);
    lx_writer_options_free(defaults);
    return status;
}

static lx_status begin_new(run *self, lx_error *error)
{
    lx_schema *raw = lx_schema_new(), *schema = lx_schema_new();
    lx_status status = raw == NULL || schema == NULL ? lx__fail_memory(error, "a schema") : LX_OK;
    if (status == LX_OK)
        status = number_classes(self, 0, error);
    if (status == LX_OK)
        status = lx__derived_fields_init(&self->fields, &self->cursor, error);
    if (status == LX_OK)
        status = lx__import_fields_fill(&self->fields, raw, error);
    if (status == LX_OK)
        status = lx__importer_compress_fields(self->importer, raw, schema, error);
    if (status == LX_OK)
        status = create(self, schema, error);
    lx_schema_free(raw);
    lx_schema_free(schema);
    return status;
}

static lx_status fail_begun(const run *self, lx_error *error)
{
    lx_status status = lx__meta_fail_incomplete(error);
    lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Stores the names of the classes that are new to the dataset. */
static lx_status append_names(run *self, lx_error *error)
{
    char *names;
    const json_t *card = lx__meta_get_card(&self->writer->meta);
    lx_status status = lx__class_names_print(&self->labels, lx_writer_get_schema(self->writer),
                                             card, &names, error);
    if (self->labels.count != 0 && self->labels.listed == 0 &&
        json_object_get(card, LX__CLASSES_KEY) != NULL)
        lx__log(LX_LOG_WARNING,
                "%s: the entry " LX__CLASSES_KEY " of the card stays as it is, because it does not "
                "have the names of the folders",
                self->path);
    const lx_card_entry entry = {LX__CLASSES_KEY, names};
    if (names != NULL)
        status = lx_writer_set_card(self->writer, &entry, 1, error);
    lx__free(names);
    return status;
}

static lx_status begin_append(run *self, lx_error *error)
{
    bool begun;
    if (self->importer->storage_count != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the compression is fixed when a dataset is created: do not set it to "
                       "append");
    lx_status status = lx_writer_open(self->path, self->options, &self->writer, error);
    if (status == LX_OK)
        status = look(self, &begun, error);
    if (status == LX_OK && begun)
        return fail_begun(self, error); /* another import began it meanwhile */
    if (status == LX_OK)
        status = number_classes(self, lx_writer_get_length(self->writer), error);
    if (status == LX_OK)
        status = lx__derived_fields_init(&self->fields, &self->cursor, error);
    if (status == LX_OK)
        status = lx__import_fields_match(&self->fields, lx_writer_get_schema(self->writer), error);
    if (status == LX_OK)
        status = append_names(self, error);
    if (status != LX_OK)
        return status;
    begin_state(self, lx_writer_get_length(self->writer));
    return mark(self, false, error);
}

/** Numbers the classes as the interrupted import did. */
static lx_status number_again(run *self, lx_error *error)
{
    lx_status status = number_classes(self, self->state.first, error);
    if (status == LX_OK && self->state.classes != lx__class_labels_digest(&self->labels))
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the inputs have other folders than when the interrupted import began, so "
                         "their classes would get other labels: restore the folders, or import "
                         "into a new dataset");
    return status;
}

/** Continues an interrupted import. */
static lx_status begin_again(run *self, lx_error *error)
{
    bool begun;
    lx_status status = lx_writer_open(self->path, self->options, &self->writer, error);
    if (status == LX_OK)
        status = look(self, &begun, error);
    if (status == LX_OK && !begun)
        status = lx_fail(error, LX_ERR_BUSY, "another import has just completed the dataset");
    if (status == LX_OK && self->state.digest != digest(self->importer))
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the interrupted import had other inputs, another format, other types of "
                         "fields or another limit of a record: give the same ones");
    lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
    if (status == LX_OK)
        status = number_again(self, error);
    if (status == LX_OK)
        status = lx__derived_fields_init(&self->fields, &self->cursor, error);
    return status == LX_OK
               ? lx__import_fields_match(&self->fields, lx_writer_get_schema(self->writer), error)
               : status;
}

/** Opens the dataset; LX_END if there is nothing to do. */
static lx_status begin(run *self, lx_error *error)
{
    const lx_importer *importer = self->importer;
    bool exists, former, begun = false;
    lx_status status = file_exists(self->path, "/meta.json", NULL, &exists, error);
    if (status == LX_OK && exists)
        status = look(self, &begun, error);
    if (status == LX_OK && begun)
        return importer->resume ? begin_again(self, error) : fail_begun(self, error);
    if (status == LX_OK && exists && (importer->append || importer->resume))
        status = file_exists(self->path, ".import", FORMER, &former, error);
    if (status != LX_OK)
        return status;
    if (!importer->append && exists && importer->resume)
        return LX_END;
    if (!importer->append && exists) {
        status = lx_fail(error, LX_ERR_EXISTS,
                         "a dataset already exists: append to it, or choose "
                         "another path");
        lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    if (importer->append && importer->resume)
        return lx_fail(error, LX_ERR_NOT_FOUND,
                       "no interrupted import into the dataset is known: it is complete, or did "
                       "not begin");
    return importer->append ? begin_append(self, error) : begin_new(self, error);
}

/* ---- the records */

static lx_status write_batch(run *self, lx_error *error)
{
    uint64_t rows = self->columns.rows, bytes = self->columns.bytes;
    lx_status status = lx__import_columns_write(&self->columns, self->writer, error);
    self->broken = status != LX_OK;
    if (status == LX_OK) {
        self->importer->result.records += rows;
        self->importer->result.bytes += bytes;
        self->uncommitted += bytes;
    }
    return status;
}

static lx_status commit(run *self, lx_error *error)
{
    self->state.next.length = lx_writer_get_length(self->writer);
    lx_status status = mark(self, false, error);
    if (status == LX_OK)
        status = lx_writer_end_transaction(self->writer, error);
    self->broken = status != LX_OK;
    self->state.done = self->state.next;
    self->uncommitted = 0;
    return status;
}

static lx_status flush(run *self, lx_error *error)
{
    lx_status status = write_batch(self, error);
    if (status != LX_OK || self->uncommitted < self->importer->commit_size)
        return status;
    status = commit(self, error);
    if (status == LX_OK)
        status = lx_writer_begin_transaction(self->writer, error);
    self->broken = status != LX_OK;
    return status;
}

static lx_status import_record(run *self, size_t input, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    const lx__import_record *record = &self->cursor.record;
    /* Before it may be bad: then the other half is not a record of its own either. */
    lx_status status = lx__split_records_add(&self->split, &self->fields, record,
                                             self->importer->inputs, input, error);
    if (status != LX_OK) { /* no bad record: the first half may be imported, and would stay */
        lx_error_locate(error, self->cursor.path, NULL, LX_NONE, record->offset);
        return status;
    }
    status = lx__import_columns_add(&self->columns, record, &why);
    if (status != LX_OK)
        return lx__cursor_refuse(&self->cursor, &why, error);
    if (self->skip != 0) {
        lx__import_columns_drop(&self->columns);
        self->skip--;
        return LX_OK;
    }
    return lx__import_columns_full(&self->columns) ? flush(self, error) : LX_OK;
}

static lx_status import_input(run *self, size_t input, lx_error *error)
{
    lx_status status = lx__cursor_open(&self->cursor, input, LX__CURSOR_IMPORT, error);
    while (status == LX_OK) {
        status = lx__cursor_next(&self->cursor, error);
        if (status == LX_OK)
            status = import_record(self, input, error);
    }
    if (status == LX_END && self->skip != 0) {
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the input has fewer records than the interrupted import read from it: it "
                         "was changed");
        lx_error_locate(error, self->cursor.path, NULL, LX_NONE, LX_NONE);
    }
    lx__cursor_close(&self->cursor);
    if (status != LX_END)
        return status;
    self->state.next.inputs = input + 1;
    self->state.next.before = lx_writer_get_length(self->writer) + self->columns.rows;
    self->state.next.bad = self->importer->result.bad;
    return LX_OK;
}

/** Imports the inputs that are not complete. After a failure that is not the writer's, the records
 * before it are committed, too. */
static lx_status import_all(run *self, lx_error *error)
{
    const lx__import_point done = self->state.done;
    self->saw_all = done.inputs == 0;
    self->skip = done.length - done.before;
    self->importer->result.resumed = done.length - self->state.first;
    self->importer->result.bad = done.bad; /* those of the next input are found again */
    lx__derived_fields_note_given(&self->fields, &self->importer->fields);
    lx_status status = lx__import_columns_init(&self->columns, &self->fields, error);
    if (status == LX_OK)
        status = lx_writer_begin_transaction(self->writer, error);
    if (status != LX_OK)
        return status;
    for (size_t i = done.inputs; status == LX_OK && i < self->importer->input_count; i++)
        status = import_input(self, i, error);
    if (self->cursor.hidden != 0)
        lx__log(LX_LOG_WARNING, "names that begin with a dot were left out of the inputs: %" PRIu64,
                self->cursor.hidden);
    if (self->broken)
        return status;
    lx_error *second = status == LX_OK ? error : NULL;
    lx_status ended = write_batch(self, second);
    if (ended == LX_OK)
        ended = commit(self, second);
    return status != LX_OK ? status : ended;
}

/** The length of a dataset whose import was complete. */
static lx_status finish_before(run *self, lx_error *error)
{
    lx_dataset *dataset = NULL;
    lx_status status = lx_dataset_open(self->path, NULL, &dataset, error);
    if (status != LX_OK)
        return status;
    self->importer->result.length = lx_dataset_get_length(dataset);
    self->importer->result.resumed = self->importer->result.length;
    lx_dataset_close(dataset);
    return LX_OK;
}

/** Checks the names of the fields whose types were set, which more records than the first ones may
 * have. */
static lx_status check_names(const run *self, lx_error *error)
{
    const lx__import_fields *given = &self->importer->fields;
    bool check = self->saw_all && !self->importer->append && self->columns.number != 0;
    for (size_t i = 0; check && i < given->count; i++)
        if (given->list[i].type != LX__IMPORT_IGNORED &&
            !lx__import_columns_saw(&self->columns,
                                    lx__derived_fields_find(&self->fields, &given->list[i])))
            return lx__derived_fields_fail_absent(
                &given->list[i], ". The import is complete, and the field has only missing values",
                error);
    return LX_OK;
}

static lx_status run_import(run *self, lx_error *error)
{
    lx_status status = begin(self, error);
    if (status == LX_END)
        return finish_before(self, error);
    if (status == LX_OK)
        status = import_all(self, error);
    if (status == LX_OK)
        status = mark(self, true, error);
    if (self->writer != NULL)
        self->importer->result.length = lx_writer_get_length(self->writer);
    lx_status closed = lx_writer_close(self->writer, status == LX_OK ? error : NULL);
    if (status == LX_OK)
        status = closed;
    return status == LX_OK ? check_names(self, error) : status;
}

lx_status lx_importer_run(lx_importer *importer, const char *path, const lx_writer_options *options,
                          lx_error *error)
{
    if (importer == NULL || path == NULL)
        return lx__fail_null(error, importer == NULL ? "importer" : "path");
    if (importer->format == NULL || importer->input_count == 0)
        return lx_fail(error, LX_ERR_STATE, "no %s is set",
                       importer->format == NULL ? "format" : "input");
    importer->result = (lx_import_result){0};
    importer->bad_count = 0;
    run self = {.importer = importer, .path = path, .options = options};
    lx__cursor_init(&self.cursor, importer, &self.labels, measure_inputs(importer));
    lx_status status = run_import(&self, error);
    lx__cursor_free(&self.cursor);
    lx__import_columns_free(&self.columns);
    lx__split_records_free(&self.split);
    lx__import_fields_free(&self.fields);
    lx__class_labels_free(&self.labels);
    return status;
}
