/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a step of a transform is.
 */
#ifndef LX_IMAGE_STEP_H
#define LX_IMAGE_STEP_H

#include <jansson.h>

#include <loaderx/image/resize.h>
#include <loaderx/status.h>

#include "image/transform/crop-box.h"
#include "image/transform/draw.h"
#include "image/transform/picture.h"

/** The size of all pictures at some place in a transform. */
typedef struct lx__extent {
    bool known; /**< Whether they have the same. */
    uint32_t width, height;
} lx__extent;

typedef struct lx__step lx__step;

/** A kind of steps. */
typedef struct lx__step_class {
    const char *name; /**< In saved states. */

    /** Changes a picture. A step that makes no choice ignores the draws. */
    lx_status (*run)(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                     lx_error *error);

    /** Changes the size; NULL if pictures keep theirs. */
    void (*extend)(const lx__step *step, lx__extent *extent);

    /** Adds the parameters to an object. Returns 0, or -1 when out of memory. */
    int (*save)(const lx__step *step, json_t *object);

    bool geometric; /**< Whether it moves what pictures show, so that masks, boxes and points must
                         follow. */
    bool last;      /**< Whether only steps of the same class can follow. */
} lx__step_class;

/** Parameters of resizes and crops; members that a class does not use are 0. */
typedef struct lx__size_step {
    uint32_t width, height; /**< Of resize_shorter: both are the shorter side. */
    lx_image_filter filter;
    lx__crop_ranges ranges;
} lx__size_step;

/** Parameters of color_jitter. */
typedef struct lx__jitter_step {
    double ranges[4][2]; /**< Of brightness, contrast, saturation and hue. */
} lx__jitter_step;

/** Parameters of pad and rotation. */
typedef struct lx__place_step {
    uint32_t sides[4]; /**< Of pad: the pixels to add left, at the top, right, at the bottom. */
    double degrees[2]; /**< Of rotation: the range. */
    lx_image_filter filter; /**< Of rotation. */
    uint8_t fill[3];        /**< The colour of new pixels. */
} lx__place_step;

/** Parameters of blur. */
typedef struct lx__blur_step {
    uint32_t width, height; /**< Of the pixels that a pixel is made of. */
    double deviations[2];   /**< The range. */
} lx__blur_step;

/** Parameters of erasing. */
typedef struct lx__erasing_step {
    double probability;
    lx__crop_ranges ranges;
    float values[3]; /**< Of the tensor. */
} lx__erasing_step;

/** A step, with the parameters of its class. */
struct lx__step {
    const lx__step_class *class;
    union {
        lx__size_step size;
        lx__jitter_step jitter;
        lx__place_step place;
        lx__blur_step blur;
        lx__erasing_step erasing;
        double probability; /**< Of mirror and grey. */
        double deviation;   /**< Of lighting. */
    };
};

/** Saves the probability of a step. */
int lx__step_save_probability(const lx__step *step, json_t *object);

/** Saves the ranges of area and ratio. */
int lx__step_save_ranges(const lx__crop_ranges *ranges, json_t *object);

/** Saves the colour of new pixels. */
int lx__step_save_fill(const uint8_t fill[3], json_t *object);

/** Fails unless the probability is in [0, 1]. */
lx_status lx__step_check_probability(double probability, lx_error *error);

/** Fails unless @p range is not empty, and within these bounds. */
lx_status lx__step_check_range(const char *name, const double range[2], double least, double most,
                               lx_error *error);

#endif
