/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Looking after zrecord datasets: verification, statistics, removal.
 */
#ifndef LOADERX_UPKEEP_H
#define LOADERX_UPKEEP_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dataset.h>

LX_BEGIN_DECLS

/** Told of each damage that lx_dataset_verify() finds. @p damage is valid during the call. A
 * return of other than #LX_OK ends the verification with that status. */
typedef lx_status (*lx_damage_function)(const lx_error *damage, void *user);

/** Told now and then how far a long job is: @p done of @p total records. A return of other than
 * #LX_OK ends the job with that status. */
typedef lx_status (*lx_progress_function)(uint64_t done, uint64_t total, void *user);

/** What lx_dataset_verify() did. */
typedef struct lx_verification {
    uint64_t records;     /**< Records looked at. */
    uint64_t values;      /**< Values looked at: records times fields. */
    uint64_t bytes;       /**< Stored bytes whose CRC was taken. */
    uint64_t damages;     /**< How many were found. */
    uint64_t reserved[4]; /**< Zero. */
} lx_verification;

/**
 * Reads every record of every field, checks its entry and its checksum, and decompresses it;
 * of a sealed dataset also the tables' own checksums and the lengths of all files. Values of zstd
 * fields, which this version cannot decompress, are checked by their checksums.
 *
 * @param[in]  dataset   A dataset.
 * @param[in]  damaged   Told of each damage; may be NULL.
 * @param[in]  progress  Told how far it is; may be NULL.
 * @param[in]  user      Given to both.
 * @param[out] result    What was done; may be NULL.
 * @param[out] error     The first damage, or why it could not go on; may be NULL.
 * @retval LX_OK           Nothing is damaged.
 * @retval LX_ERR_CORRUPT  Something is.
 */
LX_API lx_status lx_dataset_verify(lx_dataset *dataset, lx_damage_function damaged,
                                   lx_progress_function progress, void *user,
                                   lx_verification *result, lx_error *error);

/** The sizes of a dataset, as lx_dataset_stat() tells them. */
typedef struct lx_statistics {
    uint64_t length;         /**< Records. */
    uint64_t chunks;         /**< Chunk files. */
    uint64_t chunk_records;  /**< Payloads that a chunk takes. */
    uint64_t chunk_limit;    /**< Bytes that a chunk takes. */
    uint64_t payloads;       /**< Payloads stored in chunks, live or not. */
    uint64_t chunk_bytes;    /**< Committed bytes of all chunks. */
    uint64_t live_bytes;     /**< Those that some record refers to. */
    uint64_t table_bytes;    /**< Committed bytes of all tables. */
    uint64_t log_bytes;      /**< Valid bytes of the log. */
    uint64_t log_entries;    /**< Entries that still lie in the log and not in the tables. */
    double utilisation;      /**< Live payloads / (chunks * chunk_records); 0 without chunks. */
    double live_ratio;       /**< live_bytes / chunk_bytes; 1 without chunks. */
    uint64_t reserved[8];    /**< Zero. */
} lx_statistics;

/** The sizes of one field, as lx_dataset_stat() tells them. */
typedef struct lx_field_statistics {
    uint64_t present;       /**< Records that have a value. */
    uint64_t missing;       /**< Records that have none. */
    uint64_t inlined;       /**< Values of at most 8 bytes, kept in the table. */
    uint64_t compressed;    /**< Values that are stored compressed. */
    uint64_t logical_bytes; /**< Bytes of all values, decompressed. */
    uint64_t stored_bytes;  /**< Bytes they take in chunks. */
    uint64_t reserved[4];   /**< Zero. */
} lx_field_statistics;

/**
 * Adds up sizes. Reads all tables, but no record.
 *
 * @param[in]  dataset  A dataset.
 * @param[out] totals   The dataset's sizes.
 * @param[out] fields   One for each field, in the schema's order; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 * @retval LX_ERR_CORRUPT  An entry is damaged.
 */
LX_API lx_status lx_dataset_stat(lx_dataset *dataset, lx_statistics *totals,
                                 lx_field_statistics *fields, lx_error *error);

/** One chunk, as lx_dataset_get_chunk() tells it. */
typedef struct lx_chunk_info {
    uint32_t id;      /**< Its number; the file is chunk/ID.zr. */
    uint64_t records; /**< Payloads in it. */
    uint64_t bytes;   /**< Committed bytes. */
} lx_chunk_info;

/** Chunk number @p position in ascending order of ids; #LX_END if there are not so many,
 * #LX_ERR_ARGUMENT where a pointer is NULL. */
LX_API lx_status lx_dataset_get_chunk(lx_dataset *dataset, size_t position, lx_chunk_info *info);

/**
 * Removes a dataset, the directory with it. A directory without a readable meta.json, or with
 * anything in it that is no part of the dataset, is left as it is. Interrupted in the middle, the
 * dataset is damaged, and can be removed again.
 *
 * @param[in]  path   The dataset's directory.
 * @param[out] error  Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_NOT_FOUND    There is no dataset at @p path.
 * @retval LX_ERR_BUSY         It is being written or read, by this process or another.
 * @retval LX_ERR_EXISTS       Something in it is no part of the dataset. Nothing is removed.
 * @retval LX_ERR_CORRUPT      meta.json is damaged.
 * @retval LX_ERR_UNSUPPORTED  Its format or a feature of it is newer than this library.
 * @retval LX_ERR_IO           The system refused; errno tells why.
 */
LX_API lx_status lx_dataset_remove(const char *path, lx_error *error);

LX_END_DECLS

#endif
