/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A list of images to pack: the id, the labels and the path of each.
 *
 * As a file, which ends in .lst, it is the list of MXNet's im2rec: a line for each image, with the
 * id, one or more labels and the path, separated by tabs.
 */
#ifndef LX_TOOLS_IMAGE_LIST_H
#define LX_TOOLS_IMAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <loaderx/status.h>

#include "extensions.h"

/** An image. Its labels and its path are in the list. */
typedef struct image_entry {
    uint64_t id;
    size_t path; /**< Offset in the text of the list. */
    size_t label;
    uint32_t labels; /**< Their number, at least 1. */
} image_entry;

/** A list; initialize with zeros. No two images have the same id. */
typedef struct image_list {
    image_entry *entries;
    size_t count, capacity;
    float *labels;
    size_t label_count, label_capacity;
    char *text; /**< The paths, each with a NUL at its end. */
    size_t text_size, text_capacity;
    size_t classes;      /**< Of a folder: the number of its sub-folders. */
    size_t hidden;       /**< Names that were left out because they begin with a dot. */
    extensions left_out; /**< Of a folder: files that are no images. */
} image_list;

/**
 * Reads a file.
 * @retval LX_ERR_CORRUPT  A line is not of the described form, the same id occurs twice, or there
 *                         are no lines; the error names the line.
 */
lx_status image_list_read(image_list *self, const char *path, lx_error *error);

/**
 * Lists the images of a folder, in sorted order, at any depth: the files whose names have the
 * extension of an image format, in any case, even of one that cannot be decoded, so that none is
 * missed; and those that begin as an image that can be. Other files are left out and counted. Names
 * that begin with a dot are left out, unless @p hidden. The only label of an image is the number of
 * the sub-folder that it is in, in sorted order, or 0 if there are no sub-folders. Ids are numbers
 * of images. No folder may be @p place, where a folder will be made; NULL: none will.
 * @retval LX_ERR_ARGUMENT  One of the folders is @p place.
 * @retval LX_ERR_CORRUPT   There are no images; some are in sub-folders, and others are not; a name
 *                          has a tab, a line feed or a carriage return; or a link leads back to its
 *                          own folder.
 */
lx_status image_list_scan(image_list *self, const char *folder, bool hidden,
                          const struct stat *place, lx_error *error);

/** Adds an image; its path is @p size bytes. Add the labels with image_list_add_label() before. */
lx_status image_list_add(image_list *self, uint64_t id, uint32_t labels, const char *path,
                         size_t size, lx_error *error);

/** Adds a label of the next image. */
lx_status image_list_add_label(image_list *self, float label, lx_error *error);

/** Sorts ids. Returns one that occurs twice, and so would be found only once in an index; NULL:
 * there is none. */
const uint64_t *image_list_find_repeated(uint64_t *ids, size_t count);

/** Shuffles the list; the order depends only on the number of images and the seed. */
lx_status image_list_shuffle(image_list *self, uint64_t seed, lx_error *error);

/** Writes @p count images from @p first to a file, which appears when it is complete. */
lx_status image_list_write(const image_list *self, size_t first, size_t count, const char *path,
                           lx_error *error);

/** Returns the path of an image. */
const char *image_list_path(const image_list *self, const image_entry *entry);

/** Frees what the list has. */
void image_list_free(image_list *self);

#endif
