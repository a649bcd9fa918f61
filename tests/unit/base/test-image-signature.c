/* SPDX-License-Identifier: MIT */
#include "base/image-signature.h"

#include "../unit.h"

/* The first bytes of files, up to the last one that decides. */
static const struct {
    lx__image_signature format;
    const char *name, *bytes;
    size_t size;
} files[] = {
    {LX__IMAGE_JPEG, "JPEG", "\xff\xd8\xff", 3},
    {LX__IMAGE_PNG, "PNG", "\x89PNG\r\n\x1a\n", 8},
    {LX__IMAGE_WEBP, "WebP", "RIFF....WEBP", 12},
    {LX__IMAGE_GIF, "GIF", "GIF87a", 6},
    {LX__IMAGE_GIF, "GIF", "GIF89a", 6},
    {LX__IMAGE_BMP, "BMP", "BM\x3a\0\0\0\0\0\0\0", 10},
    {LX__IMAGE_TIFF, "TIFF", "II*\0", 4},
    {LX__IMAGE_TIFF, "TIFF", "MM\0*", 4},
    {LX__IMAGE_TIFF, "TIFF", "II+\0", 4},
    {LX__IMAGE_TIFF, "TIFF", "MM\0+", 4},
    {LX__IMAGE_AVIF, "AVIF",
     "\0\0\0\x1c"
     "ftypavif",
     12},
    {LX__IMAGE_AVIF, "AVIF",
     "\0\0\0\x1c"
     "ftypavis",
     12},
    {LX__IMAGE_HEIC, "HEIC",
     "\0\0\0\x18"
     "ftyphei",
     11},
    {LX__IMAGE_HEIC, "HEIC",
     "\0\0\0\x18"
     "ftyphev",
     11},
    {LX__IMAGE_HEIC, "HEIC",
     "\0\0\0\x18"
     "ftypmif1",
     12},
    {LX__IMAGE_HEIC, "HEIC",
     "\0\0\0\x18"
     "ftypmsf1",
     12},
    {LX__IMAGE_JPEG2000, "JPEG 2000", "\0\0\0\x0cjP  \r\n\x87\n", 12},
    {LX__IMAGE_JPEG2000, "JPEG 2000", "\xff\x4f\xff\x51", 4},
};

START_TEST(knows_each_signature_but_no_part_of_it)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (size_t size = 0; size <= files[i].size; size++) {
            /* A copy of that size, so that a sanitizer finds reads beyond it. */
            char *copy = malloc(size + (size == 0));
            memcpy(copy, files[i].bytes, size);
            lx__image_signature found = lx__image_signature_find(copy, size);
            ck_assert_msg(found == (size == files[i].size ? files[i].format : LX__IMAGE_NONE),
                          "file %zu, %zu bytes", i, size);
            free(copy);
        }
        ck_assert_str_eq(lx__image_signature_get_name(files[i].format), files[i].name);
        ck_assert_int_eq(lx__image_signature_is_decoded(files[i].format), i < 3);
    }
}
END_TEST

START_TEST(knows_no_other_bytes)
{
    static const char *const others[] = {"",
                                         "a cat",
                                         "BMI is not BMP",
                                         "RIFF....WAVE",
                                         "\x93NUMPY\x01",
                                         "....ftypmp42",
                                         "%PDF-1.7",
                                         "<svg xmlns=''/>",
                                         "\x1f\x8b\x08"};
    ck_assert_int_eq(lx__image_signature_find(NULL, 0), LX__IMAGE_NONE);
    ck_assert(!lx__image_signature_is_decoded(LX__IMAGE_NONE));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(lx__image_signature_find(others[i], strlen(others[i])) == LX__IMAGE_NONE,
                      "%zu", i);
    for (int byte = 0; byte < 256; byte++) {
        char pixels[64];
        memset(pixels, byte, sizeof pixels);
        ck_assert_msg(lx__image_signature_find(pixels, sizeof pixels) == LX__IMAGE_NONE, "%d",
                      byte);
    }
}
END_TEST

UNIT_MAIN("base/image-signature", knows_each_signature_but_no_part_of_it, knows_no_other_bytes)
