/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The classes of an import of folders, and their labels. All inputs share one numbering, and
 * an import that appends to a dataset continues that of the dataset.
 */
#ifndef LX_IMPORTER_CLASS_LABELS_H
#define LX_IMPORTER_CLASS_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** The fields that have the class of a record and its label. */
#define LX__CLASS_FIELD "class"
#define LX__LABEL_FIELD "label"

typedef struct lx__class_label {
    char *name;
    size_t size;
    int64_t label;
    bool known; /**< The dataset has this class, with this label. */
} lx__class_label;

typedef struct lx__class_labels {
    lx__class_label *list; /**< Sorted by their names after lx__class_labels_number(). */
    size_t count, capacity;
    size_t merge;  /**< At this count, equal ones are merged. */
    size_t listed; /**< Those whose names the card of the dataset has. */
} lx__class_labels;

void lx__class_labels_free(lx__class_labels *self);

/**
 * Adds the classes of the first @p length records of a dataset, with their labels.
 *
 * @retval LX_ERR_MISMATCH  The dataset has labels, but not which class each of them is; or a class
 *                          has two labels, or two classes have the same one.
 * @return Otherwise, any status of lx_dataset_open() or lx_dataset_gather_bytes().
 */
lx_status lx__class_labels_read(lx__class_labels *self, const char *path, uint64_t length,
                                lx_error *error);

/** Adds the folders in @p folder, and links to folders; those whose names begin with a dot only if
 * @p hidden. Fails like lx__directory_open(). */
lx_status lx__class_labels_add(lx__class_labels *self, const char *folder, bool hidden,
                               lx_error *error);

/** Adds a class; @p label is NULL if the dataset does not have it. */
lx_status lx__class_labels_put(lx__class_labels *self, const char *name, size_t size,
                               const int64_t *label, lx_error *error);

/** Gives labels to the classes that have none, in the order of their names: the numbers after the
 * largest label of the dataset, or those from 0. Fails only if the labels run out. */
lx_status lx__class_labels_number(lx__class_labels *self, lx_error *error);

/** Finds the label of a class; false if there is no such class. */
bool lx__class_labels_find(const lx__class_labels *self, const char *name, size_t size,
                           int64_t *label);

/** A digest of all classes and labels. */
uint32_t lx__class_labels_digest(const lx__class_labels *self);

#endif
