/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The calls of a job on files below one directory, with their results.
 *
 * Paths are relative to that directory, and those at the time of the call. Failed calls, and calls
 * that change nothing, are not in a trace.
 */
#ifndef LX_TESTS_FAULTS_CRASH_TRACE_H
#define LX_TESTS_FAULTS_CRASH_TRACE_H

#include "version.h"

/** Longest path within a trace, with its NUL. */
#define TRACE_PATH 256

/** What the job reports between its calls, written to the descriptor TRACE_MARKS. */
struct mark {
    uint32_t kind; /**< enum mark_kind */
    uint32_t flags;
    uint64_t number;
    struct operation operation;
};

/** The descriptor to which a job writes marks. */
#define TRACE_MARKS 900

/* Commits have numbers, from 1 on within a job. Digests are those of content_digest(). */
enum mark_kind {
    MARK_CREATING = 1, /**< lx_writer_create() is about to be called. */
    MARK_CREATED,      /**< It has returned. */
    MARK_ASKING,       /**< The operation is about to be requested. */
    MARK_TRYING,       /**< Commit number, of the pending operations, is about to be requested. */
    MARK_COMMITTED,    /**< It has returned; flags: MARK_DURABLE or 0. */
    MARK_FAILED,       /**< A call has failed: its effect is unknown. */
    MARK_UNDONE,       /**< Pending operations were rolled back; number: the digest of the
                        *   content. */
    MARK_OPENED,       /**< Opened for writing; number: the digest. */
    MARK_SEEN,         /**< A reader sees the digest number. */
    MARK_PINNED,       /**< The same; the next copies are from that snapshot. */
    MARK_SEALING,      /**< lx_writer_seal() is about to be called, as commit number. */
    MARK_SEALED,       /**< It has returned. */
    MARK_UNSEALING,    /**< lx_dataset_unseal() is about to be called. */
    MARK_UNSEALED,     /**< It has returned. */
    MARK_REMOVING,     /**< lx_dataset_remove() is about to be called. */
    MARK_REMOVED,      /**< It has returned. */
    MARK_SYNC_FAILED   /**< The job's fsync of descriptor number returns EIO. */
};

#define MARK_DURABLE 1u
/** Several threads commit: an operation may be in a commit that was requested before it. */
#define MARK_SHARED 2u

enum trace_kind {
    TRACE_OPEN, /**< With O_CREAT; size 1: with O_TRUNC. */
    TRACE_MAKE_DIRECTORY,
    TRACE_WRITE,  /**< size bytes of data at offset. */
    TRACE_RESIZE, /**< To size. */
    TRACE_SYNC,   /**< Of a file or a directory. */
    TRACE_SYNC_FAILED,
    TRACE_RENAME, /**< path to another. */
    TRACE_REMOVE,
    TRACE_MARK
};

struct event {
    enum trace_kind kind;
    char *path;
    char *to;
    uint64_t offset;
    uint64_t size;
    uint8_t *data;
    struct mark mark;
};

struct trace {
    struct event *events;
    size_t count;
    size_t capacity;
};

/** In a job: writes a mark. */
void mark_say(uint32_t kind, uint32_t flags, uint64_t number);

/** In a job: writes the mark of an operation. */
void mark_ask(uint32_t flags, const struct operation *operation);

/** Adds an event; copies the strings, and takes ownership of the data. */
void trace_add(struct trace *trace, const struct event *event);

void trace_free(struct trace *trace);

/** The last lines before event number @p end. */
void trace_print_end(const struct trace *trace, size_t end);

/** One line about an event. */
void trace_print(const struct event *event, FILE *out);

#endif
