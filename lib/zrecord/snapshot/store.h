/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The open files and mappings needed to read one generation of a dataset.
 *
 * All snapshots of the generation share a store. Mappings stay until the last snapshot is freed, so
 * addresses in them stay valid.
 */
#ifndef LX_ZRECORD_STORE_H
#define LX_ZRECORD_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/process.h"
#include "executor/task.h"
#include "zrecord/chunk/fd-cache.h"
#include "zrecord/format/codec.h"
#include "zrecord/format/meta.h"
#include "zrecord/wal/wal.h"
#include "zrecord/table/table-file.h"

/** Maximum number of chunks mapped at once: by default, Linux limits a process to 65,530
 * mappings. */
#define LX__MAPPED_CHUNKS_MAX 60000

/** Maximum number of idle files that a store keeps open. The limit is lower in access mode mmap, in
 * which only maintenance reads with pread. */
#define LX__FILES_MAX 64
#define LX__FILES_MAPPED_MAX 4

/** The mapping of a chunk, shared by the stores of successive generations. */
typedef struct lx__chunk_mapping {
    atomic_size_t references;
    lx__mapping mapping;
    lx__file_id file; /**< The mapped file. */
} lx__chunk_mapping;

/** A chunk in the list of mapped chunks. */
typedef struct lx__chunk_map {
    uint32_t id;
    lx__chunk_mapping *mapped; /**< NULL if mapping the chunk failed. */
} lx__chunk_map;

/** Where the values that are read seem to be; see read/residency.h. */
typedef enum lx__residency {
    LX__UNKNOWN,   /**< The next call that reads several records finds out. */
    LX__IN_MEMORY, /**< Copying from mappings takes no page faults that wait for the disk. */
    LX__ON_DISK,
    LX__ASSUMED /**< In memory, and not to be tested: the user chose mappings. */
} lx__residency;

typedef struct lx__store {
    atomic_size_t references;
    lx__file directory;
    lx__file chunk_directory; /**< Closed if the dataset is sealed: then it may be missing. */
    lx__file lock;            /**< Holds the reader's lock; closed if no lock is needed. */
    lx__file meta_file;       /**< Kept open so that its inode is not reused: see section 9.2 of the
                             format. */
    lx__file_id meta_id;
    lx__file_id directory_id;
    lx__meta meta;
    /** The fields that the handle shows, with the names and the order that they had when the handle
     * was opened; meta.schema contains the current fields. */
    lx_schema *schema;
    lx__entry_rules *rules; /**< One per field of @ref schema. */
    /** One per field of @ref schema; NULL until the first value that needs it is read. */
    _Atomic(const lx__dictionary *) *dictionaries;
    lx_verify_policy verify;
    lx_access access;    /**< The access mode; never AUTO. */
    const char *network; /**< Name of the network file system; NULL if the file system is local. */
    lx__process process; /**< The process that the mutexes belong to. */

    _Atomic lx__residency residency;
    atomic_uint resident_steps;     /**< Number of tests in a row that found no value on disk. */
    _Atomic uint64_t major_faults;  /**< Of the process, at the last slow step. */
    _Atomic bool *tables_requested; /**< One per field of @ref schema. */
    _Atomic bool *tables_checked;   /**< Likewise; see lx__sealed_check_field(). */

    pthread_mutex_t log_mutex; /**< Guards @ref log. Locked before @ref mutex. */
    lx__wal_reader log;        /**< Opened by the first replay. */

    pthread_mutex_t mutex;       /**< Guards the members below. A leaf lock. */
    lx__table **tables;          /**< The newest table of each field; NULL until the field has
                                      rows. */
    uint64_t *checked_rows;      /**< Number of rows checked in each field's files; 0 until
                                      they are first checked, even for inherited tables. */
    lx__chunk_mapping **retired; /**< Mappings that were replaced by larger mappings. */
    size_t retired_count, retired_capacity;
    lx__table **retired_tables;
    size_t retired_table_count, retired_table_capacity;
    lx__chunk_map *chunks; /**< Mapped chunks, ascending by id. */
    size_t chunk_count, chunk_capacity;
    lx__inflater **inflaters; /**< Idle inflaters. */
    size_t inflater_count, inflater_capacity;
    lx__fd_cache files; /**< For reading tables and chunks with pread, and for mapping chunks. */
} lx__store;

/**
 * Reads meta.json of the dataset at @p path, locks its generation, and opens the files needed for
 * reading. The new store has one reference.
 *
 * @retval LX_ERR_UNSUPPORTED  The dataset is on a network file system and is not sealed.
 */
lx_status lx__store_open(const char *path, lx_verify_policy verify, lx_access access,
                         lx__store **store, lx_error *error);

/**
 * Like lx__store_open(), for the dataset in @p directory, which the call takes over, even on
 * failure. If it has a provider, nothing is locked, and the dataset must be sealed: then it never
 * changes.
 *
 * @retval LX_ERR_UNSUPPORTED  The dataset is not sealed, or @p access is #LX_ACCESS_MMAP.
 */
lx_status lx__store_open_in(lx__file *directory, lx_verify_policy verify, lx_access access,
                            lx__store **store, lx_error *error);

/** Whether the files come from a provider, which may have to fetch them from another machine. They
 * are read with pread, and never change. */
static inline bool lx__store_is_elsewhere(const lx__store *store)
{
    return store->directory.provider != NULL;
}

/** Fails with #LX_ERR_UNSUPPORTED because an operation needs the files of a dataset on this
 * machine. */
lx_status lx__store_fail_elsewhere(const lx__store *store, const char *operation, lx_error *error);

/**
 * Like lx__store_open(), for a handle that continues from @p former, in the directory that @p
 * former has open. The new store shows the same fields.
 *
 * @retval LX_ERR_STATE  The directory contains a different dataset now, or a field was dropped.
 */
lx_status lx__store_reopen(const lx__store *former, lx__store **store, lx_error *error);

/** Opens the WAL unless it is already open. The caller must hold @c log_mutex. */
lx_status lx__store_open_log(lx__store *store, lx_error *error);

lx__store *lx__store_ref(lx__store *store);
void lx__store_unref(lx__store *store);

/**
 * Makes a store usable in a child of fork(). A mutex that another thread of the parent held is
 * never unlocked in the child, and the members that it guards may be inconsistent; both are reset.
 * Any number of handles and threads may call this; only the first call does the work.
 */
void lx__store_take_over(lx__store *store);

/** Fails with #LX_ERR_STATE because the path now leads to a different dataset. */
lx_status lx__store_fail_other(const lx__store *store, lx_error *error);

/** Checks whether meta.json in the directory is still the file that was read. */
lx_status lx__store_is_current(const lx__store *store, bool *current, lx_error *error);

/** Whether meta.json is known to have been replaced. If so, apparent corruption may be due to a
 * writer that installed a new generation. */
bool lx__store_was_replaced(const lx__store *store);

/**
 * Finds the dictionary of a field, reading it if this is the first call.
 *
 * @param[out] dictionary  Receives the dictionary, which the store keeps; NULL if the field has
 *                         none.
 * @retval LX_ERR_CORRUPT  The file is absent or damaged.
 */
lx_status lx__store_find_dictionary(lx__store *store, size_t field,
                                    const lx__dictionary **dictionary, lx_error *error);

/** Opens a chunk, which must have @p bytes bytes: exactly or, if @p exact is false, at least. It may
 * be in a part of the dataset. */
lx_status lx__store_open_chunk(const lx__store *store, uint32_t id, uint64_t bytes, bool exact,
                               lx__file *file, lx_error *error);

/** Opens a chunk, whatever its size. */
lx_status lx__store_open_any_chunk(const lx__store *store, uint32_t id, lx__file *file,
                                   lx_error *error);

/** Takes an idle inflater of @p codec for the calling thread; NULL if the store has none. */
lx__inflater *lx__store_take_inflater(lx__store *store, const lx__codec *codec);
/** Returns an inflater to the store; NULL is a no-op. */
void lx__store_release_inflater(lx__store *store, lx__inflater *inflater);

#endif
