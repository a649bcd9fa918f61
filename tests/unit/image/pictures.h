/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Generated pictures in files of every kind, encoded by the libraries of the formats.
 */
#ifndef LX_TESTS_IMAGE_PICTURES_H
#define LX_TESTS_IMAGE_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#include <loaderx/image/format.h>

/** A kind of file. The members after @ref format belong to one format each. */
struct picture_kind {
    const char *name;
    lx_image_format format;
    J_COLOR_SPACE space; /**< JPEG: the colours in the file. */
    int across, down;    /**< JPEG: pixels for each sample of colour. */
    bool progressive;    /**< JPEG */
    bool partial;        /**< JPEG: progressive, without the last scans. */
    bool arithmetic;     /**< JPEG */
    int restart;         /**< JPEG: blocks between restart markers; 0: no markers. */
    int type, bits;      /**< PNG: the colour type, and the bits of a sample. */
    bool interlaced;     /**< PNG */
    bool transparent;    /**< PNG: with a chunk tRNS; WebP: with alpha. */
    bool lossless;       /**< WebP */
};

/** All kinds; the last has no name. */
extern const struct picture_kind picture_kinds[];

/** A file in memory, allocated with exactly its size, so that sanitizers find reads beyond it. */
struct picture {
    uint8_t *bytes;
    size_t size;
};

/** Returns the sample of channel @p c at a pixel of the generated picture. */
uint8_t picture_sample(uint32_t x, uint32_t y, uint32_t c);

/** Encodes the picture; with Exif data unless @p orientation is 0. Release it with free(). */
struct picture picture_encode(const struct picture_kind *kind, uint32_t width, uint32_t height,
                              uint32_t orientation);

/** Returns the kind of this name. */
const struct picture_kind *picture_kind(const char *name);

#endif
