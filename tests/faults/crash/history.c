/* SPDX-License-Identifier: MIT */
#include "history.h"

static void push(struct history *history, const struct version *version, uint64_t commit)
{
    history->list = grow(history->list, history->count, &history->capacity, sizeof *history->list);
    history->list[history->count] = (struct candidate){.commit = commit};
    version_set(&history->list[history->count++].version, version);
}

static void drop_after(struct history *history, size_t last)
{
    while (history->count > last + 1)
        version_free(&history->list[--history->count].version);
}

void history_init(struct history *history, struct records *records)
{
    const struct version empty = {.columns = records->columns};
    *history = (struct history){.records = records};
    push(history, &empty, 0);
    version_set(&history->pending, &empty);
}

void history_free(struct history *history)
{
    for (size_t i = 0; i < history->count; i++)
        version_free(&history->list[i].version);
    free(history->list);
    version_free(&history->pending);
    version_free(&history->pinned);
    *history = (struct history){0};
}

void history_copy(struct history *copy, const struct history *history)
{
    *copy = *history;
    copy->list = NULL;
    copy->count = copy->capacity = 0;
    copy->pending = copy->pinned = (struct version){0};
    version_set(&copy->pending, &history->pending);
    version_set(&copy->pinned, &history->pinned);
    for (size_t i = 0; i < history->count; i++) {
        push(copy, &history->list[i].version, history->list[i].commit);
        copy->list[i].changes = history->list[i].changes;
    }
}

size_t history_find(const struct history *history, size_t first, uint64_t digest)
{
    for (size_t found = history->count; found-- > first;)
        if (version_digest(&history->list[found].version, history->records) == digest)
            return found;
    return history->count;
}

bool history_is_ambiguous(const struct history *history, size_t found)
{
    uint64_t digest = version_digest(&history->list[found].version, history->records);
    for (size_t i = 0; i < history->count; i++)
        if (i != found && version_digest(&history->list[i].version, history->records) == digest)
            return true;
    return false;
}

/** The newest candidate. */
static struct candidate *newest(struct history *history)
{
    return &history->list[history->count - 1];
}

void history_reach(struct history *history, size_t found)
{
    drop_after(history, found);
    /* If there was the same content before, a power loss may have undone the commits in between:
     * their numbers of changes say nothing about those of later commits. */
    bool ambiguous = history_is_ambiguous(history, found);
    for (size_t i = 0; ambiguous && i < found; i++)
        history->list[i].changes.count = 0;
    history->visible = found;
    newest(history)->commit = history->commits;
    version_set(&history->pending, &newest(history)->version);
}

void history_settle(struct history *history, size_t found)
{
    history_reach(history, found);
    history->durable = found;
}

/** The pending version may be found from here on. */
static void try(struct history *history, uint64_t commit)
{
    if (!version_equals(&history->pending, &newest(history)->version))
        push(history, &history->pending, commit);
    newest(history)->commit = commit;
    history->commits = commit;
}

/** Commit @p number has returned; a later one may have returned before. */
static void commit(struct history *history, uint64_t number, bool durable)
{
    size_t found = 0;
    while (found + 1 < history->count && history->list[found].commit < number)
        found++;
    if (history->visible < found)
        history->visible = found;
    if (durable && history->durable < found)
        history->durable = found;
}

/** The job reports the content: it must be a candidate from @p first on. */
static size_t resolve(struct history *history, size_t first, uint64_t digest, const char *what)
{
    size_t found = history_find(history, first, digest);
    if (found < history->count)
        return found;
    if (history->wrong == NULL)
        history->wrong = what;
    return first;
}

static void request(struct history *history, const struct mark *mark)
{
    const struct operation *operation = &mark->operation;
    if (!version_allows(&history->pending, operation)) {
        /* A thread may not yet have seen the failed call of another. */
        if (!(mark->flags & MARK_SHARED))
            history->wrong = "the job found another number of records than there are";
        return;
    }
    version_apply(&history->pending, operation, &history->pinned);
    history->copies |= operation->kind == OPERATION_COPY;
    if ((operation->kind == OPERATION_APPEND || operation->kind == OPERATION_MODIFY ||
         operation->kind == OPERATION_ADD) &&
        history->serials < operation->first + operation->count)
        history->serials = operation->first + operation->count;
    if (mark->flags & MARK_SHARED)
        try(history, history->commits);
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
    case MARK_ASKING:
        request(history, mark);
        break;
    case MARK_SEALING:
        history->sealing = true;
        try(history, mark->number);
        break;
    case MARK_TRYING:
        try(history, mark->number);
        break;
    case MARK_SEALED:
        history->sealed = true;
        commit(history, mark->number, true);
        break;
    case MARK_UNSEALING:
        history->sealed = false;
        break;
    case MARK_UNSEALED:
        history->sealing = false;
        break;
    case MARK_COMMITTED:
        commit(history, mark->number, (mark->flags & MARK_DURABLE) != 0);
        break;
    case MARK_UNDONE:
        history_reach(history, resolve(history, history->visible, mark->number,
                                       "after a rollback there is what was never committed"));
        break;
    case MARK_OPENED:
        history->created = true;
        history->removing = history->sealing = false;
        history_settle(history, resolve(history, history->durable, mark->number,
                                        "the writer opened what was never committed"));
        break;
    case MARK_SEEN:
        resolve(history, history->visible, mark->number,
                "a concurrent reader saw what was never committed");
        break;
    case MARK_PINNED:
        version_set(&history->pinned,
                    &history
                         ->list[resolve(history, history->visible, mark->number,
                                        "a pinned reader saw what was never committed")]
                         .version);
        break;
    default:
        break;
    }
}
