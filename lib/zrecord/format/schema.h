/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The fields of a dataset, with what only the files know of them.
 */
#ifndef LX_ZRECORD_SCHEMA_H
#define LX_ZRECORD_SCHEMA_H

#include <stdatomic.h>

#include <loaderx/zrecord.h>

#include "zrecord/format/entry.h"

/** A field, as the public sees it and as the files have it. Owns its texts and its shape. */
typedef struct lx__field {
    lx_field shown;
    char name[LX_MAX_FIELD_NAME + 1];
    char stem[LX_MAX_FIELD_NAME + 16]; /**< Of its table files. */
    uint64_t *shape;
} lx__field;

struct lx_schema {
    lx__field **fields; /**< Each one of its own, so that lx_field pointers stay valid. */
    size_t count;
    size_t capacity;
    atomic_size_t more; /**< References beyond the first: each is given up by lx_schema_free(). */
};

/**
 * Checks the compression of a new field.
 * @retval LX_ERR_UNSUPPORTED  It is zstd.
 * @retval LX_ERR_ARGUMENT     It is invalid.
 */
lx_status lx__compression_check(const char *name, lx_compression compression, lx_error *error);

/** Whether @p name may be a field's: 1 to 64 of A-Z a-z 0-9 _ . -, no leading dot. */
bool lx__field_name_valid(const char *name);

/**
 * Adds a field with all that a file says of it; checks as lx_schema_add_field() does, and that
 * ids, stems and names are unique. @p align 0 stands for the default.
 */
lx_status lx__schema_add(lx_schema *schema, const lx_field *field, const char *stem,
                         lx_error *error);

/** Another reference to a schema that does not change any more. */
lx_schema *lx__schema_ref(lx_schema *schema);

/** Whether a field has this stem, and which one. */
bool lx__schema_find_stem(const lx_schema *schema, const char *stem, size_t *position);

/**
 * The fields of @p shown, by their names there, as @p now has them, where a field is known by its
 * id: what a handle shows of a dataset whose fields were added to, dropped or renamed.
 *
 * @retval LX_ERR_STATE  One was dropped.
 */
lx_status lx__schema_pick(const lx_schema *now, const lx_schema *shown, lx_schema **schema,
                          lx_error *error);

/** A copy; NULL when out of memory. */
lx_schema *lx__schema_copy(const lx_schema *schema);

/** Whether both have the same fields in the same order. */
bool lx__schema_equal(const lx_schema *a, const lx_schema *b);

/** Position of the field with the id @p id; false if there is none. */
bool lx__schema_find_id(const lx_schema *schema, uint32_t id, uint32_t *position);

/** Number @p position; the caller knows that there is one. */
static inline const lx__field *lx__schema_field(const lx_schema *schema, size_t position)
{
    return schema->fields[position];
}

/** What binds the entries of @p field in the dataset @p uuid. */
lx__entry_rules lx__field_rules(const lx__field *field, const uint8_t uuid[LX__UUID_BYTES]);

#endif
