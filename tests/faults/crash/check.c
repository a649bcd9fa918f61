/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdarg.h>

#include "changes.h"
#include "content.h"
#include "disk.h"

__attribute__((format(printf, 2, 3))) static bool wrong(struct check *check, const char *format,
                                                        ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(check->why, sizeof check->why, format, list);
    va_end(list);
    return false;
}

static bool unexpected(struct check *check, const char *what, const lx_error *error)
{
    char text[800];
    lx_error_describe(error, text, sizeof text);
    return wrong(check, "%s: %s", what, text);
}

/** The oldest version that may be found. */
static size_t least(const struct check *check, bool durable)
{
    return check->crash == CRASH_KILL && !durable ? check->history->visible
                                                  : check->history->durable;
}

/** The candidate nearest to a content: the newest one of the same length. */
static const struct version *nearest(const struct history *history, const struct content *content)
{
    size_t i = history->count - 1;
    while (i > 0 && history->list[i].version.length != content->length)
        i--;
    return &history
                ->list[history->list[i].version.length == content->length ? i : history->count - 1]
                .version;
}

/** The newest candidate from @p from on that matches a content with damaged values. */
static size_t find_lossy(const struct history *history, size_t from, const struct content *content)
{
    for (size_t i = history->count; i-- > from;)
        if (content_agrees(content, &history->list[i].version, history->records))
            return i;
    return history->count;
}

/** Finds the candidate, from @p from on, that an open dataset shows. If pages may be lost, values
 * may be damaged; @p before, which may be NULL, is the earlier content. */
static bool identify(struct check *check, lx_dataset *dataset, size_t from,
                     const struct content *before)
{
    const struct history *history = check->history;
    struct content content;
    char text[800];
    bool right = content_read(&content, dataset, check->crash == CRASH_CACHE, text, sizeof text);
    check->lossy = content.lost != 0;
    if (right)
        check->found = check->lossy ? find_lossy(history, from, &content)
                                    : history_find(history, from, content_digest(&content));
    else
        wrong(check, "a reader: %s", text);
    if (right && check->found == history->count) {
        right = false;
        content_tell(&content, nearest(history, &content), history->records, text, sizeof text);
        wrong(check, "what is there was never committed, or is older than candidate %zu of %zu: %s",
              from, history->count, text);
    }
    const char *false_changes = right && !check->lossy && check->crash != CRASH_CACHE
                                    ? changes_check(history, check->found, dataset)
                                    : NULL;
    if (false_changes != NULL)
        right = wrong(check, "candidate %zu: %s", check->found, false_changes);
    if (right && before != NULL && !content_keeps(before, &content))
        right = wrong(check, "a writer gives up what a reader saw");
    content_free(&content);
    return right;
}

static bool check_seal(struct check *check, lx_dataset *dataset)
{
    lx_dataset_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    if (identity.sealed ? !check->history->sealing : check->history->sealed)
        return wrong(check, identity.sealed ? "it is sealed without a request"
                                            : "it was sealed and is not any more");
    return true;
}

static lx_status open_reader(const struct check *check, bool durable, lx_dataset **dataset,
                             lx_error *error)
{
    lx_dataset_options *options = need(lx_dataset_options_new());
    lx_status status = lx_dataset_options_set_verify_policy(options, LX_VERIFY_ALWAYS, error);
    if (status == LX_OK)
        status = lx_dataset_options_set_durable(options, durable, error);
    if (status == LX_OK)
        status = lx_dataset_open(check->path, options, dataset, error);
    lx_dataset_options_free(options);
    return status;
}

/** A reader that sees only data that survives a power loss. */
static bool check_durable_reader(struct check *check)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    size_t found = check->found;
    if (open_reader(check, true, &dataset, &error) != LX_OK)
        return unexpected(check, "a reader of the durable state", &error);
    bool right = identify(check, dataset, least(check, true), NULL);
    lx_dataset_close(dataset);
    check->found = found;
    return right;
}

bool check_reader(struct check *check)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    if (check->history->removing)
        return true; /* the remainder may be damaged, removed or absent */
    lx_status status = open_reader(check, false, &dataset, &error);
    check->absent = status == LX_ERR_NOT_FOUND;
    if (check->absent)
        return !check->history->created || wrong(check, "there is no dataset any more");
    if (status != LX_OK)
        return unexpected(check, "a reader", &error);
    bool right = check_seal(check, dataset) && identify(check, dataset, least(check, false), NULL);
    lx_dataset_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    if (right && (identity.sealed || rng_once_in(check->rng, 8)))
        right = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error) == LX_OK ||
                unexpected(check, "verification", &error);
    lx_dataset_close(dataset);
    if (right && rng_once_in(check->rng, 4))
        right = check_durable_reader(check);
    return right;
}

/* ---- the writer */

static lx_status open_writer(struct check *check, lx_writer **writer, lx_error *error)
{
    lx_writer_options *options = need(lx_writer_options_new());
    lx_durability durability = (lx_durability)rng_below(check->rng, 3);
    lx_status status = lx_writer_options_set_durability(options, durability, error);
    if (status == LX_OK)
        status = lx_writer_options_set_executor(options, check->executor, error);
    if (status == LX_OK)
        status = lx_writer_open(check->path, options, writer, error);
    if (status == LX_ERR_NOT_FOUND && (!check->history->created || check->history->removing)) {
        lx_error_clear(error);
        status = lx_writer_create(check->path, check->history->records->schema, options, writer,
                                  error);
    }
    lx_writer_options_free(options);
    return status;
}

/** Performs operations on the dataset, and on @p now. */
static bool change(struct check *check, lx_writer *writer, struct version *now)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = LX_OK;
    uint64_t serial = check->history->serials;
    uint64_t count = rng_once_in(check->rng, 3) ? 0 : 1 + rng_below(check->rng, 4);
    while (status == LX_OK && count-- != 0) {
        struct operation operation =
            rng_once_in(check->rng, 8) && !check->lossy
                ? operation_choose_switch(check->rng, &now->columns, serial)
                : operation_choose(check->rng, now->length, now->columns.count, serial, 0);
        version_apply(now, &operation, NULL);
        status = operation_do(&operation, check->history->records, writer, NULL, &error);
        serial += operation.count;
    }
    return status == LX_OK || unexpected(check, "the next writer's changes", &error);
}

/** Continues with the dataset. @p seals: seal it if requested; receives whether it is sealed. */
static bool go_on(struct check *check, lx_writer *writer, struct version *now, bool seals)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = LX_OK;
    bool right = change(check, writer, now);
    if (right && rng_once_in(check->rng, 2))
        status = lx_writer_commit(writer, &error);
    if (right && status == LX_OK && seals)
        status = lx_writer_seal(writer, &error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? &error : NULL);
    if (right && (status != LX_OK || closed != LX_OK))
        return unexpected(check, "the next writer's commit", &error);
    return right;
}

/** The dataset must be @p now. */
static bool check_result(struct check *check, struct version *now, bool seals)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    struct content content;
    char text[800];
    bool durable = rng_once_in(check->rng, 3); /* close has made the commits durable */
    if (open_reader(check, durable, &dataset, &error) != LX_OK)
        return unexpected(check, "a reader after the next writer", &error);
    bool right = content_read(&content, dataset, check->lossy, text, sizeof text);
    if (right && (content.lost != 0
                      ? !content_agrees(&content, now, check->history->records)
                      : content_digest(&content) != version_digest(now, check->history->records))) {
        content_tell(&content, now, check->history->records, text, sizeof text);
        right = false;
    }
    if (!right)
        wrong(check, "after the next writer: %s", text);
    if (right && seals)
        right = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error) == LX_OK ||
                unexpected(check, "verification after the next writer's seal", &error);
    content_free(&content);
    lx_dataset_close(dataset);
    return right;
}

/** The candidate that a writer has opened; @p before is the content that a reader saw, or NULL. */
static bool check_opened(struct check *check, lx_writer *writer, const struct content *before)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    uint64_t length = lx_writer_get_length(writer);
    size_t found = check->found;
    if (check->absent) {
        check->found = 0; /* created again */
        return length == 0 || wrong(check, "a new dataset has records");
    }
    if (check->crash == CRASH_CACHE || rng_once_in(check->rng, 4)) {
        if (open_reader(check, false, &dataset, &error) != LX_OK)
            return unexpected(check, "a reader concurrent with the next writer", &error);
        bool right = identify(check, dataset, check->history->durable, before);
        lx_dataset_close(dataset);
        if (!right)
            return false;
    }
    if ((check->crash == CRASH_CACHE || check->found == found) &&
        length == check->history->list[check->found].version.length)
        return true;
    return wrong(check, "a writer finds %llu records, which are not those of a reader",
                 (unsigned long long)length);
}

/* ---- an interrupted write */

/** The log as the next writer opens it. */
struct log {
    char path[TRACE_PATH + 32];
    struct bytes bytes;
};

static bool read_log(const char *path, struct bytes *bytes)
{
    uint8_t block[4096];
    size_t got;
    FILE *in = fopen(path, "rb");
    for (bytes->size = 0; in != NULL && (got = fread(block, 1, sizeof block, in)) != 0;)
        bytes_put(bytes, bytes->size, block, got);
    return in != NULL && fclose(in) == 0;
}

/** Saves the log in some of the cases. */
static void keep_log(struct check *check, struct log *log)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_identity identity;
    lx_dataset *dataset;
    if (check->crash == CRASH_CACHE || !rng_once_in(check->rng, 3) ||
        open_reader(check, false, &dataset, &error) != LX_OK)
        return;
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    snprintf(log->path, sizeof log->path, identity.generation != 0 ? "%s/LOG.%llu" : "%s/LOG",
             check->path, (unsigned long long)identity.generation);
    if (!read_log(log->path, &log->bytes))
        log->bytes.size = 0;
}

/** If the writer had been killed during a write to the log, the end would be torn, not damaged. */
static bool check_torn(struct check *check, const struct log *log)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    struct bytes now = {0};
    size_t from = 0, size = log->bytes.size;
    bool right = true;
    if (size != 0 && read_log(log->path, &now))
        while (from < size && from < now.size && now.data[from] == log->bytes.data[from])
            from++;
    if (from < now.size) {
        from = (from + (size_t)rng_below(check->rng, now.size - from)) / 4 * 4;
        bytes_resize(&now, from > size ? from : size);
        if (from < size)
            bytes_put(&now, from, log->bytes.data + from, size - from);
        FILE *out = need(fopen(log->path, "wb"));
        if (fwrite(now.data, 1, now.size, out) != now.size || fclose(out) != 0)
            give_up("a log");
        right = open_reader(check, false, &dataset, &error) == LX_OK;
        if (right)
            lx_dataset_close(dataset);
        else
            unexpected(check, "a reader after an interrupted write", &error);
    }
    free(now.data);
    return right;
}

/** The content that a reader sees if pages may be lost within the boot. Returns false if it finds
 * damage of the log. */
static bool see(struct check *check, struct content *content)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    char text[800];
    *content = (struct content){0};
    if (check->crash != CRASH_CACHE || open_reader(check, false, &dataset, &error) != LX_OK)
        return false;
    bool right = content_read(content, dataset, true, text, sizeof text);
    lx_dataset_close(dataset);
    return right;
}

/** Whether a writer rejected a log rightly because it lost pages within its boot. */
static bool is_lost_log(const struct check *check, lx_status status, const lx_error *error)
{
    return check->crash == CRASH_CACHE && status == LX_ERR_CORRUPT &&
           strstr(error->path, "/LOG") != NULL && strstr(error->message, "loaderx repair") != NULL;
}

/** Opens the dataset as a writer, changes it, and checks the result. */
static bool try_writer(struct check *check, const struct content *before)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_status status = LX_OK;
    if (check->history->removing) {
        check->absent = true;
        status = lx_dataset_remove(check->path, &error);
        if (status != LX_OK && status != LX_ERR_NOT_FOUND)
            return unexpected(check, "an interrupted removal is not taken up", &error);
        lx_error_clear(&error);
    }
    status = open_writer(check, &writer, &error);
    if (before == NULL && is_lost_log(check, status, &error))
        return true;
    if (status == LX_ERR_STATE && check->history->sealing) {
        if (check->crash == CRASH_CACHE ? !check_reader(check) : rng_once_in(check->rng, 2))
            return check->crash != CRASH_CACHE;
        lx_error_clear(&error);
        status = lx_dataset_unseal(check->path, &error);
        if (status == LX_OK)
            status = open_writer(check, &writer, &error);
    }
    if (status != LX_OK)
        return unexpected(check, "a writer", &error);
    if (!check_opened(check, writer, before)) {
        lx_writer_close(writer, NULL);
        return false;
    }
    struct version now = {0};
    bool seals = rng_once_in(check->rng, 8) && !check->lossy;
    version_set(&now, &check->history->list[check->found].version);
    struct log log = {0};
    keep_log(check, &log);
    bool right = go_on(check, writer, &now, seals) && check_result(check, &now, seals) &&
                 (seals || check_torn(check, &log));
    free(log.bytes.data);
    version_free(&now);
    return right;
}

bool check_writer(struct check *check)
{
    struct content before;
    bool seen = see(check, &before);
    bool right = try_writer(check, seen ? &before : NULL);
    content_free(&before);
    return right;
}
