/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The fields of a dataset, and how they are stored in files.
 */
#ifndef LX_ZRECORD_SCHEMA_H
#define LX_ZRECORD_SCHEMA_H

#include <stdatomic.h>

#include <loaderx/zrecord.h>

#include "zrecord/format/entry.h"

/** The largest payload alignment that a field may have. */
#define LX__ALIGN_MAX 4096u

/** A payload that several values of a field have in common: the default of an added field. */
typedef struct lx__shared {
    uint32_t chunk;
    uint32_t bytes; /**< 0: there is no such payload. */
    uint64_t offset;
} lx__shared;

/** Whether the payload of an entry is the shared one. */
static inline bool lx__entry_is_shared(const lx__entry *entry, const lx__shared *shared)
{
    return shared->bytes != 0 && entry->chunk == shared->chunk && entry->offset == shared->offset &&
           entry->physical == shared->bytes;
}

/** A field, with its public description and its file stem. Owns its strings and its shape. */
typedef struct lx__field {
    lx_field shown;
    char name[LX_MAX_FIELD_NAME + 1];
    char stem[LX_MAX_FIELD_NAME + 16]; /**< The start of its file names. */
    uint64_t *shape;
    bool complete; /**< Its tables contain no missing values, unless a marker in the log says that
                        they do (see replay.h). False if that is unknown. */
    uint64_t changes; /**< The number in meta.json or, in a writer, that of its newest commit. See
                           zrecord/wal/changes.h. */
    lx__shared shared;
} lx__field;

struct lx_schema {
    lx__field **fields; /**< Allocated one by one, so that lx_field pointers stay valid. */
    size_t count;
    size_t capacity;
    atomic_size_t more; /**< Number of references besides the first; lx_schema_free() releases one
                             reference. */
};

/**
 * Checks whether a new field may use a compression.
 * @retval LX_ERR_UNSUPPORTED  This library was built without the codec.
 * @retval LX_ERR_ARGUMENT     @p compression is invalid.
 */
lx_status lx__compression_check(const char *name, lx_compression compression, lx_error *error);

/** Checks whether a field with a compression may have a level and a dictionary size. 0 is always
 * allowed. */
lx_status lx__codec_settings_check(const char *name, lx_compression compression, int level,
                                   uint32_t dictionary, lx_error *error);

/** Whether @p name is a valid field name: 1 to 64 of the characters A-Z a-z 0-9 _ . -, with no
 * leading dot. */
bool lx__field_name_valid(const char *name);

/**
 * Makes the name of a field from what another format calls it: bytes that no name may have become
 * underscores.
 *
 * @retval LX_ERR_ARGUMENT  @p source is empty or too long.
 */
LX_API lx_status lx__field_name_make(const char *source, char name[LX_MAX_FIELD_NAME + 1],
                                     lx_error *error);

/** Whether both fields have the same dtype and shape. */
bool lx__field_same_form(const lx_field *a, const lx_field *b);

/**
 * Adds a field with its id, alignment and stem. Performs the same checks as lx_schema_add_field(),
 * and also checks that ids, stems and names are unique. An alignment of 0 means the default.
 *
 * @param complete  See @ref lx__field::complete.
 */
lx_status lx__schema_add(lx_schema *schema, const lx_field *field, const char *stem, bool complete,
                         lx_error *error);

/** Adds a copy of a field under the name @p name. */
lx_status lx__schema_add_copy(lx_schema *schema, const lx__field *field, const char *name,
                              lx_error *error);

/** Adds a reference to a schema, which must not change after that. */
lx_schema *lx__schema_ref(lx_schema *schema);

/** Finds the field with the stem @p stem; returns false if there is none. */
bool lx__schema_find_stem(const lx_schema *schema, const char *stem, size_t *position);

/**
 * Makes the schema that a handle continues to show after fields were added, dropped or renamed. It
 * contains the fields of @p shown, in the same order and with the same names; their other
 * properties are those of the fields with the same ids in @p now.
 *
 * @retval LX_ERR_STATE    A field of @p shown was dropped.
 * @retval LX_ERR_CORRUPT  A field has a different dtype, shape or compression in @p now.
 */
lx_status lx__schema_pick(const lx_schema *now, const lx_schema *shown, lx_schema **schema,
                          lx_error *error);

/** Returns a copy, or NULL when out of memory. */
lx_schema *lx__schema_copy(const lx_schema *schema);

/** Whether both schemas have the same fields in the same order. */
bool lx__schema_equal(const lx_schema *a, const lx_schema *b);

/** Finds the position of the field with the id @p id; returns false if there is none. */
bool lx__schema_find_id(const lx_schema *schema, uint32_t id, uint32_t *position);

/** Whether the first extent of a field varies. */
static inline bool lx__field_is_ragged(const lx_field *field)
{
    return field->ndim != 0 && field->shape[0] == LX_NONE;
}

/** Whether the schema has a ragged field. */
bool lx__schema_has_ragged(const lx_schema *schema);

/** Returns the field at @p position, which must be less than the field count. */
static inline const lx__field *lx__schema_field(const lx_schema *schema, size_t position)
{
    return schema->fields[position];
}

/** Makes the rules for the entries of @p field in the dataset with the UUID @p uuid. */
lx__entry_rules lx__field_rules(const lx__field *field, const uint8_t uuid[LX__UUID_BYTES]);

#endif
