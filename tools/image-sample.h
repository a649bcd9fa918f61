/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the images of a field are like, found out from a sample of its records.
 */
#ifndef LX_TOOLS_IMAGE_SAMPLE_H
#define LX_TOOLS_IMAGE_SAMPLE_H

#include <jansson.h>

#include <loaderx/dataset.h>

/** How many of the images are of a kind. */
typedef struct image_count {
    const char *name;
    uint64_t count;
} image_count;

/** All zero without libloaderx-image. */
typedef struct image_sample {
    uint64_t read;              /**< The number of values in the sample. */
    uint64_t images;            /**< How many of these are images whose header can be decoded. */
    image_count formats[3];     /**< By format. */
    image_count modes[5];       /**< By Pillow's name of their colours. */
    uint32_t least[2], most[2]; /**< Width and height. */
} image_sample;

/**
 * Reads the headers of the images of evenly spaced records: of up to 64, or of the first of these
 * whose values have at most 64 MiB. A value that is missing or damaged counts as one that is no
 * image.
 */
lx_status image_sample_take(lx_dataset *dataset, size_t field, image_sample *sample,
                            lx_error *error);

/** Returns an object; null if no value was read, and NULL when out of memory. */
json_t *image_sample_json(const image_sample *sample);

/** Prints a line; nothing if no value was read. */
void image_sample_print(const image_sample *sample, const char *field, uint64_t length);

#endif
