/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads the images of a list on several threads, and passes them on in the order of the
 * list.
 */
#ifndef LX_TOOLS_PACKER_H
#define LX_TOOLS_PACKER_H

#include <stdbool.h>

#include <loaderx/executor.h>

#include "image-list.h"
#include "image-recoder.h"
#include "progress.h"

/** Images that are packed. Members from @c packed on are what was done. */
typedef struct packer {
    const image_list *list;
    const char *root; /**< The folder of relative paths. */
    const image_recoding *recoding;
    lx_executor *executor;
    bool skip; /**< Bad images are printed and left out; otherwise the first one is a failure. */
    progress *bar;
    uint64_t total; /**< Images up to the end of the last run, for the progress bar. */
    uint64_t packed, skipped, bytes;
    extensions skipped_extensions; /**< Of the images that this run skipped. */
} packer;

/** Takes an image: a record with MXNet's header. Called on the thread of packer_run(). */
typedef lx_status packer_take(void *user, uint64_t id, const void *record, size_t size,
                              lx_error *error);

/**
 * Packs @p count images from @p first. What is passed on does not depend on the number of threads.
 *
 * @retval LX_ERR_CANCELED  A signal was received; see interrupt.h.
 * @return Otherwise, the status of the first image that is bad, or of @p take.
 */
lx_status packer_run(packer *self, size_t first, size_t count, packer_take *take, void *user,
                     lx_error *error);

#endif
