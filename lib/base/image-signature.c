/* SPDX-License-Identifier: MIT */
#include "base/image-signature.h"

#include <string.h>

#define TEXT(text) (text), sizeof(text) - 1

/** A signature: one or two texts at fixed places. */
typedef struct row {
    lx__image_signature format;
    const char *start;
    size_t start_size;
    size_t at; /**< Where @ref more is. */
    const char *more;
    size_t more_size;
} row;

/* "BM" alone begins many texts, but no text has the four reserved bytes of a BMP, which are zero.
 */
static const row rows[] = {
    {LX__IMAGE_JPEG, TEXT("\xff\xd8\xff"), 0, TEXT("")},
    {LX__IMAGE_PNG, TEXT("\x89PNG\r\n\x1a\n"), 0, TEXT("")},
    {LX__IMAGE_WEBP, TEXT("RIFF"), 8, TEXT("WEBP")},
    {LX__IMAGE_GIF, TEXT("GIF87a"), 0, TEXT("")},
    {LX__IMAGE_GIF, TEXT("GIF89a"), 0, TEXT("")},
    {LX__IMAGE_BMP, TEXT("BM"), 6, TEXT("\0\0\0\0")},
    {LX__IMAGE_TIFF, TEXT("II*\0"), 0, TEXT("")},
    {LX__IMAGE_TIFF, TEXT("MM\0*"), 0, TEXT("")},
    {LX__IMAGE_TIFF, TEXT("II+\0"), 0, TEXT("")},
    {LX__IMAGE_TIFF, TEXT("MM\0+"), 0, TEXT("")},
    {LX__IMAGE_AVIF, TEXT(""), 4, TEXT("ftypavif")},
    {LX__IMAGE_AVIF, TEXT(""), 4, TEXT("ftypavis")},
    {LX__IMAGE_HEIC, TEXT(""), 4, TEXT("ftyphei")},
    {LX__IMAGE_HEIC, TEXT(""), 4, TEXT("ftyphev")},
    {LX__IMAGE_HEIC, TEXT(""), 4, TEXT("ftypmif1")},
    {LX__IMAGE_HEIC, TEXT(""), 4, TEXT("ftypmsf1")},
    {LX__IMAGE_JPEG2000, TEXT("\0\0\0\x0cjP  \r\n\x87\n"), 0, TEXT("")},
    {LX__IMAGE_JPEG2000, TEXT("\xff\x4f\xff\x51"), 0, TEXT("")},
};

lx__image_signature lx__image_signature_find(const void *bytes, size_t size)
{
    const char *text = bytes;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        if (size >= r->start_size && size >= r->at + r->more_size &&
            memcmp(text, r->start, r->start_size) == 0 &&
            memcmp(text + r->at, r->more, r->more_size) == 0)
            return r->format;
    }
    return LX__IMAGE_NONE;
}

const char *lx__image_signature_get_name(lx__image_signature signature)
{
    static const char *const names[] = {
        [LX__IMAGE_NONE] = "none",         [LX__IMAGE_JPEG] = "JPEG", [LX__IMAGE_PNG] = "PNG",
        [LX__IMAGE_WEBP] = "WebP",         [LX__IMAGE_GIF] = "GIF",   [LX__IMAGE_BMP] = "BMP",
        [LX__IMAGE_TIFF] = "TIFF",         [LX__IMAGE_AVIF] = "AVIF", [LX__IMAGE_HEIC] = "HEIC",
        [LX__IMAGE_JPEG2000] = "JPEG 2000"};
    return names[signature];
}
