/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Numbers that show, even if all tables were rewritten, whether records changed between two
 * snapshots. See doc/zrecord-format.md, 8.18.
 *
 * The number of a field is a sum. A frame adds its CRC once for each update of the field that
 * changes an existing record, and once more if it shortens the dataset, because other records may
 * be appended later. The sum starts with the numbers in meta.json, which contain the sum of the
 * previous log.
 */
#ifndef LX_ZRECORD_CHANGES_H
#define LX_ZRECORD_CHANGES_H

#include "zrecord/format/meta.h"

/** What the frames of a log add to the numbers in meta.json. Initialize it to zeros. */
typedef struct lx__changes {
    uint32_t first_crc; /**< The CRC of frame 0. */
    uint64_t dataset;   /**< For all fields: the frames that shorten the dataset. */
    uint64_t *fields;   /**< One sum for each field of the schema, from the frames that update it;
                             NULL if none does. A shared array. */
} lx__changes;

/** Adds a frame with the CRC @p crc to the number of the field at @p position of the @p count
 * fields. */
lx_status lx__changes_add(lx__changes *changes, size_t count, size_t position, uint32_t crc,
                          lx_error *error);

/**
 * Returns the number of the field at @p position.
 *
 * @param meta    The meta.json that names the log.
 * @param schema  The schema with which the log was replayed.
 */
uint64_t lx__changes_get(const lx__changes *changes, const lx__meta *meta, const lx_schema *schema,
                         size_t position);

/** Adds the changes to the numbers in @p meta and its schema, with which the log was replayed. */
void lx__changes_add_to_meta(const lx__changes *changes, lx__meta *meta);

void lx__changes_copy(lx__changes *copy, const lx__changes *changes);
void lx__changes_free(lx__changes *changes);

#endif
