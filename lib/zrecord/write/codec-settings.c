/* SPDX-License-Identifier: MIT */
#include "zrecord/write/codec-settings.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "zrecord/table/dictionary-file.h"
#include "zrecord/write/writer.h"

int lx__codec_settings_level(const lx_writer *writer, const lx_field *field)
{
    if (field->level != 0)
        return field->level;
    return writer->level != 0 ? writer->level : lx__codec_of(field->compression)->level_default;
}

lx_status lx__dictionary_list_add(lx__dictionary_list *list, uint32_t field, int level,
                                  lx__dictionary *dictionary, lx_error *error)
{
    struct lx__dictionary_item *items = lx__grow_array(list->items, list->count, &list->capacity,
                                                       sizeof *items);
    if (items == NULL)
        return lx__fail_memory(error, "a dictionary");
    list->items = items;
    items[list->count++] =
        (struct lx__dictionary_item){.field = field, .level = level, .dictionary = dictionary};
    return LX_OK;
}

void lx__dictionary_list_drop_last(lx__dictionary_list *list)
{
    lx__dictionary_free(list->items[--list->count].dictionary);
}

void lx__dictionary_list_free(lx__dictionary_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        lx__dictionary_free(list->items[i].dictionary);
    lx__free(list->items);
    *list = (lx__dictionary_list){0};
}

/** Loads a dictionary; it is NULL if it is damaged. */
static lx_status load(const lx_writer *writer, const lx__field *field, const lx__dict *sum,
                      int level, lx__dictionary **dictionary, lx_error *error)
{
    char line[600];
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__dictionary_load(&writer->directory, field->stem, sum,
                                           lx__codec_of(field->shown.compression), level,
                                           dictionary, &why);
    if (status == LX_OK)
        return LX_OK;
    if (status != LX_ERR_CORRUPT) {
        lx__error_propagate(error, &why);
        return status;
    }
    lx_error_describe(&why, line, sizeof line);
    lx__log(LX_LOG_WARNING,
            "%s: new values of field '%s' are compressed without its dictionary: %s",
            writer->directory.path, field->name, line);
    return LX_OK;
}

/** Finds the dictionary of a field in the list, or loads it into the list. */
static lx_status find(lx_writer *writer, const lx__field *field, const lx__dict *sum, int level,
                      const lx__dictionary **found, lx_error *error)
{
    lx__dictionary_list *list = &writer->dictionaries;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].field != field->shown.id || list->items[i].level != level)
            continue;
        *found = list->items[i].dictionary;
        return LX_OK;
    }
    lx__dictionary *loaded;
    lx_status status = load(writer, field, sum, level, &loaded, error);
    if (status == LX_OK) {
        status = lx__dictionary_list_add(list, field->shown.id, level, loaded, error);
        if (status != LX_OK)
            lx__dictionary_free(loaded);
    }
    *found = status == LX_OK ? loaded : NULL;
    return status;
}

lx_status lx__codec_settings_make(lx_writer *writer, const lx__meta *meta, const lx_schema *schema,
                                  lx__codec_settings **settings, lx_error *error)
{
    lx_status status = LX_OK;
    lx__codec_settings *made = lx__alloc_array(schema->count, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a writer");
    for (size_t i = 0; status == LX_OK && i < schema->count; i++) {
        const lx__field *field = lx__schema_field(schema, i);
        lx__dict sum;
        if (lx__codec_of(field->shown.compression) == NULL)
            continue;
        made[i].level = lx__codec_settings_level(writer, &field->shown);
        if (lx__meta_find_dict(meta, i, &sum))
            status = find(writer, field, &sum, made[i].level, &made[i].dictionary, error);
    }
    if (status == LX_OK)
        *settings = made;
    else
        lx__free(made);
    return status;
}
