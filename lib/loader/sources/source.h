/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The base class of sources.
 *
 * Like an order, a source is a struct that begins with an lx_source and has a class with its
 * functions.
 */
#ifndef LX_LOADER_SOURCE_H
#define LX_LOADER_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <loaderx/source.h>

#include "base/json.h"

/** Maximum length of a column name, without the NUL. */
#define LX__COLUMN_NAME_MAX 64

/** A dataset that a source reads. */
typedef struct lx__dataset_use {
    lx_dataset *dataset; /**< NULL in a source without data. */
    json_t *state;       /**< If @ref dataset is NULL: the JSON of the dataset in saved states;
                              borrowed. */
    uint64_t length;     /**< Number of records that the source reads. */
    size_t only;         /**< The only field that is read; SIZE_MAX: those in @ref wanted. */
    const bool *wanted;  /**< Whether each field is read; NULL: all are. */
    bool mapped;         /**< Values are read in the mapping, so that only page faults tell whether
                              they are on disk. */
} lx__dataset_use;

typedef lx_status lx__dataset_visit(void *user, const lx__dataset_use *use, lx_error *error);

/** The functions of one kind of source. */
typedef struct lx__source_class {
    const char *kind; /**< Name of the kind in saved states. */

    /** See lx_source_fill(); called with valid indices and at least one selected column. NULL for a
     * source without columns. */
    lx_status (*fill)(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error);

    /** Fills records like @ref fill, which is NULL in a class that has this function: one whose
     * records depend on their positions, or one that passes the positions on to other sources. */
    lx_status (*fill_samples)(lx_source *source, const lx_samples *samples,
                              const lx_target *targets, lx_error *error);

    /** See lx_source_get_sizes() and lx_source_fill_sample_bytes(); called with valid indices and a
     * column whose records vary in size. NULL if no column's records do. */
    lx_status (*get_sizes)(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error);
    lx_status (*fill_bytes)(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error);

    /** Whether values of a column may be missing; NULL if none ever is. */
    bool (*may_be_missing)(const lx_source *source, size_t column);

    /** Finds out which records have a value in a column, which may have missing values: sets the
     * record's byte to 0 if its value is missing, otherwise to 1. Called with valid indices. */
    lx_status (*mark_present)(lx_source *source, size_t column, const uint64_t *indices,
                              size_t count, uint8_t *present, lx_error *error);

    /** Finds out where a value is stored: returns the path of its file or dataset, changes @p index
     * to the index of the record there, and sets @p offset if the record has one. NULL if the class
     * has no file. */
    const char *(*locate)(const lx_source *source, size_t column, uint64_t *index,
                          uint64_t *offset);

    /** Adds members to @p object that identify the data. Returns 0, or -1 when out of memory. */
    int (*describe)(const lx_source *source, json_t *object);

    /** Calls @p visit for each dataset that the source reads, always in the same order, and returns
     * its first failure. @p wanted tells for each column whether it is read; NULL: all are. NULL if
     * the source reads no datasets. */
    lx_status (*visit_datasets)(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error);

    /** Asks the system for values that will be read soon, without waiting for them; @p wanted tells
     * for each column whether it is read. Called with valid indices. Returns false if all values
     * were found in memory. NULL if the source does not read from a disk. */
    bool (*read_ahead)(lx_source *source, const bool *wanted, const uint64_t *indices,
                       size_t count);

    /** Creates a source over one snapshot of live data, with lx__source_new_pinned(); NULL if the
     * data is never live. */
    lx_status (*pin)(lx_source *source, lx_source **pinned, lx_error *error);

    /** Releases what the source owns besides its own memory and columns; may be NULL. */
    void (*dispose)(lx_source *source);
} lx__source_class;

struct lx_source {
    const lx__source_class *class;
    atomic_size_t references;
    uint64_t length;
    lx_column_info *columns; /**< Owned, with names and shapes; in a snapshot, owned by @ref
                                  live_source. */
    size_t column_count;
    bool live;              /**< The records may change, so each batch must be read from a single
                                 snapshot. */
    lx_source *live_source; /**< In a snapshot: an owned reference to the live source. */
};

/** Allocates @p size zeroed bytes for a source of @p class with @p column_count uninitialized
 * columns and one reference. */
LX_API lx_status lx__source_new(const lx__source_class *class, size_t size, uint64_t length,
                                size_t column_count, lx_source **source, lx_error *error);

/** Allocates @p size zeroed bytes for a snapshot of @p source, with the same length and columns. */
lx_status lx__source_new_pinned(lx_source *source, size_t size, lx_source **pinned,
                                lx_error *error);

/** Fills records through the function of the class; the arguments are valid. */
lx_status lx__source_fill(lx_source *source, const lx_samples *samples, const lx_target *targets,
                          lx_error *error);

/** Passes on the status that a callback of a source returned, and its failure @p theirs. */
lx_status lx__source_pass_on(lx_error *theirs, lx_status status, const char *callback,
                             lx_error *error);

/** Fails because sizes of values add up to more than 2^64 - 1 bytes. */
lx_status lx__fail_sizes(lx_error *error);

/** Returns the source to read a batch from: @p source, or a snapshot of its newest state if it is
 * live. Release the result with lx_source_unref(). */
lx_status lx__source_pin(lx_source *source, lx_source **pinned, lx_error *error);

/** Whether values of a column may be missing. A missing value reads as zeros. */
bool lx__source_may_be_missing(const lx_source *source, size_t column);

/** Finds out which records have a value in a column: sets the record's byte to 0 if its value is
 * missing, otherwise to 1. */
lx_status lx__source_mark_present(lx_source *source, size_t column, const uint64_t *indices,
                                  size_t count, uint8_t *present, lx_error *error);

/** Finds out where a value is stored; see the function of the class. Returns NULL if it is not
 * known. */
const char *lx__source_locate(const lx_source *source, size_t column, uint64_t *index,
                              uint64_t *offset);

/** Whether values of a source may have to be read from a disk, so that lx__source_read_ahead() is
 * useful. */
bool lx__source_wants_read_ahead(const lx_source *source, const bool *wanted);

/** Whether values of a source come from another machine. */
bool lx__source_is_remote(const lx_source *source, const bool *wanted);

/** Asks the system for values that will be read soon; see the function of the class. */
bool lx__source_read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices,
                           size_t count);

/** Sets column @p position to a copy of @p column, and computes its size. */
LX_API lx_status lx__source_set_column(lx_source *source, size_t position, const char *name,
                                       const lx_column_info *column, lx_error *error);

/** Returns LX_ERR_ARGUMENT if two columns have the same name. */
lx_status lx__source_check_names(const lx_source *source, lx_error *error);

/** Returns {"kind", "length", ...}, which identifies the data. Returns NULL when out of memory. */
json_t *lx__source_to_json(const lx_source *source);

/** Returns [{name, dtype, shape}, ..] for the columns from @p first on, for sources without a better
 * identity. Returns NULL when out of memory. */
json_t *lx__columns_to_json(const lx_source *source, size_t first);

/** Calls @p visit for each dataset that the source reads; see the function of the class. */
lx_status lx__source_visit_datasets(const lx_source *source, const bool *wanted,
                                    lx__dataset_visit *visit, void *user, lx_error *error);

#endif
