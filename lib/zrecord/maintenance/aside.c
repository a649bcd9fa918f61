/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/aside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/write/create.h"

/* How many directories of earlier repairs may be there. */
#define NUMBERS 10000

#define LIST_NAME "damaged.json"
#define VALUES_NAME "values"

/** The path of the dataset without links, so that what is put aside lies beside the dataset itself
 * and not beside a link to it. For free(). */
static char *real_path(const lx__file *directory)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory->fd);
    char *path = realpath(link, NULL);
    return path != NULL ? path : realpath(directory->path, NULL);
}

static lx_status find_number(lx__aside *aside, const char *base, lx_error *error)
{
    size_t size = strlen(base) + 32;
    aside->path = lx__alloc(size);
    if (aside->path == NULL)
        return lx__fail_memory(error, "a path");
    lx_status status = LX_ERR_EXISTS;
    lx_error why = LX_ERROR_INIT;
    for (int i = 1; status == LX_ERR_EXISTS && i <= NUMBERS; i++) {
        snprintf(aside->path, size, "%s.damaged-%d", base, i);
        lx_error_clear(&why);
        status = lx__directory_make(LX__HERE, aside->path, &why);
    }
    if (status == LX_OK)
        return LX_OK;
    lx__error_pass(error, &why);
    lx__free(aside->path);
    aside->path = NULL;
    return status;
}

static lx_status append(const lx__file *file, uint64_t *end, const void *bytes, size_t size,
                        lx_error *error)
{
    lx_status status = lx__file_write(file, bytes, size, *end, error);
    *end += size;
    return status;
}

static lx_status append_text(lx__aside *aside, const char *text, lx_error *error)
{
    return append(&aside->list, &aside->list_bytes, text, strlen(text), error);
}

static lx_status begin_list(lx__aside *aside, const lx__meta *meta, lx_error *error)
{
    char text[256];
    lx_status status = lx__file_open(&aside->list, &aside->directory, LIST_NAME,
                                     O_RDWR | O_CREAT | O_EXCL, error);
    if (status == LX_OK)
        status = lx__file_open(&aside->values, &aside->directory, VALUES_NAME,
                               O_RDWR | O_CREAT | O_EXCL, error);
    snprintf(text, sizeof text,
             "{\n  \"uuid\": \"%s\",\n  \"generation\": %llu,\n  \"damages\": [", meta->uuid_text,
             (unsigned long long)meta->generation);
    return status == LX_OK ? append_text(aside, text, error) : status;
}

lx_status lx__aside_make(lx__aside *aside, const lx__file *directory, const lx__meta *meta,
                         lx_error *error)
{
    if (aside->path != NULL)
        return LX_OK;
    char *base = real_path(directory);
    if (base == NULL)
        return lx__fail_errno(error, errno, directory->path, "cannot look at");
    lx_status status = find_number(aside, base, error);
    free(base);
    if (status == LX_OK)
        status = lx__directory_open(&aside->directory, LX__HERE, aside->path, error);
    return status == LX_OK ? begin_list(aside, meta, error) : status;
}

static json_t *number(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_null();
}

/** Where a value was said to lie, all of it: somebody may know what to make of it. */
static json_t *entry_json(const lx__entry *entry)
{
    return json_pack("{s:I, s:o, s:I, s:I, s:I}", "chunk", (json_int_t)entry->chunk, "offset",
                     number(entry->offset), "physical", (json_int_t)entry->physical, "logical",
                     (json_int_t)entry->logical, "crc", (json_int_t)entry->crc);
}

static lx_status append_item(lx__aside *aside, json_t *item, lx_error *error)
{
    char *text = item != NULL ? lx__json_text(item, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(item);
    if (text == NULL)
        return lx__fail_memory(error, "a list of damages");
    lx_status status = append_text(aside, aside->count++ != 0 ? ",\n    " : "\n    ", error);
    if (status == LX_OK)
        status = append_text(aside, text, error);
    lx__free(text);
    return status;
}

/** A path that is not UTF-8 is no text of JSON: a '?' stands for each byte that is not ASCII. */
static json_t *text_json(const char *text)
{
    json_t *string = json_string(text);
    char copy[sizeof((lx_error *)0)->path];
    if (string != NULL)
        return string;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *at = copy; *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    return json_string(copy);
}

lx_status lx__aside_add(lx__aside *aside, const lx_error *damage, const char *remedy,
                        const lx__entry *entry, const void *stored, size_t size, lx_error *error)
{
    json_t *item = json_pack("{s:s, s:o, s:o, s:o, s:o, s:s}", "field", damage->field, "record",
                             number(damage->record), "path", text_json(damage->path), "offset",
                             number(damage->offset), "message", text_json(damage->message),
                             "remedy", remedy);
    lx_status status = LX_OK;
    if (item != NULL && entry != NULL)
        json_object_set_new(item, "entry", entry_json(entry));
    if (item != NULL && size != 0) {
        json_object_set_new(item, "values_offset", number(aside->value_bytes));
        json_object_set_new(item, "values_bytes", number(size));
        status = append(&aside->values, &aside->value_bytes, stored, size, error);
    }
    if (status != LX_OK) {
        json_decref(item);
        return status;
    }
    return append_item(aside, item, error);
}

lx_status lx__aside_add_move(lx__aside *aside, uint64_t from, uint64_t to, lx_error *error)
{
    return append_item(aside, json_pack("{s:o, s:o}", "moved", number(from), "to", number(to)),
                       error);
}

lx_status lx__aside_copy(lx__aside *aside, const lx__file *directory, const char *name,
                         lx_error *error)
{
    lx__file from, to;
    lx_error why = LX_ERROR_INIT;
    uint64_t size;
    lx_status status = lx__file_open(&from, directory, name, O_RDONLY, &why);
    if (status == LX_ERR_NOT_FOUND || status == LX_ERR_CORRUPT)
        return LX_OK; /* that it is not there, or is no file, is told elsewhere */
    if (status != LX_OK) {
        lx__error_pass(error, &why);
        return status;
    }
    status = lx__file_open(&to, &aside->directory, name, O_RDWR | O_CREAT | O_EXCL, error);
    if (status == LX_OK) {
        status = lx__file_size(&from, &size, error);
        if (status == LX_OK)
            status = lx__file_copy(&from, &to, 0, size, error);
        if (status == LX_OK)
            status = lx__file_sync(&to, error);
        lx__file_close(&to);
    }
    lx__file_close(&from);
    return status;
}

lx_status lx__aside_finish(lx__aside *aside, lx_error *error)
{
    lx_status status = append_text(aside, aside->count != 0 ? "\n  ]\n}\n" : "]\n}\n", error);
    if (status == LX_OK)
        status = lx__file_sync(&aside->list, error);
    if (status == LX_OK)
        status = lx__file_sync(&aside->values, error);
    if (status == LX_OK)
        status = lx__file_sync(&aside->directory, error);
    return status == LX_OK ? lx__sync_parent(&aside->directory, error) : status;
}

static lx_status remove_one(void *user, const char *name, lx_error *error)
{
    return lx__file_remove(user, name, error);
}

void lx__aside_undo(lx__aside *aside)
{
    if (aside->directory.fd != -1)
        (void)lx__directory_each(&aside->directory, remove_one, &aside->directory, NULL);
    if (aside->path != NULL)
        (void)lx__directory_remove(LX__HERE, aside->path, NULL);
    lx__free(aside->path);
    aside->path = NULL;
}

void lx__aside_close(lx__aside *aside)
{
    lx__file_close(&aside->list);
    lx__file_close(&aside->values);
    lx__file_close(&aside->directory);
    lx__free(aside->path);
    aside->path = NULL;
}
