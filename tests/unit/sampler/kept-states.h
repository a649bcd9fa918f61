/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The files of tests/data/states, which tests/golden/states.py made.
 */
#ifndef LX_TESTS_KEPT_STATES_H
#define LX_TESTS_KEPT_STATES_H

#include <dirent.h>

#include "../data.h"
#include "../unit.h"
#include "described.h"

/** Indices that are kept behind a state. */
#define KEPT_INDICES 40

/** One that is kept. */
struct kept_state {
    char name[256]; /* "samplers/shuffle.json" */
    json_t *file;
    char *text; /* the state alone */
    uint64_t indices[KEPT_INDICES];
};

static inline void kept_state_read(struct kept_state *kept)
{
    lx_error error = LX_ERROR_INIT;
    char name[300];
    size_t count;
    snprintf(name, sizeof name, "states/%s", kept->name);
    char *text = data_read(name);
    unit_ok(lx__json_parse(text, strlen(text), &kept->file, &error));
    free(text);
    kept->text = json_dumps(json_object_get(kept->file, "state"), JSON_COMPACT);
    ck_assert_ptr_nonnull(kept->text);
    uint64_t *indices = numbers_of(json_object_get(kept->file, "indices"), &count);
    ck_assert_uint_eq(count, KEPT_INDICES);
    memcpy(kept->indices, indices, sizeof kept->indices);
    free(indices);
}

/** Calls @p check for each file of a folder, of which there must be @p least. */
static inline void kept_states_each(const char *folder, int least,
                                    void (*check)(const struct kept_state *kept))
{
    char path[4096];
    const char *top = getenv("top_srcdir");
    snprintf(path, sizeof path, "%s/tests/data/states/%s", top != NULL ? top : ".", folder);
    DIR *directory = opendir(path);
    ck_assert_msg(directory != NULL, "%s is not there: run by make check", path);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        struct kept_state kept;
        snprintf(kept.name, sizeof kept.name, "%s/%.200s", folder, entry->d_name);
        kept_state_read(&kept);
        check(&kept);
        free(kept.text);
        json_decref(kept.file);
        count++;
    }
    closedir(directory);
    ck_assert_int_ge(count, least);
}

/** What is saved where a state was must be that state again. */
static inline void kept_state_is(const struct kept_state *kept, const char *text)
{
    lx_error error = LX_ERROR_INIT;
    json_t *ours;
    unit_ok(lx__json_parse(text, strlen(text), &ours, &error));
    ck_assert_msg(json_equal(ours, json_object_get(kept->file, "state")), "%s: %s", kept->name,
                  text);
    json_decref(ours);
}

#endif
