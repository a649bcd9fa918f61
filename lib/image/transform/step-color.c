/* SPDX-License-Identifier: MIT */
/* Steps that change the colours of pictures. */
#include <math.h>

#include "base/error.h"
#include "image/pixel/color.h"
#include "image/pixel/exact-math.h"
#include "image/transform/transform.h"

/* ---- color_jitter: torchvision's ColorJitter */

enum { BRIGHTNESS, CONTRAST, SATURATION, HUE, CHANGES };

/** What each change is called, the amount that leaves pictures as they are, and the bounds. */
static const struct {
    const char *name;
    double neutral, least, most;
} changes[CHANGES] = {
    [BRIGHTNESS] = {"brightness", 1, 0, LX__COLOR_FACTOR_MAX},
    [CONTRAST] = {"contrast", 1, 0, LX__COLOR_FACTOR_MAX},
    [SATURATION] = {"saturation", 1, 0, LX__COLOR_FACTOR_MAX},
    [HUE] = {"hue", 0, -0.5, 0.5},
};

static void change(const lx_image *image, int which, double amount)
{
    if (which == BRIGHTNESS)
        lx__color_set_brightness(image, (float)amount);
    else if (which == CONTRAST)
        lx__color_set_contrast(image, (float)amount);
    else if (which == SATURATION)
        lx__color_set_saturation(image, (float)amount);
    else
        lx__color_shift_hue(image, (uint8_t)(int)(amount * 255));
}

/** Makes the changes in a random order. The numbers: one for each amount, then those of the order. */
static lx_status jitter(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                        lx_error *error)
{
    uint64_t numbers[CHANGES + CHANGES - 1];
    int order[CHANGES] = {BRIGHTNESS, CONTRAST, SATURATION, HUE};
    lx_status status = lx__picture_decode(picture, error);
    if (status != LX_OK)
        return status;
    lx__draw(draws, CHANGES + CHANGES - 1, numbers);
    for (uint32_t left = CHANGES; left != 0; left--) {
        uint32_t at = left == 1 ? 0 : lx__draw_below(numbers[CHANGES + left - 2], left);
        int which = order[at];
        const double *range = step->jitter.ranges[which];
        order[at] = order[left - 1];
        if (range[0] != changes[which].neutral || range[1] != changes[which].neutral)
            change(&picture->pixels, which, lx__draw_between(numbers[which], range));
    }
    return LX_OK;
}

static int save_jitter(const lx__step *step, json_t *object)
{
    int failed = 0;
    for (int i = 0; i < CHANGES; i++) {
        const double *range = step->jitter.ranges[i];
        failed |= json_object_set_new(object, changes[i].name,
                                      json_pack("[f, f]", range[0], range[1]));
    }
    return failed;
}

static const lx__step_class jitter_class = {
    .name = "color_jitter", .run = jitter, .save = save_jitter};

lx_status lx_image_transform_add_color_jitter(lx_image_transform *transform,
                                              const double brightness[2], const double contrast[2],
                                              const double saturation[2], const double hue[2],
                                              lx_error *error)
{
    const double *const ranges[CHANGES] = {brightness, contrast, saturation, hue};
    lx__step step = {.class = &jitter_class};
    for (int i = 0; i < CHANGES; i++) {
        const double neutral[] = {changes[i].neutral, changes[i].neutral};
        const double *range = ranges[i] != NULL ? ranges[i] : neutral;
        lx_status status = lx__step_check_range(changes[i].name, range, changes[i].least,
                                                changes[i].most, error);
        if (status != LX_OK)
            return status;
        step.jitter.ranges[i][0] = range[0];
        step.jitter.ranges[i][1] = range[1];
    }
    return lx__transform_add(transform, &step, error);
}

/* ---- grey: torchvision's RandomGrayscale */

static lx_status remove_colors(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                               lx_error *error)
{
    uint64_t number;
    lx__draw(draws, 1, &number);
    if (lx__draw_uniform(number) >= step->probability)
        return LX_OK;
    lx_status status = lx__picture_decode(picture, error);
    if (status == LX_OK)
        lx__color_remove(&picture->pixels);
    return status;
}

static const lx__step_class grey_class = {
    .name = "grey", .run = remove_colors, .save = lx__step_save_probability};

lx_status lx_image_transform_add_grey(lx_image_transform *transform, double probability,
                                      lx_error *error)
{
    lx_status status = lx__step_check_probability(probability, error);
    if (status != LX_OK)
        return status;
    const lx__step step = {.class = &grey_class, .probability = probability};
    return lx__transform_add(transform, &step, error);
}

/* ---- lighting: of A. Krizhevsky, I. Sutskever and G. E. Hinton, ImageNet Classification with Deep
 * Convolutional Neural Networks, 2012, section 4.1 */

/* The principal components of the colours of ImageNet, with the numbers that MXNet's
 * image.CreateAugmenter() passes to its LightingAug for pca_noise; each column is a vector. */
static const double eigenvalues[3] = {55.46, 4.794, 1.148};
static const double eigenvectors[3][3] = {
    {-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};

/** Returns a number with the standard normal distribution, by the method of Box and Muller. */
static double normal(const uint64_t numbers[2])
{
    int exponent;
    double sine, cosine, mantissa = frexp(1 - lx__draw_uniform(numbers[0]), &exponent);
    double log = lx__exact_log(mantissa) + exponent * 0.6931471805599453;
    lx__exact_sin_cos(lx__draw_uniform(numbers[1]) * 6.283185307179586, &sine, &cosine);
    return log < 0 ? sqrt(-2 * log) * cosine : 0; /* rounding can make log(1) positive */
}

static lx_status add_light(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                           lx_error *error)
{
    uint64_t numbers[6];
    double light[3] = {0, 0, 0};
    lx_status status = lx__picture_decode(picture, error);
    if (status != LX_OK)
        return status;
    lx__draw(draws, 6, numbers);
    for (int i = 0; i < 3; i++) {
        double amount = normal(numbers + (size_t)i * 2) * step->deviation * eigenvalues[i];
        for (int c = 0; c < 3; c++)
            light[c] += eigenvectors[c][i] * amount;
    }
    lx__color_add(&picture->pixels, light);
    return LX_OK;
}

static int save_lighting(const lx__step *step, json_t *object)
{
    return json_object_set_new(object, "deviation", json_real(step->deviation));
}

static const lx__step_class lighting_class = {
    .name = "lighting", .run = add_light, .save = save_lighting};

lx_status lx_image_transform_add_lighting(lx_image_transform *transform, double deviation,
                                          lx_error *error)
{
    if (!(deviation >= 0 && deviation <= 1000))
        return lx_fail(error, LX_ERR_ARGUMENT, "a standard deviation of %g is not in [0, 1000]",
                       deviation);
    const lx__step step = {.class = &lighting_class, .deviation = deviation};
    return lx__transform_add(transform, &step, error);
}
