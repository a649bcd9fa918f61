/* SPDX-License-Identifier: MIT */
#include "image-sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "failure.h"
#include "report.h"

#define COUNT(counts) (sizeof(counts) / sizeof *(counts))

#ifdef HAVE_IMAGES
#include <loaderx/image.h>

#define RECORDS 64
#define BYTES ((uint64_t)64 << 20)

/** Counts an image whose header could be decoded. */
static void count_image(image_sample *sample, const lx_image_info *info)
{
    bool cmyk = info->channels == 4 && info->format == LX_IMAGE_JPEG;
    const uint32_t sides[] = {info->width, info->height};
    for (int i = 0; i < 2; i++) {
        if (sample->images == 0 || sides[i] < sample->least[i])
            sample->least[i] = sides[i];
        if (sides[i] > sample->most[i])
            sample->most[i] = sides[i];
    }
    sample->images++;
    sample->formats[info->format - LX_IMAGE_JPEG].count++;
    sample->modes[cmyk ? 4 : info->channels - 1].count++;
}

/** Counts the image of one record. Returns #LX_END if it does not fit into @p left bytes, from
 * which its size is subtracted. */
static lx_status read_image(lx_dataset *dataset, size_t field, uint64_t index,
                            lx_image_decoder *decoder, uint64_t *left, image_sample *sample,
                            lx_error *error)
{
    uint64_t offsets[2];
    lx_image_info info;
    lx_status status = lx_dataset_get_sizes(dataset, field, &index, 1, offsets, NULL, error);
    if (status != LX_OK)
        return status;
    if (offsets[1] > *left)
        return LX_END;
    *left -= offsets[1];
    uint8_t *bytes = malloc((size_t)offsets[1] + 1);
    if (bytes == NULL)
        return fail_memory(error, "an image");
    status = lx_dataset_gather_bytes(dataset, field, &index, 1, offsets, bytes, error);
    if (status == LX_OK)
        status = lx_image_decoder_open(decoder, bytes, (size_t)offsets[1], &info, error);
    if (status == LX_OK)
        count_image(sample, &info);
    free(bytes);
    return status;
}

/** Whether a failure is one of the value, not of the machine. */
static bool is_bad_image(lx_status status)
{
    return status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED || status == LX_ERR_LIMIT;
}

lx_status image_sample_take(lx_dataset *dataset, size_t field, image_sample *sample,
                            lx_error *error)
{
    uint64_t length = lx_dataset_get_length(dataset), left = BYTES;
    uint64_t count = length < RECORDS ? length : RECORDS;
    *sample = (image_sample){.formats = {{"jpeg", 0}, {"png", 0}, {"webp", 0}},
                             .modes = {{"L", 0}, {"LA", 0}, {"RGB", 0}, {"RGBA", 0}, {"CMYK", 0}}};
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_status status = decoder != NULL ? LX_OK : fail_memory(error, "an image");
    while (status == LX_OK && sample->read < count) {
        status = read_image(dataset, field, length / count * sample->read, decoder, &left, sample,
                            error);
        if (is_bad_image(status)) {
            lx_error_clear(error);
            status = LX_OK;
        }
        sample->read += status == LX_OK;
    }
    lx_image_decoder_free(decoder);
    return status == LX_END ? LX_OK : status;
}
#else
lx_status image_sample_take(lx_dataset *dataset, size_t field, image_sample *sample,
                            lx_error *error)
{
    (void)dataset, (void)field, (void)error;
    *sample = (image_sample){0};
    return LX_OK;
}
#endif

static json_t *counts_json(const image_count *counts, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        if (counts[i].count != 0)
            json_object_set_new(object, counts[i].name, report_number(counts[i].count));
    return object;
}

/** Returns the range of the widths or the heights; null if there are no images. */
static json_t *sides_json(const image_sample *sample, int side)
{
    return sample->images != 0 ? json_pack("[o, o]", report_number(sample->least[side]),
                                           report_number(sample->most[side]))
                               : json_null();
}

json_t *image_sample_json(const image_sample *sample)
{
    if (sample->read == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "sampled", report_number(sample->read),
                     "images", report_number(sample->images), "formats",
                     counts_json(sample->formats, COUNT(sample->formats)), "modes",
                     counts_json(sample->modes, COUNT(sample->modes)), "width",
                     sides_json(sample, 0), "height", sides_json(sample, 1));
}

static void print_counts(const image_count *counts, size_t count)
{
    const char *before = "; ";
    for (size_t i = 0; i < count; i++)
        if (counts[i].count != 0) {
            printf("%s%" PRIu64 " %s", before, counts[i].count, counts[i].name);
            before = ", ";
        }
}

/** Prints a range of sides, for example "32" or "20 to 48". */
static void print_sides(uint32_t least, uint32_t most)
{
    printf("%" PRIu32, least);
    if (least != most)
        printf(" to %" PRIu32, most);
}

void image_sample_print(const image_sample *sample, const char *field, uint64_t length)
{
    if (sample->read == 0)
        return;
    printf("images       %s: %" PRIu64 " in a sample of %" PRIu64 " of %" PRIu64 " records", field,
           sample->images, sample->read, length);
    print_counts(sample->formats, COUNT(sample->formats));
    print_counts(sample->modes, COUNT(sample->modes));
    if (sample->images != 0) {
        printf("; ");
        print_sides(sample->least[0], sample->most[0]);
        printf(" pixels wide, ");
        print_sides(sample->least[1], sample->most[1]);
        printf(" high");
    }
    putchar('\n');
}
