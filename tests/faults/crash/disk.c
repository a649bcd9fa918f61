/* SPDX-License-Identifier: MIT */
#include "disk.h"

/* ---- bytes */

void bytes_resize(struct bytes *bytes, uint64_t size)
{
    if (size > bytes->capacity) {
        bytes->capacity = size < 2 * bytes->capacity ? 2 * bytes->capacity : (size_t)size;
        bytes->data = need(realloc(bytes->data, bytes->capacity));
    }
    if (size > bytes->size)
        memset(bytes->data + bytes->size, 0, size - bytes->size);
    bytes->size = (size_t)size;
}

void bytes_put(struct bytes *bytes, uint64_t offset, const uint8_t *data, uint64_t size)
{
    if (size == 0)
        return;
    if (offset + size > bytes->size)
        bytes_resize(bytes, offset + size);
    memcpy(bytes->data + offset, data, size);
}

void bytes_copy(struct bytes *to, const struct bytes *from)
{
    bytes_resize(to, 0);
    bytes_put(to, 0, from->data, from->size);
}

/* ---- entries */

static struct entry *entries_at(const struct entries *entries, const char *name)
{
    for (size_t i = 0; i < entries->count; i++)
        if (strcmp(entries->list[i].name, name) == 0)
            return &entries->list[i];
    return NULL;
}

struct node *entries_find(const struct entries *entries, const char *name)
{
    const struct entry *entry = entries_at(entries, name);
    return entry != NULL ? entry->node : NULL;
}

void entries_set(struct entries *entries, const char *name, struct node *node)
{
    struct entry *entry = entries_at(entries, name);
    if (node == NULL) {
        if (entry != NULL)
            *entry = entries->list[--entries->count];
        return;
    }
    if (entry == NULL) {
        entries->list = grow(entries->list, entries->count, &entries->capacity,
                             sizeof *entries->list);
        entry = &entries->list[entries->count++];
        snprintf(entry->name, sizeof entry->name, "%s", name);
    }
    entry->node = node;
}

static void entries_change(struct entries *entries, const struct entry_change *change)
{
    entries_set(entries, change->to, change->node);
    if (change->from[0] != '\0')
        entries_set(entries, change->from, NULL);
}

static void entries_copy(struct entries *to, const struct entries *from)
{
    to->count = 0;
    for (size_t i = 0; i < from->count; i++)
        entries_set(to, from->list[i].name, from->list[i].node);
}

/* ---- nodes */

static struct node *add_node(struct disk *disk, bool directory)
{
    disk->nodes = grow(disk->nodes, disk->count, &disk->capacity, sizeof *disk->nodes);
    struct node *node = need(calloc(1, sizeof *node));
    node->directory = directory;
    node->number = disk->count;
    disk->nodes[disk->count++] = node;
    return node;
}

void disk_init(struct disk *disk)
{
    *disk = (struct disk){0};
    add_node(disk, true);
}

void disk_free(struct disk *disk)
{
    for (size_t i = 0; i < disk->count; i++) {
        struct node *node = disk->nodes[i];
        free(node->durable.data);
        free(node->seen.data);
        free(node->changes);
        free(node->durable_entries.list);
        free(node->seen_entries.list);
        free(node->entry_changes);
        free(node);
    }
    free(disk->nodes);
    *disk = (struct disk){0};
}

static void copy_entries(const struct disk *disk, struct entries *to, const struct entries *from)
{
    for (size_t i = 0; i < from->count; i++)
        entries_set(to, from->list[i].name, disk->nodes[from->list[i].node->number]);
}

void disk_copy(struct disk *copy, const struct disk *disk)
{
    *copy = (struct disk){.time = disk->time};
    for (size_t i = 0; i < disk->count; i++)
        add_node(copy, disk->nodes[i]->directory);
    for (size_t i = 0; i < disk->count; i++) {
        const struct node *from = disk->nodes[i];
        struct node *to = copy->nodes[i];
        bytes_copy(&to->durable, &from->durable);
        bytes_copy(&to->seen, &from->seen);
        copy_entries(copy, &to->durable_entries, &from->durable_entries);
        copy_entries(copy, &to->seen_entries, &from->seen_entries);
        for (size_t k = 0; k < from->change_count; k++) {
            to->changes = grow(to->changes, k, &to->change_capacity, sizeof *to->changes);
            to->changes[to->change_count++] = from->changes[k];
        }
        for (size_t k = 0; k < from->entry_change_count; k++) {
            to->entry_changes = grow(to->entry_changes, k, &to->entry_change_capacity,
                                     sizeof *to->entry_changes);
            struct entry_change *change = &to->entry_changes[to->entry_change_count++];
            *change = from->entry_changes[k];
            if (change->node != NULL)
                change->node = copy->nodes[change->node->number];
        }
    }
}

/** The directory of @p path; @p name receives the last part of the path. */
static struct node *find_parent(const struct disk *disk, const char *path, const char **name)
{
    struct node *node = disk->nodes[0];
    const char *slash;
    while (node != NULL && (slash = strchr(path, '/')) != NULL) {
        char part[TRACE_PATH];
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        node = entries_find(&node->seen_entries, part);
        path = slash + 1;
    }
    *name = path;
    return node;
}

struct node *disk_find(const struct disk *disk, const char *path)
{
    const char *name;
    struct node *parent = find_parent(disk, path, &name);
    return parent == NULL || name[0] == '\0' ? parent : entries_find(&parent->seen_entries, name);
}

void disk_put(struct disk *disk, const char *path, bool directory, const struct bytes *bytes)
{
    const char *name;
    struct node *parent = find_parent(disk, path, &name), *node = add_node(disk, directory);
    entries_set(&parent->durable_entries, name, node);
    entries_set(&parent->seen_entries, name, node);
    bytes_copy(&node->durable, bytes);
    bytes_copy(&node->seen, bytes);
}

/* ---- events */

static void change_entries(struct disk *disk, const char *to, const char *from, struct node *node)
{
    const char *name, *old = "";
    struct node *parent = find_parent(disk, to, &name);
    if (from != NULL && find_parent(disk, from, &old) != parent)
        give_up("a rename between directories");
    parent->entry_changes = grow(parent->entry_changes, parent->entry_change_count,
                                 &parent->entry_change_capacity, sizeof *parent->entry_changes);
    struct entry_change *change = &parent->entry_changes[parent->entry_change_count++];
    *change = (struct entry_change){.node = node, .time = disk->time};
    snprintf(change->to, sizeof change->to, "%s", name);
    snprintf(change->from, sizeof change->from, "%s", old);
    entries_change(&parent->seen_entries, change);
}

static void change_bytes(struct disk *disk, struct node *node, uint64_t offset, uint64_t size,
                         const uint8_t *data)
{
    node->changes = grow(node->changes, node->change_count, &node->change_capacity,
                         sizeof *node->changes);
    node->changes[node->change_count++] =
        (struct change){.offset = offset, .size = size, .data = data, .time = disk->time};
    if (data != NULL)
        bytes_put(&node->seen, offset, data, size);
    else
        bytes_resize(&node->seen, size);
}

static void open_file(struct disk *disk, const struct event *event)
{
    struct node *node = disk_find(disk, event->path);
    if (node == NULL)
        change_entries(disk, event->path, NULL, add_node(disk, false));
    else if (event->size != 0 && node->seen.size != 0)
        change_bytes(disk, node, 0, 0, NULL);
}

/** Makes data durable as a sync does; a failing sync of a file writes about half of it. */
static void sync_node(struct disk *disk, struct node *node, bool fails, uint64_t seed)
{
    struct rng rng = {rng_mix(seed, disk->time)};
    for (size_t i = 0; i < node->change_count; i++) {
        const struct change *change = &node->changes[i];
        uint64_t from = 0, to = change->size;
        if (fails && rng_once_in(&rng, 2))
            from = rng_below(&rng, change->size + 1);
        if (fails && rng_once_in(&rng, 2))
            to = rng_below(&rng, change->size + 1);
        if (change->data == NULL)
            bytes_resize(&node->durable, change->size);
        else if (from < to)
            bytes_put(&node->durable, change->offset + from, change->data + from, to - from);
    }
    node->change_count = 0;
    /* File systems journal entries, and stop when that fails: a failed sync keeps them. */
    if (!fails) {
        entries_copy(&node->durable_entries, &node->seen_entries);
        node->entry_change_count = 0;
    }
}

void disk_apply(struct disk *disk, const struct event *event, uint64_t seed)
{
    struct node *node = event->path != NULL ? disk_find(disk, event->path) : NULL;
    if (event->kind == TRACE_OPEN)
        open_file(disk, event);
    else if (event->kind == TRACE_MAKE_DIRECTORY)
        change_entries(disk, event->path, NULL, add_node(disk, true));
    else if (event->kind == TRACE_RENAME && node != NULL)
        change_entries(disk, event->to, event->path, node);
    else if (event->kind == TRACE_REMOVE)
        change_entries(disk, event->path, NULL, NULL);
    else if (node == NULL) /* a mark, or a file without a name */
        ;
    else if (event->kind == TRACE_WRITE)
        change_bytes(disk, node, event->offset, event->size, event->data);
    else if (event->kind == TRACE_RESIZE)
        change_bytes(disk, node, 0, event->size, NULL);
    else if (event->kind == TRACE_SYNC || event->kind == TRACE_SYNC_FAILED)
        sync_node(disk, node, event->kind == TRACE_SYNC_FAILED, seed);
    disk->time++;
}
