/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <inttypes.h>
#include <unistd.h>

void mark_say(uint32_t kind, uint32_t flags, uint64_t first, uint64_t count)
{
    struct mark mark = {.kind = kind, .flags = flags, .first = first, .count = count};
    if (write(TRACE_MARKS, &mark, sizeof mark) != sizeof mark)
        give_up("a mark");
}

static char *copy(const char *text)
{
    return text != NULL ? need(strdup(text)) : NULL;
}

void trace_add(struct trace *trace, const struct event *event)
{
    trace->events = grow(trace->events, trace->count, &trace->capacity, sizeof *trace->events);
    struct event *added = &trace->events[trace->count++];
    *added = *event;
    added->path = copy(event->path);
    added->to = copy(event->to);
}

void trace_free(struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        free(trace->events[i].path);
        free(trace->events[i].to);
        free(trace->events[i].data);
    }
    free(trace->events);
    *trace = (struct trace){0};
}

static const char *mark_name(uint32_t kind)
{
    static const char *const names[] = {"?",         "creating", "created", "appended",
                                        "trying",    "committed", "failed", "undone",
                                        "opened",    "sealing",  "sealed",  "removing",
                                        "removed",   "sync failed"};
    return names[kind < sizeof names / sizeof *names ? kind : 0];
}

void trace_print(const struct event *event, FILE *out)
{
    static const char *const names[] = {"open",  "mkdir",       "write",  "resize", "sync",
                                        "failing sync", "rename", "remove", "mark"};
    fprintf(out, "%s", names[event->kind]);
    if (event->kind == TRACE_MARK)
        fprintf(out, " %s flags %" PRIu32 " first %" PRIu64 " count %" PRIu64,
                mark_name(event->mark.kind), event->mark.flags, event->mark.first,
                event->mark.count);
    else
        fprintf(out, " %s", event->path);
    if (event->to != NULL)
        fprintf(out, " to %s", event->to);
    if (event->kind == TRACE_WRITE)
        fprintf(out, " at %" PRIu64, event->offset);
    if (event->kind == TRACE_WRITE || event->kind == TRACE_RESIZE)
        fprintf(out, " size %" PRIu64, event->size);
    fprintf(out, "\n");
}
