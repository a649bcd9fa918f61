/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The contents of meta.json: schema, chunk limits, and the generation of the WAL.
 */
#ifndef LX_ZRECORD_META_H
#define LX_ZRECORD_META_H

#include "base/file.h"
#include "base/json.h"
#include "zrecord/format/names.h"
#include "zrecord/format/parts.h"
#include "zrecord/format/schema.h"

#define LX__FORMAT_MAJOR 1
#define LX__FORMAT_MINOR 0
#define LX__GENERATION_MAX (1ull << 62)
/** The feature that a dataset with a ragged field requires: null as the first extent of a shape. */
#define LX__FEATURE_RAGGED "ragged"
#define LX__LENGTH_MAX ((1ull << 59) - 1)
/** The largest number of changes; the numbers are sums modulo 2^63. */
#define LX__CHANGES_MAX ((1ull << 63) - 1)

/** A parsed meta.json. */
typedef struct lx__meta {
    json_t *document; /**< Everything except the checksum, including unknown keys. */
    lx_schema *schema;
    uint8_t uuid[LX__UUID_BYTES];
    char uuid_text[LX__UUID_TEXT + 1];
    uint64_t generation;
    uint64_t length;        /**< Valid only if @ref sealed. */
    uint64_t chunk_records; /**< Number of payloads at which a chunk is full. */
    uint64_t chunk_limit;   /**< Number of bytes at which a chunk is full. */
    uint64_t changes;       /**< Like lx__field.changes, for the dataset; LX_NONE if unknown. */
    bool sealed;
    lx__chunk_run *runs; /**< The chunks in parts, ascending by first; only if @ref sealed. */
    size_t run_count;
} lx__meta;

/** The number of records and bytes in a chunk. */
typedef struct lx__chunk_item {
    uint32_t id;
    uint32_t records;
    uint64_t bytes;
} lx__chunk_item;

/** The size and checksum of a table file of a sealed dataset. */
typedef struct lx__table_seal {
    char name[LX__NAME_SIZE];
    uint64_t bytes;
    uint32_t crc;
} lx__table_seal;

/** Returns how many bytes the tables of a sealed dataset have together; LX_NONE if meta.json does
 * not tell. */
LX_API uint64_t lx__meta_count_table_bytes(const lx__meta *meta);

/** Creates the metadata of a new, empty dataset with a new UUID. Copies @p schema. */
lx_status lx__meta_make(lx__meta *meta, const lx_schema *schema, uint64_t chunk_records,
                        uint64_t chunk_limit, lx_error *error);

/**
 * Makes a modifiable successor of @p meta. The successor has its own copy of the document,
 * including unknown keys; everything else is shared with @p meta, so one of the two must be freed
 * with lx__meta_free_document().
 */
lx_status lx__meta_succeed(lx__meta *successor, const lx__meta *meta, lx_error *error);

/** Frees the document of a meta, but not the members that it shares. */
void lx__meta_free_document(lx__meta *meta);

/** Sets the UUID of a new dataset. */
lx_status lx__meta_set_uuid(lx__meta *meta, const uint8_t uuid[LX__UUID_BYTES], lx_error *error);

/** Sets the WAL generation. Fails with LX_ERR_LIMIT if it exceeds LX__GENERATION_MAX. */
lx_status lx__meta_set_generation(lx__meta *meta, uint64_t generation, lx_error *error);

/** Sets the length and the chunk list; @p chunks must list all chunks, in ascending order of id. */
lx_status lx__meta_set_state(lx__meta *meta, uint64_t length, const lx__chunk_item *chunks,
                             size_t chunk_count, lx_error *error);

/** Marks the dataset as sealed; @p tables must list all of its tables. Call lx__meta_set_state()
 * first. */
lx_status lx__meta_seal(lx__meta *meta, const lx__table_seal *tables, size_t table_count,
                        lx_error *error);

/** Marks the dataset as not sealed. */
lx_status lx__meta_unseal(lx__meta *meta, lx_error *error);

/** Whether the dataset requires that readers know the feature @p name. */
bool lx__meta_requires(const lx__meta *meta, const char *name);

/**
 * Says which chunks are in parts. Copies @p runs, which may be in any order. Sets the feature that
 * they require or, if there are none, removes it. Frees the former runs, which no other meta may share.
 *
 * @retval LX_ERR_CORRUPT  A path is invalid, or a chunk or a file is there twice.
 */
lx_status lx__meta_set_parts(lx__meta *meta, const lx__chunk_run *runs, size_t count,
                             lx_error *error);

/** Fails with #LX_ERR_UNSUPPORTED if the dataset was joined from parts: nothing in it can change,
 * because its chunks also belong to its parts. */
lx_status lx__meta_check_whole(const lx__meta *meta, lx_error *error);

/** Returns how many parts the chunks of the dataset are in; 0 if it was not joined. */
size_t lx__meta_count_parts(const lx__meta *meta);

/** Writes the path of the chunk @p id, relative to the dataset: "chunk/3.zr", or
 * "part/a/chunk/0.zr". */
void lx__meta_get_chunk_path(const lx__meta *meta, uint32_t id, char path[LX__CHUNK_PATH_SIZE]);

/** Returns the id that the next new field will get. */
uint64_t lx__meta_get_next_field(const lx__meta *meta);

/** Sets the id that the next new field will get. */
lx_status lx__meta_set_next_field(lx__meta *meta, uint64_t id, lx_error *error);

/** The size and checksum of a dictionary. */
typedef struct lx__dict {
    uint64_t bytes;
    uint32_t crc;
} lx__dict;

/** Whether the field at @p position has a dictionary. Stores its size and checksum in @p dict
 * unless that is NULL. */
LX_API bool lx__meta_find_dict(const lx__meta *meta, size_t position, lx__dict *dict);

/** Adds @p field, whose id must be lx__meta_get_next_field(). Like the next two functions, this
 * changes the document but not the schema. */
lx_status lx__meta_add_field(lx__meta *meta, const lx__field *field, lx_error *error);

/** Puts @p field, whose id must be lx__meta_get_next_field(), in the place of the field at @p
 * position. */
lx_status lx__meta_replace_field(lx__meta *meta, size_t position, const lx__field *field,
                                 lx_error *error);

/** Removes the field at @p position. */
lx_status lx__meta_drop_field(lx__meta *meta, size_t position, lx_error *error);

/** Renames the field at @p position. */
lx_status lx__meta_rename_field(lx__meta *meta, size_t position, const char *name, lx_error *error);

/** Sets the level and the wanted size of the dictionary of the field at @p position; 0: not
 * chosen. */
lx_status lx__meta_set_codec_settings(lx__meta *meta, size_t position, int level,
                                      uint32_t dictionary, lx_error *error);

/** Gives the field at @p position a dictionary. */
lx_status lx__meta_set_dict(lx__meta *meta, size_t position, const lx__dict *dict, lx_error *error);

/** Sets where the shared payload of the field at @p position is. */
lx_status lx__meta_set_shared(lx__meta *meta, size_t position, const lx__shared *shared,
                              lx_error *error);

/** Sets whether the field at @p position is complete; see lx__field. */
lx_status lx__meta_set_complete(lx__meta *meta, size_t position, bool complete, lx_error *error);

/** Stores in the document the numbers of changes that the meta and its schema have. A number of
 * #LX_NONE for the dataset makes the changes of all its fields unknown. */
lx_status lx__meta_set_changes(lx__meta *meta, lx_error *error);

/** Returns the card, which is an object of strings; NULL if there is none. */
LX_API const json_t *lx__meta_get_card(const lx__meta *meta);

/** Reports that an import into the dataset is not complete, and what to do. */
LX_API lx_status lx__meta_fail_incomplete(lx_error *error);

/** Fails with #LX_ERR_STATE if an import into the dataset is not complete. */
LX_API lx_status lx__meta_check_imported(const lx__meta *meta, lx_error *error);

/** Gives the dataset a copy of @p card; an empty card removes the key. */
lx_status lx__meta_set_card(lx__meta *meta, const json_t *card, lx_error *error);

/** Reads the size and checksum of table @p name from the meta.json of a sealed dataset. */
LX_API lx_status lx__meta_get_table(const lx__meta *meta, const char *name, lx__table_seal *table,
                                    lx_error *error);

/** Frees the members of a meta; does nothing if the meta is zeroed. */
LX_API void lx__meta_free(lx__meta *meta);

#endif
