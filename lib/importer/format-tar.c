/* SPDX-License-Identifier: MIT */
/* Tar archives of WebDataset: consecutive members whose names are equal up to the first dot of the
 * last component are a record; what follows the dot names the field. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "importer/field-name.h"
#include "importer/format.h"
#include "importer/image-name.h"
#include "importer/tar-member.h"

enum { OPTION_KEY };
static const char *const options[] = {[OPTION_KEY] = "key", NULL};

/** A member of the record. */
typedef struct part {
    size_t data, size; /**< Its content, in bytes after input->data. */
    size_t name;       /**< The name of its field, in bytes after names. */
} part;

typedef struct tar_reader {
    lx__import_reader base;
    lx__tar_member member; /**< The last one that was read. */
    char key[LX__TAR_NAME + 1];
    part *parts;
    size_t count, capacity;
    uint8_t *names; /**< Of the fields, each with a NUL. */
    size_t names_size, names_capacity;
    lx__import_value *values; /**< One for each part, and one for the key. */
    size_t value_capacity;
    size_t used;  /**< Size of the record, to be taken by the next call. */
    bool refused; /**< The rest of the record @ref key is passed over. */
} tar_reader;

static lx__import_reader *create(void)
{
    return lx__alloc_array(1, sizeof(tar_reader));
}

static lx_status open_tar(lx__import_reader *reader, lx_error *error)
{
    const char *key = reader->source.options[OPTION_KEY];
    return key != NULL ? lx__field_name_check(options[OPTION_KEY], key, error) : LX_OK;
}

static void close_tar(lx__import_reader *reader)
{
    tar_reader *self = (tar_reader *)reader;
    lx__free(self->parts);
    lx__free(self->names);
    lx__free(self->values);
    lx__free(self);
}

/* ---- names */

/** Position of the dot that ends the key; 0 if the name has no key or no ending. Such files, among
 * them hidden ones, are not part of a record. */
static size_t find_dot(const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash != NULL ? slash + 1 : name;
    const char *dot = strchr(base, '.');
    return dot == NULL || dot == base || dot[1] == '\0' ? 0 : (size_t)(dot - name);
}

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/** Removes the spaces around a word. */
static void trim(lx__import_value *value)
{
    const char *text = value->data;
    while (value->size != 0 && is_space(text[value->size - 1]))
        value->size--;
    for (; value->size != 0 && is_space(*text); value->size--)
        text++;
    value->data = text;
}

/** Sets the kind of a value from the name of its field, as the decoders of WebDataset do. */
static void classify(lx__import_value *value, const char *name)
{
    static const char *const texts[] = {"txt", "text", "transcript", NULL};
    static const char *const jsons[] = {"json", "jsn", NULL};
    static const char *const numbers[] = {"cls",   "cls2", "class", "count",
                                          "index", "inx",  "id",    NULL};
    value->unchecked = true;
    if (is_one_of(name, numbers)) {
        value->kind = LX__IMPORT_WORD;
        trim(value);
    } else if (is_one_of(name, texts)) {
        value->kind = LX__IMPORT_TEXT;
    } else if (is_one_of(name, jsons)) {
        value->kind = LX__IMPORT_JSON;
    } else {
        value->kind = lx__image_name_is(name) ? LX__IMPORT_IMAGE : LX__IMPORT_BYTES;
        value->unchecked = false;
    }
}

/* ---- members */

/** Whether the member is part of the record @c key. */
static bool continues(const tar_reader *self, size_t dot)
{
    return self->key[dot] == '\0' && memcmp(self->member.name, self->key, dot) == 0;
}

static lx_status check_member(const tar_reader *self, lx_error *error)
{
    const lx__tar_member *member = &self->member;
    if (member->type == LX__TAR_UNSUPPORTED)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the member '%.100s' is a link, a device or a sparse file", member->name);
    /* Headers count as well: they stay in memory until the record is complete. */
    if (member->next > self->base.source.record_limit || member->next > SIZE_MAX / 4)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the record has more than %" PRIu64 " bytes: raise the limit of a record",
                       self->base.source.record_limit);
    return LX_OK;
}

static lx_status fail_truncated(tar_reader *self, lx_error *error)
{
    self->base.lost = true;
    return lx_fail(error, LX_ERR_CORRUPT,
                   "the archive ends within the member '%.100s': it is truncated",
                   self->member.name);
}

/** Takes everything up to the end of the member. */
static lx_status pass_member(tar_reader *self, lx_error *error)
{
    uint64_t skipped, size = self->member.next;
    lx_status status = lx__input_skip(self->base.source.input, size, &skipped, error);
    return status == LX_OK && skipped < size ? fail_truncated(self, error) : status;
}

/** Keeps the name of the field of a member, in small letters. */
static bool keep_name(tar_reader *self, const char *name, part *added)
{
    size_t size = strlen(name) + 1, wanted = self->names_size + size;
    if (wanted > self->names_capacity &&
        !lx__reserve(&self->names, &self->names_capacity, 2 * wanted))
        return false;
    added->name = self->names_size;
    for (size_t i = 0; i < size; i++)
        self->names[added->name + i] =
            (uint8_t)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    self->names_size = wanted;
    return true;
}

/** Refuses a name that is not UTF-8: keys and fields are texts. */
static lx_status check_name(const char *name, lx_error *error)
{
    char shown[400];
    size_t size = strlen(name), valid = lx__utf8_span(name, size), at = 0;
    if (valid == size)
        return LX_OK;
    for (size_t i = 0; i < size && at < sizeof shown - 5; i++) {
        if (i == valid)
            at += (size_t)snprintf(shown + at, sizeof shown - at, "\\x%02x", (uint8_t)name[i]);
        else
            shown[at++] = name[i];
        if (i == valid)
            valid += 1 + lx__utf8_span(name + i + 1, size - i - 1);
    }
    shown[at] = '\0';
    shown[lx__utf8_span(shown, at)] = '\0'; /* the end may be half a character */
    return lx_fail(error, LX_ERR_CORRUPT, "the name of the member '%s' is not UTF-8", shown);
}

/** Makes the content of the member available, and adds it to the record. */
static lx_status add_part(tar_reader *self, size_t dot, lx_error *error)
{
    lx__input *input = self->base.source.input;
    const lx__tar_member *member = &self->member;
    lx_status status = check_name(member->name, error);
    if (status == LX_OK)
        status = check_member(self, error);
    if (status == LX_OK)
        status = lx__input_fill(input, (size_t)member->next, error);
    if (status != LX_OK)
        return status;
    if (input->size < member->next)
        return fail_truncated(self, error);
    part added = {.data = member->data, .size = (size_t)member->size};
    void *parts = lx__grow_array(self->parts, self->count, &self->capacity, sizeof *self->parts);
    if (parts != NULL)
        self->parts = parts;
    if (parts == NULL || !keep_name(self, member->name + dot + 1, &added))
        return lx__fail_memory(error, "a record");
    self->parts[self->count++] = added;
    self->used = (size_t)member->next;
    return LX_OK;
}

/** Adds the member to the record, or passes it over; LX_END if it belongs to the next record. */
static lx_status treat_member(tar_reader *self, lx_error *error)
{
    size_t dot = self->member.type != LX__TAR_OTHER ? find_dot(self->member.name) : 0;
    bool same = dot != 0 && continues(self, dot);
    if (self->count != 0 && dot != 0 && !same)
        return LX_END;
    if (self->count == 0 && (dot == 0 || (self->refused && same)))
        return pass_member(self, error);
    if (dot == 0) { /* between two members of a record */
        self->used = (size_t)self->member.next;
        lx_status status = check_member(self, error);
        return status == LX_OK ? lx__input_fill(self->base.source.input, self->used, error)
                               : status;
    }
    memcpy(self->key, self->member.name, dot);
    self->key[dot] = '\0';
    self->refused = false;
    return add_part(self, dot, error);
}

/** After a failure: passes over what was read of the record, and lets next() pass over the rest. */
static lx_status refuse(tar_reader *self, lx_status why)
{
    self->used = 0;
    self->count = 0;
    self->refused = true;
    if (self->base.lost || self->base.source.input->failed || why == LX_ERR_NOMEM)
        return why;
    lx_status status = pass_member(self, NULL);
    return status == LX_OK || self->base.lost ? why : status;
}

/* ---- records */

/** Makes the values of the record, whose members are all in the buffer. */
static lx_status make_values(tar_reader *self, lx__import_record *record, lx_error *error)
{
    const uint8_t *data = self->base.source.input->data;
    const char *key = self->base.source.options[OPTION_KEY];
    if (self->value_capacity < self->count + 1) {
        void *values = lx__resize_array(self->values, 2 * (self->count + 1), sizeof *self->values);
        if (values == NULL)
            return lx__fail_memory(error, "a record");
        self->values = values;
        self->value_capacity = 2 * (self->count + 1);
    }
    record->values = self->values;
    record->count = 0;
    record->key = self->key;
    record->key_size = strlen(self->key);
    if (key != NULL)
        self->values[record->count++] = (lx__import_value){.name = key,
                                                           .name_size = strlen(key),
                                                           .kind = LX__IMPORT_TEXT,
                                                           .unchecked = true,
                                                           .data = self->key,
                                                           .size = strlen(self->key)};
    for (size_t i = 0; i < self->count; i++) {
        const part *from = &self->parts[i];
        const char *name = (const char *)self->names + from->name;
        lx__import_value *value = &self->values[record->count++];
        *value = (lx__import_value){
            .name = name, .name_size = strlen(name), .data = data + from->data, .size = from->size};
        classify(value, name);
    }
    return LX_OK;
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    tar_reader *self = (tar_reader *)reader;
    lx__input *input = reader->source.input;
    lx__input_take(input, self->used);
    self->used = 0;
    self->count = 0;
    self->names_size = 0;
    for (;;) {
        if (self->count == 0)
            record->offset = input->offset;
        lx_status status = lx__tar_member_read(input, self->used, &self->member, error);
        if (status == LX_END && self->count == 0) {
            self->refused = false;
            status = lx__tar_pass_zeros(input, error);
            if (status == LX_OK)
                continue;
        }
        if (status == LX_END)
            break;
        if (status != LX_OK) {
            reader->lost = true;
            return status;
        }
        status = treat_member(self, error);
        if (status == LX_END)
            break;
        if (status != LX_OK)
            return refuse(self, status);
    }
    return self->count != 0 ? make_values(self, record, error) : LX_END;
}

const lx__format_class lx__format_tar = {.name = "tar",
                                         .options = options,
                                         .create = create,
                                         .open = open_tar,
                                         .next = next,
                                         .close = close_tar};
