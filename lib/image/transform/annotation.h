/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Columns that change with their images: masks, boxes and points.
 */
#ifndef LX_IMAGE_ANNOTATION_H
#define LX_IMAGE_ANNOTATION_H

#include <jansson.h>

#include <loaderx/batch.h>
#include <loaderx/image/transform.h>

#include "image/transform/moves.h"

/** Maximum length of a column name, without the NUL. */
#define LX__ANNOTATION_NAME_MAX 64

typedef enum lx__annotation_kind {
    LX__ANNOTATION_MASK,
    LX__ANNOTATION_BOXES,
    LX__ANNOTATION_POINTS
} lx__annotation_kind;

/** A column that changes with its image. */
typedef struct lx__annotation {
    lx__annotation_kind kind;
    char column[LX__ANNOTATION_NAME_MAX + 1];
    uint8_t fill;               /**< Of masks: the class of new pixels. */
    lx_image_box_format format; /**< Of boxes. */
} lx__annotation;

/** Describes an annotation completely. Returns NULL when out of memory. */
json_t *lx__annotation_to_json(const lx__annotation *annotation);

/** Fails unless a column has a type that the annotation can read. */
lx_status lx__annotation_check(const lx__annotation *annotation, const lx_column_info *info,
                               lx_error *error);

/** Moves boxes or points: the bytes at @p in, values of @p dtype, to @p out, neither of which needs
 * an alignment. Fails with LX_ERR_CORRUPT if a number is no coordinate. */
lx_status lx__annotation_move(const lx__annotation *annotation, const lx__moves *moves,
                              lx_dtype dtype, const uint8_t *in, size_t size, uint8_t *out,
                              lx_error *error);

#endif
