/* SPDX-License-Identifier: MIT */
#include "loss.h"

/* Which changes survive. Independent chances would almost never lose one change and keep all
 * others, which most faults need. */
enum style {
    ALL_LOST,
    ALL_LEFT,
    BY_CHANCE,    /* each independently */
    ONE_LOST,     /* all except one change */
    NODE_LOST,    /* all except those of one file or directory */
    NODE_LEFT,    /* only those of one file or directory */
    SOME_NODES,   /* all changes of a file or directory, or none */
    UNTIL_A_TIME, /* those before it, in the order of the calls */
    STYLES
};

enum fate { LOST, TORN, LEFT };

struct loss {
    struct rng *rng;
    enum style style;
    uint64_t chance; /* of 8 */
    uint64_t grain;
    const struct node *node;
    size_t victim; /* the number of changes before it */
    size_t passed;
    size_t time;
    uint64_t salt;
};

static size_t pending(const struct node *node)
{
    return node->change_count + node->entry_change_count;
}

static void choose(struct loss *loss, const struct disk *disk)
{
    static const uint64_t grains[] = {1, 1, 8, 8, 512, 4096};
    size_t total = 0, first = disk->time;
    for (size_t i = 0; i < disk->count; i++) {
        const struct node *node = disk->nodes[i];
        total += pending(node);
        if (node->change_count != 0 && node->changes[0].time < first)
            first = node->changes[0].time;
        if (node->entry_change_count != 0 && node->entry_changes[0].time < first)
            first = node->entry_changes[0].time;
    }
    loss->style = (enum style)rng_below(loss->rng, STYLES);
    loss->salt = rng_next(loss->rng);
    loss->chance = 1 + rng_below(loss->rng, 7);
    loss->grain = grains[rng_below(loss->rng, sizeof grains / sizeof *grains)];
    loss->victim = total != 0 ? (size_t)rng_below(loss->rng, total) : 0;
    loss->time = first + (size_t)rng_below(loss->rng, disk->time - first + 1);
    size_t before = 0;
    for (size_t i = 0; i < disk->count; i++) {
        before += pending(disk->nodes[i]);
        if (loss->victim < before) {
            loss->node = disk->nodes[i];
            break;
        }
    }
}

static enum fate fate_of(struct loss *loss, const struct node *node, size_t time)
{
    bool often = rng_once_in(loss->rng, 2);
    size_t number = loss->passed++;
    switch (loss->style) {
    case ALL_LOST:
        return LOST;
    case ALL_LEFT:
        return LEFT;
    case ONE_LOST:
        return number != loss->victim ? LEFT : often ? LOST : TORN;
    case NODE_LOST:
        return node != loss->node ? LEFT : often ? LOST : TORN;
    case NODE_LEFT:
        return node != loss->node ? LOST : often ? LEFT : TORN;
    case SOME_NODES:
        return rng_mix(loss->salt, node->number) % 2 != 0 ? LEFT : often ? LOST : TORN;
    case UNTIL_A_TIME:
        return time < loss->time ? LEFT : time > loss->time ? LOST : TORN;
    default:
        if (rng_once_in(loss->rng, 4))
            return TORN;
        return rng_below(loss->rng, 8) < loss->chance ? LEFT : LOST;
    }
}

/** Parts of a write, of many lengths, each kept or lost; they end at multiples of the grain. */
static void tear(struct loss *loss, struct bytes *bytes, const struct change *change)
{
    uint64_t at = change->offset, end = change->offset + change->size;
    while (at < end) {
        uint64_t stretch = loss->grain << rng_below(loss->rng, 8);
        uint64_t next = (at + stretch) / loss->grain * loss->grain;
        if (next <= at)
            next = at + loss->grain;
        if (next > end)
            next = end;
        if (rng_once_in(loss->rng, 2))
            bytes_put(bytes, at, change->data + (at - change->offset), next - at);
        at = next;
    }
}

static void take_file(struct loss *loss, const struct node *node, struct bytes *bytes)
{
    bytes_copy(bytes, &node->durable);
    for (size_t i = 0; i < node->change_count; i++) {
        const struct change *change = &node->changes[i];
        enum fate fate = fate_of(loss, node, change->time);
        if (change->data == NULL) {
            if (fate == LEFT || (fate == TORN && rng_once_in(loss->rng, 2)))
                bytes_resize(bytes, change->size);
            continue;
        }
        if (fate == LEFT)
            bytes_put(bytes, change->offset, change->data, change->size);
        else if (fate == TORN)
            tear(loss, bytes, change);
        /* The new size may be durable before the data, which then reads as zeros. */
        uint64_t end = change->offset + change->size;
        if (end > bytes->size && loss->style != ALL_LOST && rng_once_in(loss->rng, 3))
            bytes_resize(bytes, end);
    }
}

static void take_entries(struct loss *loss, const struct node *node, struct entries *entries)
{
    const struct entries *from = loss != NULL ? &node->durable_entries : &node->seen_entries;
    for (size_t i = 0; i < from->count; i++)
        entries_set(entries, from->list[i].name, from->list[i].node);
    for (size_t i = 0; loss != NULL && i < node->entry_change_count; i++) {
        const struct entry_change *change = &node->entry_changes[i];
        enum fate fate = fate_of(loss, node, change->time);
        if (fate == LOST || (fate == TORN && rng_once_in(loss->rng, 2)))
            continue;
        entries_set(entries, change->to, change->node);
        if (change->from[0] != '\0')
            entries_set(entries, change->from, NULL);
    }
}

static struct image_file *add_file(struct image *image, const char *directory, const char *name)
{
    size_t capacity = image->capacity;
    image->files = grow(image->files, image->count, &image->capacity, sizeof *image->files);
    if (capacity != image->capacity)
        memset(image->files + capacity, 0, (image->capacity - capacity) * sizeof *image->files);
    struct image_file *file = &image->files[image->count++];
    int length = snprintf(file->path, sizeof file->path, "%s%s%s", directory,
                          directory[0] != '\0' ? "/" : "", name);
    if (length >= (int)sizeof file->path)
        give_up("a path is too long");
    return file;
}

static void take(struct loss *loss, const struct node *directory, const char *path,
                 struct image *image)
{
    struct entries entries = {0};
    take_entries(loss, directory, &entries);
    for (size_t i = 0; i < entries.count; i++) {
        const struct node *node = entries.list[i].node;
        struct image_file *file = add_file(image, path, entries.list[i].name);
        char below[TRACE_PATH];
        file->directory = node->directory;
        if (node->directory)
            take(loss, node, memcpy(below, file->path, sizeof below), image);
        else if (loss != NULL)
            take_file(loss, node, &file->bytes);
        else
            bytes_copy(&file->bytes, &node->seen);
    }
    free(entries.list);
}

void image_free(struct image *image)
{
    for (size_t i = 0; i < image->capacity; i++)
        free(image->files[i].bytes.data);
    free(image->files);
    *image = (struct image){0};
}

void loss_none(const struct disk *disk, struct image *image)
{
    image->count = 0;
    take(NULL, disk->nodes[0], "", image);
}

void loss_of_power(const struct disk *disk, struct rng *rng, struct image *image)
{
    struct loss loss = {.rng = rng};
    image->count = 0;
    choose(&loss, disk);
    take(&loss, disk->nodes[0], "", image);
}
