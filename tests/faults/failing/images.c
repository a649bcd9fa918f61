/* SPDX-License-Identifier: MIT */
/* Scenarios of images: decoding. */
#include "scenario.h"

#include <loaderx/image/decoder.h>

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

const struct scenario image_scenarios[] = {
    {"images", NULL, false, decode_all},
    {NULL, NULL, false, NULL},
};
