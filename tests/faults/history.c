/* SPDX-License-Identifier: MIT */
#include "history.h"

static void append(struct version *version, uint64_t first, uint64_t count)
{
    version->serials = need(realloc(version->serials, (size_t)(version->length + count + 1) *
                                                          sizeof *version->serials));
    for (uint64_t i = 0; i < count; i++)
        version->serials[version->length++] = (uint32_t)(first + i);
}

static void set_version(struct version *version, const struct version *from)
{
    version->length = 0;
    version->serials =
        need(realloc(version->serials, (size_t)(from->length + 1) * sizeof *version->serials));
    if (from->length != 0)
        memcpy(version->serials, from->serials, (size_t)from->length * sizeof *from->serials);
    version->length = from->length;
}

static void push(struct history *history, const struct version *version)
{
    history->versions =
        grow(history->versions, history->count, &history->capacity, sizeof *history->versions);
    history->versions[history->count] = (struct version){0};
    set_version(&history->versions[history->count++], version);
}

static void drop_behind(struct history *history, size_t last)
{
    while (history->count > last + 1)
        free(history->versions[--history->count].serials);
}

void history_init(struct history *history)
{
    const struct version empty = {0};
    *history = (struct history){0};
    push(history, &empty);
}

void history_free(struct history *history)
{
    for (size_t i = 0; i < history->count; i++)
        free(history->versions[i].serials);
    free(history->versions);
    free(history->pending.serials);
    *history = (struct history){0};
}

void history_copy(struct history *copy, const struct history *history)
{
    *copy = *history;
    copy->versions = NULL;
    copy->count = copy->capacity = 0;
    copy->pending = (struct version){0};
    set_version(&copy->pending, &history->pending);
    for (size_t i = 0; i < history->count; i++)
        push(copy, &history->versions[i]);
}

/** What is pending belongs to the newest version from here on. */
static void try(struct history *history)
{
    drop_behind(history, history->visible);
    if (history->pending.length != history->versions[history->visible].length)
        push(history, &history->pending);
}

static void commit(struct history *history, bool durable)
{
    history->visible = history->count - 1;
    if (durable)
        history->durable = history->visible;
}

static void forget_pending(struct history *history)
{
    set_version(&history->pending, &history->versions[history->visible]);
}

void history_reach(struct history *history, size_t found)
{
    drop_behind(history, found);
    history->visible = found;
    forget_pending(history);
}

void history_settle(struct history *history, size_t found)
{
    history_reach(history, found);
    history->durable = found;
}

/** A writer tells how many records there are: which version that is, of those from @p first on. */
static size_t resolve(struct history *history, size_t first, uint64_t length)
{
    for (size_t found = history->count; found-- > first;)
        if (history->versions[found].length == length)
            return found;
    history->wrong = true;
    return first;
}

void history_apply(struct history *history, const struct mark *mark)
{
    switch (mark->kind) {
    case MARK_REMOVING:
        history->removing = true;
        break;
    case MARK_REMOVED:
        history_settle(history, 0);
        history->created = history->sealing = history->sealed = false;
        break;
    case MARK_CREATED:
        history->created = true;
        history->removing = false;
        break;
    case MARK_APPENDED:
        append(&history->pending, mark->first, mark->count);
        if (history->serials < mark->first + mark->count)
            history->serials = mark->first + mark->count;
        break;
    case MARK_SEALING:
        history->sealing = true;
        try(history);
        break;
    case MARK_TRYING:
        try(history);
        break;
    case MARK_SEALED:
        history->sealed = true;
        commit(history, true);
        break;
    case MARK_COMMITTED:
        commit(history, (mark->flags & MARK_DURABLE) != 0);
        break;
    case MARK_UNDONE:
        history_reach(history, resolve(history, history->visible, mark->count));
        break;
    case MARK_FAILED:
        forget_pending(history);
        break;
    case MARK_OPENED:
        history->created = true;
        history->removing = history->sealing = false;
        history_settle(history, resolve(history, history->durable, mark->count));
        break;
    default:
        break;
    }
}
