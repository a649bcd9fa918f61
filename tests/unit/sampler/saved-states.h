/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The saved states in tests/data/states, which tests/golden/states.py made.
 */
#ifndef LX_TESTS_SAVED_STATES_H
#define LX_TESTS_SAVED_STATES_H

#include "../data.h"
#include "../unit.h"
#include "described.h"

/** Number of indices that are stored after a state. */
#define KEPT_INDICES 40

/** A saved state. */
struct saved_state {
    char name[256]; /* "samplers/shuffle" */
    json_t *file;   /* its order, source, state and indices */
    char *text;     /* only the state */
    uint64_t indices[KEPT_INDICES];
};

static inline void kept_state_read(struct saved_state *kept)
{
    size_t count;
    kept->text = json_dumps(json_object_get(kept->file, "state"), JSON_COMPACT);
    ck_assert_ptr_nonnull(kept->text);
    uint64_t *indices = numbers_of(json_object_get(kept->file, "indices"), &count);
    ck_assert_uint_eq(count, KEPT_INDICES);
    memcpy(kept->indices, indices, sizeof kept->indices);
    free(indices);
}

/** Calls @p check for each state of "samplers" or "loaders", of which there must be at least @p
 * least. */
static inline void saved_states_each(const char *kind, size_t least,
                                     void (*check)(const struct saved_state *kept))
{
    char path[64];
    const char *name;
    json_t *file;
    snprintf(path, sizeof path, "states/%s.json", kind);
    char *text = data_read(path);
    json_t *all = json_loads(text, 0, NULL);
    free(text);
    ck_assert_ptr_nonnull(all);
    ck_assert_uint_ge(json_object_size(all), least);
    json_object_foreach(all, name, file)
    {
        struct saved_state kept = {.file = file};
        snprintf(kept.name, sizeof kept.name, "%s/%s", kind, name);
        kept_state_read(&kept);
        check(&kept);
        free(kept.text);
    }
    json_decref(all);
}

/** Saving after loading a state must give the same state. */
static inline void saved_state_is(const struct saved_state *kept, const char *text)
{
    lx_error error = LX_ERROR_INIT;
    json_t *ours;
    unit_ok(lx__json_parse(text, strlen(text), &ours, &error));
    ck_assert_msg(json_equal(ours, json_object_get(kept->file, "state")), "%s: %s", kept->name,
                  text);
    json_decref(ours);
}

#endif
