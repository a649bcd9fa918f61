/* SPDX-License-Identifier: MIT */
#include "importer/class-names.h"

#include <string.h>

#include <loaderx/card.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/utf8.h"

/* Bytes of a card that stay free for the entry LX_CARD_IMPORT, which grows during an import. */
#define RESERVE 1024

/* ---- reading the entry */

/** Whether a list consists of texts and has, at their labels, the names of all classes. */
static bool has_all(const json_t *list, const lx__class_labels *labels)
{
    size_t i;
    const json_t *name;
    bool good = json_is_array(list) && labels->count != 0;
    json_array_foreach(list, i, name)
    {
        good = good && json_is_string(name);
    }
    for (i = 0; good && i < labels->count; i++) {
        const lx__class_label *here = &labels->list[i];
        name = json_array_get(list, (size_t)here->label);
        good = name != NULL && json_string_length(name) == here->size &&
               memcmp(json_string_value(name), here->name, here->size) == 0;
    }
    return good;
}

lx_status lx__class_names_read(lx__class_labels *labels, const json_t *card, lx_error *error)
{
    json_error_t why;
    lx_status status = LX_OK;
    const char *text = json_string_value(json_object_get(card, LX__CLASSES_KEY));
    json_t *list = text != NULL ? json_loads(text, 0, &why) : NULL;
    if (text != NULL && list == NULL && json_error_code(&why) == json_error_out_of_memory)
        return lx__fail_memory(error, "the names of the classes");
    labels->listed = has_all(list, labels) ? json_array_size(list) : 0;
    for (size_t i = 0; status == LX_OK && i < labels->listed; i++) {
        const json_t *name = json_array_get(list, i);
        const int64_t label = (int64_t)i;
        status = lx__class_labels_put(labels, json_string_value(name), json_string_length(name),
                                      &label, error);
    }
    json_decref(list);
    return status;
}

/* ---- making the entry */

/** Whether the labels are 0, 1, 2 ..., and all names are valid UTF-8. */
static bool can_be_listed(const lx__class_labels *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        const lx__class_label *here = &labels->list[i];
        if (here->label < 0 || (uint64_t)here->label >= labels->count ||
            lx__utf8_span(here->name, here->size) != here->size)
            return false;
    }
    return true;
}

/** Returns the text of the entry; NULL if memory runs out. */
static char *print_names(const lx__class_labels *labels)
{
    json_t *list = json_array();
    int failed = list == NULL;
    for (size_t i = 0; !failed && i < labels->count; i++)
        failed = json_array_append_new(list, json_null());
    for (size_t i = 0; !failed && i < labels->count; i++) {
        const lx__class_label *here = &labels->list[i];
        failed = json_array_set_new(list, (size_t)here->label,
                                    json_stringn(here->name, here->size));
    }
    char *text = failed ? NULL : lx__json_text(list, JSON_COMPACT);
    json_decref(list);
    return text;
}

/** Whether a card has room for the entry. */
static bool fits(const json_t *card, const char *text)
{
    const char *key;
    json_t *entry;
    size_t bytes = RESERVE + strlen(LX__CLASSES_KEY) + strlen(text), count = 2;
    json_object_foreach((json_t *)card, key, entry)
    {
        bool other = strcmp(key, LX__CLASSES_KEY) != 0;
        bytes += other ? strlen(key) + json_string_length(entry) : 0;
        count += other;
    }
    return bytes <= LX_MAX_CARD_BYTES && count <= LX_MAX_CARD_ENTRIES;
}

lx_status lx__class_names_print(const lx__class_labels *labels, const lx_schema *schema,
                                const json_t *card, char **text, lx_error *error)
{
    size_t position;
    bool given = json_object_get(card, LX__CLASSES_KEY) != NULL && labels->listed == 0;
    *text = NULL;
    if (given || labels->listed == labels->count ||
        lx_schema_find_field(schema, LX__LABEL_FIELD, &position, NULL) != LX_OK)
        return LX_OK;
    bool listed = can_be_listed(labels);
    char *printed = listed ? print_names(labels) : NULL;
    if (listed && printed == NULL)
        return lx__fail_memory(error, "the names of the classes");
    if (listed && fits(card, printed)) {
        *text = printed;
        return LX_OK;
    }
    lx__log(LX_LOG_WARNING, "the names of the %zu classes are not stored in the card, because %s",
            labels->count,
            listed ? "they do not fit" : "one is not valid UTF-8, or a label has none");
    lx__free(printed);
    return LX_OK;
}
