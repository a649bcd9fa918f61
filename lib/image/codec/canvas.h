/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Where decoded rows go: the caller's pixels, turned and mirrored.
 *
 * Exif numbers the eight ways in which an image can be stored. "Stored" means as in the file, and
 * "upright" as it is seen.
 */
#ifndef LX_IMAGE_CODEC_CANVAS_H
#define LX_IMAGE_CODEC_CANVAS_H

#include <stdbool.h>

#include <loaderx/image/format.h>

/** Receives the pixels of a row. */
typedef void (*lx__row_function)(void *user, const uint8_t *row);

typedef struct lx__canvas {
    lx_image_region region; /**< What to decode, in the stored image. */
    uint8_t *corner;        /**< Where the first pixel of its first row goes. */
    ptrdiff_t across;       /**< The distance in bytes from there to the next pixel of the row. */
    ptrdiff_t down;         /**< The distance to the first pixel of the next row. */
    uint32_t channels;      /**< Of a pixel: 1 or 3. */
    lx__row_function put;   /**< Receives the rows instead; then the members before are not used. */
    void *user;
} lx__canvas;

/** Whether an image in this orientation is stored with rows and columns exchanged. */
bool lx__canvas_swaps(uint32_t orientation);

/**
 * Describes the pixels of the caller.
 *
 * @param[out] canvas       The canvas.
 * @param[in]  region       What to decode, in the upright image.
 * @param[in]  width        The width of the upright image.
 * @param[in]  height       Its height.
 * @param[in]  orientation  The number by Exif, from 1 to 8.
 * @param[in]  pixels       Where the region goes.
 */
void lx__canvas_init(lx__canvas *canvas, const lx_image_region *region, uint32_t width,
                     uint32_t height, uint32_t orientation, const lx_image *pixels);

/**
 * Writes a stored row. Codecs write each row of the region once, in order.
 *
 * @param[in] canvas    The canvas.
 * @param[in] y         The row in the stored image, which must be within the region.
 * @param[in] row       The pixels of the region in this row.
 * @param[in] channels  Their channels: those of the canvas, or 3, from which grey is made.
 */
void lx__canvas_put(const lx__canvas *canvas, uint32_t y, const uint8_t *row, uint32_t channels);

#endif
