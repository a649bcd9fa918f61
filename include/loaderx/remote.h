/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Remote datasets, and a cache of them on local disks. The functions are in
 * libloaderx-remote.
 */
#ifndef LOADERX_REMOTE_H
#define LOADERX_REMOTE_H

#include <loaderx/dataset.h>
#include <loaderx/progress.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_remote Remote datasets
 *
 * A dataset that is sealed can be read where it is: on a network file system, or in an object store
 * (`https://`, `s3://`). What was fetched is kept in a cache: a directory on a local disk, which all
 * processes of a user on this machine share. Once the cache is full, the rest passes through memory.
 *
 * @code
 * lx_remote_options *options = lx_remote_options_new();
 * lx_remote_options_set_cache(options, "/nvme/cache", 500ull << 30, &error);
 * const char *url = "file:///nfs/train";
 * lx_dataset *train = NULL;
 * if (lx_remote_open(url, options, NULL, &train, &error) != LX_OK)
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
    uint64_t tier_bytes;     /**< How many of @ref bytes nodes of the tier have sent. */
    uint64_t reserved[7];    /**< Reserved; zero. */
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
 * the dataset come on top of that if there is no cache. If the cache is smaller than the dataset, a
 * loader should have two windows of its order, divided by the number of ranks, plus 128 MiB.
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

/** The size of an access key and of its secret in lx_credentials, with the NUL. */
#define LX_CREDENTIALS_KEY_SIZE 256
/** The size of a token in lx_credentials, with the NUL. */
#define LX_CREDENTIALS_TOKEN_SIZE 8192

/** Credentials for an HTTP server or an object store. */
typedef struct lx_credentials {
    char access_key[LX_CREDENTIALS_KEY_SIZE]; /**< The id of an access key, with which requests to
                                                   `s3://` are signed; "": the token alone. */
    char secret_key[LX_CREDENTIALS_KEY_SIZE]; /**< The secret of that key. */
    char token[LX_CREDENTIALS_TOKEN_SIZE]; /**< The session token of temporary keys, or "". Without
                                                an access key: a bearer token (OAuth 2). */
    uint64_t expires; /**< When they expire, in seconds since 1970; 0: it is unknown. They are asked
                           for again 5 minutes earlier. */
    uint64_t reserved[4]; /**< Reserved; zero. */
} lx_credentials;

/**
 * Fills in credentials, all members of which are zero at first. Any thread may call it, but only
 * one at a time. It may block; closing the dataset waits for it. A failure ends the read, unless the
 * former credentials are still valid.
 */
typedef lx_status (*lx_get_credentials)(void *user, lx_credentials *credentials, lx_error *error);

/**
 * Sets where credentials come from. The callback is called before the first request, before they
 * expire, and if the server refuses them.
 *
 * By default, credentials for `s3://` are looked for in this order: the variables
 * `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; the profile `AWS_PROFILE`
 * in `~/.aws/credentials` and `~/.aws/config`, with `credential_process`; the service of the
 * container (`AWS_CONTAINER_CREDENTIALS_FULL_URI` or `_RELATIVE_URI`); the metadata service of EC2
 * (IMDSv2). Requests to `https://` and `http://` carry no credentials by default.
 *
 * Credentials are never logged, nor saved in states, nor sent to another host.
 *
 * @param options   The options.
 * @param callback  The callback; NULL restores the default.
 * @param user      Passed to the callback. It must be valid until the last dataset that was opened
 *                  with these options is closed.
 * @param error     Receives the failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_remote_options_set_credentials(lx_remote_options *options,
                                                   lx_get_credentials callback, void *user,
                                                   lx_error *error);

/**
 * Sets whether requests to `s3://` are sent without credentials, for public buckets. The default is
 * false: to find no credentials is an error. If true, the callback for credentials is not called.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_remote_options_set_anonymous(lx_remote_options *options, bool anonymous,
                                                 lx_error *error);

/**
 * Sets the server of `s3://` URLs, such as "https://storage.googleapis.com" or
 * "http://127.0.0.1:9000". The bucket is then the first part of the path.
 *
 * The default is `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `endpoint_url` of the profile, or AWS
 * itself, where the bucket is a part of the host name. The certificates of private servers are
 * those in the file `AWS_CA_BUNDLE` or, also for `https://`, `CURL_CA_BUNDLE` or `SSL_CERT_FILE`.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL, or @p endpoint is not a URL `https://...` or
 *                          `http://...`. NULL restores the default.
 */
LX_API lx_status lx_remote_options_set_endpoint(lx_remote_options *options, const char *endpoint,
                                                lx_error *error);

/**
 * Sets the region of `s3://` URLs. The default is `AWS_REGION`, `AWS_DEFAULT_REGION`, `region` of
 * the profile, or "us-east-1".
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL, or @p region is not made of letters, digits and "-".
 *                          NULL restores the default.
 */
LX_API lx_status lx_remote_options_set_region(lx_remote_options *options, const char *region,
                                              lx_error *error);

/** The maximum number of nodes in a tier. */
#define LX_MAX_TIER_NODES 1024

/**
 * Sets the nodes of a tier: HTTP caches, such as nginx, on the hosts of a job. What any host has
 * read is then read from a node by all others, so each byte comes from the server once for the whole
 * job. The section "A tier of nginx" of doc/remote.md has the configuration of a node.
 *
 * Each node is asked for its segments of 64 MiB of the files, which are computed from the names of
 * the nodes: all hosts must have the same names. A node that does not answer with what was asked for
 * is passed over for 30 s; another one, or the server of the dataset, is asked instead. meta.json,
 * and values that were wrong, always come from that server.
 *
 * Nodes are asked by unencrypted HTTP, also for `https://`, and receive the requests as the server
 * would: with the signature, the query or the bearer token. A node answers anybody, without asking for
 * credentials. So the network between the hosts must be one that only the job can use.
 *
 * @param options  The options.
 * @param urls     The URL of each node, `http://host` or `http://host:port`; copied.
 * @param count    The number of nodes, up to #LX_MAX_TIER_NODES; 0: no tier, the default.
 * @param error    Receives the failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL, there are too many nodes, or one is another URL. The
 *                          options are unchanged.
 */
LX_API lx_status lx_remote_options_set_tier(lx_remote_options *options, const char *const *urls,
                                            size_t count, lx_error *error);

/**
 * Opens a sealed remote dataset.
 *
 * @param[in]  url             `file:///path`, a path without a scheme, `https://host/path`,
 *                             `http://host/path` or `s3://bucket/prefix`. A query of HTTP, such as
 *                             a signature (SAS), is sent with each request, and never shown.
 * @param[in]  options         The options; NULL for the defaults.
 * @param[in]  dataset_options The options for reading; NULL for the defaults. Access modes other
 *                             than #LX_ACCESS_AUTO and #LX_ACCESS_PREAD, and live handles, are not
 *                             supported.
 * @param[out] dataset         Receives the handle; close it with lx_dataset_close().
 * @param[out] error           Receives the first failure; may be NULL.
 *
 * @return Any status that lx_dataset_open() returns.
 * @retval LX_ERR_ARGUMENT     The options have a tier, but the dataset is on a file system.
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

/**
 * @defgroup lx_push Publishing datasets
 *
 * A dataset at a URL is its files under their names. lx_dataset_push() copies a sealed dataset there,
 * lx_remote_prune() removes what nobody needs any more. They write to `s3://` and `file://`.
 *
 * @see loaderx-push(1), loaderx-prune(1), lx_remote_open(), lx_writer_seal()
 * @{
 */

/**
 * Publishes a sealed dataset at a URL, in as many calls as it takes: if a call fails, or its process
 * ends, a later call with the same arguments continues. Files that are there completely are not sent
 * again.
 *
 * Readers see the dataset, or the new generation of it, once everything is there. Until then they
 * see what was there before: no file is replaced that the published generation uses, unless
 * @p replace is true. What the former generation alone uses stays until lx_remote_prune().
 *
 * The files are sent in parts, as many at a time as lx_remote_options_set_connections() says, each
 * of which is in memory only once. The dataset may itself be remote.
 *
 * If several processes push different datasets, or generations, to one URL at the same time, one of
 * them succeeds. On a server that ignores the headers If-Match and If-None-Match, two pushes that
 * begin within a second may both send files before one of them notices.
 *
 * A copy of a dataset that was changed on its own has the same uuid, so it cannot be told from a
 * generation of the dataset: push it to a URL of its own.
 *
 * @param[in]  dataset   The dataset.
 * @param[in]  url       Where to publish it: `s3://bucket/prefix`, `file:///path`, or a path. For the
 *                       latter two, directories are made as needed.
 * @param[in]  options   The options for @p url; NULL for the defaults. A cache and its memory are not
 *                       used.
 * @param[in]  replace   Replace files that the published generation uses, and publish a generation
 *                       that is older than it. Readers of the published one then fail.
 * @param[in]  progress  The progress callback, which receives the number of bytes that are there so
 *                       far and the total, at least every 100 ms; may be NULL. If it fails, the call
 *                       ends within 100 ms.
 * @param[in]  user      The pointer to pass to @p progress.
 * @param[out] sent      Receives the number of bytes of files that this call has sent, also on
 *                       failure: 0 if everything was there. May be NULL.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The dataset is published.
 * @retval LX_ERR_ARGUMENT     A pointer is NULL, or @p url is malformed.
 * @retval LX_ERR_STATE        The dataset is not sealed, or an import into it is not complete
 *                             (#LX_CARD_IMPORT).
 * @retval LX_ERR_EXISTS       Another dataset is at the URL, or is being pushed there; a later
 *                             generation is; the published generation uses files that would have
 *                             to be replaced; what is there is not sealed; or another process has
 *                             removed what this call has sent. Nothing that is published has changed.
 * @retval LX_ERR_NOT_FOUND    There is no such bucket.
 * @retval LX_ERR_CORRUPT      A file is missing or too short, or is a table with a wrong checksum;
 *                             or meta.json at the URL is damaged. Nothing was published.
 * @retval LX_ERR_UNSUPPORTED  The scheme is unknown, or URLs of it can only be read; or the
 *                             server, or a proxy before it, sends weak ETags, so that a file that
 *                             is there cannot be replaced on a condition.
 * @retval LX_ERR_IO           The server or the network was not available for as long as
 *                             lx_remote_options_set_patience() says, access is denied, or a local
 *                             file cannot be read. A later call continues.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, the status of @p progress.
 */
LX_API lx_status lx_dataset_push(lx_dataset *dataset, const char *url,
                                 const lx_remote_options *options, bool replace,
                                 lx_progress_function progress, void *user, uint64_t *sent,
                                 lx_error *error);

/** A file that is removed. */
typedef struct lx_pruned_file {
    const char *name;     /**< Relative to the URL. */
    uint64_t bytes;       /**< Its length. */
    int64_t modified;     /**< When it was written, in seconds since 1970. */
    uint64_t reserved[4]; /**< Reserved; zero. */
} lx_pruned_file;

/** Receives a file, which is valid during the call, before it is removed. A failure ends the prune,
 * and becomes the status of the function. */
typedef lx_status (*lx_prune_visit)(const lx_pruned_file *file, void *user, lx_error *error);

/** What a prune has kept although the dataset does not use it. */
typedef struct lx_prune_kept {
    uint64_t files;       /**< Number of files that are too young, or that a push may still need; or
                               all, as the publication is too young. Not those of parts in use. */
    uint64_t bytes;       /**< Number of bytes in them. */
    int64_t published;    /**< When the dataset was published, in seconds since 1970, if that is why
                               they stay; otherwise 0. */
    uint64_t reserved[5]; /**< Reserved; zero. */
} lx_prune_kept;

/**
 * Removes files at a URL that the dataset there does not use: those of former generations, of parts
 * that it was not joined from, and of pushes that did not end. If there is no dataset, but a push
 * that did not end, removes what it has left, but no parts: a join may need them. Parts that the
 * dataset uses stay whole.
 *
 * A file is removed only if it and the published meta.json are older than @p older, because those
 * who opened the dataset before the last publication may still read the former generation, and
 * others may still write parts. Files of a push that has sent something since then stay, too. Files
 * whose names are not those of datasets stay, as do all that are in other folders than `chunk` and
 * `part`. Unfinished uploads that began earlier than that are abandoned, too: they take space that no
 * listing shows.
 *
 * A process that reads a generation which was removed gets #LX_ERR_STATE.
 *
 * @param[in]  url      As for lx_dataset_push().
 * @param[in]  options  The options; NULL for the defaults.
 * @param[in]  older    A number of seconds. 7 days are recommended, or more if jobs run longer; 0
 *                      is safe only if nobody reads or writes anything there.
 * @param[in]  dry_run  Remove nothing: only call @p visit.
 * @param[in]  visit    Receives each file to remove; may be NULL.
 * @param[in]  user     The pointer to pass to @p visit.
 * @param[out] kept     Receives what stays, and why; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               Success.
 * @retval LX_ERR_ARGUMENT     @p url is NULL or malformed.
 * @retval LX_ERR_NOT_FOUND    There is neither a dataset nor a push that did not end.
 * @retval LX_ERR_EXISTS       Another process has published a generation during the call. Nothing
 *                             was removed.
 * @retval LX_ERR_LIMIT        The server lists more than a million files to remove, or the same
 *                             ones repeatedly. Nothing was removed.
 * @retval LX_ERR_UNSUPPORTED  The scheme is unknown, or URLs of it can only be read.
 * @return Otherwise, any status that lx_remote_open() returns, or the status of @p visit.
 */
LX_API lx_status lx_remote_prune(const char *url, const lx_remote_options *options, uint64_t older,
                                 bool dry_run, lx_prune_visit visit, void *user,
                                 lx_prune_kept *kept, lx_error *error);

/** @} */

/**
 * @defgroup lx_cache What a cache contains
 *
 * @p path is that of an existing cache in each function. Any number of processes may use the cache
 * at the same time. Each function may also return what lx_remote_open() returns for a cache that it
 * cannot use.
 *
 * @see loaderx-cache(1), lx_remote_options_set_cache()
 * @{
 */

/** A dataset in a cache. */
typedef struct lx_cache_dataset {
    const char *uuid;     /**< The dataset's. */
    const char *url;      /**< From where it was fetched; empty if that is unknown. */
    uint64_t bytes;       /**< What the cache holds of it. */
    int64_t last_use;     /**< When it was opened last, in seconds since 1970. */
    bool in_use;          /**< A process has it open, so that it cannot be removed. */
    uint64_t reserved[4]; /**< Reserved; zero. */
} lx_cache_dataset;

/** Receives a dataset, which is valid during the call. A failure ends the list, and becomes the
 * status of the function. */
typedef lx_status (*lx_cache_visit)(const lx_cache_dataset *dataset, void *user, lx_error *error);

/**
 * Calls @p visit for each dataset in a cache, the one that was used least recently first.
 *
 * @retval LX_OK             Success.
 * @retval LX_ERR_ARGUMENT   @p path or @p visit is NULL.
 * @retval LX_ERR_NOT_FOUND  There is no directory at @p path.
 */
LX_API lx_status lx_cache_list(const char *path, lx_cache_visit visit, void *user, lx_error *error);

/**
 * Removes a dataset from a cache.
 *
 * @retval LX_OK             Success.
 * @retval LX_ERR_ARGUMENT   A pointer is NULL, or @p uuid is not a uuid in lower case.
 * @retval LX_ERR_BUSY       A process has the dataset open, or is removing datasets.
 * @retval LX_ERR_NOT_FOUND  The cache does not contain the dataset, or there is no directory at
 *                           @p path.
 */
LX_API lx_status lx_cache_remove(const char *path, const char *uuid, lx_error *error);

/**
 * Removes datasets that no process has open from a cache, the one that was used least recently
 * first, until at most @p bytes are left or all other datasets are in use.
 *
 * @retval LX_OK             Success.
 * @retval LX_ERR_ARGUMENT   @p path is NULL.
 * @retval LX_ERR_BUSY       Another process is removing datasets.
 * @retval LX_ERR_NOT_FOUND  There is no directory at @p path.
 */
LX_API lx_status lx_cache_trim(const char *path, uint64_t bytes, lx_error *error);

/** @} */

LX_END_DECLS

#endif
