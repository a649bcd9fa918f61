/* SPDX-License-Identifier: MIT */
/* Scenarios of images: decoding, encoding, and making tensors. */
#include "scenario.h"

#include <string.h>

#include <loaderx/image.h>

/* An image of one pixel in each format. */
static const char png[] =
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\0\0\0\0\x3a\x7e\x9b\x55"
    "\0\0\0\nIDAT\x78\x9c\x63\x38\1\0\0\xca\0\xc9\x99\xca\x5d\x7e\0\0\0\0IEND\xae\x42\x60\x82";
static const char webp[] = "RIFF\36\0\0\0WEBPVP8L\21\0\0\0\x2f"
                           "\x00\x00\x00\x00\x07\x50\xe4\x22\x17\xb9\xff\x81\x88\xe8\x7f\x00";
static const char jpeg[] =
    "\xff\xd8\xff\xdb\0\x43\0"
    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
    "\xff\xc0\0\13\10\0\1\0\1\1\1\x11\0\xff\xc4\0\x14\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2"
    "\xff\xc4\0\x14\x10\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xda\0\10\1\1\0\0\x3f\0\x4f\xff\xd9";

static void decode(struct run *run, lx_image_decoder *decoder, const char *bytes, size_t size)
{
    lx_image_info info;
    uint8_t pixel[3] = {0, 0, 0};
    if (!TRY(run, lx_image_decoder_open(decoder, bytes, size, &info, &run->error)) ||
        !TRY(run, lx_image_decoder_read(decoder, NULL, pixel, 3, &run->error)))
        return;
    if (pixel[0] < 190 || pixel[0] > 210 || pixel[1] != pixel[0] || pixel[2] != pixel[0])
        run_fail(run, "the pixel is %d, %d, %d", pixel[0], pixel[1], pixel[2]);
}

static void decode_all(struct run *run)
{
    lx_image_decoder *decoder;
    if (!TRY_NEW(run, decoder, lx_image_decoder_new()))
        return;
    for (int pass = 0; pass < 2; pass++) {
        decode(run, decoder, jpeg, sizeof jpeg - 1);
        decode(run, decoder, png, sizeof png - 1);
        decode(run, decoder, webp, sizeof webp);
    }
    lx_image_decoder_free(decoder);
}

/* ---- encoding */

/** Encodes an image of one pixel, and decodes it. */
static void encode(struct run *run, lx_image_encoder *encoder, lx_image_decoder *decoder,
                   lx_image_format format)
{
    uint8_t pixel = 200;
    const lx_image image = {&pixel, 1, 1, 1, 1};
    const void *bytes;
    size_t size;
    if (TRY(run, lx_image_encoder_encode(encoder, &image, format, &bytes, &size, &run->error)))
        decode(run, decoder, bytes, size);
}

static void encode_all(struct run *run)
{
    lx_image_decoder *decoder = NULL;
    lx_image_encoder *encoder;
    if (TRY_NEW(run, encoder, lx_image_encoder_new()) &&
        TRY_NEW(run, decoder, lx_image_decoder_new()) &&
        TRY(run, lx_image_encoder_set_quality(encoder, 90, &run->error)))
        for (int pass = 0; pass < 2; pass++) {
            lx_image_encoder_set_lossless(encoder, false);
            encode(run, encoder, decoder, LX_IMAGE_JPEG);
            encode(run, encoder, decoder, LX_IMAGE_PNG);
            encode(run, encoder, decoder, LX_IMAGE_WEBP);
            lx_image_encoder_set_lossless(encoder, true);
            encode(run, encoder, decoder, LX_IMAGE_WEBP);
        }
    lx_image_encoder_free(encoder);
    lx_image_decoder_free(decoder);
}

/* ---- tensors */

/* The columns of the source: the one-pixel image is its own mask. */
enum { IMAGE, MASK, BOXES, POINTS, COLUMNS };

static const float box[] = {0, 0, 1, 1};

static lx_status get_sizes(size_t column, const uint64_t *indices, size_t count, uint64_t *offsets,
                           void *user, lx_error *error)
{
    (void)indices, (void)user, (void)error;
    for (size_t i = 0; i <= count; i++)
        offsets[i] = i * (column == BOXES ? sizeof box : sizeof png - 1);
    return LX_OK;
}

static lx_status fill_bytes(size_t column, const uint64_t *indices, size_t count,
                            const uint64_t *offsets, void *out, void *user, lx_error *error)
{
    const void *from = column == BOXES ? (const void *)box : png;
    (void)indices, (void)user, (void)error;
    for (size_t i = 0; i < count; i++)
        memcpy((uint8_t *)out + offsets[i], from, (size_t)(offsets[i + 1] - offsets[i]));
    return LX_OK;
}

static lx_status fill(const uint64_t *indices, size_t count, const lx_target *targets, void *user,
                      lx_error *error)
{
    (void)indices, (void)user, (void)error;
    for (size_t i = 0; i < count && targets[POINTS].data != NULL; i++)
        memcpy((uint8_t *)targets[POINTS].data + i * targets[POINTS].stride, box, sizeof box);
    return LX_OK;
}

static lx_source *open_images(struct run *run)
{
    static const uint64_t four[] = {LX_NONE, 4}, two[] = {2, 2};
    static const lx_column_info columns[] = {
        [IMAGE] = {.name = "image", .dtype = LX_BYTES},
        [MASK] = {.name = "mask", .dtype = LX_BYTES},
        [BOXES] = {.name = "boxes", .dtype = LX_FLOAT32, .ndim = 2, .shape = four},
        [POINTS] = {.name = "points", .dtype = LX_FLOAT32, .ndim = 2, .shape = two}};
    lx_source_options *options;
    lx_source *source = NULL;
    if (TRY_NEW(run, options, lx_source_options_new()) &&
        TRY(run, lx_source_options_set_fill(options, fill, NULL, &run->error)) &&
        TRY(run, lx_source_options_set_varying(options, get_sizes, fill_bytes, &run->error)))
        (void)TRY(run, lx_source_new(3, columns, COLUMNS, options, &source, &run->error));
    lx_source_options_free(options);
    return source;
}

static lx_image_transform *make_transform(struct run *run)
{
    static const double once[] = {1, 1.2}, twice[] = {0, 2}, turn[] = {-0.5, 0.5};
    static const double turns[] = {-180, 180};
    static const uint32_t sides[] = {4, 4, 4, 4};
    static const uint8_t white[] = {200, 200, 200};
    static const float whites[] = {200, 200, 200};
    lx_image_transform *made;
    lx_error *error = &run->error;
    if (!TRY_NEW(run, made, lx_image_transform_new()))
        return NULL;
    if (TRY(run, lx_image_transform_add_resize_shorter(made, 9, LX_IMAGE_BICUBIC, error)) &&
        TRY(run, lx_image_transform_add_center_crop(made, 8, 9, error)) &&
        TRY(run, lx_image_transform_add_random_crop(made, 7, 8, error)) &&
        TRY(run, lx_image_transform_add_resize(made, 20, 21, LX_IMAGE_LANCZOS, error)) &&
        TRY(run, lx_image_transform_add_random_resized_crop(made, 4, 4, NULL, NULL,
                                                            LX_IMAGE_BILINEAR, error)) &&
        TRY(run, lx_image_transform_add_mirror(made, 0.5, error)) &&
        TRY(run, lx_image_transform_set_convention(made, LX_IMAGE_TORCHVISION, error)) &&
        TRY(run, lx_image_transform_add_color_jitter(made, NULL, once, twice, turn, error)) &&
        TRY(run, lx_image_transform_add_grey(made, 0.5, error)) &&
        TRY(run, lx_image_transform_add_lighting(made, 0, error)) &&
        TRY(run, lx_image_transform_add_blur(made, 3, 5, NULL, error)) &&
        TRY(run, lx_image_transform_add_pad(made, sides, white, error)) &&
        TRY(run, lx_image_transform_add_rotation(made, turns, LX_IMAGE_BILINEAR, white, error)) &&
        TRY(run, lx_image_transform_add_center_crop(made, 4, 4, error)) &&
        TRY(run, lx_image_transform_add_erasing(made, 1, NULL, NULL, whites, error)) &&
        TRY(run, lx_image_transform_add_mask(made, "mask", 200, error)) &&
        TRY(run, lx_image_transform_add_boxes(made, "boxes", LX_IMAGE_XYXY, error)) &&
        TRY(run, lx_image_transform_add_points(made, "points", error)) &&
        TRY(run, lx_image_transform_set_tensor(made, LX_UINT8, LX_IMAGE_HWC, 1, NULL, NULL, error)))
        return made;
    lx_image_transform_free(made);
    return NULL;
}

static void make_tensors(struct run *run)
{
    const uint64_t indices[] = {2, 0};
    uint64_t offsets[3];
    uint8_t pixels[2][48], masks[2][16];
    float points[2][4], boxes[2][4];
    const lx_target targets[COLUMNS] = {
        [IMAGE] = {pixels, 48}, [MASK] = {masks, 16}, [POINTS] = {points, sizeof points[0]}};
    lx_source *part = open_images(run), *source = NULL;
    lx_image_transform *transform = part != NULL ? make_transform(run) : NULL;
    if (transform != NULL &&
        TRY(run, lx_source_new_images(part, "image", transform, &source, &run->error)) &&
        TRY(run, lx_source_fill(source, indices, 2, targets, &run->error))) {
        for (int i = 0; i < 96; i++)
            if (pixels[i / 48][i % 48] != 200)
                run_fail(run, "pixel %d is %d", i, pixels[i / 48][i % 48]);
        for (int i = 0; i < 32; i++)
            if (masks[i / 16][i % 16] != 200)
                run_fail(run, "the class of pixel %d is %d", i, masks[i / 16][i % 16]);
        if (TRY(run, lx_source_get_sizes(source, BOXES, indices, 2, offsets, &run->error)))
            TRY(run, lx_source_fill_bytes(source, BOXES, indices, 2, offsets, boxes, &run->error));
    }
    lx_source_unref(source);
    lx_source_unref(part);
    lx_image_transform_free(transform);
}

/* The mean image has 99 everywhere. */
static void subtract_mean(struct run *run)
{
    static const float factor[] = {2, 2, 2};
    const uint64_t index = 1;
    float mean[12], tensor[12];
    const lx_target targets[COLUMNS] = {[COLUMNS - 1] = {tensor, sizeof tensor}};
    lx_source *part = open_images(run), *source = NULL;
    lx_image_transform *made = NULL;
    lx_error *error = &run->error;
    for (int i = 0; i < 12; i++)
        mean[i] = 99;
    if (part != NULL && TRY_NEW(run, made, lx_image_transform_new()) &&
        TRY(run, lx_image_transform_add_resize(made, 2, 2, LX_IMAGE_BOX, error)) &&
        TRY(run, lx_image_transform_set_scaled_tensor(made, LX_FLOAT32, LX_IMAGE_CHW, NULL, factor,
                                                      error)) &&
        TRY(run, lx_image_transform_set_mean_image(made, 3, 2, 2, mean, error)) &&
        TRY(run, lx_image_transform_set_exposure(made, 0.001, 0.001, error)) &&
        TRY(run, lx_source_new_images(part, "image", made, &source, error)) &&
        TRY(run, lx_source_fill(source, &index, 1, targets, error)))
        for (int i = 0; i < 12; i++)
            if (tensor[i] < 201 || tensor[i] > 203)
                run_fail(run, "element %d is %g", i, (double)tensor[i]);
    lx_source_unref(source);
    lx_source_unref(part);
    lx_image_transform_free(made);
}

/** Converts an image of one pixel. */
static void convert_pixel(struct run *run, lx_image_tensorizer *tensorizer)
{
    uint8_t byte = 200, out = 0;
    const lx_image image = {&byte, 1, 1, 1, 1};
    if (TRY(run, lx_image_tensorizer_convert(tensorizer, &image, false, &out, 1, &run->error)) &&
        out != 50)
        run_fail(run, "the element is %d", out);
}

static void convert_scaled(struct run *run)
{
    static const float mean = 100, factor = 0.5f;
    lx_image_tensorizer *tensorizer = NULL;
    if (TRY(run, lx_image_tensorizer_new_scaled(LX_UINT8, LX_IMAGE_CHW, 1, &mean, &factor,
                                                &tensorizer, &run->error)))
        convert_pixel(run, tensorizer);
    lx_image_tensorizer_free(tensorizer);
    if (TRY(run, lx_image_tensorizer_new_mean_image(LX_UINT8, LX_IMAGE_CHW, 1, 1, 1, &mean, &factor,
                                                    &tensorizer, &run->error)))
        convert_pixel(run, tensorizer);
    lx_image_tensorizer_free(tensorizer);
}

const struct scenario image_scenarios[] = {
    {"images", NULL, false, decode_all},
    {"image-encoding", NULL, false, encode_all},
    {"image-tensors", NULL, false, make_tensors},
    {"image-means", NULL, false, subtract_mean},
    {"image-scaling", NULL, false, convert_scaled},
    {NULL, NULL, false, NULL},
};
