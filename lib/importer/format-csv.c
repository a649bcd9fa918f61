/* SPDX-License-Identifier: MIT */
/* CSV as in RFC 4180: the words of the first record name the fields, a word in quotes may contain
 * anything, and quotes in it are doubled. Lines may end with LF or, if the first one does, CR. A
 * blank line is not a record, or, if there is only one field, a record without a value, as polars
 * and DuckDB write it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <loaderx/schema.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "importer/format.h"

enum { OPTION_DELIMITER, OPTION_HEADER };
static const char *const options[] = {
    [OPTION_DELIMITER] = "delimiter", [OPTION_HEADER] = "header", NULL};

/* Length of "column" and a number. */
#define COLUMN_NAME 32

/** A word of a record, which begins at @c at bytes after the beginning of the record. */
typedef struct word {
    size_t at, size;
    bool doubled; /**< It contains doubled quotes. */
} word;

typedef struct csv_reader {
    lx__import_reader base;
    char delimiter;
    char end;    /**< Of a line: LF, before which CR may be, or CR. */
    bool headed; /**< The first record names the fields. */
    word *words;
    size_t count, capacity;
    lx__import_value *values; /**< With the names of the fields; NULL before the first record. */
    size_t fields;
    char *names;
    uint8_t *plain; /**< Words without doubled quotes. */
    size_t plain_capacity;
    size_t used; /**< Size of the record, to be taken by the next call. */
} csv_reader;

static lx__import_reader *create(void)
{
    return lx__alloc_array(1, sizeof(csv_reader));
}

static void close_csv(lx__import_reader *reader)
{
    csv_reader *self = (csv_reader *)reader;
    lx__free(self->words);
    lx__free(self->values);
    lx__free(self->names);
    lx__free(self->plain);
    lx__free(self);
}

/* ---- splitting a record into words */

/** Makes the byte at @p at available; @p there is false at the end of the input. */
static lx_status need(csv_reader *self, size_t at, bool *there, lx_error *error)
{
    lx__input *input = self->base.source.input;
    *there = false;
    if (at >= self->base.source.record_limit)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the record has more than %" PRIu64
                       " bytes: a quote may be missing, or raise the limit of a record",
                       self->base.source.record_limit);
    lx_status status = at < input->size ? LX_OK : lx__input_fill(input, at + 1, error);
    *there = at < input->size;
    return status;
}

/** Passes a word in quotes, whose first quote is at *@p at. */
static lx_status pass_quoted(csv_reader *self, size_t *at, word *found, lx_error *error)
{
    lx__input *input = self->base.source.input;
    *found = (word){.at = ++*at};
    for (;;) {
        bool there;
        lx_status status = need(self, *at, &there, error);
        if (status == LX_OK && !there)
            return lx_fail(error, LX_ERR_CORRUPT, "a quote is not closed");
        if (status != LX_OK)
            return status;
        const uint8_t *quote = memchr(input->data + *at, '"', input->size - *at);
        *at = quote != NULL ? (size_t)(quote - input->data) + 1 : input->size;
        if (quote == NULL)
            continue;
        status = need(self, *at, &there, error);
        if (status != LX_OK)
            return status;
        if (!there || input->data[*at] != '"')
            break;
        found->doubled = true;
        ++*at;
    }
    found->size = *at - 1 - found->at;
    return LX_OK;
}

/** Passes a word without quotes. */
static lx_status pass_plain(csv_reader *self, size_t *at, word *found, lx_error *error)
{
    const lx__input *input = self->base.source.input;
    const char delimiter = self->delimiter;
    bool there = true;
    *found = (word){.at = *at};
    for (;;) {
        while (*at < input->size) {
            char byte = (char)input->data[*at];
            if (byte == delimiter || byte == self->end)
                break;
            if (byte == '"')
                return lx_fail(error, LX_ERR_CORRUPT, "a quote is inside a word without quotes");
            ++*at;
        }
        if (*at < input->size)
            break;
        lx_status status = need(self, *at, &there, error);
        if (status != LX_OK)
            return status;
        if (!there)
            break;
    }
    found->size = *at - found->at;
    if (found->size != 0 && input->data[*at - 1] == '\r' && (!there || input->data[*at] == '\n'))
        found->size--;
    return LX_OK;
}

/** Passes what follows a word: a delimiter, or the end of the record. */
static lx_status pass_end(csv_reader *self, size_t *at, bool *more, lx_error *error)
{
    const lx__input *input = self->base.source.input;
    bool there;
    lx_status status = need(self, *at, &there, error);
    if (status == LX_OK && there && self->end == '\n' && input->data[*at] == '\r') {
        ++*at;
        status = need(self, *at, &there, error);
    }
    *more = status == LX_OK && there && input->data[*at] == (uint8_t)self->delimiter;
    if (status != LX_OK || !there)
        return status;
    if (!*more && input->data[*at] != (uint8_t)self->end)
        return lx_fail(error, LX_ERR_CORRUPT, "text follows the closing quote of a value");
    ++*at;
    return LX_OK;
}

static lx_status add_word(csv_reader *self, const word *found, lx_error *error)
{
    void *words = lx__grow_array(self->words, self->count, &self->capacity, sizeof *self->words);
    if (words == NULL)
        return lx__fail_memory(error, "a record");
    self->words = words;
    self->words[self->count++] = *found;
    return LX_OK;
}

/** Finds the words of the record at the beginning of the input. */
static lx_status split(csv_reader *self, lx_error *error)
{
    const lx__input *input = self->base.source.input;
    bool more = true;
    self->count = 0;
    self->used = 0;
    while (more) {
        bool there;
        word found;
        lx_status status = need(self, self->used, &there, error);
        if (status == LX_OK)
            status = there && input->data[self->used] == '"'
                         ? pass_quoted(self, &self->used, &found, error)
                         : pass_plain(self, &self->used, &found, error);
        if (status == LX_OK)
            status = pass_end(self, &self->used, &more, error);
        if (status == LX_OK)
            status = add_word(self, &found, error);
        if (status != LX_OK)
            return status;
    }
    size_t valid = lx__utf8_span((const char *)input->data, self->used);
    return valid == self->used
               ? LX_OK
               : lx_fail(error, LX_ERR_CORRUPT, "byte %zu of the record is not valid UTF-8", valid);
}

/** Passes the rest of the line on which a bad record ends. */
static void skip_line(csv_reader *self)
{
    lx__input *input = self->base.source.input;
    size_t used = self->used < input->size ? self->used : input->size;
    bool ended = used != 0 && input->data[used - 1] == (uint8_t)self->end;
    lx__input_take(input, used);
    while (!ended && lx__input_fill(input, 1, NULL) == LX_OK && input->size != 0) {
        const uint8_t *end = memchr(input->data, self->end, input->size);
        ended = end != NULL;
        lx__input_take(input, ended ? (size_t)(end - input->data) + 1 : input->size);
    }
    self->used = 0;
}

/** Removes the doubled quotes of a word; returns the end of the copy. */
static uint8_t *undouble(const uint8_t *from, size_t size, uint8_t *to)
{
    for (size_t i = 0; i < size; i++) {
        *to++ = from[i];
        i += from[i] == '"';
    }
    return to;
}

/** Finds the content of each word. */
static lx_status read_words(csv_reader *self, lx_error *error)
{
    const uint8_t *data = self->base.source.input->data;
    if (!lx__reserve(&self->plain, &self->plain_capacity, self->used))
        return lx__fail_memory(error, "a record");
    uint8_t *to = self->plain;
    for (size_t i = 0; i < self->count; i++) {
        const word *found = &self->words[i];
        self->values[i].kind = LX__IMPORT_WORD;
        self->values[i].data = data + found->at;
        self->values[i].size = found->size;
        if (found->doubled) {
            self->values[i].data = to;
            to = undouble(data + found->at, found->size, to);
            self->values[i].size = (size_t)(to - (const uint8_t *)self->values[i].data);
        }
    }
    return LX_OK;
}

/* ---- the header */

/** Passes the bytes CR at @p at, and decides how lines end. */
static lx_status judge_end(csv_reader *self, size_t at, lx_error *error)
{
    const lx__input *input = self->base.source.input;
    size_t after = at;
    bool there = true;
    lx_status status = LX_OK;
    while (status == LX_OK && there && input->data[after] == '\r')
        status = need(self, ++after, &there, error);
    bool feed = status == LX_OK && there && input->data[after] == '\n';
    if (feed && after - at > 1)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the first line ends with CR CR LF, as CR LF becomes in a text file of "
                       "Windows: leave out one CR of each line");
    self->end = feed || after == at ? '\n' : '\r';
    return status;
}

/** Finds out how lines end: as the first one, outside quotes. */
static lx_status find_end(csv_reader *self, lx_error *error)
{
    const lx__input *input = self->base.source.input;
    bool quoted = false, there;
    self->end = '\n';
    for (size_t at = 0;; at++) {
        lx_status status = need(self, at, &there, error);
        if (status != LX_OK || !there)
            return status;
        quoted = quoted != (input->data[at] == '"');
        if (!quoted && (input->data[at] == '\n' || input->data[at] == '\r'))
            return judge_end(self, at, error);
    }
}

/** Makes a value for each word of the first record, with its name. */
static lx_status name_fields(csv_reader *self, lx_error *error)
{
    if (self->count > LX_MAX_FIELDS)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the first record has %zu words, but a dataset has at most %d fields",
                       self->count, LX_MAX_FIELDS);
    size_t room = self->used + self->count * COLUMN_NAME;
    self->fields = self->count;
    self->values = lx__alloc_array(self->count, sizeof *self->values);
    self->names = lx__alloc(room);
    if (self->values == NULL || self->names == NULL)
        return lx__fail_memory(error, "the names of the fields");
    lx_status status = read_words(self, error);
    char *to = self->names;
    for (size_t i = 0; status == LX_OK && i < self->count; i++) {
        lx__import_value *value = &self->values[i];
        bool named = self->headed && value->size != 0;
        size_t size = named ? value->size : (size_t)snprintf(to, COLUMN_NAME, "column%zu", i);
        if (named)
            memcpy(to, value->data, size);
        *value = (lx__import_value){.name = to, .name_size = size};
        to += size;
        for (size_t j = 0; status == LX_OK && j < i; j++)
            if (self->values[j].name_size == size &&
                memcmp(self->values[j].name, value->name, size) == 0)
                status = lx_fail(error, LX_ERR_CORRUPT, "two columns have the name '%.*s'",
                                 size < 64 ? (int)size : 64, value->name);
    }
    return status;
}

static lx_status read_options(csv_reader *self, lx_error *error)
{
    const char *delimiter = self->base.source.options[OPTION_DELIMITER];
    const char *header = self->base.source.options[OPTION_HEADER];
    self->delimiter = delimiter == NULL ? ',' : strcmp(delimiter, "\\t") == 0 ? '\t' : *delimiter;
    if (delimiter != NULL && self->delimiter != '\t' &&
        (strlen(delimiter) != 1 || strchr("\"\r\n", *delimiter) != NULL))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the delimiter '%.16s' is invalid: use one character, or \\t", delimiter);
    self->headed = header == NULL || strcmp(header, "yes") == 0;
    if (!self->headed && strcmp(header, "no") != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "the header '%.16s' is invalid: use yes or no",
                       header);
    return LX_OK;
}

static lx_status open_csv(lx__import_reader *reader, lx_error *error)
{
    csv_reader *self = (csv_reader *)reader;
    lx__input *input = reader->source.input;
    lx_status status = read_options(self, error);
    if (status == LX_OK)
        status = lx__input_pass_mark(input, error);
    if (status != LX_OK || input->size == 0)
        return status;
    status = find_end(self, error);
    if (status == LX_OK)
        status = split(self, error);
    if (status == LX_OK)
        status = name_fields(self, error);
    if (status == LX_OK && !self->headed)
        self->used = 0;
    return status;
}

/* ---- records */

static lx_status read_record(csv_reader *self, lx_error *error)
{
    lx_status status = split(self, error);
    if (status != LX_OK) {
        skip_line(self);
        return status;
    }
    if (self->count != self->fields)
        return lx_fail(error, LX_ERR_CORRUPT, "the record has %zu words, and the first one %zu",
                       self->count, self->fields);
    return read_words(self, error);
}

/** Size of the end of a line with which the input begins; 0 if it begins with something else. */
static size_t blank_size(const csv_reader *self, const lx__input *input)
{
    if (*input->data == (uint8_t)self->end)
        return 1;
    if (*input->data == '\r' && (input->size == 1 || input->data[1] == '\n'))
        return input->size < 2 ? 1 : 2;
    return 0;
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    csv_reader *self = (csv_reader *)reader;
    lx__input *input = reader->source.input;
    size_t blank;
    do {
        lx__input_take(input, self->used);
        self->used = 0;
        record->offset = input->offset;
        lx_status status = lx__input_fill(input, 2, error);
        if (status != LX_OK || input->size == 0)
            return status != LX_OK ? status : LX_END;
        self->used = blank = blank_size(self, input);
    } while (blank != 0 && self->fields != 1);
    record->values = self->values;
    record->count = self->fields;
    if (blank == 0)
        return read_record(self, error);
    *self->values = (lx__import_value){.name = self->values->name,
                                       .name_size = self->values->name_size};
    return LX_OK;
}

const lx__format_class lx__format_csv = {.name = "csv",
                                         .options = options,
                                         .create = create,
                                         .open = open_csv,
                                         .next = next,
                                         .close = close_csv};
