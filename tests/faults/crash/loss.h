/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The remainder of a disk after a crash: an image, which consists of files and directories.
 */
#ifndef LX_TESTS_FAULTS_CRASH_LOSS_H
#define LX_TESTS_FAULTS_CRASH_LOSS_H

#include "disk.h"

struct image_file {
    char path[TRACE_PATH];
    bool directory;
    struct bytes bytes;
};

/** A directory precedes its entries. */
struct image {
    struct image_file *files;
    size_t count;
    size_t capacity;
};

void image_free(struct image *image);

/** Everything that processes see: the image after a kill. */
void loss_none(const struct disk *disk, struct image *image);

/**
 * A power loss: a random part of the changes that are not durable, writes and entries, is kept.
 * Writes are torn at multiples of 1, 8, 512 or 4096 bytes.
 */
void loss_of_power(const struct disk *disk, struct rng *rng, struct image *image);

#endif
