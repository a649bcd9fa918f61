/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The base class of transports: how ranges of bytes are read from the place where a dataset
 * is, by blocking calls on connections that each serve one thread.
 *
 * A transport makes one attempt for each read. The request queue (request-queue.h)
 * repeats failed attempts, limits their number at a time, and knows about patience; see @ref
 * lx__answer.
 */
#ifndef LX_REMOTE_TRANSPORT_H
#define LX_REMOTE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <loaderx/status.h>

/** What to do after an attempt that failed. */
typedef enum lx__retry {
    LX__RETRY_NEVER = 0, /**< Another attempt would fail, too. */
    LX__RETRY_LATER,     /**< The server or the network is not available: try again after a pause,
                              with a new connection. */
    LX__RETRY_SLOWER     /**< The server asks for fewer requests. */
} lx__retry;

/** The result of an attempt. */
typedef struct lx__answer {
    size_t got;              /**< Number of bytes that were read, from the start of the range, or
                                  that were written. */
    uint64_t total;          /**< The length of the file; LX_NONE if the server did not tell. */
    lx__retry retry;         /**< Set if the attempt failed. */
    uint64_t retry_after_ns; /**< How long the server asks to wait; 0: it did not. */
    bool from_tier;          /**< A node of a tier has sent the bytes. */
} lx__answer;

typedef struct lx__transport {
    const struct lx__transport_class *class;
    char *url; /**< Of the dataset, for messages, without credentials and without a final slash. */
    uint64_t segment; /**< Reads should not cross multiples of so many bytes; 0: they may. */
} lx__transport;

/** Whether the file @p name may be replaced while it is used: meta.json and meta.json.new. All others
 * stay as they are. */
static inline bool lx__transport_may_replace(const char *name)
{
    return strncmp(name, "meta.json", 9) == 0;
}

/** A connection, or what a thread needs to read; a struct of the class that begins with this. */
typedef struct lx__connection {
    lx__transport *transport; /**< Borrowed. */
    bool past_tier; /**< Set by the caller: reads ask the server itself, not a tier before it. */
} lx__connection;

typedef struct lx__transport_class {
    const char *network;                         /**< The scheme, for messages: "file", "s3". */
    const struct lx__transport_writing *writing; /**< NULL: such places can only be read. */
    unsigned connections; /**< The most connections that make sense by default. */

    /** Makes a connection, which one thread at a time uses. Need not communicate. */
    lx_status (*connect)(lx__transport *self, lx__connection **connection, lx_error *error);
    void (*disconnect)(lx__connection *connection);

    /**
     * Reads a range of the file @p name, whose path is relative to the dataset.
     *
     * @param[out] data    Room for @p size bytes. On failure, it may have changed.
     * @param[out] answer  Receives the result. On success, fewer than @p size bytes only if the
     *                     file ends there, which @c total then confirms.
     * @retval LX_ERR_NOT_FOUND    There is no such file.
     * @retval LX_ERR_IO           The attempt failed; the error names the URL, the range and what
     *                             the server said. An outage is this, never #LX_ERR_CORRUPT.
     * @retval LX_ERR_UNSUPPORTED  The server ignores ranges.
     * @retval LX_ERR_STATE        The file was replaced since it was first read.
     * @retval LX_ERR_CANCELED     interrupt() was called.
     */
    lx_status (*read)(lx__connection *connection, const char *name, uint64_t offset, size_t size,
                      uint8_t *data, lx__answer *answer, lx_error *error);

    /** Makes all reads return within 50 ms with #LX_ERR_CANCELED, now and later, unless the system
     * does not let them. */
    void (*interrupt)(lx__transport *self);
    /** Frees the transport, whose connections are all gone. */
    void (*close)(lx__transport *self);
} lx__transport_class;

#endif
