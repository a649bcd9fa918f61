/* SPDX-License-Identifier: MIT */
/* Images: a byte for options, four for a region, and the file. If the whole image can be decoded,
 * so can the region, and it has the same pixels. Or the four bytes are steps that change the image:
 * the result has the size that is known before, and erased parts are within it. */
#include "fuzz.h"

#include <zlib.h>

#include <loaderx/image/decoder.h>

#include "base/bytes.h"
#include "image/transform/transform.h"

enum {
    SCALE = 3,   /* the number of halvings */
    GREY = 4,    /* one channel */
    STORED = 8,  /* not turned */
    REPAIR = 16, /* correct the checksums of a PNG */
    STEPS = 32,  /* change the image */
    MASK = 64,   /* classes instead of colours */
};

#define PIXELS 65536
#define FILE_MAX 65536

static void store_be32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void repair(uint8_t *file, size_t size)
{
    for (size_t at = 8; lx__range_fits(at, 12, size);) {
        uint32_t length = (uint32_t)file[at] << 24 | (uint32_t)file[at + 1] << 16 |
                          (uint32_t)file[at + 2] << 8 | file[at + 3];
        if (!lx__range_fits(at + 12, length, size))
            return;
        store_be32(file + at + 8 + length, (uint32_t)crc32(0, file + at + 4, length + 4));
        at += 12 + (size_t)length;
    }
}

/** Returns the part of [0, limit) that two bytes select. */
static void choose(struct input *input, uint32_t limit, uint32_t *first, uint32_t *count)
{
    *first = (uint32_t)((uint64_t)input_byte(input) * limit >> 8);
    *count = 1 + (uint32_t)((uint64_t)input_byte(input) * (limit - *first) >> 8);
    if (*count > limit - *first)
        *count = limit - *first;
}

static bool read_pixels(lx_image_decoder *decoder, const lx_image_region *region, uint8_t *pixels,
                        size_t stride)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_image_decoder_read(decoder, region, pixels, stride, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status != LX_OK && status != LX_ERR_CORRUPT && status != LX_ERR_UNSUPPORTED &&
        status != LX_ERR_LIMIT)
        fuzz_fail("reading: %s", lx_status_get_name(status));
    return status == LX_OK;
}

static void compare(lx_image_decoder *decoder, const lx_image_info *info, struct input *input,
                    uint32_t channels)
{
    static uint8_t whole[PIXELS * 3], part[PIXELS * 3];
    lx_image_region region;
    size_t stride = (size_t)info->width * channels;
    choose(input, info->width, &region.left, &region.width);
    choose(input, info->height, &region.top, &region.height);
    size_t row = (size_t)region.width * channels;
    bool complete = read_pixels(decoder, NULL, whole, stride);
    if (!read_pixels(decoder, &region, part, row)) {
        if (complete)
            fuzz_fail("a region cannot be decoded");
        return;
    }
    for (uint32_t y = 0; complete && y < region.height; y++)
        if (memcmp(whole + (region.top + y) * stride + (size_t)region.left * channels,
                   part + y * row, row) != 0)
            fuzz_fail("a region has other pixels");
}

/* ---- steps */

/** Adds the step that a byte selects. */
static void add_step(lx_image_transform *transform, unsigned byte)
{
    double amount = (byte >> 3) / 8.0; /* below 4 */
    const double factors[] = {amount, amount + 1}, turn[] = {-amount / 8, amount / 8};
    const double degrees[] = {-amount * 90, amount * 90}, deviations[] = {0.001, amount + 1};
    const uint32_t sides[] = {byte >> 3, byte >> 4, byte >> 5, byte >> 6}, size = 1 + (byte >> 3);
    const uint8_t fill[] = {1, 200, 255};
    const lx_image_filter filter = byte & 8 ? LX_IMAGE_NEAREST : LX_IMAGE_BILINEAR;
    switch (byte & 7) {
    case 0:
        (void)lx_image_transform_add_color_jitter(transform, factors, factors, factors, turn, NULL);
        break;
    case 1:
        (void)lx_image_transform_add_lighting(transform, amount, NULL);
        break;
    case 2:
        (void)lx_image_transform_add_blur(transform, size, size / 2 | 1, deviations, NULL);
        break;
    case 3:
        (void)lx_image_transform_add_pad(transform, sides, fill, NULL);
        break;
    case 4:
        (void)lx_image_transform_add_rotation(transform, degrees, filter, fill, NULL);
        break;
    case 5:
        (void)lx_image_transform_add_random_resized_crop(transform, size, 9, NULL, NULL, filter,
                                                         NULL);
        break;
    case 6:
        (void)lx_image_transform_add_mirror(transform, amount / 4, NULL);
        break;
    default:
        (void)lx_image_transform_add_erasing(transform, amount / 4, NULL, NULL, NULL, NULL);
    }
}

static void check_picture(const lx_image_transform *transform, const lx__picture *picture)
{
    uint32_t width, height;
    if (picture->width != picture->pixels.width || picture->height != picture->pixels.height)
        fuzz_fail("the picture has another size than its pixels");
    if (lx__transform_get_size(transform, &width, &height) &&
        (width != picture->width || height != picture->height))
        fuzz_fail("the size is %u x %u, not %u x %u", picture->width, picture->height, width,
                  height);
    for (size_t i = 0; i < picture->erasure_count; i++) {
        const lx_image_region *part = &picture->erasures[i].part;
        if (part->left + part->width > picture->width || part->top + part->height > picture->height)
            fuzz_fail("an erased part is not in the picture");
    }
}

/** Follows the steps without pixels: the size and the moves must be the same. */
static void check_outline(const lx_image_transform *transform, const uint64_t *key,
                          lx__picture *picture, const uint8_t *file, size_t size)
{
    static lx__moves moves;
    uint32_t width = picture->width, height = picture->height;
    moves = picture->moves;
    picture->content = LX__PICTURE_OUTLINE;
    if (lx__picture_open(picture, file, size, NULL) != LX_OK ||
        lx__transform_run(transform, key, picture, NULL) != LX_OK)
        fuzz_fail("the steps cannot be followed without pixels");
    if (picture->width != width || picture->height != height ||
        picture->moves.count != moves.count ||
        memcmp(picture->moves.list, moves.list, moves.count * sizeof *moves.list) != 0)
        fuzz_fail("without pixels, the steps do something else");
}

static void change(const uint8_t *file, size_t size, struct input *input, bool grey, bool mask)
{
    static const uint64_t key[] = {1, 2};
    lx_error error = LX_ERROR_INIT;
    static lx__picture picture;
    picture = (lx__picture){.fill = 7};
    lx_image_transform *transform = need(lx_image_transform_new());
    lx_image_transform_set_grey(transform, grey);
    for (int i = 0; i < 4; i++)
        add_step(transform, input_byte(input));
    lx_status status = mask ? lx__picture_init_mask(&picture, &error)
                            : lx__picture_init(&picture, transform->tensor.channels, &error);
    if (status == LX_OK) {
        lx_image_decoder_set_max_pixels(picture.decoder, PIXELS);
        status = lx__picture_open(&picture, file, size, &error);
    }
    if (status == LX_OK)
        status = lx__transform_run(transform, key, &picture, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status == LX_OK) {
        check_picture(transform, &picture);
        check_outline(transform, key, &picture, file, size);
    }
    lx__picture_clear(&picture);
    lx_image_transform_free(transform);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size}, region;
    unsigned options = input_byte(&input);
    uint32_t channels = options & (GREY | MASK) ? 1 : 3;
    uint8_t file[FILE_MAX];
    size_t skipped = 4;
    lx_image_info info;
    region.data = input_bytes(&input, &skipped);
    region.size = skipped;
    size_t length = input.size < sizeof file ? input.size : sizeof file;
    if (length != 0)
        memcpy(file, input.data, length);
    if (options & REPAIR)
        repair(file, length);
    if (options & STEPS) {
        change(file, length, &region, options & GREY, options & MASK);
        return 0;
    }
    lx_image_decoder *decoder = need(lx_image_decoder_new());
    lx_image_decoder_set_max_pixels(decoder, PIXELS);
    lx_image_decoder_set_upright(decoder, !(options & STORED));
    (void)lx_image_decoder_set_channels(decoder, channels, NULL);
    lx_image_decoder_set_indices(decoder, options & MASK);
    (void)lx_image_decoder_set_scale(decoder, 1U << (options & SCALE), NULL);
    if (lx_image_decoder_open(decoder, file, length, &info, NULL) == LX_OK)
        compare(decoder, &info, &region, channels);
    lx_image_decoder_free(decoder);
    return 0;
}
