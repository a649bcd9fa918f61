/* SPDX-License-Identifier: MIT */
/* Lines: each line of a text is a record with one field. */
#include <string.h>

#include "base/alloc.h"
#include "importer/field-name.h"
#include "importer/format.h"

enum { OPTION_FIELD };
static const char *const options[] = {[OPTION_FIELD] = "field", NULL};

typedef struct lines_reader {
    lx__import_reader base;
    lx__import_value value;
} lines_reader;

static lx__import_reader *create(void)
{
    return lx__alloc_array(1, sizeof(lines_reader));
}

static lx_status open_lines(lx__import_reader *reader, lx_error *error)
{
    lines_reader *self = (lines_reader *)reader;
    const char *name = reader->source.options[OPTION_FIELD];
    if (name != NULL && lx__field_name_check(options[OPTION_FIELD], name, error) != LX_OK)
        return LX_ERR_ARGUMENT;
    self->value.name = name != NULL ? name : "text";
    self->value.name_size = strlen(self->value.name);
    self->value.kind = LX__IMPORT_TEXT;
    self->value.unchecked = true;
    return lx__input_pass_mark(reader->source.input, error);
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    lines_reader *self = (lines_reader *)reader;
    const char *line;
    size_t size;
    record->offset = reader->source.input->offset;
    lx_status status = lx__input_line(reader->source.input, reader->source.record_limit, &line,
                                      &size, error);
    if (status != LX_OK)
        return status;
    self->value.data = line;
    self->value.size = size;
    record->values = &self->value;
    record->count = 1;
    return LX_OK;
}

static void close_lines(lx__import_reader *reader)
{
    lx__free(reader);
}

const lx__format_class lx__format_lines = {.name = "lines",
                                           .options = options,
                                           .create = create,
                                           .open = open_lines,
                                           .next = next,
                                           .close = close_lines};
