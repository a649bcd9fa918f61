/* SPDX-License-Identifier: MIT */
/* PNG images, by libpng. */
#include "image/codec/image-codec.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>

#include <png.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "image/codec/exif.h"

/* The most memory for one chunk, such as Exif data. Pixels are not chunks in this sense. */
#define CHUNK_MAX ((size_t)8 << 20)

typedef struct png {
    png_structp library; /* a new one for each image; NULL if closed */
    png_infop header;
    jmp_buf jump; /* where the library's failures go */
    lx__codec_input *input;
    size_t position; /* in the file */
    lx_error *error;
    lx_status status; /* why it jumped */
    bool starved;     /* an allocation failed */
} png;

/* ---- callbacks */

static void fail(png_structp library, png_const_charp text)
{
    png *p = png_get_error_ptr(library);
    if (p->starved)
        p->status = lx__fail_memory(p->error, "a PNG image");
    else
        p->status = lx_fail(p->error, LX_ERR_CORRUPT,
                            "the PNG image cannot be decoded at byte %zu of %zu: %s", p->position,
                            p->input->size, text);
    longjmp(p->jump, 1);
}

static void ignore_warning(png_structp library, png_const_charp text)
{
    (void)library;
    (void)text;
}

static void read_bytes(png_structp library, png_bytep to, size_t count)
{
    png *p = png_get_io_ptr(library);
    if (count > p->input->size - p->position) {
        p->position = p->input->size;
        png_error(library, "the file ends too early");
    }
    memcpy(to, p->input->bytes + p->position, count);
    p->position += count;
}

static void *allocate(png_structp library, png_alloc_size_t size)
{
    png *p = png_get_mem_ptr(library);
    void *memory = lx__alloc(size);
    p->starved = p->starved || memory == NULL;
    return memory;
}

static void release(png_structp library, void *memory)
{
    (void)library;
    lx__free(memory);
}

/** Runs a step that calls the library. */
static lx_status attempt(png *p, void (*step)(png *p, const void *argument), const void *argument,
                         lx_error *error)
{
    p->error = error;
    if (setjmp(p->jump) != 0)
        return p->status;
    step(p, argument);
    return LX_OK;
}

/* ---- header */

static void read_header(png *p, const void *unused)
{
    (void)unused;
    p->library = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, p, fail, ignore_warning, p,
                                          allocate, release);
    if (p->library != NULL)
        p->header = png_create_info_struct(p->library);
    if (p->header == NULL) {
        p->status = lx__fail_memory(p->error, "a PNG image");
        longjmp(p->jump, 1);
    }
    png_set_read_fn(p->library, p, read_bytes);
    png_set_crc_action(p->library, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_user_limits(p->library, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(p->library, CHUNK_MAX);
    /* Of the chunks that are not needed to decode, only the Exif data is kept. */
    png_set_keep_unknown_chunks(p->library, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(p->library, PNG_HANDLE_CHUNK_AS_DEFAULT, (png_const_bytep) "eXIf",
                                1);
    png_read_info(p->library, p->header);
}

static uint32_t find_orientation(const png *p)
{
    png_uint_32 size = 0;
    png_bytep exif = NULL;
    if (png_get_eXIf_1(p->library, p->header, &size, &exif) == 0)
        return 1;
    return lx__exif_get_orientation(exif, size);
}

/** Fails if the image does not contain the classes of a mask. */
static lx_status check_classes(const png *p, lx_error *error)
{
    int type = png_get_color_type(p->library, p->header);
    int bits = png_get_bit_depth(p->library, p->header);
    if (type == PNG_COLOR_TYPE_PALETTE || (type == PNG_COLOR_TYPE_GRAY && bits <= 8))
        return LX_OK;
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "a mask must be a PNG with a palette or with grey of at most 8 bits, and this "
                   "one has %s%s of %d bits",
                   type & PNG_COLOR_MASK_COLOR ? "colours" : "grey",
                   type & PNG_COLOR_MASK_ALPHA ? " and alpha" : "", bits);
}

static lx_status open_image(void *object, lx__codec_input *input, lx_image_info *info,
                            lx_error *error)
{
    png *p = object;
    memset(p, 0, sizeof *p);
    p->input = input;
    lx_status status = attempt(p, read_header, NULL, error);
    if (status != LX_OK)
        return status;
    int type = png_get_color_type(p->library, p->header);
    bool palette = type == PNG_COLOR_TYPE_PALETTE;
    info->width = png_get_image_width(p->library, p->header);
    info->height = png_get_image_height(p->library, p->header);
    info->channels = palette ? 3 : png_get_channels(p->library, p->header);
    info->bits = palette ? 8 : png_get_bit_depth(p->library, p->header);
    info->orientation = find_orientation(p);
    status = input->indices ? check_classes(p, error) : LX_OK;
    return status == LX_OK ? lx__codec_check_size(input, info->width, info->height, error) : status;
}

static void close_image(void *object)
{
    png *p = object;
    png_destroy_read_struct(&p->library, &p->header, NULL);
}

/* ---- pixels */

/** Warns, once in a process, that values are lost, as those of depth. */
static void warn_of_reduction(void)
{
    static atomic_bool told;
    if (!atomic_exchange(&told, true))
        lx__log(LX_LOG_WARNING,
                "a PNG image of 16 bits was decoded to 8, so that its 65,536 values become 256: to "
                "keep all of them, as depth or medical images require, decode such files with "
                "another library; this message appears once");
}

/** Requests 8 bits for each channel, without alpha, or classes. Grey becomes RGB if that is wanted;
 * the canvas does the contrary. */
static void request_conversions(png *p)
{
    int type = png_get_color_type(p->library, p->header);
    int bits = png_get_bit_depth(p->library, p->header);
    if (p->input->indices && (type == PNG_COLOR_TYPE_PALETTE || bits == 1)) {
        png_set_packing(p->library); /* a byte for each pixel, and the same numbers */
        return;
    }
    if (bits == 16)
        warn_of_reduction();
    png_set_strip_16(p->library);
    png_set_strip_alpha(p->library);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(p->library);
    else if (!(type & PNG_COLOR_MASK_COLOR) && bits < 8)
        png_set_expand_gray_1_2_4_to_8(p->library);
    if (!(type & PNG_COLOR_MASK_COLOR) && p->input->channels == 3)
        png_set_gray_to_rgb(p->library);
}

/** Returns memory for @p rows rows of @p size bytes. */
static uint8_t *reserve_rows(png *p, uint32_t rows, size_t size)
{
    lx__codec_input *input = p->input;
    uint64_t bytes;
    if (!lx__multiply_fits(rows, size, &bytes) || bytes > SIZE_MAX ||
        !lx__reserve(&input->scratch, &input->capacity, (size_t)bytes)) {
        p->starved = true;
        png_error(p->library, "out of memory");
    }
    return input->scratch;
}

static void read_rows(png *p, const void *argument)
{
    const lx__canvas *canvas = argument;
    const lx_image_region *region = &canvas->region;
    uint32_t end = region->top + region->height;
    uint32_t height = png_get_image_height(p->library, p->header);
    request_conversions(p);
    int passes = png_set_interlace_handling(p->library); /* 1 if the image is not interlaced */
    png_read_update_info(p->library, p->header);
    size_t size = png_get_rowbytes(p->library, p->header);
    uint32_t channels = png_get_channels(p->library, p->header);
    uint8_t *rows = reserve_rows(p, passes > 1 ? region->height : 1, size);
    for (int pass = 0; pass < passes; pass++) {
        bool last = pass == passes - 1;
        for (uint32_t y = 0; y < (last ? end : height); y++) {
            bool wanted = y >= region->top && y < end;
            uint8_t *row = passes > 1 && wanted ? rows + (y - region->top) * size : rows;
            png_read_row(p->library, wanted ? row : NULL, NULL);
            if (last && wanted)
                lx__canvas_put(canvas, y, row + (size_t)region->left * channels, channels);
        }
    }
}

static lx_status read_image(void *object, lx__codec_input *input, const lx__canvas *canvas,
                            lx_error *error)
{
    (void)input;
    return attempt(object, read_rows, canvas, error);
}

const lx__codec_class lx__codec_png = {sizeof(png), open_image, read_image, close_image};
