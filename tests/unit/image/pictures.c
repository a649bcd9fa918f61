/* SPDX-License-Identifier: MIT */
#include "pictures.h"

#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <webp/encode.h>

#define JPEG(colours, h, v) .format = LX_IMAGE_JPEG, .space = JCS_##colours, .across = h, .down = v
#define PNG(colours, depth) .format = LX_IMAGE_PNG, .type = PNG_COLOR_TYPE_##colours, .bits = depth

const struct picture_kind picture_kinds[] = {
    {"jpeg-444", JPEG(YCbCr, 1, 1)},
    {"jpeg-422", JPEG(YCbCr, 2, 1)},
    {"jpeg-420", JPEG(YCbCr, 2, 2)},
    {"jpeg-440", JPEG(YCbCr, 1, 2)},
    {"jpeg-411", JPEG(YCbCr, 4, 1)},
    {"jpeg-410", JPEG(YCbCr, 4, 2)},
    {"jpeg-grey", JPEG(GRAYSCALE, 1, 1)},
    {"jpeg-rgb", JPEG(RGB, 1, 1)},
    {"jpeg-cmyk", JPEG(CMYK, 1, 1)},
    {"jpeg-ycck", JPEG(YCCK, 2, 2)},
    {"jpeg-420-restart", JPEG(YCbCr, 2, 2), .restart = 2},
    {"jpeg-444-restart", JPEG(YCbCr, 1, 1), .restart = 1},
    {"jpeg-420-arithmetic", JPEG(YCbCr, 2, 2), .arithmetic = true},
    {"jpeg-444-progressive", JPEG(YCbCr, 1, 1), .progressive = true},
    {"jpeg-422-progressive", JPEG(YCbCr, 2, 1), .progressive = true},
    {"jpeg-420-progressive", JPEG(YCbCr, 2, 2), .progressive = true, .restart = 3},
    {"jpeg-440-progressive", JPEG(YCbCr, 1, 2), .progressive = true},
    {"jpeg-grey-progressive", JPEG(GRAYSCALE, 1, 1), .progressive = true},
    {"jpeg-420-partial", JPEG(YCbCr, 2, 2), .progressive = true, .partial = true},
    {"png-grey-1", PNG(GRAY, 1)},
    {"png-grey-2", PNG(GRAY, 2)},
    {"png-grey-4", PNG(GRAY, 4)},
    {"png-grey-8", PNG(GRAY, 8)},
    {"png-grey-8-transparent", PNG(GRAY, 8), .transparent = true},
    {"png-grey-16", PNG(GRAY, 16)},
    {"png-grey-alpha-8", PNG(GRAY_ALPHA, 8)},
    {"png-grey-alpha-16", PNG(GRAY_ALPHA, 16), .interlaced = true},
    {"png-palette-1", PNG(PALETTE, 1)},
    {"png-palette-2", PNG(PALETTE, 2), .interlaced = true},
    {"png-palette-4", PNG(PALETTE, 4), .transparent = true},
    {"png-palette-8", PNG(PALETTE, 8)},
    {"png-rgb-8", PNG(RGB, 8)},
    {"png-rgb-8-transparent", PNG(RGB, 8), .transparent = true},
    {"png-rgb-16", PNG(RGB, 16)},
    {"png-rgb-8-interlaced", PNG(RGB, 8), .interlaced = true},
    {"png-rgba-8", PNG(RGB_ALPHA, 8)},
    {"png-rgba-16-interlaced", PNG(RGB_ALPHA, 16), .interlaced = true},
    {"png-grey-1-interlaced", PNG(GRAY, 1), .interlaced = true},
    {"webp-lossy", .format = LX_IMAGE_WEBP},
    {"webp-lossless", .format = LX_IMAGE_WEBP, .lossless = true},
    {"webp-lossy-alpha", .format = LX_IMAGE_WEBP, .transparent = true},
    {"webp-lossless-alpha", .format = LX_IMAGE_WEBP, .lossless = true, .transparent = true},
    {.name = NULL},
};

const struct picture_kind *picture_kind(const char *name)
{
    for (const struct picture_kind *kind = picture_kinds;; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
}

static void *need(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

uint8_t picture_sample(uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t noise = (x * 2654435761U ^ y * 2246822519U ^ c * 3266489917U) * 668265263U;
    uint32_t edge = (x / 5 + y / 7) % 3 == c % 3 ? 90 : 0;
    return (uint8_t)((x * (3 + c) + y * (5 - c)) % 120 + edge + (noise >> 27));
}

/* ---- Exif */

#define EXIF_SIZE 44

/** Makes Exif data: the prefix of a JPEG segment, a header, and a directory with two entries. */
static void make_exif(uint32_t orientation, uint8_t exif[EXIF_SIZE])
{
    const uint8_t big[] = {'E', 'x',  'i',  'f', 0, 0, 'M', 'M', 0, 42,  0, 0, 0, 8, 0,
                           2,   0x01, 0x0f, 0,   2, 0, 0,   0,   2, 'x', 0, 0, 0, 1, 0x12,
                           0,   3,    0,    0,   0, 1, 0,   0,   0, 0,   0, 0, 0, 0};
    memcpy(exif, big, sizeof big);
    exif[37] = (uint8_t)orientation;
}

/* ---- JPEG */

static void set_sampling(struct jpeg_compress_struct *library, const struct picture_kind *kind)
{
    jpeg_set_colorspace(library, kind->space);
    library->comp_info[0].h_samp_factor = kind->across;
    library->comp_info[0].v_samp_factor = kind->down;
    if (kind->space == JCS_YCCK) {
        library->comp_info[3].h_samp_factor = kind->across;
        library->comp_info[3].v_samp_factor = kind->down;
    }
}

static struct picture encode_jpeg(const struct picture_kind *kind, uint32_t width, uint32_t height,
                                  uint32_t orientation)
{
    struct jpeg_compress_struct library;
    struct jpeg_error_mgr errors;
    uint8_t exif[EXIF_SIZE];
    unsigned char *made = NULL;
    unsigned long size = 0;
    library.err = jpeg_std_error(&errors);
    jpeg_create_compress(&library);
    jpeg_mem_dest(&library, &made, &size);
    library.image_width = width;
    library.image_height = height;
    bool four = kind->space == JCS_CMYK || kind->space == JCS_YCCK;
    library.in_color_space = four ? JCS_CMYK : kind->space == JCS_GRAYSCALE ? kind->space : JCS_RGB;
    library.input_components = four ? 4 : kind->space == JCS_GRAYSCALE ? 1 : 3;
    jpeg_set_defaults(&library);
    jpeg_set_quality(&library, 90, TRUE);
    set_sampling(&library, kind);
    library.restart_interval = (unsigned)kind->restart;
    library.arith_code = kind->arithmetic;
    if (kind->progressive)
        jpeg_simple_progression(&library);
    if (kind->partial)
        library.num_scans = 5;
    jpeg_start_compress(&library, TRUE);
    if (orientation != 0) {
        make_exif(orientation, exif);
        jpeg_write_marker(&library, JPEG_APP0 + 1, exif, sizeof exif);
    }
    size_t channels = (size_t)library.input_components;
    uint8_t *row = need(malloc(width * channels));
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t i = 0; i < width * channels; i++)
            row[i] = picture_sample(i / (uint32_t)channels, y, i % (uint32_t)channels);
        jpeg_write_scanlines(&library, &row, 1);
    }
    jpeg_finish_compress(&library);
    jpeg_destroy_compress(&library);
    free(row);
    return (struct picture){made, size};
}

/* ---- PNG */

static void append(png_structp library, png_bytep bytes, size_t size)
{
    struct picture *to = png_get_io_ptr(library);
    to->bytes = need(realloc(to->bytes, to->size + size));
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void set_palette(png_structp library, png_infop header, const struct picture_kind *kind)
{
    png_color colours[256];
    png_byte alpha[4] = {0, 100, 255, 3};
    png_color_16 opaque = {0, 10, 20, 30, 40};
    if (kind->type == PNG_COLOR_TYPE_PALETTE) {
        int count = 1 << kind->bits;
        for (int i = 0; i < count; i++)
            colours[i] = (png_color){(png_byte)(i * 37), (png_byte)(255 - i), (png_byte)(i * 101)};
        png_set_PLTE(library, header, colours, count);
    }
    if (kind->transparent)
        png_set_tRNS(library, header, alpha, kind->type == PNG_COLOR_TYPE_PALETTE ? 4 : 0, &opaque);
}

static struct picture encode_png(const struct picture_kind *kind, uint32_t width, uint32_t height,
                                 uint32_t orientation)
{
    struct picture made = {NULL, 0};
    uint8_t exif[EXIF_SIZE];
    png_structp library = need(png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL));
    png_infop header = need(png_create_info_struct(library));
    png_set_write_fn(library, &made, append, NULL);
    png_set_IHDR(library, header, width, height, kind->bits, kind->type,
                 kind->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    set_palette(library, header, kind);
    png_set_gAMA(library, header, 0.3); /* must be ignored */
    if (orientation != 0) {
        make_exif(orientation, exif);
        png_set_eXIf_1(library, header, sizeof exif - 6, exif + 6);
    }
    png_write_info(library, header);
    size_t stride = png_get_rowbytes(library, header);
    uint32_t channels = png_get_channels(library, header);
    uint32_t bytes = kind->bits == 16 ? 2 : 1; /* below 8 bits, a byte is several samples */
    uint8_t *pixels = need(malloc(stride * height));
    uint8_t **rows = need(malloc(height * sizeof *rows));
    for (uint32_t y = 0; y < height; y++) {
        rows[y] = pixels + y * stride;
        for (uint32_t i = 0; i < stride; i++)
            rows[y][i] = picture_sample(i / (channels * bytes), y, i % (channels * bytes) / bytes);
    }
    png_write_image(library, rows);
    png_write_end(library, NULL);
    png_destroy_write_struct(&library, &header);
    free(pixels);
    free(rows);
    return made;
}

/* ---- WebP */

static void store_le(uint8_t *to, size_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/** Puts a plain file of one chunk into an extended one, and adds the Exif data. */
static struct picture add_exif(struct picture plain, uint32_t width, uint32_t height, bool alpha,
                               uint32_t orientation)
{
    uint8_t head[30] = "RIFF....WEBPVP8X\12\0\0\0", tail[8] = "EXIF", exif[EXIF_SIZE];
    bool extended = memcmp(plain.bytes + 12, "VP8X", 4) == 0;
    size_t begin = extended ? sizeof head : 12, size = plain.size - begin;
    struct picture made = {NULL, sizeof head + size + sizeof tail + sizeof exif};
    make_exif(orientation, exif);
    store_le(head + 4, made.size - 8, 4);
    head[20] = alpha ? 0x18 : 0x08;
    store_le(head + 24, width - 1, 3);
    store_le(head + 27, height - 1, 3);
    store_le(tail + 4, sizeof exif, 4);
    made.bytes = need(malloc(made.size));
    memcpy(made.bytes, head, sizeof head);
    memcpy(made.bytes + sizeof head, plain.bytes + begin, size);
    memcpy(made.bytes + sizeof head + size, tail, sizeof tail);
    memcpy(made.bytes + sizeof head + size + sizeof tail, exif, sizeof exif);
    free(plain.bytes);
    return made;
}

static struct picture encode_webp(const struct picture_kind *kind, uint32_t width, uint32_t height,
                                  uint32_t orientation)
{
    uint32_t channels = kind->transparent ? 4 : 3;
    uint8_t *pixels = need(malloc((size_t)width * height * channels)), *made = NULL;
    for (uint32_t i = 0; i < width * height * channels; i++)
        pixels[i] = picture_sample(i / channels % width, i / channels / width, i % channels);
    int stride = (int)(width * channels), w = (int)width, h = (int)height;
    size_t size = kind->lossless ? (channels == 4 ? WebPEncodeLosslessRGBA : WebPEncodeLosslessRGB)(
                                       pixels, w, h, stride, &made)
                                 : (channels == 4 ? WebPEncodeRGBA
                                                  : WebPEncodeRGB)(pixels, w, h, stride, 80, &made);
    free(pixels);
    struct picture picture = {need(malloc(size)), size};
    memcpy(picture.bytes, need(made), size);
    WebPFree(made);
    return orientation != 0 ? add_exif(picture, width, height, kind->transparent, orientation)
                            : picture;
}

struct picture picture_encode(const struct picture_kind *kind, uint32_t width, uint32_t height,
                              uint32_t orientation)
{
    struct picture made = (kind->format == LX_IMAGE_JPEG ? encode_jpeg
                           : kind->format == LX_IMAGE_PNG
                               ? encode_png
                               : encode_webp)(kind, width, height, orientation);
    made.bytes = need(realloc(made.bytes, made.size));
    return made;
}
