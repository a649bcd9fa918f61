/* SPDX-License-Identifier: MIT */
/* Scenarios of sources whose columns a function computes. */
#include <stdlib.h>
#include <string.h>

#include <loaderx/map.h>

#include "run.h"
#include "scenario.h"

#define LENGTH 40

static void prepare(const char *path, struct plain *plain)
{
    prepare_dataset(path, plain, LENGTH, 10);
}

/** Writes the size of each text. */
static lx_status measure(const lx_samples *samples, const lx_column *inputs,
                         const lx_target *outputs, void *worker, void *user, lx_error *error)
{
    (void)worker, (void)user, (void)error;
    for (size_t i = 0; i < samples->count; i++) {
        uint64_t size = inputs[0].offsets[i + 1] - inputs[0].offsets[i];
        memcpy((uint8_t *)outputs[0].data + i * outputs[0].stride, &size, sizeof size);
    }
    return LX_OK;
}

static lx_status new_worker(void *user, void **worker, lx_error *error)
{
    (void)user, (void)error;
    *worker = malloc(1);
    return LX_OK;
}

static void free_worker(void *worker, void *user)
{
    (void)user;
    free(worker);
}

static lx_source *open_map(struct run *run)
{
    static const lx_column_info size = {.name = "size", .dtype = LX_UINT64};
    const char *text = run->pending.columns[PLAIN_TEXT].name;
    lx_source *part, *map = NULL;
    lx_source_options *options;
    if (!TRY(run, lx_source_open(run->path, NULL, &part, &run->error)))
        return NULL;
    if (TRY_NEW(run, options, lx_source_options_new()) &&
        TRY(run, lx_source_options_set_map(options, measure, NULL, &run->error)) &&
        TRY(run, lx_source_options_set_worker(options, new_worker, free_worker, &run->error)))
        (void)TRY(run, lx_source_new_map(part, &text, 1, &size, 1, options, &map, &run->error));
    lx_source_options_free(options);
    lx_source_unref(part);
    return map;
}

static void fill_map(struct run *run)
{
    uint64_t indices[LENGTH], sizes[LENGTH];
    uint8_t memory[PLAIN_VALUE];
    lx_target targets[PLAIN_KINDS] = {[PLAIN_KINDS - 1] = {sizes, 8}};
    const lx_samples samples = {.count = LENGTH, .indices = indices, .positions = indices};
    lx_source *map = open_map(run);
    for (uint64_t i = 0; i < LENGTH; i++)
        indices[i] = LENGTH - 1 - i;
    if (map != NULL && TRY(run, lx_source_fill_samples(map, &samples, targets, &run->error)))
        for (uint64_t i = 0; i < LENGTH; i++) {
            const struct plain_record *record = &run->pending.records[indices[i]];
            lx_value text = plain_value(PLAIN_TEXT, record->tokens[PLAIN_TEXT], memory);
            if (sizes[i] != (text.size != LX_NONE ? text.size : 0))
                run_fail(run, "the size of text %llu is wrong", (unsigned long long)indices[i]);
        }
    lx_source_unref(map);
}

const struct scenario map_scenarios[] = {
    {"fill-map", prepare, false, fill_map},
    {NULL, NULL, false, NULL},
};
