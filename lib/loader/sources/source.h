/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a source is made of.
 *
 * Every kind of source is a struct that begins with an lx_source and a class that says what to do
 * with it, as every kind of order is.
 */
#ifndef LX_LOADER_SOURCE_H
#define LX_LOADER_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <loaderx/loader.h>

#include "base/json.h"

/** Longest name of a column, without the NUL. */
#define LX__COLUMN_NAME_MAX 64

/** One kind of source. */
typedef struct lx__source_class {
    const char *kind; /**< Its name in states. */

    /** See lx_source_fill(); the indices were checked, one column at least is wanted. NULL where
     * there is none. */
    lx_status (*fill)(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error);

    /** Adds to @p object what tells its data from other data. Returns 0, or -1 without memory. */
    int (*describe)(const lx_source *source, json_t *object);

    /** What names the state of the data, to be recorded and not compared; NULL: there is none. */
    json_t *(*frame)(const lx_source *source);

    /** Makes a source over one state of live data, with lx__source_new_held(); NULL where
     * none is. */
    lx_status (*hold)(lx_source *source, lx_source **held, lx_error *error);

    /** Releases what the source owns beside its own memory and columns; may be NULL. */
    void (*dispose)(lx_source *source);
} lx__source_class;

struct lx_source {
    const lx__source_class *class;
    atomic_size_t references;
    uint64_t length;
    lx_column_info *columns; /**< Names and shapes are its own, or those of @ref live_one. */
    size_t column_count;
    bool live;           /**< Its records may change: what is read together has to be held. */
    lx_source *live_one; /**< Of a held one: what it was made of, referenced. */
};

/** Zeroed memory of @p size bytes for a source of @p class with @p column_count columns that are
 * not filled in, and one reference. */
LX_API lx_status lx__source_new(const lx__source_class *class, size_t size, uint64_t length,
                                size_t column_count, lx_source **source, lx_error *error);

/** Zeroed memory of @p size bytes for one over a state of @p source, with its length and
 * columns. */
lx_status lx__source_new_held(lx_source *source, size_t size, lx_source **held, lx_error *error);

/** What a batch is to be read from: @p source itself, or if it is live, its newest state. To be
 * given up with lx_source_unref(). */
lx_status lx__source_hold(lx_source *source, lx_source **held, lx_error *error);

/** Fills in column @p position with copies, its size computed. */
LX_API lx_status lx__source_set_column(lx_source *source, size_t position, const char *name,
                                       const lx_column_info *column, lx_error *error);

/** Fails with LX_ERR_ARGUMENT where two columns have one name. */
lx_status lx__source_check_names(const lx_source *source, lx_error *error);

/** A source over the dataset at @p path, which is closed with it. */
lx_status lx__source_open_zrecord(const char *path, const lx_dataset_options *options,
                                  lx_source **source, lx_error *error);

/** What names the state of a dataset. NULL without memory. */
json_t *lx__source_dataset_frame(lx_dataset *dataset);

/** {"kind", "length", ...}: all that tells the data. NULL without memory. */
json_t *lx__source_to_json(const lx_source *source);

/** [{name, dtype, shape}, ..], for sources that have no better identity. NULL without memory. */
json_t *lx__columns_to_json(const lx_source *source);

/** What names the state of the data; null where there is nothing. NULL without memory. */
json_t *lx__source_frame(const lx_source *source);

#endif
