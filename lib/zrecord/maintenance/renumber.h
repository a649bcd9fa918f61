/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Turns table rows of a part into rows of the dataset that it is joined to, without reading
 * any payload.
 *
 * The entries change only in the ids of their chunks. The CRC of a value covers the identity of its
 * dataset, field, chunk and record, all of which change, but the CRC is linear: how it changes
 * depends only on these numbers and on the length of the payload (doc/zrecord-format.md, 11.11).
 * So a row that has a wrong CRC gets a wrong CRC.
 */
#ifndef LX_ZRECORD_RENUMBER_H
#define LX_ZRECORD_RENUMBER_H

#include "zrecord/chunk/payload.h"

/** How to renumber the rows of one field of one part. Initialize it with lx__renumber_begin(). */
typedef struct lx__renumber {
    const lx__chunk_item *chunks; /**< Of the part, in ascending order of id. */
    size_t chunk_count;
    uint32_t first_chunk;        /**< The new id of the first of them; the others follow. */
    uint64_t first_index;        /**< The new index of record 0. */
    const lx__entry_rules *from; /**< Of the field in the part. */
    const lx__entry_rules *to;   /**< Of the field in the joined dataset. */
    bool complete;               /**< No value of the part is missing. */
    /** How the CRCs of inline values change, by length. */
    uint32_t inlines[LX__INLINE_MAX + 1];
    uint32_t zero; /**< The CRC of index 0. */
    /** @name The chunk of the last row that had one */
    /** @{ */
    const lx__chunk_item *chunk; /**< NULL if there was none yet. */
    uint32_t new_chunk;
    uint32_t seed; /**< How the CRC of the seed changes. */
    uint32_t size; /**< The length of the payload. */
    uint32_t crc;  /**< How the CRC of a payload of this length changes. */
    /** @} */
} lx__renumber;

/** Completes @p self, of which the caller has set the members up to @ref lx__renumber.complete, and
 * zeroed the others. */
void lx__renumber_begin(lx__renumber *self);

/**
 * Renumbers the @p count rows at @p offset_rows and @p check_rows in place.
 *
 * @param[in]  index  The index of the first of them in the part.
 * @param[out] done   Receives the number of rows before the one that failed, or @p count.
 * @retval LX_ERR_CORRUPT  A row violates a rule (doc/zrecord-format.md, 5.4).
 */
lx_status lx__renumber_rows(lx__renumber *self, uint64_t index, uint8_t *offset_rows,
                            uint8_t *check_rows, size_t count, size_t *done, lx_error *error);

#endif
