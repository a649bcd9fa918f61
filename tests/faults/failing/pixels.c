/* SPDX-License-Identifier: MIT */
/* Scenarios of images in memory: resizing, and conversion to tensors. */
#include "scenario.h"

#include <loaderx/image.h>

#define SIDE 40
#define SMALL 16

static void check_level(struct run *run, const char *what, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 200) {
            run_fail(run, "%s: a constant image has another level", what);
            return;
        }
}

static void resize(struct run *run, lx_image *in, lx_image *out)
{
    lx_image_resizer *resizer;
    if (!TRY_NEW(run, resizer, lx_image_resizer_new()))
        return;
    for (uint32_t height = SIDE / 4; height <= SIDE; height *= 2) {
        in->height = height;
        memset(out->pixels, 0, SMALL * SMALL * 3);
        if (TRY(run, lx_image_resizer_resize(resizer, in, NULL, LX_IMAGE_BICUBIC, true, out,
                                             &run->error)))
            check_level(run, "resize", out->pixels, SMALL * SMALL * 3);
    }
    lx_image_resizer_free(resizer);
}

static void convert(struct run *run, const lx_image *image)
{
    lx_image_tensorizer *tensorizer;
    uint8_t out[SMALL * SMALL * 3];
    if (!TRY(run, lx_image_tensorizer_new(LX_UINT8, LX_IMAGE_CHW, 3, 1, NULL, NULL, &tensorizer,
                                          &run->error)))
        return;
    if (TRY(run,
            lx_image_tensorizer_convert(tensorizer, image, true, out, sizeof out, &run->error)))
        check_level(run, "convert", out, sizeof out);
    lx_image_tensorizer_free(tensorizer);
}

static void resize_and_convert(struct run *run)
{
    static uint8_t large[SIDE * SIDE * 3];
    uint8_t small[SMALL * SMALL * 3];
    lx_image in = {large, SIDE * 3, SIDE, SIDE, 3}, out = {small, SMALL * 3, SMALL, SMALL, 3};
    memset(large, 200, sizeof large);
    resize(run, &in, &out);
    memset(small, 200, sizeof small);
    convert(run, &out);
}

const struct scenario pixel_scenarios[] = {
    {"pixels", NULL, false, resize_and_convert},
    {NULL, NULL, false, NULL},
};
