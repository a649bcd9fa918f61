/* SPDX-License-Identifier: MIT */
/* meta.json may be hostile: every value is checked before it is used. */
#include "zrecord/format/meta-file.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic-file.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/card.h"
#include "zrecord/format/names.h"
#include "zrecord/format/uuid.h"

#define META_CHECKSUM "checksum"
#define CHUNK_LIMIT_MAX (1ull << 62)

/* Offset of the checksum digits. */
#define STAMP_DIGITS strlen("{\"" META_CHECKSUM "\": \"")
/* Why the checksum may be missing or wrong, and what to do about it. */
#define ADVICE                                                                                     \
    "the file is damaged or was edited: 'loaderx repair' restamps it if nothing else is wrong"

/* ---- reading */

static lx_status read_version(const json_t *document, lx_error *error)
{
    json_t *format;
    lx_status status = lx__json_get(document, "format", JSON_ARRAY, &format, error);
    if (status != LX_OK)
        return status;
    if (json_array_size(format) != 2 ||
        !lx__json_is_integer_in(json_array_get(format, 0), 0, UINT32_MAX) ||
        !lx__json_is_integer_in(json_array_get(format, 1), 0, UINT32_MAX))
        return lx_fail(error, LX_ERR_CORRUPT, "\"format\" must be a list of two 32-bit integers");
    json_int_t major = json_integer_value(json_array_get(format, 0));
    if (major != LX__FORMAT_MAJOR)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the dataset has format %" JSON_INTEGER_FORMAT
                       ", but this library reads format %d: use a version of the library that "
                       "reads the dataset's format",
                       major, LX__FORMAT_MAJOR);
    return LX_OK;
}

/** Reads a feature list, which must contain only strings. */
static lx_status read_feature_list(const json_t *features, const char *key, json_t **list,
                                   lx_error *error)
{
    lx_status status = lx__json_get(features, key, JSON_ARRAY, list, error);
    for (size_t i = 0; status == LX_OK && i < json_array_size(*list); i++)
        if (!json_is_string(json_array_get(*list, i)))
            status = lx_fail(error, LX_ERR_CORRUPT, "\"%s\" must be a list of strings", key);
    return status;
}

/** Reads both feature lists. Rejects mandatory features that this version does not support. */
static lx_status read_features(const json_t *document, lx_error *error)
{
    json_t *features, *must, *may;
    lx_status status = lx__json_get(document, "features", JSON_OBJECT, &features, error);
    if (status == LX_OK)
        status = read_feature_list(features, "must", &must, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < json_array_size(must); i++) {
        const char *name = json_string_value(json_array_get(must, i));
        if (strcmp(name, LX__FEATURE_RAGGED) != 0 && strcmp(name, LX__FEATURE_PARTS) != 0)
            return lx_fail(error, LX_ERR_UNSUPPORTED,
                           "the dataset requires the feature '%.64s', which this library lacks: "
                           "use a newer version of the library",
                           name);
    }
    return read_feature_list(features, "may", &may, error);
}

static lx_status read_compression(const json_t *object, lx_compression *compression,
                                  lx_error *error)
{
    const char *name;
    lx_status status = lx__json_get_text(object, "compress", &name, error);
    if (status != LX_OK)
        return status;
    if (lx__compression_find(name, compression))
        return LX_OK;
    return lx_fail(error, LX_ERR_UNSUPPORTED, "unknown compression '%.64s'", name);
}

static lx_status read_shape(const json_t *object, uint64_t *shape, size_t *ndim, lx_error *error)
{
    json_t *list;
    lx_status status = lx__json_get(object, "shape", JSON_ARRAY, &list, error);
    if (status != LX_OK)
        return status;
    if (json_array_size(list) > LX_MAX_NDIM)
        return lx_fail(error, LX_ERR_CORRUPT, "\"shape\" has more than %d dimensions", LX_MAX_NDIM);
    *ndim = json_array_size(list);
    for (size_t i = 0; i < *ndim; i++) {
        const json_t *extent = json_array_get(list, i);
        if (!json_is_null(extent) && (!json_is_integer(extent) || json_integer_value(extent) < 0))
            return lx_fail(error, LX_ERR_CORRUPT,
                           "\"shape\" must be a list of integers, the first of which may be null");
        shape[i] = json_is_null(extent) ? LX_NONE : (uint64_t)json_integer_value(extent);
    }
    return LX_OK;
}

/** Reads the size of the dictionary, unless it is null. */
static lx_status read_dict(const json_t *object, lx_compression compression, uint64_t *bytes,
                           lx_error *error)
{
    const json_t *dict = json_object_get(object, "dict");
    if (dict == NULL || !(json_is_null(dict) || json_is_object(dict)))
        return lx_fail(error, LX_ERR_CORRUPT, "\"dict\" must be null or an object");
    if (json_is_null(dict))
        return LX_OK;
    const lx__codec *codec = lx__codec_of(compression);
    if (codec == NULL || !codec->dictionaries)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "a field with compression %s cannot have a dictionary",
                       lx__compression_name(compression));
    uint64_t ignored;
    lx_status status = lx__json_get_integer(dict, "bytes", 1, LX_MAX_DICTIONARY, bytes, error);
    return status != LX_OK ? status
                           : lx__json_get_integer(dict, "crc", 0, UINT32_MAX, &ignored, error);
}

/** Reads an optional key, a number in a range; leaves @p value alone if it is absent. */
static lx_status read_optional(const json_t *object, const char *key, uint64_t least, uint64_t most,
                               uint64_t *value, lx_error *error)
{
    return json_object_get(object, key) != NULL
               ? lx__json_get_integer(object, key, least, most, value, error)
               : LX_OK;
}

/** Reads how new values are compressed. The dictionary's size is the size that was asked for, or
 * else that of the dictionary itself. */
static lx_status read_codec_settings(const json_t *object, lx_field *field, lx_error *error)
{
    uint64_t level = 0, dictionary = 0;
    lx_status status = read_dict(object, field->compression, &dictionary, error);
    if (status == LX_OK)
        status = read_optional(object, "level", 1, INT16_MAX, &level, error);
    if (status == LX_OK)
        status = read_optional(object, "train", 1, LX_MAX_DICTIONARY, &dictionary, error);
    field->level = (int)level;
    field->dictionary = (uint32_t)dictionary;
    return status;
}

/** Reads the optional key that says whether the field is complete. */
static lx_status read_complete(const json_t *object, bool *complete, lx_error *error)
{
    *complete = false;
    return json_object_get(object, "complete") != NULL
               ? lx__json_get_bool(object, "complete", complete, error)
               : LX_OK;
}

/** Reads the optional key that says where the shared payload is. */
static lx_status read_shared(const json_t *object, lx__shared *shared, lx_error *error)
{
    json_t *place;
    uint64_t chunk, bytes;
    *shared = (lx__shared){0};
    if (json_object_get(object, "shared") == NULL)
        return LX_OK;
    lx_status status = lx__json_get(object, "shared", JSON_OBJECT, &place, error);
    if (status == LX_OK)
        status = lx__json_get_integer(place, "chunk", 0, LX__CHUNK_ID_MAX, &chunk, error);
    if (status == LX_OK)
        status = lx__json_get_integer(place, "offset", 0, INT64_MAX, &shared->offset, error);
    if (status == LX_OK)
        status = lx__json_get_integer(place, "bytes", 1, UINT32_MAX, &bytes, error);
    if (status != LX_OK)
        return status;
    shared->chunk = (uint32_t)chunk;
    shared->bytes = (uint32_t)bytes;
    return LX_OK;
}

static lx_status read_field(const json_t *object, uint64_t next_field, lx_schema *schema,
                            lx_error *error)
{
    lx_field field = {0};
    const char *stem = NULL, *dtype;
    uint64_t shape[LX_MAX_NDIM], id = 0, align = 0, changes = 0;
    bool complete;
    lx__shared shared;
    if (!json_is_object(object))
        return lx_fail(error, LX_ERR_CORRUPT, "a field must be an object");
    lx_status status = lx__json_get_text(object, "name", &field.name, error);
    if (status == LX_OK)
        status = lx__json_get_text(object, "stem", &stem, error);
    if (status == LX_OK && !lx__stem_valid(stem))
        status = lx_fail(error, LX_ERR_CORRUPT, "stem '%.80s' is invalid", stem);
    if (status == LX_OK)
        status = lx__json_get_integer(object, "id", 0, UINT32_MAX, &id, error);
    if (status == LX_OK && id >= next_field)
        status = lx_fail(error, LX_ERR_CORRUPT, "\"id\" must be less than \"next_field\"");
    if (status == LX_OK)
        status = lx__json_get_text(object, "dtype", &dtype, error);
    if (status == LX_OK)
        status = lx_dtype_parse(dtype, &field.dtype, error);
    if (status == LX_OK)
        status = read_shape(object, shape, &field.ndim, error);
    if (status == LX_OK)
        status = read_compression(object, &field.compression, error);
    if (status == LX_OK)
        status = lx__json_get_integer(object, "align", 1, LX__ALIGN_MAX, &align, error);
    if (status == LX_OK && (align & (align - 1)) != 0)
        status = lx_fail(error, LX_ERR_CORRUPT, "\"align\" must be a power of two");
    if (status == LX_OK)
        status = read_codec_settings(object, &field, error);
    if (status == LX_OK)
        status = read_complete(object, &complete, error);
    if (status == LX_OK)
        status = read_optional(object, "changes", 0, LX__CHANGES_MAX, &changes, error);
    if (status == LX_OK)
        status = read_shared(object, &shared, error);
    if (status != LX_OK)
        return status;
    field.id = (uint32_t)id;
    field.align = (uint32_t)align;
    field.shape = shape;
    status = lx__schema_add(schema, &field, stem, complete, error);
    if (status != LX_OK)
        return status;
    schema->fields[schema->count - 1]->changes = changes;
    schema->fields[schema->count - 1]->shared = shared;
    return LX_OK;
}

static lx_status read_fields(lx__meta *meta, lx_error *error)
{
    json_t *fields;
    uint64_t next_field;
    lx_status status = lx__json_get_integer(meta->document, "next_field", 1, UINT32_MAX,
                                            &next_field, error);
    if (status == LX_OK)
        status = lx__json_get(meta->document, "fields", JSON_ARRAY, &fields, error);
    if (status != LX_OK)
        return status;
    if (json_array_size(fields) == 0)
        return lx_fail(error, LX_ERR_CORRUPT, "\"fields\" must not be empty");
    if (json_array_size(fields) > LX_MAX_FIELDS)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the dataset has %zu fields, but at most %d are supported",
                       json_array_size(fields), LX_MAX_FIELDS);
    meta->schema = lx_schema_new();
    if (meta->schema == NULL)
        return lx__fail_memory(error, "a schema");
    for (size_t i = 0; status == LX_OK && i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i);
        status = read_field(field, next_field, meta->schema, error);
        if (status != LX_OK)
            lx_error_locate(error, NULL, json_string_value(json_object_get(field, "name")), LX_NONE,
                            LX_NONE);
    }
    return status;
}

/** Checks that a dataset with ragged fields says so, because older readers would otherwise report
 * that it is damaged. */
static lx_status check_ragged(const lx__meta *meta, lx_error *error)
{
    if (lx__meta_requires(meta, LX__FEATURE_RAGGED) || !lx__schema_has_ragged(meta->schema))
        return LX_OK;
    return lx_fail(error, LX_ERR_CORRUPT,
                   "\"features\" must contain \"" LX__FEATURE_RAGGED
                   "\" because the first extent of a shape is null");
}

/** Checks the list of chunks that are not full: [id, bytes, records] in ascending order of id. */
static lx_status check_unfull(const json_t *unfull, lx_error *error)
{
    json_int_t least = 0;
    for (size_t i = 0; i < json_array_size(unfull); i++) {
        const json_t *item = json_array_get(unfull, i);
        if (json_array_size(item) != 3 ||
            !lx__json_is_integer_in(json_array_get(item, 0), least, UINT32_MAX) ||
            !lx__json_is_integer_in(json_array_get(item, 1), 0, INT64_MAX) ||
            !lx__json_is_integer_in(json_array_get(item, 2), 0, UINT32_MAX))
            return lx_fail(error, LX_ERR_CORRUPT,
                           "\"unfull\" must be a list of [id, bytes, records] in ascending order "
                           "of id");
        least = json_integer_value(json_array_get(item, 0)) + 1;
    }
    return LX_OK;
}

static lx_status read_chunks(lx__meta *meta, lx_error *error)
{
    json_t *chunks, *unfull;
    uint64_t num;
    lx_status status = lx__json_get(meta->document, "chunks", JSON_OBJECT, &chunks, error);
    if (status == LX_OK)
        status = lx__json_get_integer(chunks, "num", 0, UINT32_MAX, &num, error);
    if (status == LX_OK)
        status = lx__json_get_integer(chunks, "size", 1, UINT32_MAX, &meta->chunk_records, error);
    if (status == LX_OK)
        status = lx__json_get_integer(chunks, "limit", 1, CHUNK_LIMIT_MAX, &meta->chunk_limit,
                                      error);
    if (status == LX_OK)
        status = lx__json_get(chunks, "unfull", JSON_ARRAY, &unfull, error);
    return status == LX_OK ? check_unfull(unfull, error) : status;
}

/** Reads which chunks are in parts. A dataset with such chunks says so, because older readers would
 * otherwise report that the chunks are missing, and never changes. */
static lx_status read_parts(lx__meta *meta, lx_error *error)
{
    bool joined = lx__meta_requires(meta, LX__FEATURE_PARTS);
    json_t *parts;
    if (joined != (json_object_get(meta->document, LX__KEY_PARTS) != NULL))
        return lx_fail(error, LX_ERR_CORRUPT,
                       joined ? "\"parts\" is missing, although \"features\" contains it"
                              : "\"features\" must contain \"parts\" because chunks are in parts");
    if (!joined)
        return LX_OK;
    if (!meta->sealed)
        return lx_fail(error, LX_ERR_CORRUPT, "a dataset with \"parts\" must be sealed");
    lx_status status = lx__json_get(meta->document, LX__KEY_PARTS, JSON_ARRAY, &parts, error);
    return status == LX_OK ? lx__parts_read(parts, &meta->runs, &meta->run_count, error) : status;
}

/** Checks the optional card. */
static lx_status check_card(const lx__meta *meta, lx_error *error)
{
    json_t *card;
    if (lx__meta_get_card(meta) == NULL)
        return LX_OK;
    lx_status status = lx__json_get(meta->document, "card", JSON_OBJECT, &card, error);
    return status == LX_OK ? lx__card_check(card, error) : status;
}

static lx_status read_document(lx__meta *meta, lx_error *error)
{
    const char *uuid;
    lx_status status = read_version(meta->document, error);
    if (status == LX_OK)
        status = read_features(meta->document, error);
    if (status == LX_OK)
        status = lx__json_get_integer(meta->document, "generation", 0, LX__GENERATION_MAX,
                                      &meta->generation, error);
    if (status == LX_OK)
        status = lx__json_get_text(meta->document, "uuid", &uuid, error);
    if (status == LX_OK && !lx__uuid_parse(uuid, meta->uuid))
        status = lx_fail(error, LX_ERR_CORRUPT, "\"uuid\" is invalid");
    if (status == LX_OK)
        status = lx__json_get_bool(meta->document, "sealed", &meta->sealed, error);
    if (status == LX_OK)
        status = lx__json_get_integer(meta->document, "length", 0, INT64_MAX, &meta->length, error);
    meta->changes = LX_NONE;
    if (status == LX_OK)
        status = read_optional(meta->document, "changes", 0, LX__CHANGES_MAX, &meta->changes,
                               error);
    if (status == LX_OK)
        status = read_chunks(meta, error);
    if (status == LX_OK)
        status = read_fields(meta, error);
    if (status == LX_OK)
        status = check_ragged(meta, error);
    if (status == LX_OK)
        status = read_parts(meta, error);
    if (status == LX_OK)
        status = check_card(meta, error);
    if (status == LX_OK)
        lx__uuid_print(meta->uuid, meta->uuid_text);
    return status;
}

/** Computes the checksum of a text that begins with a stamp, as 8 hexadecimal digits and a NUL. */
static void print_checksum(const char *text, size_t size, char digits[9])
{
    size_t stamp = strlen(LX__META_STAMP);
    snprintf(digits, 9, "%08x", lx__crc32c(0, text + stamp, size - stamp));
}

void lx__meta_stamp(char *text, size_t size)
{
    char digits[9];
    print_checksum(text, size, digits);
    memcpy(text + STAMP_DIGITS, digits, 8);
}

/** Whether the text begins with a well-formed stamp. The digits must be hexadecimal, because an
 * error message may print them. */
static bool has_stamp(const char *text, size_t size)
{
    size_t stamp = strlen(LX__META_STAMP), after = STAMP_DIGITS + 8;
    if (size < stamp || memcmp(text, LX__META_STAMP, STAMP_DIGITS) != 0 ||
        memcmp(text + after, &LX__META_STAMP[after], stamp - after) != 0)
        return false;
    for (size_t i = STAMP_DIGITS; i < after; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
    return true;
}

static lx_status check_stamp(const char *text, size_t size, lx_error *error)
{
    char digits[9];
    if (!has_stamp(text, size))
        return lx_fail(error, LX_ERR_CORRUPT, "the file does not begin with a checksum: " ADVICE);
    print_checksum(text, size, digits);
    if (memcmp(text + STAMP_DIGITS, digits, 8) != 0)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "checksum mismatch: expected %.8s, computed %s: " ADVICE,
                       text + STAMP_DIGITS, digits);
    return LX_OK;
}

lx_status lx__meta_parse(lx__meta *meta, const char *text, size_t size, lx__meta_checksum checksum,
                         lx_error *error)
{
    *meta = (lx__meta){0};
    lx_status status = checksum == LX__META_CHECK ? check_stamp(text, size, error) : LX_OK;
    if (status == LX_OK)
        status = lx__json_parse(text, size, &meta->document, error);
    if (status == LX_OK) {
        (void)json_object_del(meta->document, META_CHECKSUM);
        status = read_document(meta, error);
    }
    /* In a file, a value that a call would reject as an invalid argument counts as corruption. */
    if (status == LX_ERR_ARGUMENT || status == LX_ERR_EXISTS) {
        status = LX_ERR_CORRUPT;
        if (error != NULL)
            error->status = status;
    }
    if (status != LX_OK)
        lx__meta_free(meta);
    return status;
}

lx_status lx__meta_read(lx__meta *meta, const lx__file *file, lx__meta_checksum checksum,
                        lx_error *error)
{
    char *text;
    size_t size;
    *meta = (lx__meta){0};
    lx_status status = lx__file_read_all(file, LX__META_LIMIT, &text, &size, error);
    if (status == LX_ERR_LIMIT) {
        status = LX_ERR_CORRUPT; /* The format sets this limit, so a larger file is corrupt. */
        if (error != NULL && error->status == LX_ERR_LIMIT)
            error->status = status;
    }
    if (status == LX_OK) {
        status = lx__meta_parse(meta, text, size, checksum, error);
        lx__free(text);
    }
    lx_error_locate(error, file->path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__meta_load(lx__meta *meta, const lx__file *directory, lx_error *error)
{
    lx__file file;
    *meta = (lx__meta){0};
    lx_status status = lx__file_open(&file, directory, LX__META_NAME, O_RDONLY, error);
    if (status == LX_ERR_NOT_FOUND && error != NULL && error->status == status)
        lx__copy_tail(error->message, sizeof error->message,
                      "this directory is not a dataset: it has no meta.json");
    if (status != LX_OK)
        return status;
    status = lx__meta_read(meta, &file, LX__META_CHECK, error);
    lx__file_close(&file);
    return status;
}

/* ---- writing */

/** Builds the text of the file: the document with a stamp in place of its opening brace. */
static char *stamped_text(const lx__meta *meta)
{
    size_t stamp = strlen(LX__META_STAMP);
    char *text = NULL, *document = lx__json_text(meta->document, JSON_INDENT(2));
    size_t rest = document != NULL ? strlen(document) - 1 : 0;
    if (document != NULL)
        text = lx__alloc(stamp + rest + 1);
    if (text != NULL) {
        memcpy(text, LX__META_STAMP, stamp);
        memcpy(text + stamp, document + 1, rest + 1);
        lx__meta_stamp(text, stamp + rest);
    }
    lx__free(document);
    return text;
}

lx_status lx__meta_load_new(lx__meta *meta, const lx__file *directory, bool *found, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx__file file;
    *meta = (lx__meta){0};
    lx_status status = lx__file_open(&file, directory, LX__META_NEW_NAME, O_RDONLY, &why);
    if (status == LX_OK) {
        status = lx__meta_read(meta, &file, LX__META_CHECK, &why);
        lx__file_close(&file);
    }
    *found = status == LX_OK;
    if (!*found)
        lx__meta_free(meta);
    if (status != LX_ERR_IO && status != LX_ERR_NOMEM)
        return LX_OK; /* something else is there, or nothing */
    lx__error_propagate(error, &why);
    return status;
}

lx_status lx__meta_write_new(const lx__meta *meta, const lx__file *directory, lx_error *error)
{
    lx__file file;
    char *text = stamped_text(meta);
    if (text == NULL)
        return lx__fail_memory(error, LX__META_NEW_NAME);
    lx_status status = lx__file_open(&file, directory, LX__META_NEW_NAME,
                                     O_WRONLY | O_CREAT | O_TRUNC, error);
    if (status == LX_OK) {
        status = lx__file_write(&file, text, strlen(text), 0, error);
        if (status == LX_OK)
            status = lx__file_sync(&file, error);
        lx__file_close(&file);
    }
    lx__free(text);
    return status;
}

/** Writes meta.json.new and renames it. A failed sync poisons the writer, because it leaves the
 * contents of the file on disk unknown. */
static lx_status write_new(const char *text, const lx__file *directory, lx_error *error)
{
    lx__atomic_file to;
    lx_status status = lx__atomic_file_begin(&to, directory, LX__META_NAME, LX__META_NEW_NAME,
                                             error);
    if (status == LX_OK)
        status = lx__file_write(&to.file, text, strlen(text), 0, error);
    if (status == LX_OK && !LX__FAULT(META_FILE_SYNC) && lx__file_sync(&to.file, error) != LX_OK)
        status = LX_ERR_POISONED;
    if (status == LX_OK)
        status = lx__atomic_file_install(&to, error);
    lx__atomic_file_end(&to);
    if (status == LX_OK && !LX__FAULT(META_DIRECTORY_SYNC) &&
        lx__file_sync(directory, error) != LX_OK)
        status = LX_ERR_POISONED;
    return status;
}

lx_status lx__meta_replace(const lx__meta *meta, const lx__file *directory, lx_error *error)
{
    char *text = stamped_text(meta);
    if (text == NULL)
        return lx__fail_memory(error, LX__META_NAME);
    lx_status status = LX_OK;
    if (strlen(text) > LX__META_LIMIT)
        status = lx_fail(error, LX_ERR_LIMIT, "%s would exceed %zu bytes", LX__META_NAME,
                         LX__META_LIMIT);
    if (status == LX_OK)
        status = write_new(text, directory, error);
    lx__free(text);
    return status;
}
