/* SPDX-License-Identifier: MIT */
/* JSON Lines: each line is a record, a JSON object whose keys are the fields. Blank lines are not
 * records. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/json-scan.h"
#include "importer/format.h"
#include "importer/json-value.h"

typedef struct jsonl_reader {
    lx__import_reader base;
    lx__import_value *values;
    size_t capacity;
    uint8_t *plain; /**< Keys and strings without their escapes. */
    size_t plain_capacity, plain_used;
} jsonl_reader;

static lx__import_reader *create(void)
{
    return lx__alloc_array(1, sizeof(jsonl_reader));
}

static lx_status open_jsonl(lx__import_reader *reader, lx_error *error)
{
    return lx__input_pass_mark(reader->source.input, error);
}

static void close_jsonl(lx__import_reader *reader)
{
    jsonl_reader *self = (jsonl_reader *)reader;
    lx__free(self->values);
    lx__free(self->plain);
    lx__free(self);
}

static lx_status fail_here(const lx__json_scan *text, const char *line, lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT, "the line is not valid JSON: expected %s at byte %zu",
                   text->expected, (size_t)(text->at - line));
}

/** The content of the string [@p begin, @p end), which includes its quotes. */
static bool read_string(jsonl_reader *self, const char *begin, const char *end, bool escaped,
                        const char **data, size_t *size)
{
    *data = begin + 1;
    *size = (size_t)(end - begin) - 2;
    if (!escaped)
        return true;
    char *to = (char *)self->plain + self->plain_used;
    *size = lx__json_unescape(*data, *size, to);
    if (*size == SIZE_MAX)
        return false;
    self->plain_used += *size;
    *data = to;
    return true;
}

static const lx__import_kind kinds[] = {
    [LX__JSON_SCAN_NULL] = LX__IMPORT_MISSING,  [LX__JSON_SCAN_BOOL] = LX__IMPORT_BOOL,
    [LX__JSON_SCAN_NUMBER] = LX__IMPORT_NUMBER, [LX__JSON_SCAN_STRING] = LX__IMPORT_TEXT,
    [LX__JSON_SCAN_ARRAY] = LX__IMPORT_JSON,    [LX__JSON_SCAN_OBJECT] = LX__IMPORT_JSON};

/** Reads a key and its value. */
static bool read_member(jsonl_reader *self, lx__json_scan *text, lx__import_value *value)
{
    lx__json_type type;
    bool escaped;
    const char *begin;
    static const char pairs[] = "no half of a surrogate pair in the string";
    *value = (lx__import_value){0};
    lx__json_scan_skip_space(text);
    begin = text->at;
    if (!lx__json_scan_string(text, &escaped))
        return false;
    text->expected = pairs;
    if (!read_string(self, begin, text->at, escaped, &value->name, &value->name_size) ||
        !lx__json_scan_pass(text, ':', "a colon"))
        return false;
    lx__json_scan_skip_space(text);
    begin = text->at;
    if (!lx__json_scan_value(text, &type, &escaped))
        return false;
    value->kind = kinds[type];
    value->data = value->json = begin;
    value->size = value->json_size = (size_t)(text->at - begin);
    if (type != LX__JSON_SCAN_STRING)
        return true;
    const char *data;
    text->expected = pairs;
    bool read = read_string(self, begin, text->at, escaped, &data, &value->size);
    value->data = data;
    return read;
}

static lx_status read_object(jsonl_reader *self, const char *line, size_t size,
                             lx__import_record *record, lx_error *error)
{
    lx__json_scan text = {line, line + size, NULL};
    bool ended = false;
    record->count = 0;
    if (!lx__json_scan_pass(&text, '{', "an object"))
        return fail_here(&text, line, error);
    lx__json_scan_skip_space(&text);
    if (text.at < text.end && *text.at == '}')
        ended = lx__json_scan_pass(&text, '}', "");
    while (!ended) {
        void *values = lx__grow_array(self->values, record->count, &self->capacity,
                                      sizeof *self->values);
        if (values == NULL)
            return lx__fail_memory(error, "a record");
        self->values = values;
        if (!read_member(self, &text, &self->values[record->count++]))
            return fail_here(&text, line, error);
        lx__json_scan_skip_space(&text);
        ended = text.at < text.end && *text.at == '}';
        if (!lx__json_scan_pass(&text, ended ? '}' : ',', "a comma or '}'"))
            return fail_here(&text, line, error);
    }
    lx__json_scan_skip_space(&text);
    text.expected = "the end";
    record->values = self->values;
    return text.at == text.end ? LX_OK : fail_here(&text, line, error);
}

static bool is_blank(const char *line, size_t size)
{
    lx__json_scan text = {line, line + size, NULL};
    lx__json_scan_skip_space(&text);
    return text.at == text.end;
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    jsonl_reader *self = (jsonl_reader *)reader;
    const char *line;
    size_t size;
    do {
        record->offset = reader->source.input->offset;
        lx_status status = lx__input_line(reader->source.input, reader->source.record_limit, &line,
                                          &size, error);
        if (status != LX_OK)
            return status;
    } while (is_blank(line, size));
    self->plain_used = 0;
    if (memchr(line, '\\', size) != NULL && !lx__reserve(&self->plain, &self->plain_capacity, size))
        return lx__fail_memory(error, "a record");
    return read_object(self, line, size, record, error);
}

const lx__format_class lx__format_jsonl = {
    .name = "jsonl", .create = create, .open = open_jsonl, .next = next, .close = close_jsonl};
