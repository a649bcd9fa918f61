/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The directory beside a dataset in which a repair puts what it takes out: DIR.damaged-1,
 * or the first such number that is not there.
 *
 *     damaged.json   a list: each damage, the entry of each value, and which records were moved
 *     values         stored bytes of damaged values, one after another
 *     meta.json ..   copies of files of the dataset, by their names
 */
#ifndef LX_ZRECORD_ASIDE_H
#define LX_ZRECORD_ASIDE_H

#include "base/file.h"
#include "zrecord/format/entry.h"
#include "zrecord/format/meta.h"

typedef struct lx__aside {
    char *path; /**< NULL until there is something to put there. */
    lx__file directory, list, values;
    uint64_t list_bytes, value_bytes;
    uint64_t count; /**< Of what is in the list. */
} lx__aside;

#define LX__ASIDE_NONE {NULL, LX__FILE_CLOSED, LX__FILE_CLOSED, LX__FILE_CLOSED, 0, 0, 0}

/** Makes the directory beside the dataset in @p directory, if it is not there yet. */
lx_status lx__aside_make(lx__aside *aside, const lx__file *directory, const lx__meta *meta,
                         lx_error *error);

/**
 * Adds a damage to the list.
 *
 * @param[in] remedy  A word for what is done about it.
 * @param[in] entry   Of a value; NULL for a file.
 * @param[in] stored  Its stored bytes, @p size of them; those that could be read.
 */
lx_status lx__aside_add(lx__aside *aside, const lx_error *damage, const char *remedy,
                        const lx__entry *entry, const void *stored, size_t size, lx_error *error);

/** Adds that record @p from is at @p to now. */
lx_status lx__aside_add_move(lx__aside *aside, uint64_t from, uint64_t to, lx_error *error);

/** Copies a file of the dataset as it is now; one that is not there is passed over. */
lx_status lx__aside_copy(lx__aside *aside, const lx__file *directory, const char *name,
                         lx_error *error);

/** Ends the list and makes all of it durable. */
lx_status lx__aside_finish(lx__aside *aside, lx_error *error);

/** Removes it again. */
void lx__aside_undo(lx__aside *aside);

void lx__aside_close(lx__aside *aside);

#endif
