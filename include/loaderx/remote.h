/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Datasets on other machines, and a cache of them on local disks. The functions are in
 * libloaderx-remote.
 */
#ifndef LOADERX_REMOTE_H
#define LOADERX_REMOTE_H

#include <loaderx/dataset.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_remote Datasets on other machines
 *
 * A dataset that is sealed can be read where it is: on a network file system, or in an object store
 * (`https://`, `s3://`). What was fetched is kept in a cache: a directory on a local disk, which all
 * processes of a user on this machine share. Once the cache is full, the rest passes through memory.
 *
 * @code
 * lx_remote_options *options = lx_remote_options_new();
 * lx_remote_options_set_cache(options, "/nvme/cache", 500ull << 30, &error);
 * lx_dataset *train = NULL;
 * if (lx_remote_open("file:///nfs/train", options, NULL, &train, &error) != LX_OK)
 *     return complain(&error);
 * lx_remote_options_free(options);
 * @endcode
 *
 * The result is an lx_dataset like any other: loaders, orders and saved states are the same. Such a
 * dataset is read with pread(2) or from memory, never mapped.
 *
 * @see lx_dataset, lx_dataset_options, lx_order_new_lanes(), loaderx(7)
 * @{
 */

/** The options of lx_remote_open(). Only one thread at a time may use them. */
typedef struct lx_remote_options lx_remote_options;

/** What was read through a dataset since it was opened. */
typedef struct lx_remote_stats {
    uint64_t requests;       /**< Number of attempts to read a range, including failed ones. */
    uint64_t bytes;          /**< Number of bytes that were fetched. */
    uint64_t retries;        /**< Number of attempts that were made again. */
    uint64_t throttled;      /**< How often the server asked for fewer requests. */
    uint64_t cached_bytes;   /**< Number of bytes that were read from the cache. */
    uint64_t stored_bytes;   /**< Number of bytes that were added to the cache. */
    uint64_t wait_ns;        /**< The time for which calls waited for bytes, in nanoseconds, summed
                                  over all threads. */
    uint64_t replaced_bytes; /**< Number of bytes that were dropped from memory before they were
                                  read: if this grows, lx_remote_options_set_memory() helps. */
    uint64_t reserved[8];    /**< Reserved; zero. */
} lx_remote_stats;

/**
 * Returns new options with the defaults: no cache, 1 GiB of memory, a number of connections that
 * suits the kind of URL, and a patience of 30 minutes. Returns NULL if out of memory.
 */
LX_API lx_remote_options *lx_remote_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_remote_options_free(lx_remote_options *options);

/**
 * Sets the directory of the cache, which is created if it is absent, with mode 0700.
 *
 * What the cache has admitted stays as long as the dataset is in use. When the cache is full, it
 * removes datasets that no process has open; if there are none, nothing more is admitted. It also
 * leaves 5 % of its file system free.
 *
 * @param options  The options.
 * @param path     The directory; NULL: no cache.
 * @param limit    The most bytes in the cache, of all datasets; #LX_NONE: no limit except the space
 *                 on the disk.
 * @param error    Receives the failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL, or @p path is empty.
 */
LX_API lx_status lx_remote_options_set_cache(lx_remote_options *options, const char *path,
                                             uint64_t limit, lx_error *error);

/**
 * Sets how many bytes of memory hold what the cache does not. The default is 1 GiB. The tables of
 * the dataset come on top of that if there is no cache.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL, or @p bytes is less than 16 MiB.
 */
LX_API lx_status lx_remote_options_set_memory(lx_remote_options *options, uint64_t bytes,
                                              lx_error *error);

/** The maximum number of connections. */
#define LX_MAX_CONNECTIONS 256

/**
 * Sets how many requests may be under way at a time, 1 to #LX_MAX_CONNECTIONS.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL, or @p count is out of range.
 */
LX_API lx_status lx_remote_options_set_connections(lx_remote_options *options, uint32_t count,
                                                   lx_error *error);

/**
 * Sets how long a read keeps trying while the server or the network is not available, in
 * nanoseconds; with 0, it fails at the first problem. The default is 30 minutes. A read that fails
 * returns #LX_ERR_IO, which no damage policy takes for damage, and a loader stays before the batch.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_remote_options_set_patience(lx_remote_options *options, uint64_t nanoseconds,
                                                lx_error *error);

/**
 * Opens a sealed dataset that is elsewhere.
 *
 * @param[in]  url             `file:///path`, or a path without a scheme.
 * @param[in]  options         The options; NULL for the defaults.
 * @param[in]  dataset_options The options for reading; NULL for the defaults. Access modes other
 *                             than #LX_ACCESS_AUTO and #LX_ACCESS_PREAD, and live handles, are not
 *                             supported.
 * @param[out] dataset         Receives the handle; close it with lx_dataset_close().
 * @param[out] error           Receives the first failure; may be NULL.
 *
 * @return Any status that lx_dataset_open() returns.
 * @retval LX_ERR_UNSUPPORTED  The scheme is unknown, this library was built without it, the dataset
 *                             is not sealed, or the options ask for mappings or for a live handle.
 * @retval LX_ERR_LIMIT        The limit of the cache is less than the dataset's tables need.
 * @retval LX_ERR_STATE        The cache belongs to another user, or others may write to it.
 */
LX_API lx_status lx_remote_open(const char *url, const lx_remote_options *options,
                                const lx_dataset_options *dataset_options, lx_dataset **dataset,
                                lx_error *error);

/**
 * Returns what was read through a dataset since it was opened.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL, or lx_remote_open() has not opened @p dataset.
 */
LX_API lx_status lx_remote_get_stats(lx_dataset *dataset, lx_remote_stats *stats, lx_error *error);

/** @} */

LX_END_DECLS

#endif
