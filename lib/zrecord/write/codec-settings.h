/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How a writer compresses the values of its fields.
 */
#ifndef LX_ZRECORD_CODEC_SETTINGS_H
#define LX_ZRECORD_CODEC_SETTINGS_H

#include "zrecord/format/meta.h"
#include "zrecord/write/flush-task.h"

/** The dictionaries that a writer has loaded, each for one field and one level. They stay until the
 * writer is closed. */
typedef struct lx__dictionary_list {
    struct lx__dictionary_item {
        uint32_t field; /**< The id of the field. */
        int level;
        lx__dictionary *dictionary; /**< NULL if it is damaged. */
    } * items;
    size_t count, capacity;
} lx__dictionary_list;

/** Returns the level at which a writer compresses a field, which must be compressed. */
int lx__codec_settings_level(const lx_writer *writer, const lx_field *field);

/**
 * Makes the settings of the fields of @p schema, and loads their dictionaries. If a dictionary is
 * damaged, new values are compressed without it, and a warning is logged: the writer must remain
 * able to repair the dataset.
 *
 * @param meta  Its document has the fields of @p schema, in the same order.
 */
lx_status lx__codec_settings_make(lx_writer *writer, const lx__meta *meta, const lx_schema *schema,
                                  lx__codec_settings **settings, lx_error *error);

/** Adds a dictionary for the field with the id @p field; takes it over if it succeeds. */
lx_status lx__dictionary_list_add(lx__dictionary_list *list, uint32_t field, int level,
                                  lx__dictionary *dictionary, lx_error *error);

/** Frees the dictionary that was added last, which nothing may refer to. */
void lx__dictionary_list_drop_last(lx__dictionary_list *list);

void lx__dictionary_list_free(lx__dictionary_list *list);

#endif
