/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A join under way: the parts, and what is known of the dataset that they become.
 */
#ifndef LX_ZRECORD_JOIN_H
#define LX_ZRECORD_JOIN_H

#include "zrecord/snapshot/snapshot.h"

typedef struct lx__join_part {
    lx__snapshot *snapshot;
    const char *path;     /**< Relative to the joined dataset; "": its directory itself. */
    uint64_t first_index; /**< Of its records in the joined dataset. */
    uint32_t first_chunk; /**< Of its chunks, which keep their order. */
} lx__join_part;

typedef struct lx__join {
    lx__join_part *parts;
    size_t count;
    lx__meta meta;      /**< Of the joined dataset. Its fields have those names that all parts have,
                               and may have other positions in a part. */
    lx__state state;    /**< Of the joined dataset: its length and its chunks. */
    lx__file directory; /**< Of the joined dataset. */
    lx__table_seal *seals; /**< Of its tables: two for each field. */
    lx_progress_function progress;
    void *user;
    uint64_t done, total; /**< Values. */
} lx__join;

/** Returns the position in a part of the field at @p position of the joined dataset. */
static inline size_t lx__join_find_field(const lx__join *self, const lx__join_part *part,
                                         size_t position)
{
    size_t found = 0;
    const char *name = lx__schema_field(self->meta.schema, position)->name;
    (void)lx_schema_find_field(part->snapshot->store->schema, name, &found, NULL);
    return found;
}

#endif
