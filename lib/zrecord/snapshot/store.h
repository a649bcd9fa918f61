/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The open files of one generation of a dataset, mapped for reading.
 *
 * Shared by all snapshots of that generation. What is mapped stays mapped until the last of them
 * is gone, so an address once given out stays right.
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

/** Most chunks that are mapped at once: Linux gives a process 65,530 maps by default. */
#define LX__MAPPED_CHUNKS_MAX 60000

/** Files of one store that stay open while nobody reads them; fewer where only maintenance reads
 * by pread. */
#define LX__FILES_MAX 64
#define LX__FILES_MAPPED_MAX 4

/** A mapping that stores share: that of one generation, and that of the next. */
typedef struct lx__chunk_mapping {
    atomic_size_t references;
    lx__mapping mapping;
    lx__file_mark file; /**< What is mapped. */
} lx__chunk_mapping;

/** A chunk that was mapped. */
typedef struct lx__chunk_map {
    uint32_t id;
    lx__chunk_mapping *mapped; /**< NULL if that failed. */
} lx__chunk_map;

typedef struct lx__store {
    atomic_size_t references;
    lx_executor *executor; /**< Whose cleaners end it, held; NULL: the thread that lets go. */
    lx__task ending;
    lx__file directory;
    lx__file chunk_directory;
    lx__file lock;       /**< Holds the reader's lock; closed if the dataset has no LOCK. */
    lx__file meta_file;  /**< Held open so that its inode is not used again: see the format, 9.2. */
    lx__file_mark meta_mark;
    lx__file_mark directory_mark;
    lx__meta meta;
    /** The fields that are shown, by the names and in the order in which the handle was opened;
     * meta's own has those that there are now. */
    lx_schema *schema;
    lx__entry_rules *rules; /**< One a field of @ref schema. */
    lx_verify_policy verify;
    lx_access access;    /**< Any but AUTO. */
    const char *network;    /**< The name of the network file system that it is on; NULL: none. */
    lx__process process;       /**< To which the mutexes belong. */

    pthread_mutex_t log_mutex; /**< For @ref log. Taken before @ref mutex. */
    lx__log_reader log;        /**< Open from the first replay on. */

    pthread_mutex_t mutex;  /**< For all below. A leaf: nothing else is locked under it. */
    lx__table **tables;     /**< The newest of each field, NULL until rows are there. */
    uint64_t *looked;       /**< Rows that were looked for in the files; 0: of a store before. */
    lx__chunk_mapping **retired; /**< Mappings that a larger one has replaced. */
    size_t retired_count, retired_capacity;
    lx__table **retired_tables;
    size_t retired_table_count, retired_table_capacity;
    lx__chunk_map *chunks; /**< Those that were touched, ascending by id. */
    size_t chunk_count, chunk_capacity;
    lx__inflater **inflaters; /**< Idle ones. */
    size_t inflater_count, inflater_capacity;
    lx__fd_cache files; /**< Tables and chunks that are read by pread, chunks that are mapped. */
} lx__store;

/**
 * Reads meta.json of the dataset at @p path, locks its generation, and opens what reading needs.
 * The new store has one reference.
 *
 * @retval LX_ERR_UNSUPPORTED  It is on a network file system, and not sealed.
 */
lx_status lx__store_open(const char *path, lx_verify_policy verify, lx_access access,
                         lx__store **store, lx_error *error);

/**
 * As lx__store_open(), for a handle that goes on from @p former, in the directory that this has
 * open: the fields that are shown stay the same.
 *
 * @retval LX_ERR_STATE  Another dataset is there now, or one without a field that is shown.
 */
lx_status lx__store_reopen(const lx__store *former, lx__store **store, lx_error *error);

/** Opens the log, if that was not done yet. Under the log's mutex. */
lx_status lx__store_open_log(lx__store *store, lx_error *error);

/** Has @p store ended by the cleaners of @p executor; NULL: by the thread that lets go of it. */
void lx__store_set_executor(lx__store *store, lx_executor *executor);

lx__store *lx__store_ref(lx__store *store);
void lx__store_unref(lx__store *store);

/** Takes over from @p former, of the same dataset, what it has mapped of the files that a state of
 * these chunks needs: what was verified stays so, and pages need not be faulted in again. */
void lx__store_inherit(lx__store *store, lx__store *former, const lx__chunk_item *chunks,
                       size_t chunk_count);

/** Gives up a reference to a mapping of a chunk; NULL is nothing. */
void lx__chunk_mapping_unref(lx__chunk_mapping *mapping);

/**
 * In a child of fork(), before it uses the store: a mutex that a thread of the parent held is never
 * given back, and what it guards may be half changed; it is forgotten. Any number of handles and
 * threads may call this; one of them does it.
 */
void lx__store_take_over(lx__store *store);

/** Fails with #LX_ERR_STATE, since another dataset is in the place of this one. */
lx_status lx__store_fail_other(const lx__store *store, lx_error *error);

/** Whether meta.json at the path is still the one that was read. */
lx_status lx__store_is_current(const lx__store *store, bool *current, lx_error *error);

/** Whether it is known that it is not: what seems to be damage may be another writer's work
 * then. */
bool lx__store_was_replaced(const lx__store *store);

/**
 * Maps the tables of @p field (a position) with at least @p rows rows, which must be over 0. Where
 * the access is PREAD they are only looked at, and nothing is mapped.
 * @retval LX_ERR_CORRUPT  A table is absent or too short.
 */
lx_status lx__store_map_table(lx__store *store, size_t field, uint32_t table_generation,
                              uint64_t rows, lx__table **table, lx_error *error);

/** Maps the first @p bytes bytes of chunk @p id, which must be over 0. */
lx_status lx__store_map_chunk(lx__store *store, uint32_t id, uint64_t bytes,
                              const uint8_t **data, lx_error *error);

/** An idle inflater for the calling thread, to be given back; NULL: there is none. */
lx__inflater *lx__store_take_inflater(lx__store *store);
void lx__store_give_inflater(lx__store *store, lx__inflater *inflater);

#endif
