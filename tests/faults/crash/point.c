/* SPDX-License-Identifier: MIT */
#include "point.h"

#include "image.h"
#include "kernel.h"
#include "../tree.h"

#define WORD 4u

bool point_is_before(const struct point *point, enum trace_kind kind)
{
    return point->prefix < point->trace->count && point->trace->events[point->prefix].kind == kind;
}

bool point_is_behind(const struct point *point, enum trace_kind kind)
{
    return point->prefix != 0 && point->trace->events[point->prefix - 1].kind == kind;
}

void point_make(const struct point *point, const char *root, enum crash crash, struct rng *rng,
                struct state *state)
{
    const struct event *next = point->prefix < point->trace->count
                                   ? &point->trace->events[point->prefix]
                                   : NULL;
    state->crash = crash;
    if (crash == CRASH_KILL)
        loss_none(point->disk, &state->image);
    else
        loss_of_power(point->disk, rng, &state->image);
    /* The process may be killed within a write. The kernel copies whole words. */
    state->torn = 0;
    if (crash == CRASH_KILL && next != NULL && next->kind == TRACE_WRITE && next->size > 1 &&
        rng_once_in(rng, 2))
        state->torn = (1 + rng_below(rng, next->size - 1)) / WORD * WORD;
    for (size_t i = 0; state->torn != 0 && i < state->image.count; i++)
        if (strcmp(state->image.files[i].path, next->path) == 0)
            bytes_put(&state->image.files[i].bytes, next->offset, next->data, state->torn);
    tree_clear(root);
    image_make(root, &state->image);
    kernel_boot(point->boot + (crash == CRASH_POWER));
}

void point_resume(const struct point *point, const struct state *state, size_t found,
                  struct disk *disk, struct history *history)
{
    history_copy(history, point->history);
    if (state->crash == CRASH_POWER) {
        disk_init(disk);
        for (size_t i = 0; i < state->image.count; i++)
            disk_put(disk, state->image.files[i].path, state->image.files[i].directory,
                     &state->image.files[i].bytes);
        history_settle(history, found);
        return;
    }
    disk_copy(disk, point->disk);
    history_reach(history, found);
    if (state->torn != 0) {
        struct event part = point->trace->events[point->prefix];
        part.size = state->torn;
        disk_apply(disk, &part, 0);
    }
}

void point_keep(const struct point *point, const struct state *state)
{
    char path[4096];
    char *kept = tree_scratch();
    image_make(kept, &state->image);
    snprintf(path, sizeof path, "%s/trace.txt", kept);
    FILE *out = need(fopen(path, "w"));
    for (size_t i = 0; i < point->trace->count; i++) {
        if (i == point->prefix)
            fprintf(out, "---- the crash\n");
        trace_print(&point->trace->events[i], out);
    }
    fclose(out);
    printf("kept in %s, with the system calls in trace.txt\n", kept);
    free(kept);
}
