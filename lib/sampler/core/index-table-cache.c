/* SPDX-License-Identifier: MIT */
#include "sampler/core/index-table-cache.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic-file.h"
#include "base/error.h"
#include "sampler/core/saved-state.h"

/** Size of the longest file name, with its NUL. */
#define NAME_SIZE 70

/** A table's description and file name. */
typedef struct place {
    lx__file folder;
    char *inputs;
    char name[NAME_SIZE];
} place;

/** 64-bit FNV-1a (Fowler, Noll and Vo). */
static uint64_t hash(const char *text)
{
    uint64_t value = UINT64_C(0xCBF29CE484222325);
    for (; *text != '\0'; text++)
        value = (value ^ (uint8_t)*text) * UINT64_C(0x100000001B3);
    return value;
}

static lx_status describe(const lx__index_table_maker *maker, const void *user, place *at,
                          lx_error *error)
{
    json_t *inputs = json_object();
    if (maker->describe(user, inputs) == 0)
        at->inputs = lx__json_text(inputs, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(inputs);
    if (at->inputs == NULL)
        return lx__fail_memory(error, "a table");
    snprintf(at->name, sizeof at->name, "%s-%016" PRIx64 ".table", maker->kind, hash(at->inputs));
    for (char *c = at->name; *c != '\0'; c++)
        *c = *c == ' ' ? '-' : *c;
    return LX_OK;
}

/** Opens or creates the folder; another process may create it at the same time. */
static lx_status open_folder(lx__file *folder, const char *name, lx_error *error)
{
    lx_error first = LX_ERROR_INIT;
    lx_status status = lx__directory_open(folder, LX__CWD, name, &first);
    if (status != LX_ERR_NOT_FOUND) {
        lx__error_propagate(error, &first);
        return status;
    }
    lx_error_clear(&first);
    status = lx__directory_make(LX__CWD, name, &first);
    if (status == LX_OK || status == LX_ERR_EXISTS)
        return lx__directory_open(folder, LX__CWD, name, error);
    lx__error_propagate(error, &first);
    return status;
}

lx_status lx__index_table_cache_folder(const char *folder, char **path, lx_error *error)
{
    char whole[PATH_MAX];
    lx__file opened;
    lx_status status = open_folder(&opened, folder, error);
    if (status != LX_OK)
        return status;
    lx__file_close(&opened);
    if (realpath(folder, whole) == NULL)
        return lx_fail_errno(error, errno, folder, "cannot resolve the path");
    *path = lx__strdup(whole);
    return *path != NULL ? LX_OK : lx__fail_memory(error, "a path");
}

static void close_place(place *at)
{
    lx__file_close(&at->folder);
    lx__free(at->inputs);
}

static lx_status open_place(const char *folder, const lx__index_table_maker *maker,
                            const void *user, place *at, lx_error *error)
{
    *at = (place){.folder = LX__FILE_CLOSED};
    lx_status status = describe(maker, user, at, error);
    if (status == LX_OK)
        status = open_folder(&at->folder, folder, error);
    if (status != LX_OK)
        close_place(at);
    return status;
}

static lx__index_table_form form_of(const place *at, const lx__index_table *table)
{
    return (lx__index_table_form){.inputs = at->inputs,
                                  .count = table->count,
                                  .bound = table->bound,
                                  .width = lx__index_table_is_narrow(table->bound) ? 4 : 8};
}

static lx_status find(const place *at, lx__index_table *table, lx_error *error)
{
    const void *data;
    lx__index_table_form form = form_of(at, table);
    lx_status status = lx__index_table_file_open(&at->folder, at->name, &form, &table->file, &data,
                                                 error);
    if (status != LX_OK)
        return status;
    table->count = form.count;
    if (form.width == 4)
        table->narrow = data;
    else
        table->wide = data;
    return LX_OK;
}

static lx_status store(const place *at, const lx__index_table *table, lx_error *error)
{
    lx__atomic_file to;
    lx__index_table_form form = form_of(at, table);
    lx_status status = lx__atomic_file_begin(&to, &at->folder, at->name, NULL, error);
    if (status == LX_OK)
        status = lx__index_table_file_write(
            &to.file, &form, form.width == 4 ? (const void *)table->narrow : table->wide, error);
    if (status == LX_OK)
        status = lx__atomic_file_finish(&to, error);
    lx__atomic_file_end(&to);
    return status;
}

static lx_status make_and_store(const place *at, const lx__index_table_maker *maker, void *user,
                                lx__index_table *table, lx_error *error)
{
    lx__index_table made = *table;
    lx_status status = maker->make(user, &made, error);
    if (status == LX_OK)
        status = store(at, &made, error);
    lx__index_table_free(&made);
    return status == LX_OK ? find(at, table, error) : status;
}

lx_status lx__index_table_cache_get(const char *folder, const lx__index_table_maker *maker,
                                    void *user, lx__index_table *table, lx_error *error)
{
    place at;
    lx_error first = LX_ERROR_INIT;
    if (folder == NULL || table->count == 0) {
        lx_status status = maker->make(user, table, error);
        if (status != LX_OK)
            lx__index_table_free(table);
        return status;
    }
    lx_status status = open_place(folder, maker, user, &at, error);
    if (status != LX_OK)
        return status;
    status = find(&at, table, &first);
    if (status == LX_ERR_NOT_FOUND)
        status = make_and_store(&at, maker, user, table, error);
    else
        lx__error_propagate(error, &first);
    close_place(&at);
    return status;
}

void lx__index_table_cache_remove(const char *folder, const lx__index_table_maker *maker,
                                  const void *user)
{
    place at;
    if (folder == NULL || open_place(folder, maker, user, &at, NULL) != LX_OK)
        return;
    (void)lx__file_remove(&at.folder, at.name, NULL);
    close_place(&at);
}

int lx__index_table_describe(json_t *inputs, const char *kind, uint64_t count, const char *key,
                             uint32_t crc)
{
    int failed = json_object_set_new(inputs, "kind", json_string(kind));
    failed |= json_object_set_new(inputs, "formula", json_integer(1));
    failed |= json_object_set_new(inputs, "count", lx__state_number(count));
    failed |= json_object_set_new(inputs, key, lx__state_crc(crc));
    return failed;
}
