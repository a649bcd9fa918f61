/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Installs a new generation: writes new files next to the old ones, and then a new
 * meta.json, which makes them current. See doc/zrecord-format.md, 11.1.
 *
 * Each kind of generation change is implemented in its own file: rotate.c, checkpoint.c,
 * rebalance.c, seal.c and alter.c. Each starts after a synced commit with every row in the tables,
 * and makes these calls in order:
 *
 *     lx__install_begin()         copies the current state; removes orphans
 *     lx__install_make_tables()   and other functions, for new files
 *     lx__install_make_log()      for a new generation of the log
 *     lx__install_finish()        replaces meta.json and adopts the new files
 *     lx__install_end()           removes obsolete files or, if not finished, the new ones
 */
#ifndef LX_ZRECORD_INSTALL_H
#define LX_ZRECORD_INSTALL_H

#include "zrecord/write/chunk-output.h"
#include "zrecord/write/writer.h"

/** A generation that is being installed. */
typedef struct lx__install {
    lx_writer *writer;
    lx__meta meta;   /**< The next meta.json; shares everything except its document with the
                          writer. */
    lx__state state; /**< The state for frame 0 of the new log, without updates. */
    lx__file log;
    lx__table_writer tables; /**< The tables to use from now on, whether new or not. */
    bool new_tables;         /**< The tables are new and have the next table generation. */
    uint32_t first_chunk;    /**< Chunks with this id or a higher id are new. */
    bool new_chunks;         /**< The old chunks are no longer used. */
    bool named;              /**< meta.json names or may name the new files. */
    bool done;               /**< The writer has adopted the new files. */
} lx__install;

/** Prepares an installation: copies the current state and removes orphans. The caller must then
 * call lx__install_end(), even on failure. */
lx_status lx__install_begin(lx__install *self, lx_writer *writer, lx_error *error);

/** Makes empty tables of the next table generation in self->tables; the tables will have one row
 * per record. */
lx_status lx__install_make_tables(lx__install *self, lx_error *error);

/** Returns an output that writes new chunks, which are part of the installation. */
lx__chunk_output lx__install_output(lx__install *self);

/** Makes the log of the next generation. Frame 0 contains the state, and those updates in @p live
 * that are still needed. If @p live is NULL, there are no updates. */
lx_status lx__install_make_log(lx__install *self, const lx__update_map *live, lx_error *error);

/**
 * Names the new files in meta.json, and makes the writer adopt them. New tables and chunks must
 * already be durable, but their directories need not be. Obsolete files stay until
 * lx__install_end(), because the writer cannot distinguish them from the files of an added field
 * until it has adopted the new schema.
 *
 * @retval LX_ERR_POISONED  A sync failed, or it is unknown which meta.json is on disk. On any other
 *                          failure, the old meta.json is still in place.
 */
lx_status lx__install_finish(lx__install *self, lx_error *error);

/** Makes a file or directory durable. After a failed sync, it is unknown what is on disk, and
 * another sync would prove nothing; a failure therefore returns LX_ERR_POISONED, with LX_ERR_IO in
 * @p error. */
lx_status lx__sync_or_poison(const lx__file *file, lx_error *error);

/** Removes the obsolete files or, unless lx__install_finish() was successful, the new files. */
void lx__install_end(lx__install *self);

/** Makes the tables in self->tables durable. */
lx_status lx__install_sync_tables(lx__install *self, lx_error *error);

/** A function that installs a generation, as part of a public call. */
typedef lx_status lx__install_job(lx_writer *writer, void *user, lx_error *error);

/** Does the work of a public call that installs a generation: waits for other calls, checks that no
 * transaction is open, commits with every row in the tables, and calls @p job. The writer records
 * only those failures that poison it. */
lx_status lx__install_call(lx_writer *writer, lx__install_job *job, void *user, lx_error *error);

/** Like lx__install_call(), for a job that changes only meta.json. If a transaction is open, it
 * stays open, and only what was committed before is synced. */
lx_status lx__install_call_within(lx_writer *writer, lx__install_job *job, void *user,
                                  lx_error *error);

/** Commits and syncs everything, with all rows in the tables. The caller must have called
 * lx__writer_enter_alone(). */
lx_status lx__install_commit(lx_writer *writer, lx_error *error);

#endif
