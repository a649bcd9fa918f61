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

/** Bytes, which zeros follow where something is put behind their end. */
struct bytes {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

void bytes_put(struct bytes *bytes, uint64_t offset, const uint8_t *data, uint64_t size);
void bytes_resize(struct bytes *bytes, uint64_t size);
void bytes_copy(struct bytes *to, const struct bytes *from);

/** A write or, without data, a change of the size; data is the trace's. */
struct change {
    uint64_t offset;
    uint64_t size;
    const uint8_t *data;
    size_t time; /**< Which event it was. */
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

/** The name to is node's from now on (NULL: nobody's), and from, if it is there, is nobody's. */
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

/** An empty directory, durable. */
void disk_init(struct disk *disk);
void disk_free(struct disk *disk);
void disk_copy(struct disk *copy, const struct disk *disk);

/** A file or directory that is there already, and durable; its directory must be. */
void disk_put(struct disk *disk, const char *path, bool directory, const struct bytes *bytes);

/** Does what the event tells; @p seed chooses what a failing sync drops. */
void disk_apply(struct disk *disk, const struct event *event, uint64_t seed);

/** What has that path now, or NULL. */
struct node *disk_find(const struct disk *disk, const char *path);

#endif
