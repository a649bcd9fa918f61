/* SPDX-License-Identifier: MIT */
/* States of samplers and loaders: a byte that chooses one, a byte of options, then the text. It is
 * restored as it is, or with its checksum corrected, since no fuzzer guesses that. An accepted
 * state must be the one that is saved again, and the object must continue from it. */
#include "fuzz.h"

#include <loaderx/batching.h>
#include <loaderx/loader.h>
#include <loaderx/mixture.h>
#include <loaderx/sampler.h>

#include "base/alloc.h"
#include "memory.h"
#include "sampler/core/saved-state.h"
#include "../new-orders.h"
#include "../new-sources.h"

enum {
    REPAIR = 1, /* correct its checksum */
    OURS = 2,   /* take all known members except the position from the object's own state */
    LOADER = 4, /* restore a loader, not a sampler */
    SUM = 8     /* keep the text's own checksum after all */
};

#define TEXT_MAX ((size_t)8192)
#define STATE_MAX LX_MAX_SAMPLER_STATE
#define LENGTH 40
#define BATCH 3
#define KINDS 6

struct object {
    lx_sampler *sampler;
    lx_loader *loader;
    char states[2][STATE_MAX]; /* the initial states of the sampler and the loader */
};

static struct object objects[KINDS];

/* ---- orders, samplers and loaders */

static lx_status make_blend(lx_order **order, lx_error *error)
{
    lx_order *part = NULL;
    lx_mixture *mixture = need(lx_mixture_new());
    lx_status status = lx_order_new_shuffle(LENGTH / 2, 5, &part, error);
    for (uint64_t i = 0; status == LX_OK && i < 2; i++)
        status = lx_mixture_add_part(mixture, part, i * LENGTH / 2, .5, error);
    if (status == LX_OK)
        status = lx_order_new_blend(mixture, order, error);
    lx_mixture_free(mixture);
    lx_order_unref(part);
    return status;
}

static lx_status make_repeated(lx_order **order, lx_error *error)
{
    lx_order *inner = NULL, *outer = NULL;
    lx_status status = lx_order_new_shuffle(LENGTH, 7, &inner, error);
    if (status == LX_OK)
        status = lx_order_new_slice(inner, 1, LENGTH - 2, &outer, error);
    if (status == LX_OK)
        status = lx_order_new_repeat(outer, 3, order, error);
    lx_order_unref(inner);
    lx_order_unref(outer);
    return status;
}

static lx_status make_budgeted(lx_order **order, lx_error *error)
{
    uint64_t costs[LENGTH];
    lx_order *part;
    for (uint64_t i = 0; i < LENGTH; i++)
        costs[i] = 1 + i % 7;
    lx_status status = lx_order_new_shuffle(LENGTH, 9, &part, error);
    if (status != LX_OK)
        return status;
    status = new_budgeted(part, costs, LENGTH, 20, BATCH, false, order, error);
    lx_order_unref(part);
    return status;
}

static lx_status make_order(size_t kind, lx_order **order, lx_error *error)
{
    switch (kind) {
    case 0:
        return lx_order_new_shuffle(LENGTH, 3, order, error);
    case 1:
        return lx_order_new_sequential(LENGTH, 5, 2, order, error);
    case 2:
        return lx_order_new_random(LENGTH, UINT64_MAX, order, error);
    case 3:
        return make_blend(order, error);
    case 4:
        return make_repeated(order, error);
    default:
        return make_budgeted(order, error);
    }
}

static lx_status fill(const uint64_t *indices, size_t count, const lx_target *targets, void *user,
                      lx_error *error)
{
    (void)user, (void)error;
    for (size_t i = 0; i < count; i++)
        memcpy((uint8_t *)targets[0].data + i * targets[0].stride, &indices[i], sizeof *indices);
    return LX_OK;
}

static lx_status make_loader(lx_order *order, lx_loader **loader, lx_error *error)
{
    static const source_functions functions = {.fill = fill};
    lx_column_info column = {.name = "number", .dtype = LX_UINT64};
    lx_source *source;
    lx_loader_options *options = need(lx_loader_options_new());
    lx_status status = new_source(&functions, NULL, LENGTH, &column, 1, "numbers", &source, error);
    if (status == LX_OK)
        status = lx_loader_options_set_executor(options, fuzz_executor(), error);
    if (status == LX_OK)
        status = lx_loader_options_set_order(options, order, error);
    if (status == LX_OK && lx_order_get_max_batch_size(order) == 0)
        status = lx_loader_options_set_batch_size(options, BATCH, error);
    if (status == LX_OK)
        status = lx_loader_open(source, options, loader, error);
    lx_loader_options_free(options);
    lx_source_unref(source);
    return status;
}

static void begin(void)
{
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < KINDS; i++) {
        struct object *object = &objects[i];
        lx_order *order = NULL;
        lx_status status = make_order(i, &order, &error);
        if (status == LX_OK)
            status = lx_sampler_new(order, 0, 1, &object->sampler, &error);
        if (status == LX_OK)
            status = make_loader(order, &object->loader, &error);
        if (status == LX_OK)
            status = lx_sampler_save(object->sampler, object->states[0], STATE_MAX, NULL, &error);
        if (status == LX_OK)
            status = lx_loader_save(object->loader, object->states[1], STATE_MAX, NULL, &error);
        if (status != LX_OK)
            fuzz_fail("object %zu: %s", i, error.message);
        lx_order_unref(order);
    }
    fuzz_json_keep();
}

/* ---- texts */

/** Replaces the members of the text, except those named, by those of the object's own state. */
static void put_ours(json_t *state, const char *ours)
{
    const char *key;
    json_t *value, *own = need(json_loads(ours, 0, NULL));
    json_object_foreach(own, key,
                        value) if (strcmp(key, "position") != 0 && strcmp(key, "crc32c") != 0)(void)
        json_object_set(state, key, value);
    json_decref(own);
}

/** The text with the requested corrections, for free(); NULL if it is not an object. */
static char *repair(const char *text, const struct object *object, unsigned options)
{
    size_t bytes;
    json_t *state = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    char *made = NULL;
    if (json_is_object(state)) {
        if (options & OURS)
            put_ours(state, object->states[(options & LOADER) != 0]);
        json_t *sum = json_incref(json_object_get(state, "crc32c"));
        (void)json_object_del(state, "crc32c");
        json_t *right = lx__state_digest(state, &bytes);
        (void)json_object_set(state, "crc32c", options & SUM && sum != NULL ? sum : right);
        json_decref(right);
        json_decref(sum);
        made = lx__json_text(state, JSON_COMPACT);
    }
    json_decref(state);
    return made;
}

/** Checks that an accepted text has the right checksum. */
static void check_sum(const char *text)
{
    size_t bytes;
    json_t *state = need(json_loads(text, JSON_REJECT_DUPLICATES, NULL));
    json_t *theirs = json_incref(json_object_get(state, "crc32c"));
    (void)json_object_del(state, "crc32c");
    json_t *right = lx__state_digest(state, &bytes);
    if (!json_equal(theirs, right))
        fuzz_fail("a state that was changed is taken");
    json_decref(theirs);
    json_decref(right);
    json_decref(state);
}

/* ---- restored objects */

static uint64_t go_on(struct object *object, bool loader)
{
    uint64_t position, indices[BATCH], taken;
    lx_batch *batch;
    if (loader) {
        position = lx_loader_tell(object->loader);
        if (lx_loader_next(object->loader, &batch, NULL) == LX_OK)
            lx_batch_unref(batch);
        return position;
    }
    position = lx_sampler_tell(object->sampler);
    (void)lx_sampler_take(object->sampler, BATCH, indices, &taken, NULL);
    return position;
}

static lx_status restore(struct object *object, bool loader, const char *text, lx_error *error)
{
    return loader ? lx_loader_restore(object->loader, text, error)
                  : lx_sampler_restore(object->sampler, text, error);
}

static void try_text(struct object *object, bool loader, const char *text)
{
    char saved[STATE_MAX];
    lx_error error = LX_ERROR_INIT;
    lx_status status = restore(object, loader, text, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status != LX_OK)
        return;
    check_sum(text);
    status = loader ? lx_loader_save(object->loader, saved, sizeof saved, NULL, &error)
                    : lx_sampler_save(object->sampler, saved, sizeof saved, NULL, &error);
    uint64_t position = go_on(object, loader);
    if (status != LX_OK || restore(object, loader, saved, &error) != LX_OK)
        fuzz_fail("what was restored cannot be saved and restored: %s", error.message);
    if (go_on(object, loader) != position)
        fuzz_fail("it has another position after a second restore");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    char text[TEXT_MAX + 1];
    fuzz_json_begin();
    if (objects[0].loader == NULL)
        begin();
    struct object *object = &objects[input_byte(&input) % KINDS];
    unsigned options = input_byte(&input);
    size_t length = input.size < TEXT_MAX ? input.size : TEXT_MAX;
    memcpy(text, input.data, length);
    text[length] = '\0';
    char *repaired = options & REPAIR ? repair(text, object, options) : NULL;
    try_text(object, (options & LOADER) != 0, repaired != NULL ? repaired : text);
    lx__free(repaired);
    fuzz_json_end();
    return 0;
}
