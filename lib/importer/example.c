/* SPDX-License-Identifier: MIT */
/* Sources: the encoding of protocol buffers, https://protobuf.dev/programming-guides/encoding/, and
 * tensorflow/core/example/feature.proto. */
#include "importer/example.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <loaderx/schema.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"

/** A tag: the number of a field and how it is encoded. All tags of an example are one byte. */
#define TAG(field, wire) ((uint8_t)((field) << 3 | (wire)))
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_PART = 2, WIRE_FIXED32 = 5 };

/** The lists of a feature, which are numbered like their fields. */
enum { NO_LIST, BYTES_LIST, FLOAT_LIST, INT64_LIST };

/** A part of the message. */
typedef struct part {
    const uint8_t *at, *end;
} part;

/** What the pointers of a value refer to; arrays that grow may move, so they are set at the end. */
struct lx__example_place {
    uint64_t extent;
    size_t at;   /**< In the copies. */
    bool copied; /**< Otherwise the message contains the value. */
};

/* ---- the encoding */

static bool read_varint(part *self, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && self->at < self->end; shift += 7) {
        uint8_t byte = *self->at++;
        if (shift == 63 && byte > 1)
            return false;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/** Reads a length and passes so many bytes, which are @p inner. */
static bool read_part(part *self, part *inner)
{
    uint64_t size;
    if (!read_varint(self, &size) || size > (uint64_t)(self->end - self->at))
        return false;
    *inner = (part){self->at, self->at + size};
    self->at += size;
    return true;
}

/** Reads the tag @p tag and its part; on failure, nothing is passed. */
static bool read_tagged(part *self, uint8_t tag, part *inner)
{
    part rest = *self;
    if (rest.at == rest.end || *rest.at++ != tag || !read_part(&rest, inner))
        return false;
    *self = rest;
    return true;
}

/** Passes a field that a newer definition of the message has; false if its number is at most
 * @p known, or it is damaged. */
static bool skip_unknown(part *self, unsigned known)
{
    part rest = *self, inner;
    uint64_t tag, number;
    if (!read_varint(&rest, &tag) || tag >> 3 <= known || tag >> 3 >= (uint64_t)1 << 29)
        return false;
    size_t left = (size_t)(rest.end - rest.at), size = (tag & 7) == WIRE_FIXED64 ? 8 : 4;
    switch (tag & 7) {
    case WIRE_VARINT:
        if (!read_varint(&rest, &number))
            return false;
        break;
    case WIRE_PART:
        if (!read_part(&rest, &inner))
            return false;
        break;
    case WIRE_FIXED64:
    case WIRE_FIXED32:
        if (left < size)
            return false;
        rest.at += size;
        break;
    default:
        return false;
    }
    *self = rest;
    return true;
}

static lx_status fail_message(lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT,
                   "the record is not a tf.Example: set the option raw to import it as bytes");
}

static lx_status fail_list(const lx__import_value *value, lx_error *error)
{
    return lx_fail(error, LX_ERR_CORRUPT, "the feature '%.*s' has no valid list of values",
                   value->name_size < 64 ? (int)value->name_size : 64, value->name);
}

/** Makes a feature that can only be ignored. */
static void make_unusable(lx__import_value *value, const char *why)
{
    value->kind = LX__IMPORT_UNUSABLE;
    value->unchecked = true;
    value->data = why;
    value->size = strlen(why);
}

/* ---- copies */

/** Appends bytes to the copies. */
static lx_status copy(lx__example *self, const void *data, size_t size, lx_error *error)
{
    if (size == 0)
        return LX_OK;
    if (size > self->limit || self->copied > self->limit - size)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the features have more than %" PRIu64 " bytes: raise the limit of a record",
                       self->limit);
    if (size > self->copy_capacity - self->copied &&
        !lx__reserve(&self->copies, &self->copy_capacity, 2 * (self->copied + size)))
        return lx__fail_memory(error, "a record");
    memcpy(self->copies + self->copied, data, size);
    self->copied += size;
    return LX_OK;
}

/** Copies text as a JSON string. */
static lx_status copy_json(lx__example *self, const part *text, lx_error *error)
{
    lx_status status = copy(self, "\"", 1, error);
    for (const uint8_t *at = text->at; status == LX_OK && at < text->end; at++) {
        char escape[8] = {'\\', (char)*at};
        size_t size = 2;
        if (*at < 0x20)
            size = (size_t)snprintf(escape, sizeof escape, "\\u%04x", *at);
        status = *at < 0x20 || *at == '"' || *at == '\\' ? copy(self, escape, size, error)
                                                         : copy(self, at, 1, error);
    }
    return status == LX_OK ? copy(self, "\"", 1, error) : status;
}

/* ---- lists */

/** Whether a comma-separated list contains a name. */
static bool contains(const char *list, const char *name, size_t size)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        if (length == size && memcmp(list, name, size) == 0)
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

/** Reads byte strings as a JSON array. */
static lx_status read_json(lx__example *self, part list, lx__import_value *value,
                           lx__example_place *place, lx_error *error)
{
    lx_status status = LX_OK;
    size_t begin = self->copied;
    part item;
    while (status == LX_OK && list.at < list.end) {
        if (skip_unknown(&list, 1))
            continue;
        if (!read_tagged(&list, TAG(1, WIRE_PART), &item))
            return fail_list(value, error);
        size_t size = (size_t)(item.end - item.at);
        if (lx__utf8_span((const char *)item.at, size) != size) {
            self->copied = begin;
            make_unusable(value, "the feature is in the option lists, and has a byte string that "
                                 "is not UTF-8");
            return LX_OK;
        }
        status = copy(self, self->copied == begin ? "[" : ",", 1, error);
        if (status == LX_OK)
            status = copy_json(self, &item, error);
    }
    if (status == LX_OK && self->copied == begin)
        status = copy(self, "[", 1, error);
    if (status == LX_OK)
        status = copy(self, "]", 1, error);
    *place = (lx__example_place){.at = begin, .copied = true};
    value->kind = LX__IMPORT_JSON;
    value->size = self->copied - begin;
    return status;
}

/** Reads a list of one byte string. */
static lx_status read_bytes(part list, lx__import_value *value, lx_error *error)
{
    part item;
    while (skip_unknown(&list, 1)) {
    }
    if (!read_tagged(&list, TAG(1, WIRE_PART), &item))
        return fail_list(value, error);
    while (skip_unknown(&list, 1)) {
    }
    if (list.at < list.end) {
        make_unusable(value, "the feature has several byte strings: name it in the option lists to "
                             "import them as a JSON array");
        return LX_OK;
    }
    value->kind = LX__IMPORT_BYTES;
    value->data = item.at;
    value->size = (size_t)(item.end - item.at);
    return LX_OK;
}

/** Copies a part of integers. */
static lx_status copy_integers(lx__example *self, part packed, const lx__import_value *value,
                               lx_error *error)
{
    lx_status status = LX_OK;
    while (status == LX_OK && packed.at < packed.end) {
        uint64_t number;
        if (!read_varint(&packed, &number))
            return fail_list(value, error);
        number = LX__LE64(number);
        status = copy(self, &number, sizeof number, error);
    }
    return status;
}

/** Copies the next numbers of a list: a packed part of it, or a single one. */
static lx_status copy_numbers(lx__example *self, part *list, bool integers,
                              const lx__import_value *value, lx_error *error)
{
    part packed;
    if (skip_unknown(list, 1))
        return LX_OK;
    if (read_tagged(list, TAG(1, WIRE_PART), &packed)) {
        if (integers)
            return copy_integers(self, packed, value, error);
        size_t size = (size_t)(packed.end - packed.at);
        return size % 4 == 0 ? copy(self, packed.at, size, error) : fail_list(value, error);
    }
    uint64_t number;
    uint8_t tag = *list->at++;
    if (integers && tag == TAG(1, WIRE_VARINT) && read_varint(list, &number)) {
        number = LX__LE64(number);
        return copy(self, &number, sizeof number, error);
    }
    if (!integers && tag == TAG(1, WIRE_FIXED32) && list->end - list->at >= 4) {
        list->at += 4;
        return copy(self, list->at - 4, 4, error);
    }
    return fail_list(value, error);
}

static lx_status read_numbers(lx__example *self, part list, bool integers, lx__import_value *value,
                              lx__example_place *place, lx_error *error)
{
    part whole = list, packed;
    size_t step = integers ? 8 : 4;
    value->dtype = integers ? LX_INT64 : LX_FLOAT32;
    *place = (lx__example_place){.at = self->copied};
    if (!integers && read_tagged(&whole, TAG(1, WIRE_PART), &packed) && whole.at == whole.end &&
        (packed.end - packed.at) % 4 == 0) {
        value->data = packed.at; /* the usual encoding needs no copy */
        value->size = (size_t)(packed.end - packed.at);
    } else {
        place->copied = true;
        while (list.at < list.end) {
            lx_status status = copy_numbers(self, &list, integers, value, error);
            if (status != LX_OK)
                return status;
        }
        value->size = self->copied - place->at;
    }
    place->extent = value->size / step;
    value->kind = place->extent != 0 ? LX__IMPORT_ARRAY : LX__IMPORT_MISSING;
    value->ndim = 1;
    value->list = true;
    return LX_OK;
}

/* ---- features */

/** Reads a Feature, which has at most one list. */
static lx_status read_feature(lx__example *self, part feature, lx__import_value *value,
                              lx__example_place *place, lx_error *error)
{
    part list = {NULL, NULL};
    int kind = NO_LIST;
    bool unknown = false;
    while (feature.at < feature.end) {
        if (skip_unknown(&feature, INT64_LIST)) {
            unknown = true;
            continue;
        }
        uint8_t tag = *feature.at++;
        bool known = tag == TAG(BYTES_LIST, WIRE_PART) || tag == TAG(FLOAT_LIST, WIRE_PART) ||
                     tag == TAG(INT64_LIST, WIRE_PART);
        if (!known || kind != NO_LIST || !read_part(&feature, &list))
            return fail_list(value, error);
        kind = tag >> 3;
    }
    if (unknown && kind == NO_LIST) /* it may be a list of a new kind */
        return fail_list(value, error);
    if (kind == BYTES_LIST && contains(self->lists, value->name, value->name_size))
        return read_json(self, list, value, place, error);
    if (kind == NO_LIST || list.at == list.end)
        return LX_OK;
    return kind == BYTES_LIST ? read_bytes(list, value, error)
                              : read_numbers(self, list, kind == INT64_LIST, value, place, error);
}

static lx_status grow(lx__example *self, lx_error *error)
{
    if (self->count == LX_MAX_FIELDS)
        return lx_fail(error, LX_ERR_LIMIT, "the example has more than %d features", LX_MAX_FIELDS);
    void *values = lx__grow_array(self->values, self->count, &self->value_capacity,
                                  sizeof *self->values);
    if (values == NULL)
        return lx__fail_memory(error, "a record");
    self->values = values;
    void *places = lx__grow_array(self->places, self->count, &self->place_capacity,
                                  sizeof *self->places);
    if (places == NULL)
        return lx__fail_memory(error, "a record");
    self->places = places;
    return LX_OK;
}

/** Reads an entry of the map: a name and a Feature. */
static lx_status read_entry(lx__example *self, part entry, lx_error *error)
{
    part name = {NULL, NULL}, feature = {NULL, NULL}, *inner;
    while (entry.at < entry.end) {
        if (skip_unknown(&entry, 2))
            continue;
        uint8_t tag = *entry.at++;
        inner = tag == TAG(1, WIRE_PART) ? &name : &feature;
        if ((tag != TAG(1, WIRE_PART) && tag != TAG(2, WIRE_PART)) || inner->at != NULL ||
            !read_part(&entry, inner))
            return fail_message(error);
    }
    if (name.at == name.end)
        return lx_fail(error, LX_ERR_CORRUPT, "a feature has no name");
    lx_status status = grow(self, error);
    if (status != LX_OK)
        return status;
    lx__import_value *value = &self->values[self->count];
    *value = (lx__import_value){.name = (const char *)name.at,
                                .name_size = (size_t)(name.end - name.at)};
    self->places[self->count] = (lx__example_place){0};
    return read_feature(self, feature, value, &self->places[self->count++], error);
}

static lx_status read_features(lx__example *self, part features, lx_error *error)
{
    lx_status status = LX_OK;
    bool known = features.at == features.end;
    while (status == LX_OK && features.at < features.end) {
        part entry;
        if (skip_unknown(&features, 1))
            continue;
        known = true; /* unknown fields alone may be any bytes */
        if (!read_tagged(&features, TAG(1, WIRE_PART), &entry))
            return fail_message(error);
        status = read_entry(self, entry, error);
    }
    return known ? status : fail_message(error);
}

lx_status lx__example_read(lx__example *self, const uint8_t *data, size_t size, lx_error *error)
{
    lx_status status = LX_OK;
    part message = {data, data + size}, features;
    bool known = size == 0;
    self->count = self->copied = 0;
    while (status == LX_OK && message.at < message.end) {
        if (skip_unknown(&message, 2))
            continue;
        known = true;
        if (read_tagged(&message, TAG(1, WIRE_PART), &features))
            status = read_features(self, features, error);
        else if (*message.at == TAG(2, WIRE_PART))
            return lx_fail(error, LX_ERR_UNSUPPORTED,
                           "the record is a tf.SequenceExample, which is not supported: set the "
                           "option raw to import it as bytes");
        else
            return fail_message(error);
    }
    if (!known)
        return fail_message(error);
    for (size_t i = 0; i < self->count; i++) {
        self->values[i].shape = &self->places[i].extent;
        if (self->places[i].copied && self->values[i].size != 0)
            self->values[i].data = self->copies + self->places[i].at;
    }
    return status;
}

void lx__example_free(lx__example *self)
{
    lx__free(self->values);
    lx__free(self->places);
    lx__free(self->copies);
}
