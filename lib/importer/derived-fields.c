/* SPDX-License-Identifier: MIT */
#include "importer/derived-fields.h"

#include <inttypes.h>

#include "base/error.h"

/* Records whose values decide the types of the fields, at most. */
#define SAMPLE_RECORDS 1000

/** Observes a record, unless it is bad. */
static lx_status sample_record(lx__import_fields *fields, lx__cursor *cursor, uint64_t *count,
                               lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    const lx__import_record *record = &cursor->record;
    if (lx__import_fields_check(&cursor->importer->fields, record, &why) != LX_OK)
        return lx__cursor_refuse(cursor, &why, error);
    ++*count;
    return lx__import_fields_observe(fields, record, error);
}

static lx_status fail_sample(const lx__cursor *cursor, lx_error *error)
{
    const lx_error *first = &cursor->first_bad;
    lx_status status = lx_fail(error, first->status,
                               "the inputs have no good record, and %" PRIu64
                               " bad ones; the first of these: %s",
                               cursor->bad, first->message);
    lx_error_locate(error, first->path, first->field, first->record, first->offset);
    return status;
}

/** Observes the first records of the first input that has any. @p all: no record follows them. */
static lx_status sample(lx__import_fields *fields, lx__cursor *cursor, bool *all, lx_error *error)
{
    lx_status status = LX_OK;
    uint64_t count = 0;
    for (size_t i = 0; status == LX_OK && count == 0 && i < cursor->importer->input_count; i++) {
        status = lx__cursor_open(cursor, i, LX__CURSOR_SAMPLE, error);
        while (status == LX_OK && count < SAMPLE_RECORDS &&
               (count == 0 || lx__cursor_place(cursor) < LX__CURSOR_SAMPLE_BYTES)) {
            status = lx__cursor_next(cursor, error);
            if (status == LX_OK)
                status = sample_record(fields, cursor, &count, error);
        }
        *all = status == LX_END && count != 0 && i + 1 == cursor->importer->input_count;
        if (status == LX_END)
            status = LX_OK;
        lx_error_locate(error, cursor->path, NULL, cursor->number - 1, cursor->record.offset);
        lx__cursor_close(cursor);
    }
    return status == LX_OK && count == 0 && cursor->bad != 0 ? fail_sample(cursor, error) : status;
}

size_t lx__derived_fields_find(const lx__import_fields *fields, const lx__import_field *given)
{
    const lx__import_field *found = lx__import_fields_find(fields, 0, given->source,
                                                           given->source_size);
    return found != NULL ? (size_t)(found - fields->list) : fields->count;
}

lx_status lx__derived_fields_fail_absent(const lx__import_field *given, const char *result,
                                         lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                               "the type of this field is set, but no record has it: check the "
                               "name, or append to a dataset that has the field%s",
                               result);
    lx_error_locate(error, NULL, given->source, LX_NONE, LX_NONE);
    return status;
}

/** Gives the caller's types precedence over the derived ones. @p all: all records were observed. */
static lx_status apply_types(lx__import_fields *fields, const lx_importer *importer, bool all,
                             lx_error *error)
{
    char type[768];
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < importer->fields.count; i++) {
        const lx__import_field *from = &importer->fields.list[i];
        if (all && !importer->append && from->type != LX__IMPORT_IGNORED &&
            lx__derived_fields_find(fields, from) == fields->count)
            return lx__derived_fields_fail_absent(from, "", error);
        status = lx__import_fields_set(fields, from->source,
                                       lx__import_type_print(from, type, sizeof type), error);
    }
    return status;
}

lx_status lx__derived_fields_init(lx__import_fields *fields, lx__cursor *cursor, lx_error *error)
{
    bool all = false;
    lx_status status = sample(fields, cursor, &all, error);
    lx__import_fields_derive(fields);
    if (status == LX_OK)
        status = apply_types(fields, cursor->importer, all, error);
    lx__import_fields_drop_shapes(fields);
    return status;
}

void lx__derived_fields_note_given(lx__import_fields *fields, const lx__import_fields *given)
{
    for (size_t i = 0; i < given->count; i++) {
        size_t at = lx__derived_fields_find(fields, &given->list[i]);
        if (at != fields->count)
            fields->list[at].given = true;
    }
}
