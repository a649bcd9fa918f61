/* SPDX-License-Identifier: MIT */
/* The signatures of image formats. */
#include "../../unit.h"

#include <loaderx/image/format.h>

static const struct {
    lx_image_format format;
    const char *name, *bytes;
    size_t size;
} signatures[] = {{LX_IMAGE_JPEG, "jpeg", "\xff\xd8\xff", 3},
                  {LX_IMAGE_PNG, "png", "\x89PNG\r\n\x1a\n", 8},
                  {LX_IMAGE_WEBP, "webp", "RIFF....WEBP", 12}};

START_TEST(finds_formats_by_their_signatures)
{
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(lx_image_format_find(signatures[i].bytes, signatures[i].size),
                         signatures[i].format);
        ck_assert_str_eq(lx_image_format_get_name(signatures[i].format), signatures[i].name);
    }
}
END_TEST

START_TEST(does_not_know_parts_of_signatures)
{
    for (size_t i = 0; i < 3; i++) {
        for (size_t size = 0; size < signatures[i].size; size++) {
            /* A copy of that size, so that a sanitizer finds reads beyond it. */
            uint8_t *copy = malloc(size + (size == 0));
            memcpy(copy, signatures[i].bytes, size);
            ck_assert_int_eq(lx_image_format_find(copy, size), LX_IMAGE_UNKNOWN);
            free(copy);
        }
    }
}
END_TEST

START_TEST(does_not_know_other_files)
{
    ck_assert_int_eq(lx_image_format_find("GIF89a......", 12), LX_IMAGE_UNKNOWN);
    ck_assert_int_eq(lx_image_format_find("RIFF....WAVE", 12), LX_IMAGE_UNKNOWN);
    ck_assert_int_eq(lx_image_format_find("", 0), LX_IMAGE_UNKNOWN);
    ck_assert_ptr_null(lx_image_format_get_name(LX_IMAGE_UNKNOWN));
}
END_TEST

UNIT_MAIN("image/codec/format", finds_formats_by_their_signatures,
          does_not_know_parts_of_signatures, does_not_know_other_files)
