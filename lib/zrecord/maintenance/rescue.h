/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What can still be read of a dataset, whatever is damaged: a log as far as it can be
 * followed, or what was sealed, tables as far as they reach, chunks that are there. Files are read
 * and never mapped.
 */
#ifndef LX_ZRECORD_RESCUE_H
#define LX_ZRECORD_RESCUE_H

#include "zrecord/chunk/payload.h"
#include "zrecord/wal/replay.h"

/** Rows of a table that are read at once. */
#define LX__RESCUE_ROWS 1024

/** One field: its tables, and the chunk that its last value was in. */
typedef struct lx__rescue_column {
    lx__entry_rules rules;
    lx__file offsets, checks;
    uint64_t rows;    /**< That can be read; fewer than the state has where a table is short. */
    lx_error failure; /**< Why there are fewer. */
    uint8_t *window;  /**< Rows from window_first on, of both tables one after the other. */
    uint64_t window_first;
    size_t window_count;
    lx__file chunk;
    uint32_t chunk_id;
    uint64_t chunk_size; /**< Of its file. */
} lx__rescue_column;

typedef struct lx__rescue {
    lx__file directory, chunk_directory; /**< That of chunks is closed if it is not there. */
    lx__file lock;                       /**< The reader's, or the writer's. */
    lx__meta meta;
    lx__log_identity identity;
    lx__state state;   /**< As far as the log can be followed, and what it names is there. */
    lx__state settled; /**< At its last settled frame. */
    bool cut;          /**< What comes behind in the log is lost. */
    bool by_seal;      /**< The log is damaged, and the state is the one that was sealed. */
    bool alone;        /**< No frame of the log agrees with what meta.json says. */
    lx_error why_cut;  /**< How the log is damaged, in either case. */
    lx__rescue_column *columns; /**< One a field. */
    uint64_t reach;             /**< Rows of the longest table. */
    uint64_t *beyond;           /**< Indices of sets from there on, ascending. */
    size_t beyond_count, beyond_capacity;
    uint8_t *payload;           /**< Stored bytes of the last value. */
    size_t capacity;
    size_t stored; /**< How many; 0 if they could not. */
    uint8_t *value;
    size_t value_capacity;
    lx__inflater *inflater;
} lx__rescue;

/**
 * Opens the dataset at @p path. @p writing: with the writer's lock, else the lock of a reader.
 * End it in any case.
 *
 * @retval LX_ERR_NOT_FOUND    There is no dataset.
 * @retval LX_ERR_CORRUPT      meta.json is damaged, or the first frame of the log and no seal tells
 *                             what was in it, or a file is a link: nothing can be done. The error
 *                             says what else might.
 * @retval LX_ERR_UNSUPPORTED  It is newer than this library.
 * @retval LX_ERR_BUSY         Somebody writes.
 */
lx_status lx__rescue_open(lx__rescue *rescue, const char *path, bool writing, lx_error *error);

void lx__rescue_close(lx__rescue *rescue);

/** @name Its parts. */
/** @{ */

/** Finds the state, by the log or by the seal. */
lx_status lx__rescue_follow(lx__rescue *rescue, lx_error *error);

/**
 * Of a sealed dataset: takes the state from meta.json, if that is whole, and the log does not reach
 * it. @p why: why the log gives no state at all; NULL: it gave the one that is there.
 */
lx_status lx__rescue_take_seal(lx__rescue *rescue, const lx_error *why, lx_error *error);

/** Where meta.json is alone, looks for a value that agrees with it, once tables are open.
 * @retval LX_ERR_CORRUPT  There are values, and none does. */
lx_status lx__rescue_prove_seal(lx__rescue *rescue, lx_error *error);

/** Finds for lx__rescue_next() what there is, once tables are open. */
lx_status lx__rescue_find_reach(lx__rescue *rescue, lx_error *error);

/** @} */

/** Holds table number @p table, two a field, against its checksum in meta.json, where the state is
 * the seal's. @p damage tells of a difference; one that is short was told of before. */
lx_status lx__rescue_check_table(const lx__rescue *rescue, size_t table, lx_error *damage,
                                 lx_error *error);

/**
 * Reads and checks the value of a record below the length; @p entry is stored also if it is
 * damaged, and missing if not even that can be read. @p error must be there and tell of nothing.
 * @retval LX_ERR_CORRUPT  It is damaged, or the system cannot read it.
 */
lx_status lx__rescue_check(lx__rescue *rescue, size_t field, uint64_t index, lx__entry *entry,
                           lx_error *error);

/** The first record from @p index on of which a table has a row, or the log a set; the length if
 * there is none. All values of those before it are missing. */
uint64_t lx__rescue_next(const lx__rescue *rescue, uint64_t index);

/** Whether the entry of a record below the length, in a row, was lost with the end of a table. */
bool lx__rescue_is_lost(const lx__rescue *rescue, size_t field, uint64_t index);

/** Tells how many bytes of a chunk are committed and there. Where they are fewer than committed,
 * @p damage tells why; it may be NULL. */
lx_status lx__rescue_chunk_bytes(const lx__rescue *rescue, const lx__chunk_item *chunk,
                                 uint64_t *bytes, lx_error *damage, lx_error *error);

#endif
