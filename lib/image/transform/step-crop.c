/* SPDX-License-Identifier: MIT */
/* Steps that keep a part of pictures. */
#include "image/transform/step-size.h"

#include "base/error.h"

/** Resizes a picture, with sides that were computed. */
static lx_status enlarge(lx__picture *picture, float width, float height, lx_error *error)
{
    if (width > LX_IMAGE_SIDE_MAX || height > LX_IMAGE_SIDE_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "an image of %u x %u pixels would be enlarged to a side of %.0f pixels",
                       picture->width, picture->height, (double)(width > height ? width : height));
    return lx__picture_resize(picture, (uint32_t)width, (uint32_t)height, LX_IMAGE_BILINEAR, error);
}

/** Enlarges a picture that is smaller than its crop: first its height, then its width. */
static lx_status enlarge_as_mxnet(const lx__size_step *size, lx__picture *picture, lx_error *error)
{
    lx_status status = LX_OK;
    float width = (float)size->width, height = (float)size->height;
    if (picture->height < size->height)
        status = enlarge(picture, height / (float)picture->height * (float)picture->width, height,
                         error);
    if (status == LX_OK && picture->width < size->width)
        status = enlarge(picture, width, width / (float)picture->width * (float)picture->height,
                         error);
    return status;
}

/** Ensures that a picture is not smaller than its crop. */
static lx_status fit_crop(const lx__size_step *size, lx__picture *picture, lx_error *error)
{
    lx_status status = LX_OK;
    if (picture->convention == LX_IMAGE_MXNET)
        status = enlarge_as_mxnet(size, picture, error);
    if (status != LX_OK || (size->width <= picture->width && size->height <= picture->height))
        return status;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "the image has %u x %u pixels, less than the crop of %u x %u: resize it first",
                   picture->width, picture->height, size->width, size->height);
}

/** Half of the rest, rounded to even, as torchvision's center_crop() has it, or down. */
static uint32_t margin(uint32_t side, uint32_t cropped, lx_image_convention convention)
{
    uint32_t half = (side - cropped) / 2;
    return convention == LX_IMAGE_MXNET ? half : half + ((side - cropped) % 2 & half % 2);
}

static lx_status crop_center(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                             lx_error *error)
{
    (void)draws;
    const lx__size_step *size = &step->size;
    lx_status status = fit_crop(size, picture, error);
    if (status == LX_OK)
        lx__picture_crop(
            picture,
            &(lx_image_region){.left = margin(picture->width, size->width, picture->convention),
                               .top = margin(picture->height, size->height, picture->convention),
                               .width = size->width,
                               .height = size->height});
    return status;
}

static lx_status crop_random(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                             lx_error *error)
{
    uint64_t numbers[2];
    const lx__size_step *size = &step->size;
    lx_status status = fit_crop(size, picture, error);
    if (status != LX_OK)
        return status;
    lx__draw(draws, 2, numbers);
    lx__picture_crop(
        picture,
        &(lx_image_region){.left = lx__draw_below(numbers[0], picture->width - size->width + 1),
                           .top = lx__draw_below(numbers[1], picture->height - size->height + 1),
                           .width = size->width,
                           .height = size->height});
    return LX_OK;
}

static lx_status crop_and_resize(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                                 lx_error *error)
{
    uint64_t numbers[LX__CROP_DRAWS];
    const lx__size_step *size = &step->size;
    lx__draw(draws, LX__CROP_DRAWS, numbers);
    lx_image_region part = lx__crop_box_choose(&size->ranges, picture->width, picture->height,
                                               numbers);
    lx__picture_crop(picture, &part);
    return lx__picture_resize(picture, size->width, size->height, size->filter, error);
}

static int save_resized(const lx__step *step, json_t *object)
{
    return lx__size_step_save(step, object) | lx__step_save_ranges(&step->size.ranges, object);
}

static const lx__step_class center_class = {.name = "center_crop",
                                            .geometric = true,
                                            .run = crop_center,
                                            .extend = lx__size_step_extend,
                                            .save = lx__size_step_save};
static const lx__step_class random_class = {.name = "random_crop",
                                            .geometric = true,
                                            .run = crop_random,
                                            .extend = lx__size_step_extend,
                                            .save = lx__size_step_save};
static const lx__step_class resized_class = {.name = "random_resized_crop",
                                             .geometric = true,
                                             .run = crop_and_resize,
                                             .extend = lx__size_step_extend,
                                             .save = save_resized};

lx_status lx_image_transform_add_center_crop(lx_image_transform *transform, uint32_t width,
                                             uint32_t height, lx_error *error)
{
    const lx__size_step size = {.width = width, .height = height};
    return lx__size_step_add(transform, &center_class, &size, error);
}

lx_status lx_image_transform_add_random_crop(lx_image_transform *transform, uint32_t width,
                                             uint32_t height, lx_error *error)
{
    const lx__size_step size = {.width = width, .height = height};
    return lx__size_step_add(transform, &random_class, &size, error);
}

lx_status lx_image_transform_add_random_resized_crop(lx_image_transform *transform, uint32_t width,
                                                     uint32_t height, const double area[2],
                                                     const double ratio[2], lx_image_filter filter,
                                                     lx_error *error)
{
    static const double usual_area[] = {0.08, 1}, usual_ratio[] = {3. / 4, 4. / 3};
    const double *a = area != NULL ? area : usual_area, *r = ratio != NULL ? ratio : usual_ratio;
    if (!(a[0] > 0 && a[0] <= a[1] && a[1] <= 1))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "area: [%g, %g] is not a range of fractions in (0, 1]", a[0], a[1]);
    lx_status status = lx__step_check_range("ratio", r, 0.001, 1000, error);
    if (status != LX_OK)
        return status;
    const lx__size_step size = {
        .width = width, .height = height, .filter = filter, .ranges = lx__crop_ranges_of(a, r)};
    return lx__size_step_add(transform, &resized_class, &size, error);
}
