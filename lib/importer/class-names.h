/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The entry of a dataset's card that has the names of the classes, as a JSON array in the
 * order of their labels.
 */
#ifndef LX_IMPORTER_CLASS_NAMES_H
#define LX_IMPORTER_CLASS_NAMES_H

#include <jansson.h>

#include <loaderx/schema.h>

#include "importer/class-labels.h"

/** The key of the entry. */
#define LX__CLASSES_KEY "classes"

/**
 * Adds the classes of a card to those of its dataset's records, so that a class without records
 * keeps its label. An entry that does not have the names of the records' classes is not that of an
 * import: it is left as it is, and nothing is added. If it repeats a name, lx__class_labels_number()
 * fails.
 */
lx_status lx__class_names_read(lx__class_labels *labels, const json_t *card, lx_error *error);

/**
 * Returns the text of the entry for a dataset with this schema and card, after
 * lx__class_labels_number(); release it with lx__free(). It is NULL if the card stays as it is. If
 * that is because the names cannot be stored, logs this.
 */
lx_status lx__class_names_print(const lx__class_labels *labels, const lx_schema *schema,
                                const json_t *card, char **text, lx_error *error);

#endif
