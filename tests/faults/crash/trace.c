/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <inttypes.h>
#include <unistd.h>

/* The lines of a failing trace that are printed. */
#define LAST_LINES 300

static void send(const struct mark *mark)
{
    if (write(TRACE_MARKS, mark, sizeof *mark) != sizeof *mark)
        give_up("a mark");
}

void mark_say(uint32_t kind, uint32_t flags, uint64_t number)
{
    const struct mark mark = {.kind = kind, .flags = flags, .number = number};
    send(&mark);
}

void mark_ask(uint32_t flags, const struct operation *operation)
{
    const struct mark mark = {.kind = MARK_ASKING, .flags = flags, .operation = *operation};
    send(&mark);
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
    static const char *const names[] = {
        "?",      "creating",  "created",  "asking",   "trying",  "committed",
        "failed", "undone",    "opened",   "seen",     "pinned",  "sealing",
        "sealed", "unsealing", "unsealed", "removing", "removed", "sync failed"};
    return names[kind < sizeof names / sizeof *names ? kind : 0];
}

static void print_mark(const struct mark *mark, FILE *out)
{
    static const char *const names[] = {"none",     "append",     "modify",    "delete",
                                        "truncate", "copy",       "add",       "drop",
                                        "rename",   "checkpoint", "rebalance", "rotate"};
    const struct operation *operation = &mark->operation;
    fprintf(out, " %s flags %" PRIu32 " number %#" PRIx64, mark_name(mark->kind), mark->flags,
            mark->number);
    if (mark->kind == MARK_ASKING)
        fprintf(out,
                " %s index %" PRIu64 " stride %" PRIu64 " fields %#" PRIx32 " first %" PRIu64
                " count %" PRIu64,
                names[operation->kind], operation->index, operation->stride, operation->fields,
                operation->first, operation->count);
}

void trace_print(const struct event *event, FILE *out)
{
    static const char *const names[] = {"open",         "mkdir",  "write",  "resize", "sync",
                                        "failing sync", "rename", "remove", "mark"};
    fprintf(out, "%s", names[event->kind]);
    if (event->kind == TRACE_MARK)
        print_mark(&event->mark, out);
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

void trace_print_end(const struct trace *trace, size_t end)
{
    for (size_t i = end < LAST_LINES ? 0 : end - LAST_LINES; i < trace->count && i <= end; i++)
        trace_print(&trace->events[i], stdout);
}
