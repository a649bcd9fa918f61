/* SPDX-License-Identifier: MIT */
#include "zrecord/write/writer-options.h"

#include "base/alloc.h"
#include "base/error.h"
#include "executor/executor.h"
#include "executor/task.h"
#include "zrecord/format/card.h"

#define CHUNK_RECORDS_DEFAULT 1048576u
#define CHUNK_BYTES_DEFAULT (1ull << 30)
#define CHUNK_BYTES_MIN 4096u
#define CHUNK_BYTES_MAX (1ull << 40)

const lx_writer_options lx__writer_defaults = {.durability = LX_DURABILITY_PERIODIC,
                                               .chunk_records = CHUNK_RECORDS_DEFAULT,
                                               .chunk_bytes = CHUNK_BYTES_DEFAULT,
                                               .level = 0};

lx_writer_options *lx_writer_options_new(void)
{
    lx_writer_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = lx__writer_defaults;
    return options;
}

void lx_writer_options_free(lx_writer_options *options)
{
    if (options == NULL)
        return;
    lx_executor_unref(options->executor);
    json_decref(options->card);
    lx__free(options);
}

lx_status lx_writer_options_set_card(lx_writer_options *options, const lx_card_entry *entries,
                                     size_t count, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    json_t *card = json_object();
    if (card == NULL)
        return lx__fail_memory(error, "a card");
    lx_status status = lx__card_change(card, entries, count, error);
    if (status == LX_OK) {
        json_decref(options->card);
        options->card = card;
    } else {
        json_decref(card);
    }
    return status;
}

lx_status lx_writer_options_set_durability(lx_writer_options *options, lx_durability durability,
                                           lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (durability != LX_DURABILITY_FULL && durability != LX_DURABILITY_PERIODIC &&
        durability != LX_DURABILITY_NONE)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "durability %d is invalid: use full, periodic or none", (int)durability);
    options->durability = durability;
    return LX_OK;
}

lx_status lx_writer_options_set_chunk_limits(lx_writer_options *options, uint64_t records,
                                             uint64_t bytes, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (records < 1 || records > UINT32_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%llu records per chunk is out of range: use 1 to %u",
                       (unsigned long long)records, UINT32_MAX);
    if (bytes < CHUNK_BYTES_MIN || bytes > CHUNK_BYTES_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%llu bytes per chunk is out of range: use %u to %llu",
                       (unsigned long long)bytes, CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
    options->chunk_records = records;
    options->chunk_bytes = bytes;
    return LX_OK;
}

lx_status lx_writer_options_set_compression_level(lx_writer_options *options, int level,
                                                  lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (level < 1 || level > 9)
        return lx_fail(error, LX_ERR_ARGUMENT, "compression level %d is out of range: use 1 to 9",
                       level);
    options->level = level;
    return LX_OK;
}

lx_status lx_writer_options_set_executor(lx_writer_options *options, lx_executor *executor,
                                         lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    lx__executor_replace(&options->executor, executor);
    return LX_OK;
}
