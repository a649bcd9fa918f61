/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <inttypes.h>
#include <stdarg.h>

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

/** Finds the version that an open dataset is, of those from @p from on. */
static bool identify(struct check *check, lx_dataset *dataset, size_t from)
{
    const struct history *history = check->history;
    uint64_t length = lx_dataset_get_length(dataset);
    for (size_t i = from; i < history->count; i++) {
        if (history->versions[i].length != length)
            continue;
        check->found = i;
        return records_compare(check->records, dataset, history->versions[i].serials, length,
                               check->why, sizeof check->why);
    }
    return wrong(check,
                 "%" PRIu64 " records, but %" PRIu64 " to %" PRIu64 " were committed", length,
                 history->versions[from].length, history->versions[history->count - 1].length);
}

static bool check_seal(struct check *check, lx_dataset *dataset)
{
    lx_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    if (identity.sealed ? !check->history->sealing : check->history->sealed)
        return wrong(check, identity.sealed ? "it is sealed and was not asked to be"
                                            : "it was sealed and is not any more");
    return true;
}

static lx_status open_reader(const struct check *check, bool durable, lx_dataset **dataset,
                             lx_error *error)
{
    lx_dataset_options *options = need(lx_dataset_options_new());
    lx_status status = lx_dataset_options_set_verify(options, LX_VERIFY_ALWAYS, error);
    if (status == LX_OK)
        status = lx_dataset_options_set_durable(options, durable, error);
    if (status == LX_OK)
        status = lx_dataset_open(check->path, options, dataset, error);
    lx_dataset_options_free(options);
    return status;
}

/** A reader that sees only what survives a loss of power. */
static bool check_durable_reader(struct check *check)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    size_t found = check->found;
    if (open_reader(check, true, &dataset, &error) != LX_OK)
        return unexpected(check, "a reader of the durable state", &error);
    bool right = identify(check, dataset, least(check, true));
    lx_dataset_close(dataset);
    check->found = found;
    return right;
}

bool check_reader(struct check *check)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    if (check->history->removing)
        return true; /* what is left may be damaged; it is removed, or is not there */
    lx_status status = open_reader(check, false, &dataset, &error);
    check->absent = status == LX_ERR_NOT_FOUND;
    if (check->absent)
        return !check->history->created || wrong(check, "there is no dataset any more");
    if (status != LX_OK)
        return unexpected(check, "a reader", &error);
    bool right = check_seal(check, dataset) && identify(check, dataset, least(check, false));
    lx_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    if (right && (identity.sealed || dice_once_in(check->dice, 8)))
        right = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error) == LX_OK ||
                unexpected(check, "verification", &error);
    lx_dataset_close(dataset);
    if (right && dice_once_in(check->dice, 4))
        right = check_durable_reader(check);
    return right;
}

/* ---- the writer */

static lx_status open_writer(struct check *check, lx_writer **writer, lx_error *error)
{
    lx_writer_options *options = need(lx_writer_options_new());
    lx_durability durability = (lx_durability)dice_below(check->dice, 3);
    lx_status status = lx_writer_options_set_durability(options, durability, error);
    if (status == LX_OK)
        status = lx_writer_options_set_executor(options, check->executor, error);
    if (status == LX_OK)
        status = lx_writer_open(check->path, options, writer, error);
    if (status == LX_ERR_NOT_FOUND &&
        (!check->history->created || check->history->removing)) {
        lx_error_clear(error);
        status = lx_writer_create(check->path, check->records->schema, options, writer, error);
    }
    lx_writer_options_free(options);
    return status;
}

/** Goes on with a dataset of which version @p found was opened. */
static bool go_on(struct check *check, lx_writer *writer, uint64_t count, bool seals)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t first = check->history->serials;
    lx_status status = LX_OK;
    for (uint64_t i = 0; status == LX_OK && i < count; i++)
        status = lx_writer_append(writer, records_get(check->records, first + i), NULL, &error);
    if (status == LX_OK && dice_once_in(check->dice, 2))
        status = lx_writer_commit(writer, &error);
    if (status == LX_OK && seals)
        status = lx_writer_seal(writer, &error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? &error : NULL);
    if (status == LX_OK && closed == LX_OK)
        return true;
    return unexpected(check, "the next writer's appends", &error);
}

/** Version @p found, and behind it @p count new records, is there now. */
static bool check_result(struct check *check, uint64_t count, bool seals)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    const struct version *found = &check->history->versions[check->found];
    bool durable = dice_once_in(check->dice, 3); /* close has made durable what others see, too */
    if (open_reader(check, durable, &dataset, &error) != LX_OK)
        return unexpected(check, "a reader after the next writer", &error);
    uint64_t length = lx_dataset_get_length(dataset);
    bool right = length == found->length + count ||
                 wrong(check, "%" PRIu64 " records after the next writer, not %" PRIu64, length,
                       found->length + count);
    uint32_t *serials = need(malloc((size_t)(length + 1) * sizeof *serials));
    if (right && found->length != 0)
        memcpy(serials, found->serials, (size_t)found->length * sizeof *serials);
    for (uint64_t i = 0; right && i < count; i++)
        serials[found->length + i] = (uint32_t)(check->history->serials + i);
    if (right)
        right = records_compare(check->records, dataset, serials, length, check->why,
                                sizeof check->why);
    if (right && seals)
        right = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error) == LX_OK ||
                unexpected(check, "verification after the next writer's seal", &error);
    free(serials);
    lx_dataset_close(dataset);
    return right;
}

static bool check_length(struct check *check, uint64_t length)
{
    const struct history *history = check->history;
    if (check->absent) {
        check->found = 0; /* made anew */
        return length == 0 || wrong(check, "a new dataset has records");
    }
    /* The cache was lost and the boot was not: what a writer keeps is for it to find out. */
    if (check->crash == CRASH_CACHE)
        for (check->found = history->durable; check->found < history->count; check->found++)
            if (history->versions[check->found].length == length)
                return true;
    if (check->crash != CRASH_CACHE && length == history->versions[check->found].length)
        return true;
    return wrong(check, "a writer finds %" PRIu64 " records, which were never committed or are "
                 "not those of a reader", length);
}

bool check_writer(struct check *check)
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
    if (status == LX_ERR_STATE && check->history->sealing)
        return check->crash != CRASH_CACHE || check_reader(check);
    if (status != LX_OK)
        return unexpected(check, "a writer", &error);
    if (!check_length(check, lx_writer_get_length(writer))) {
        lx_writer_close(writer, NULL);
        return false;
    }
    bool seals = dice_once_in(check->dice, 8);
    uint64_t count = dice_once_in(check->dice, 2) ? 0 : 1 + dice_below(check->dice, 3);
    return go_on(check, writer, count, seals) && check_result(check, count, seals);
}
