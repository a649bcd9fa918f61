/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Where the steps of a transform move what an image shows: its points and boxes.
 *
 * Coordinates are those of the plane, not numbers of pixels: the image reaches from 0 to its width,
 * and the centre of its first pixel is at 0.5.
 */
#ifndef LX_IMAGE_MOVES_H
#define LX_IMAGE_MOVES_H

#include <loaderx/image/transform.h>

/** A change of coordinates: x becomes m[0] * x + m[1] * y + m[2], and y likewise. */
typedef struct lx__move {
    double matrix[6];
    uint32_t width, height; /**< The size of the image afterwards. */
} lx__move;

/** A step moves at most three times: a crop that enlarges its image twice. */
#define LX__MOVES_MAX (1 + 3 * LX_MAX_IMAGE_STEPS)

/** The moves of one image, in order. Boxes are clamped after each, so the moves are not one. */
typedef struct lx__moves {
    lx__move list[LX__MOVES_MAX];
    size_t count;
} lx__moves;

/** Starts with an image of this size, which does not move. */
void lx__moves_begin(lx__moves *moves, uint32_t width, uint32_t height);

/** Adds a move, after which the image has this size. */
void lx__moves_add(lx__moves *moves, const double matrix[6], uint32_t width, uint32_t height);

/** Moves a point (x, y), which may leave the image. */
void lx__moves_map_point(const lx__moves *moves, double point[2]);

/** Moves a box (left, top, right, bottom). After each move, it is the smallest box around the moved
 * one, clamped to the image, as in torchvision. Unlike there, one that once had no area has none at
 * the end. */
void lx__moves_map_box(const lx__moves *moves, double box[4]);

#endif
