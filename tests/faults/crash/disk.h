/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Files and directories as they may be on a medium: what is durable, what processes see, and
 * the changes between the two.
 *
 * fsync and fdatasync of a file make its bytes and its size durable, not its name. fsync of a
 * directory makes its entries durable, not the files. A failed sync of a file drops some of the
 * changes: they stay visible and are never written, unless they are made again.
 */
#ifndef LX_TESTS_FAULTS_CRASH_DISK_H
#define LX_TESTS_FAULTS_CRASH_DISK_H

#include "trace.h"

/** Bytes; writing past the end fills the gap with zeros. */
struct bytes {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

void bytes_put(struct bytes *bytes, uint64_t offset, const uint8_t *data, uint64_t size);
void bytes_resize(struct bytes *bytes, uint64_t size);
void bytes_copy(struct bytes *to, const struct bytes *from);

/** A write or, without data, a change of the size; the trace owns the data. */
struct change {
    uint64_t offset;
    uint64_t size;
    const uint8_t *data;
    size_t time; /**< The event that made it. */
};

struct entry {
    char name[TRACE_PATH];
    struct node *node;
};

struct entries {
    struct entry *list;
    size_t count;
    size_t capacity;
};

void entries_set(struct entries *entries, const char *name, struct node *node);
struct node *entries_find(const struct entries *entries, const char *name);

/** A change of entries: to becomes the name of node (NULL: it is removed), and from, if set, is
 * removed. */
struct entry_change {
    char to[TRACE_PATH];
    char from[TRACE_PATH];
    struct node *node;
    size_t time;
};

/** A file or a directory. */
struct node {
    bool directory;
    struct bytes durable, seen;
    struct change *changes;
    size_t change_count, change_capacity;
    struct entries durable_entries, seen_entries;
    struct entry_change *entry_changes;
    size_t entry_change_count, entry_change_capacity;
    size_t number; /**< In the disk's list. */
};

struct disk {
    struct node **nodes; /**< The first is the root. */
    size_t count;
    size_t capacity;
    size_t time; /**< Events so far. */
};

/** Makes an empty, durable directory. */
void disk_init(struct disk *disk);
void disk_free(struct disk *disk);
void disk_copy(struct disk *copy, const struct disk *disk);

/** Adds an existing, durable file or directory; its directory must exist. */
void disk_put(struct disk *disk, const char *path, bool directory, const struct bytes *bytes);

/** Performs an event; @p seed chooses the data that a failing sync drops. */
void disk_apply(struct disk *disk, const struct event *event, uint64_t seed);

/** The node at that path, or NULL. */
struct node *disk_find(const struct disk *disk, const char *path);

#endif
