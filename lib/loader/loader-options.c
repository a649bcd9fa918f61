/* SPDX-License-Identifier: MIT */
#include "loader/loader-options.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/executor.h"
#include "executor/task.h"
#include "loader/missing-values.h"
#include "sampler/core/rank-slice.h"

const lx_loader_options lx__loader_defaults = {.batch_size = 1,
                                               .world = 1,
                                               .epochs = 1,
                                               .prefetch_bytes = (uint64_t)256 << 20,
                                               .memory = {.keep = true}};

lx_loader_options *lx_loader_options_new(void)
{
    lx_loader_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = lx__loader_defaults;
    return options;
}

static void free_fields(char **fields, size_t count)
{
    for (size_t i = 0; fields != NULL && i < count; i++)
        lx__free(fields[i]);
    lx__free(fields);
}

void lx_loader_options_free(lx_loader_options *options)
{
    if (options == NULL)
        return;
    lx_order_unref(options->order);
    lx_executor_unref(options->executor);
    free_fields(options->fields, options->field_count);
    lx__free(options->skipped);
    lx__missing_rules_clear(options);
    lx__free(options);
}

lx_status lx_loader_options_set_batch_size(lx_loader_options *options, uint64_t size,
                                           lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (size == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "batch_size must be at least 1");
    options->batch_size = size;
    options->batch_size_set = true;
    return LX_OK;
}

lx_status lx_loader_options_set_order(lx_loader_options *options, lx_order *order, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (order != NULL)
        lx_order_ref(order);
    lx_order_unref(options->order);
    options->order = order;
    options->shuffle = false;
    return LX_OK;
}

lx_status lx_loader_options_set_shuffle(lx_loader_options *options, uint64_t seed, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    lx_status status = lx_loader_options_set_order(options, NULL, error);
    options->shuffle = true;
    options->seed = seed;
    return status;
}

lx_status lx_loader_options_set_rank(lx_loader_options *options, uint64_t rank, uint64_t world,
                                     lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    lx_status status = lx__shard_check((lx__shard){rank, world}, error);
    if (status != LX_OK)
        return status;
    options->rank = rank;
    options->world = world;
    return LX_OK;
}

lx_status lx_loader_options_set_epoch_count(lx_loader_options *options, uint64_t epochs,
                                            lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->epochs = epochs;
    return LX_OK;
}

lx_status lx_loader_options_set_first_epoch(lx_loader_options *options, uint64_t epoch,
                                            lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->first_epoch = epoch;
    return LX_OK;
}

lx_status lx_loader_options_set_start(lx_loader_options *options, uint64_t position,
                                      lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->start = position;
    return LX_OK;
}

lx_status lx_loader_options_set_drop_last(lx_loader_options *options, bool drop, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->drop_last = drop;
    return LX_OK;
}

lx_status lx_loader_options_set_uneven(lx_loader_options *options, bool uneven, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->uneven = uneven;
    return LX_OK;
}

lx_status lx_loader_options_set_pad_last(lx_loader_options *options, bool pad, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->pad_last = pad;
    return LX_OK;
}

lx_status lx_loader_options_add_skipped(lx_loader_options *options, uint64_t first, uint64_t end,
                                        lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (first >= end)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "first must be less than end; they are %" PRIu64 " and %" PRIu64, first,
                       end);
    lx__skipped_range *ranges = lx__resize_array(options->skipped, options->skipped_count + 1,
                                                 sizeof *ranges);
    if (ranges == NULL)
        return lx__fail_memory(error, "ranges of skipped batches");
    ranges[options->skipped_count++] = (lx__skipped_range){first, end};
    options->skipped = ranges;
    return LX_OK;
}

lx_status lx_loader_options_set_columns(lx_loader_options *options, const char *const *names,
                                        size_t count, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    char **fields = NULL;
    for (size_t i = 0; i < count; i++)
        if (names == NULL || names[i] == NULL)
            return lx__fail_null(error, "a column name");
    if (count != 0) {
        fields = lx__alloc_array(count, sizeof *fields);
        if (fields == NULL)
            return lx__fail_memory(error, "column names");
    }
    for (size_t i = 0; i < count; i++) {
        fields[i] = lx__strdup(names[i]);
        if (fields[i] == NULL) {
            free_fields(fields, count);
            return lx__fail_memory(error, "column names");
        }
    }
    free_fields(options->fields, options->field_count);
    options->fields = fields;
    options->field_count = count;
    return LX_OK;
}

lx_status lx_loader_options_set_reader_count(lx_loader_options *options, uint32_t threads,
                                             lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (threads > LX_MAX_READERS)
        return lx_fail(error, LX_ERR_ARGUMENT, "reader_count must be from 0 to %d, not %u",
                       LX_MAX_READERS, threads);
    options->threads = threads;
    options->threads_set = true;
    return LX_OK;
}

lx_status lx_loader_options_set_executor(lx_loader_options *options, lx_executor *executor,
                                         lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    lx__executor_replace(&options->executor, executor);
    return LX_OK;
}

lx_status lx_loader_options_set_prefetch_bytes(lx_loader_options *options, uint64_t bytes,
                                               lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->prefetch_bytes = bytes;
    return LX_OK;
}

lx_status lx_loader_options_set_damage_policy(lx_loader_options *options, lx_damage_policy damage,
                                              lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (damage != LX_DAMAGE_RAISE && damage != LX_DAMAGE_ZEROS && damage != LX_DAMAGE_SKIP)
        return lx_fail(error, LX_ERR_ARGUMENT, "damage_policy must be raise, zeros or skip, not %d",
                       (int)damage);
    options->damage = damage;
    return LX_OK;
}

lx_status lx_loader_options_set_transform(lx_loader_options *options,
                                          lx_transform_function transform, void *user,
                                          lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->transform = transform;
    options->transform_user = user;
    return LX_OK;
}

lx_status lx_loader_options_set_memory(lx_loader_options *options,
                                       lx_allocate_memory_function allocate,
                                       lx_release_memory_function release, void *user, bool keep,
                                       lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if ((allocate == NULL) != (release == NULL))
        return lx__fail_null(error, allocate == NULL ? "allocate" : "release");
    options->memory = allocate != NULL ? (lx__memory_functions){allocate, release, user, keep}
                                       : lx__loader_defaults.memory;
    return LX_OK;
}
