/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Switches of generations: new files beside the old ones, and then another meta.json, by
 * which they are the dataset. See doc/zrecord-format.md, 11.1.
 *
 * Each kind of switch is a file of its own: restart.c, fold.c, rebalance.c, seal.c, fields.c. All
 * of them begin after a synced commit with every row in the tables, and go on alike:
 *
 *     lx__install_begin()         what will be said, so far what is said now; orphans are removed
 *     lx__install_make_tables()   and others, for what is new
 *     lx__install_make_log()      if there is a new generation
 *     lx__install_finish()        meta.json is replaced: the writer goes on with what is new
 * lx__install_end()           obsolete files are removed; if it did not come to that, what was made
 */
#ifndef LX_ZRECORD_INSTALL_H
#define LX_ZRECORD_INSTALL_H

#include "zrecord/write/writer.h"

/** A generation in the making. */
typedef struct lx__install {
    lx_writer *writer;
    lx__meta meta;   /**< Of the successor; all but its document is the writer's own. */
    lx__state state; /**< What frame 0 of the new log is to say; without sets. */
    lx__file log;
    lx__table_writer tables; /**< The tables it will have, if others than now. */
    bool new_tables;         /**< They are of a table generation of their own. */
    uint32_t first_chunk;    /**< Chunks from this on were made for it. */
    bool new_chunks;         /**< The old ones are left behind. */
    bool named;              /**< meta.json names what was made, or may do so. */
    bool done;               /**< The writer has gone on with it. */
} lx__install;

/** Gets ready: everything that the dataset is now, and no orphans. End it in any case. */
lx_status lx__install_begin(lx__install *self, lx_writer *writer, lx_error *error);

/** Makes tables of the next table generation, empty, in self->rows; they get as many rows as there
 * are records. */
lx_status lx__install_make_tables(lx__install *self, lx_error *error);

/** Makes the log of the next generation. Its frame 0 has the state, and those of the sets @p live
 * that count; NULL: there are none any more. */
lx_status lx__install_make_log(lx__install *self, const lx__update_map *live, lx_error *error);

/**
 * Names what was made in meta.json. New tables and chunks are durable already; their directories
 * need not be. On success the writer goes on with it. Obsolete files wait for lx__install_end():
 * only when the writer has its new schema, too, can it tell them from files of a field that was
 * added.
 *
 * @retval LX_ERR_POISONED  A sync failed, or it is not known which meta.json is there. After any
 *                          other failure the old one is.
 */
lx_status lx__install_finish(lx__install *self, lx_error *error);

/** Makes a file or directory durable. After a failure nobody knows what is on disk, and what a
 * second sync says means nothing: it is LX_ERR_POISONED, and @p error has LX_ERR_IO. */
lx_status lx__sync_or_poison(const lx__file *file, lx_error *error);

/** Removes obsolete files, or what was made in vain. */
void lx__install_end(lx__install *self);

/** Makes the tables in self->rows durable. */
lx_status lx__install_sync_tables(lx__install *self, lx_error *error);

/** What a switch does within a call of a user. */
typedef lx_status lx__install_job(lx_writer *writer, void *user, lx_error *error);

/** A call that switches: waits for its turn, looks that no transaction is open, commits with every
 * row in the tables, and does @p job. Only what poisons is kept of its failures. */
lx_status lx__install_call(lx_writer *writer, lx__install_job *job, void *user, lx_error *error);

/** A synced commit of everything, with all rows in the tables; the writer is the caller's alone. */
lx_status lx__install_commit(lx_writer *writer, lx_error *error);

#endif
