/* SPDX-License-Identifier: MIT */
#include "image/pixel/color.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/** Pillow's weights of red, green and blue, as fractions of 2^16. */
static inline uint8_t grey_of(const uint8_t *pixel)
{
    return (uint8_t)((pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u + 0x8000) >> 16);
}

static uint8_t *row_of(const lx_image *image, size_t y)
{
    return image->pixels + y * image->stride;
}

/* ---- blending: Pillow's Image.blend() */

/** Rounds towards 0. Values are far from the limits of an int, since factors are. */
static inline uint8_t clip(float value)
{
    int whole = (int)value;
    whole = whole < 0 ? 0 : whole;
    return (uint8_t)(whole > 255 ? 255 : whole);
}

/** Blends an image of one value with @p image. */
static void blend_value(uint8_t value, const lx_image *image, float factor)
{
    uint8_t table[256];
    for (int byte = 0; byte < 256; byte++)
        table[byte] = clip((float)value + factor * (float)(byte - value));
    for (size_t y = 0; y < image->height; y++) {
        uint8_t *row = row_of(image, y);
        for (size_t x = 0; x < (size_t)image->width * image->channels; x++)
            row[x] = table[row[x]];
    }
}

static uint8_t mean_grey(const lx_image *image)
{
    uint64_t sum = 0;
    for (size_t y = 0; y < image->height; y++) {
        const uint8_t *row = row_of(image, y);
        for (size_t x = 0; x < image->width; x++)
            sum += image->channels == 3 ? grey_of(row + x * 3) : row[x];
    }
    return (uint8_t)((double)sum / (double)((uint64_t)image->width * image->height) + 0.5);
}

void lx__color_set_brightness(const lx_image *image, float factor)
{
    blend_value(0, image, factor);
}

void lx__color_set_contrast(const lx_image *image, float factor)
{
    blend_value(mean_grey(image), image, factor);
}

/* Compilers make vector code of a loop whose length is a constant, so blocks are always blended
 * as a whole. */
#define BLOCK 128 /* pixels */

typedef struct block {
    float greys[BLOCK * 3];
    uint8_t bytes[BLOCK * 3];
} block;

static void saturate(block *part, uint8_t *pixels, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++) {
        float *greys = part->greys + i * 3;
        greys[0] = greys[1] = greys[2] = (float)grey_of(pixels + i * 3);
    }
    memcpy(part->bytes, pixels, count * 3);
    for (size_t i = 0; i < (size_t)BLOCK * 3; i++) {
        float grey = part->greys[i];
        part->bytes[i] = clip(grey + factor * ((float)part->bytes[i] - grey));
    }
    memcpy(pixels, part->bytes, count * 3);
}

void lx__color_set_saturation(const lx_image *image, float factor)
{
    block part = {.bytes = {0}};
    for (size_t y = 0; y < image->height && image->channels == 3; y++)
        for (size_t x = 0; x < image->width; x += BLOCK) {
            size_t left = image->width - x;
            saturate(&part, row_of(image, y) + x * 3, left < BLOCK ? left : BLOCK, factor);
        }
}

void lx__color_remove(const lx_image *image)
{
    for (size_t y = 0; y < image->height && image->channels == 3; y++) {
        uint8_t *row = row_of(image, y), *end = row + (size_t)image->width * 3;
        for (; row != end; row += 3)
            row[0] = row[1] = row[2] = grey_of(row);
    }
}

void lx__color_add(const lx_image *image, const double numbers[3])
{
    uint8_t tables[3][256];
    for (int c = 0; c < 3; c++)
        for (int byte = 0; byte < 256; byte++) {
            double sum = byte + numbers[c];
            tables[c][byte] = (uint8_t)nearbyint(sum <= 0 ? 0 : sum >= 255 ? 255 : sum);
        }
    for (size_t y = 0; y < image->height && image->channels == 3; y++) {
        uint8_t *row = row_of(image, y), *end = row + (size_t)image->width * 3;
        for (; row != end; row += 3)
            for (int c = 0; c < 3; c++)
                row[c] = tables[c][row[c]];
    }
}

/* ---- hue: Pillow's conversions to HSV and back, which mix floats and doubles */

/** The parts of a hue: which of the six sectors of the circle it is in, and where. */
typedef struct hue_part {
    int sector;
    float place; /* in [0, 1) */
} hue_part;

static void fill_parts(hue_part parts[256])
{
    for (int hue = 0; hue < 256; hue++) {
        double sixths = (float)hue * 6.0 / 255.0;
        int whole = (int)sixths;
        parts[hue] = (hue_part){whole % 6, (float)(sixths - (float)whole)};
    }
}

/** Returns the hue of a pixel whose channels range from @p least to @p most, which differ. */
static inline uint8_t hue_of(const uint8_t *rgb, int least, int most)
{
    float range = (float)(most - least);
    float r = (float)(most - rgb[0]) / range, g = (float)(most - rgb[1]) / range,
          b = (float)(most - rgb[2]) / range;
    float hue = rgb[0] == most   ? b - g
                : rgb[1] == most ? (float)(2.0 + r - b)
                                 : (float)(4.0 + g - r);
    double turns = hue / 6.0 + 1.0;
    hue = (float)(turns >= 1 ? turns - 1 : turns);
    return (uint8_t)(hue * 255.0);
}

/** Returns a byte reduced by a fraction of itself, rounded. */
static inline uint8_t reduce(int byte, double fraction)
{
    return (uint8_t)((float)byte * (1.0 - fraction) + 0.5);
}

/** Stores the colour with this hue. */
static inline void store_color(const hue_part *part, uint8_t saturation, uint8_t value,
                               uint8_t *rgb)
{
    /* For each sector: which channel has the value, which has the least, and which is between. */
    static const uint8_t places[6][3] = {{0, 2, 1}, {1, 2, 0}, {1, 0, 2},
                                         {2, 0, 1}, {2, 1, 0}, {0, 1, 2}};
    const uint8_t *place = places[part->sector];
    float amount = (float)(saturation / 255.0);
    bool rising = part->sector % 2 == 0;
    rgb[place[0]] = value;
    rgb[place[1]] = reduce(value, amount);
    rgb[place[2]] = reduce(value, rising ? amount * (1.0 - part->place) : amount * part->place);
}

void lx__color_shift_hue(const lx_image *image, uint8_t shift)
{
    hue_part parts[256];
    fill_parts(parts);
    for (size_t y = 0; y < image->height && image->channels == 3; y++) {
        uint8_t *row = row_of(image, y), *end = row + (size_t)image->width * 3;
        for (; row != end; row += 3) {
            int most = row[0] > row[1] ? row[0] : row[1], least = row[0] + row[1] - most;
            most = row[2] > most ? row[2] : most;
            least = row[2] < least ? row[2] : least;
            if (most == least)
                continue; /* no saturation: the hue does not matter */
            uint8_t saturation = (uint8_t)((float)(most - least) / (float)most * 255.0);
            uint8_t hue = (uint8_t)(hue_of(row, least, most) + shift);
            if (saturation == 0)
                row[0] = row[1] = row[2] = (uint8_t)most;
            else
                store_color(&parts[hue], saturation, (uint8_t)most, row);
        }
    }
}
