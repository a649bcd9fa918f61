/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Which images of a list go to which file.
 */
#ifndef LX_TOOLS_PACK_PLAN_H
#define LX_TOOLS_PACK_PLAN_H

#include "fractions.h"
#include "image-list.h"

/** How a list is cut: into sets, each set into files, and each file into parts, of which one is
 * packed. */
typedef struct pack_cut {
    fractions sets; /**< None: all images. */
    uint64_t seed;  /**< Of the sets. */
    uint64_t chunks, part, parts;
} pack_cut;

/** A file, and its images in the list. */
typedef struct pack_file {
    char *path;
    size_t first, count;
} pack_file;

/** The files. Initialize with zeros. */
typedef struct pack_plan {
    pack_file *files;
    size_t count;
    size_t images; /**< Of all files. */
} pack_plan;

/** Assigns the images to files, which are named after @p output, and sorts the list by file. An
 * image whose set is not in the cut is left out. */
lx_status pack_plan_make(pack_plan *self, image_list *list, const pack_cut *cut, const char *output,
                         lx_error *error);

void pack_plan_free(pack_plan *self);

#endif
