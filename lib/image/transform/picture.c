/* SPDX-License-Identifier: MIT */
#include "image/transform/picture.h"

#include "base/alloc.h"
#include "base/error.h"
#include "image/codec/decoder.h"
#include "image/pixel/pad.h"
#include "image/pixel/resize.h"
#include "image/pixel/rotate.h"

lx_status lx__picture_init(lx__picture *picture, uint32_t channels, lx_error *error)
{
    picture->channels = channels;
    picture->decoder = lx_image_decoder_new();
    picture->resizer = lx_image_resizer_new();
    if (picture->decoder == NULL || picture->resizer == NULL)
        return lx__fail_memory(error, "an image");
    return lx_image_decoder_set_channels(picture->decoder, channels, error);
}

void lx__picture_set_max_pixels(lx__picture *picture, uint64_t pixels)
{
    lx_image_decoder_set_max_pixels(picture->decoder, pixels);
}

lx_status lx__picture_init_mask(lx__picture *picture, lx_error *error)
{
    lx_status status = lx__picture_init(picture, 1, error);
    picture->content = LX__PICTURE_CLASSES;
    if (status == LX_OK)
        lx_image_decoder_set_indices(picture->decoder, true);
    return status;
}

void lx__picture_clear(lx__picture *picture)
{
    lx_image_decoder_free(picture->decoder);
    lx_image_resizer_free(picture->resizer);
    for (int i = 0; i < 2; i++)
        lx__free(picture->buffers[i].data);
    lx__free(picture->scratch.data);
}

lx_status lx__picture_open(lx__picture *picture, const void *bytes, size_t size, lx_error *error)
{
    lx_image_info info;
    lx_status status = lx_image_decoder_open(picture->decoder, bytes, size, &info, error);
    if (status != LX_OK)
        return status;
    picture->width = info.width;
    picture->height = info.height;
    picture->region = (lx_image_region){.width = info.width, .height = info.height};
    picture->mirrored = picture->flipped = false;
    picture->decoded = false;
    picture->erasure_count = 0;
    lx__moves_begin(&picture->moves, info.width, info.height);
    return LX_OK;
}

/** Sets the size, after coordinates have changed from (x, y) to
 * (scale_x * x + left, scale_y * y + top). */
static void move(lx__picture *picture, double scale_x, double left, double scale_y, double top,
                 uint32_t width, uint32_t height)
{
    const double matrix[] = {scale_x, 0, left, 0, scale_y, top};
    lx__moves_add(&picture->moves, matrix, width, height);
    picture->width = width;
    picture->height = height;
}

/** Makes the other buffer an image of this size; the pixels stay where they are. */
static lx_status make_room(lx__picture *picture, uint32_t width, uint32_t height, lx_image *room,
                           lx_error *error)
{
    int other = 1 - picture->used;
    size_t stride = (size_t)width * picture->channels;
    if (height > SIZE_MAX / stride ||
        !lx__reserve(&picture->buffers[other].data, &picture->buffers[other].capacity,
                     stride * height))
        return lx__fail_memory(error, "an image");
    *room = (lx_image){.pixels = picture->buffers[other].data,
                       .stride = stride,
                       .width = width,
                       .height = height,
                       .channels = picture->channels};
    return LX_OK;
}

static void use(lx__picture *picture, const lx_image *pixels)
{
    picture->pixels = *pixels;
    picture->used = 1 - picture->used;
    picture->decoded = true;
}

lx_status lx__picture_decode(lx__picture *picture, lx_error *error)
{
    lx_image room;
    if (picture->decoded)
        return LX_OK;
    lx_status status = make_room(picture, picture->region.width, picture->region.height, &room,
                                 error);
    if (status == LX_OK)
        status = lx_image_decoder_read(picture->decoder, &picture->region, room.pixels, room.stride,
                                       error);
    if (status == LX_OK)
        use(picture, &room);
    return status;
}

void lx__picture_crop(lx__picture *picture, const lx_image_region *part)
{
    uint32_t left = picture->mirrored ? picture->width - part->left - part->width : part->left;
    if (picture->decoded) {
        picture->pixels.pixels += part->top * picture->pixels.stride +
                                  (size_t)left * picture->channels;
        picture->pixels.width = part->width;
        picture->pixels.height = part->height;
    } else if (picture->content != LX__PICTURE_OUTLINE) {
        picture->region.left += left;
        picture->region.top += part->top;
        picture->region.width = part->width;
        picture->region.height = part->height;
    }
    move(picture, 1, -(double)part->left, 1, -(double)part->top, part->width, part->height);
}

void lx__picture_mirror(lx__picture *picture)
{
    picture->mirrored = !picture->mirrored;
    picture->flipped = !picture->flipped;
    move(picture, -1, picture->width, 1, 0, picture->width, picture->height);
}

static bool has_antialiasing(const lx__picture *picture)
{
    return picture->convention == LX_IMAGE_TORCHVISION;
}

static void put_row(void *user, const uint8_t *row)
{
    lx__resizer_put(user, row);
}

/** Resizes to @p room what is not decoded yet. */
static lx_status decode_resized(lx__picture *picture, lx_image_filter filter, const lx_image *room,
                                lx_error *error)
{
    const lx_image_region *region = &picture->region;
    lx_status status = lx__resizer_begin(picture->resizer, region->width, region->height, NULL,
                                         filter, has_antialiasing(picture), room, error);
    return status == LX_OK
               ? lx__decoder_read_rows(picture->decoder, region, put_row, picture->resizer, error)
               : status;
}

/** Mirrors the pixels now: of two that are equally near, the resizer chooses the right one, which
 * must be the right one of the mirrored picture. */
static lx_status mirror_pixels(lx__picture *picture, lx_error *error)
{
    static const uint8_t none[3];
    lx_image room;
    lx_status status = lx__picture_decode(picture, error);
    if (status == LX_OK)
        status = make_room(picture, picture->pixels.width, picture->pixels.height, &room, error);
    if (status != LX_OK)
        return status;
    lx__image_rotate(&picture->pixels, true, 0, LX_IMAGE_NEAREST, none, &room);
    use(picture, &room);
    picture->mirrored = false;
    return LX_OK;
}

lx_status lx__picture_resize(lx__picture *picture, uint32_t width, uint32_t height,
                             lx_image_filter filter, lx_error *error)
{
    lx_image room;
    if (width == picture->width && height == picture->height)
        return LX_OK;
    move(picture, (double)width / picture->width, 0, (double)height / picture->height, 0, width,
         height);
    if (picture->content == LX__PICTURE_OUTLINE)
        return LX_OK;
    if (picture->content == LX__PICTURE_CLASSES)
        filter = LX_IMAGE_NEAREST;
    lx_status status = LX_OK;
    if (picture->mirrored && filter == LX_IMAGE_NEAREST)
        status = mirror_pixels(picture, error);
    bool by_rows = !picture->decoded && lx__decoder_has_rows(picture->decoder);
    if (status == LX_OK && !by_rows)
        status = lx__picture_decode(picture, error);
    if (status == LX_OK)
        status = make_room(picture, width, height, &room, error);
    if (status == LX_OK)
        status = by_rows ? decode_resized(picture, filter, &room, error)
                         : lx_image_resizer_resize(picture->resizer, &picture->pixels, NULL, filter,
                                                   has_antialiasing(picture), &room, error);
    if (status == LX_OK)
        use(picture, &room);
    return status;
}

/** Decodes the picture, and makes the other buffer an image of its size. */
static lx_status decode_and_make_room(lx__picture *picture, lx_image *room, lx_error *error)
{
    lx_status status = lx__picture_decode(picture, error);
    return status == LX_OK ? make_room(picture, picture->width, picture->height, room, error)
                           : status;
}

/** Returns the colour of new pixels: @p fill, or the class of a mask. */
static const uint8_t *fill_of(const lx__picture *picture, const uint8_t *fill)
{
    return picture->content == LX__PICTURE_CLASSES ? &picture->fill : fill;
}

lx_status lx__picture_pad(lx__picture *picture, const uint32_t sides[4], const uint8_t fill[3],
                          lx_error *error)
{
    lx_image room;
    uint64_t width = (uint64_t)sides[0] + picture->width + sides[2];
    uint64_t height = (uint64_t)sides[1] + picture->height + sides[3];
    if (width > LX_IMAGE_SIDE_MAX || height > LX_IMAGE_SIDE_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "an image of %u x %u pixels would be padded to %llu x %llu", picture->width,
                       picture->height, (unsigned long long)width, (unsigned long long)height);
    move(picture, 1, sides[0], 1, sides[1], (uint32_t)width, (uint32_t)height);
    if (picture->content == LX__PICTURE_OUTLINE)
        return LX_OK;
    lx_status status = decode_and_make_room(picture, &room, error);
    if (status != LX_OK)
        return status;
    lx__image_pad(&picture->pixels, picture->mirrored ? sides[2] : sides[0], sides[1],
                  fill_of(picture, fill), &room);
    use(picture, &room);
    return LX_OK;
}

/** Moves coordinates to where lx__image_rotate() brings pixels: it has the inverse matrix. */
static void move_around(lx__picture *picture, double degrees)
{
    double back[6], x = picture->width / 2.0, y = picture->height / 2.0;
    lx__rotation_find(degrees, picture->width, picture->height, back);
    double cosine = back[0], sine = back[1];
    const double matrix[] = {cosine, -sine,  x - cosine * x + sine * y,
                             sine,   cosine, y - sine * x - cosine * y};
    lx__moves_add(&picture->moves, matrix, picture->width, picture->height);
}

lx_status lx__picture_rotate(lx__picture *picture, double degrees, lx_image_filter filter,
                             const uint8_t fill[3], lx_error *error)
{
    lx_image room;
    if (degrees == 0)
        return LX_OK;
    move_around(picture, degrees);
    if (picture->content == LX__PICTURE_OUTLINE)
        return LX_OK;
    if (picture->content == LX__PICTURE_CLASSES)
        filter = LX_IMAGE_NEAREST;
    lx_status status = decode_and_make_room(picture, &room, error);
    if (status != LX_OK)
        return status;
    lx__image_rotate(&picture->pixels, picture->mirrored, degrees, filter, fill_of(picture, fill),
                     &room);
    use(picture, &room);
    picture->mirrored = false;
    return LX_OK;
}

lx_status lx__picture_blur(lx__picture *picture, const lx__blur_curve *across,
                           const lx__blur_curve *down, lx_error *error)
{
    lx_image room;
    lx_status status = decode_and_make_room(picture, &room, error);
    if (status != LX_OK)
        return status;
    if (!lx__reserve(&picture->scratch.data, &picture->scratch.capacity,
                     lx__blur_get_scratch(&picture->pixels, across)))
        return lx__fail_memory(error, "an image");
    lx__image_blur(&picture->pixels, across, down, picture->scratch.data, &room);
    use(picture, &room);
    return LX_OK;
}

void lx__picture_erase(lx__picture *picture, const lx_image_region *part, const float *values)
{
    picture->erasures[picture->erasure_count].part = *part;
    picture->erasures[picture->erasure_count++].values = values;
}
