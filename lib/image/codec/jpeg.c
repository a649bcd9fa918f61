/* SPDX-License-Identifier: MIT */
/* JPEG images, by libjpeg-turbo. */
#include "image/codec/image-codec.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "image/codec/exif.h"

/* The upsampling of colours mixes each pixel with neighbours at most this far away. */
#define NEIGHBOURS 2

typedef struct jpeg {
    /* A new one for each image: libjpeg keeps the tables of an image for the next one, which would
     * make the pixels of a damaged image depend on what was decoded before. */
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf jump; /* where the library's failures go */
    lx__codec_input *input;
    lx_status status; /* why it jumped */
    lx_error *error;
    bool open;
} jpeg;

/* ---- errors */

static jpeg *jpeg_of(j_common_ptr common)
{
    return common->client_data;
}

/** Fails with the message of the library. */
static void fail(j_common_ptr common, lx_status status)
{
    jpeg *j = jpeg_of(common);
    char text[JMSG_LENGTH_MAX];
    const struct jpeg_source_mgr *source = j->library.src;
    /* At the end of the file, the entropy decoder has not yet updated the source. */
    bool at_end = source == NULL || common->err->msg_code == JWRN_JPEG_EOF;
    size_t size = j->input->size, left = at_end ? 0 : source->bytes_in_buffer;
    (*common->err->format_message)(common, text);
    j->status = lx_fail(j->error, status, "the JPEG image cannot be decoded at byte %zu of %zu: %s",
                        size - left, size, text);
    longjmp(j->jump, 1);
}

static void fail_fatally(j_common_ptr common)
{
    jpeg *j = jpeg_of(common);
    switch (common->err->msg_code) {
    case JERR_OUT_OF_MEMORY:
        j->status = lx__fail_memory(j->error, "a JPEG image");
        longjmp(j->jump, 1);
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
        fail(common, LX_ERR_UNSUPPORTED);
        break;
    default:
        fail(common, LX_ERR_CORRUPT);
    }
}

/** Called with a level of -1 for what the library can live with, and otherwise with traces. */
static void warn(j_common_ptr common, int level)
{
    if (level >= 0)
        return;
    switch (common->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
        return; /* the pixels are those that were encoded */
    default:
        fail(common, LX_ERR_CORRUPT);
    }
}

static void print_nothing(j_common_ptr common)
{
    (void)common;
}

static void check_scans(j_common_ptr common)
{
    jpeg *j = jpeg_of(common);
    if (j->library.input_scan_number <= LX_MAX_JPEG_SCANS)
        return;
    j->status = lx_fail(j->error, LX_ERR_LIMIT, "the JPEG image has more than %d scans",
                        LX_MAX_JPEG_SCANS);
    longjmp(j->jump, 1);
}

/** Runs a step that calls the library. */
static lx_status attempt(jpeg *j, void (*step)(jpeg *j, const void *argument), const void *argument,
                         lx_error *error)
{
    j->error = error;
    if (setjmp(j->jump) != 0)
        return j->status;
    step(j, argument);
    return LX_OK;
}

/* ---- header */

/** Finds the orientation in the first Exif segment. */
static uint32_t find_orientation(const lx__codec_input *input)
{
    const uint8_t *bytes = input->bytes;
    size_t at = 2; /* after the marker that begins the file */
    while (at + 4 <= input->size && bytes[at] == 0xff) {
        uint8_t marker = bytes[at + 1];
        size_t length = (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if (marker == 0xff) { /* padding */
            at++;
            continue;
        }
        if (marker == 0xd9 || marker == 0xda || length < 2 || length > input->size - at - 2)
            return 1; /* a scan begins, or the library will find the damage */
        if (marker == 0xe1 && length >= 8 && memcmp(bytes + at + 4, "Exif\0", 6) == 0)
            return lx__exif_get_orientation(bytes + at + 4, length - 2);
        at += 2 + length;
    }
    return 1;
}

static void read_header(jpeg *j, const void *unused)
{
    struct jpeg_decompress_struct *library = &j->library;
    (void)unused;
    jpeg_create_decompress(library);
    library->progress = &j->progress;
    jpeg_mem_src(library, j->input->bytes, (unsigned long)j->input->size);
    jpeg_read_header(library, TRUE);
    library->scale_num = 1;
    library->scale_denom = j->input->scale;
    jpeg_calc_output_dimensions(library);
}

static lx_status check_header(const jpeg *j, lx_error *error)
{
    int components = j->library.num_components, bits = j->library.data_precision;
    if (components != 1 && components != 3 && components != 4)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the JPEG image has %d channels; only 1, 3 and 4 are supported", components);
    if (bits != 8)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the JPEG image has %d bits for each channel; only 8 are supported", bits);
    return lx__codec_check_size(j->input, j->library.image_width, j->library.image_height, error);
}

static lx_status open_image(void *object, lx__codec_input *input, lx_image_info *info,
                            lx_error *error)
{
    jpeg *j = object;
    j->input = input;
    memset(&j->library, 0, sizeof j->library);
    j->library.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = fail_fatally;
    j->errors.emit_message = warn;
    j->errors.output_message = print_nothing;
    j->library.client_data = j;
    j->progress.progress_monitor = check_scans;
    j->open = true;
    lx_status status = attempt(j, read_header, NULL, error);
    if (status == LX_OK)
        status = check_header(j, error);
    info->width = j->library.output_width;
    info->height = j->library.output_height;
    info->channels = (uint32_t)j->library.num_components;
    info->bits = 8;
    info->orientation = find_orientation(input);
    return status;
}

static void close_image(void *object)
{
    jpeg *j = object;
    if (j->open)
        jpeg_destroy_decompress(&j->library);
    j->open = false;
}

/* ---- pixels */

static void choose_colours(jpeg *j)
{
    if (j->library.num_components == 4)
        j->library.out_color_space = JCS_CMYK;
    else
        j->library.out_color_space = j->input->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

/** Whether a progressive image lacks scans, so that the library smooths its blocks: what that does
 * depends on where decoding begins. */
static bool is_smoothed(const struct jpeg_decompress_struct *library)
{
    if (!library->progressive_mode || library->coef_bits == NULL)
        return false;
    for (int component = 0; component < library->num_components; component++)
        for (int i = 0; i < DCTSIZE2; i++)
            if (library->coef_bits[component][i] != 0)
                return true;
    return false;
}

/** Lets the library decode only the columns of the region and their neighbours. Returns the first
 * column that it decodes. */
static uint32_t crop(struct jpeg_decompress_struct *library, const lx_image_region *region)
{
    JDIMENSION left = region->left > NEIGHBOURS ? region->left - NEIGHBOURS : 0;
    JDIMENSION right = region->left + region->width, whole = library->output_width;
    right = whole - right > NEIGHBOURS ? right + NEIGHBOURS : whole;
    JDIMENSION width = right - left;
    /* Versions before 3.0.4 crop a scaled image wrongly if it has a quarter of the colours. */
    if (width == whole || (library->scale_denom != 1 && library->max_h_samp_factor > 2))
        return 0;
    jpeg_crop_scanline(library, &left, &width);
    return left;
}

/** a * b / 255, rounded as Pillow does it. */
static uint8_t multiply(unsigned a, unsigned b)
{
    unsigned product = a * b + 128;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

/** Converts a row of inverted CMYK to RGB in place, with the formula of Pillow. */
static void convert_cmyk(uint8_t *row, size_t width)
{
    uint8_t *to = row;
    for (const uint8_t *from = row, *end = row + 4 * width; from < end; from += 4, to += 3) {
        uint8_t key = from[3];
        for (int i = 0; i < 3; i++)
            to[i] = (uint8_t)(key - multiply(255U - from[i], key));
    }
}

static void read_rows(jpeg *j, const void *argument)
{
    const lx__canvas *canvas = argument;
    const lx_image_region *region = &canvas->region;
    struct jpeg_decompress_struct *library = &j->library;
    lx__codec_input *input = j->input;
    choose_colours(j);
    jpeg_start_decompress(library);
    bool smoothed = is_smoothed(library);
    uint32_t first = smoothed ? 0 : crop(library, region);
    uint32_t channels = (uint32_t)library->output_components;
    if (!lx__reserve(&input->scratch, &input->capacity, (size_t)library->output_width * channels))
        ERREXIT1(library, JERR_OUT_OF_MEMORY, 0);
    JSAMPROW row = input->scratch;
    uint8_t *wanted = row + (size_t)(region->left - first) * channels;
    if (smoothed)
        for (uint32_t y = 0; y < region->top; y++)
            jpeg_read_scanlines(library, &row, 1);
    else
        jpeg_skip_scanlines(library, region->top);
    for (uint32_t y = region->top; y < region->top + region->height; y++) {
        jpeg_read_scanlines(library, &row, 1);
        if (channels == 4)
            convert_cmyk(wanted, region->width);
        lx__canvas_put(canvas, y, wanted, channels == 4 ? 3 : channels);
    }
}

static lx_status read_image(void *object, lx__codec_input *input, const lx__canvas *canvas,
                            lx_error *error)
{
    (void)input;
    return attempt(object, read_rows, canvas, error);
}

const lx__codec_class lx__codec_jpeg = {sizeof(jpeg), open_image, read_image, close_image};
