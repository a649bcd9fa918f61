/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief meta.json: what a dataset is, and which log says what it holds.
 */
#ifndef LX_ZRECORD_META_H
#define LX_ZRECORD_META_H

#include "base/file.h"
#include "base/json.h"
#include "zrecord/format/schema.h"

/** A parsed meta.json. */
typedef struct lx__meta {
    json_t *document; /**< All but the checksum, with keys that this version does not know. */
    lx_schema *schema;
    uint8_t uuid[LX__UUID_BYTES];
    char uuid_text[LX__UUID_TEXT + 1];
    uint64_t generation;
    uint64_t length;        /**< Counts only if @ref sealed. */
    uint64_t chunk_records; /**< Payloads a chunk. */
    uint64_t chunk_limit;   /**< Bytes a chunk. */
    bool sealed;
} lx__meta;

/** What a chunk has taken, for meta.json's list of those that are not full. */
typedef struct lx__chunk_item {
    uint32_t id;
    uint32_t records;
    uint64_t bytes;
} lx__chunk_item;

/** What sealing records of a table file. */
typedef struct lx__table_seal {
    char name[LX__NAME_SIZE];
    uint64_t bytes;
    uint32_t crc;
} lx__table_seal;

/** The meta.json of a new, empty dataset with a fresh uuid. @p schema is copied. */
lx_status lx__meta_make(lx__meta *meta, const lx_schema *schema, uint64_t chunk_records,
                        uint64_t chunk_limit, lx_error *error);

/**
 * A successor to be changed: a document of its own, in which keys that this version does not know
 * are kept; all else is shared with @p meta until one of the two is given up by lx__meta_forget().
 */
lx_status lx__meta_succeed(lx__meta *successor, const lx__meta *meta, lx_error *error);

/** Ends a document, and nothing that is shared. */
void lx__meta_forget(lx__meta *meta);

/** Notes the generation of the log. */
lx_status lx__meta_set_generation(lx__meta *meta, uint64_t generation, lx_error *error);

/** Notes the length and the chunks, all of them, ascending by id. */
lx_status lx__meta_set_state(lx__meta *meta, uint64_t length, const lx__chunk_item *chunks,
                             size_t chunk_count, lx_error *error);

/** Notes the tables, all of them, and that the dataset is sealed; its state was noted before. */
lx_status lx__meta_seal(lx__meta *meta, const lx__table_seal *tables, size_t table_count,
                        lx_error *error);

/** Takes the seal off. */
lx_status lx__meta_unseal(lx__meta *meta, lx_error *error);

/** The id of the next new field. */
uint64_t lx__meta_get_next_field(const lx__meta *meta);

/** What meta.json says of a dictionary. */
typedef struct lx__dict {
    uint64_t bytes;
    uint32_t crc;
} lx__dict;

/** Whether field number @p position has a dictionary, and what is said of it; @p dict may be
 * NULL. */
bool lx__meta_find_dict(const lx__meta *meta, size_t position, lx__dict *dict);

/** Adds @p field, which has that id. The schema is not touched by this and the next two. */
lx_status lx__meta_add_field(lx__meta *meta, const lx__field *field, lx_error *error);

/** Leaves out field number @p position. */
lx_status lx__meta_drop_field(lx__meta *meta, size_t position, lx_error *error);

/** Names field number @p position anew. */
lx_status lx__meta_rename_field(lx__meta *meta, size_t position, const char *name,
                                lx_error *error);

/** What meta.json of a sealed dataset says of table @p name. */
lx_status lx__meta_get_table(const lx__meta *meta, const char *name, lx__table_seal *table,
                             lx_error *error);

/** Ends a meta; a zeroed one is nothing. */
void lx__meta_free(lx__meta *meta);

#endif
