/* SPDX-License-Identifier: MIT */
/* Encoding of JPEG images, by libjpeg-turbo. */
#include "image/codec/image-codec.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "base/error.h"

/* The output grows by at least this much. */
#define STEP 16384

typedef struct jpeg {
    /* Kept from image to image: unlike a decoder, it takes no table from an image. */
    struct jpeg_compress_struct library;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf jump; /* where the library's failures go */
    lx__codec_output *output;
    lx_status status; /* why it jumped */
    lx_error *error;
    bool created;
} jpeg;

/* ---- callbacks */

static jpeg *jpeg_of(j_common_ptr common)
{
    return common->client_data;
}

static void fail(j_common_ptr common)
{
    jpeg *j = jpeg_of(common);
    char text[JMSG_LENGTH_MAX];
    (*common->err->format_message)(common, text);
    if (common->err->msg_code == JERR_OUT_OF_MEMORY)
        j->status = lx__fail_memory(j->error, "a JPEG image");
    else
        j->status = lx_fail(j->error, LX_ERR_UNSUPPORTED, "the image cannot be encoded as JPEG: %s",
                            text);
    longjmp(j->jump, 1);
}

static void ignore_message(j_common_ptr common, int level)
{
    (void)common;
    (void)level;
}

/** Lets the library write on after the bytes of the output. */
static void provide_room(jpeg *j)
{
    lx__codec_output *output = j->output;
    if (!lx__codec_make_room(output, STEP))
        ERREXIT1(&j->library, JERR_OUT_OF_MEMORY, 0);
    j->destination.next_output_byte = output->bytes + output->size;
    j->destination.free_in_buffer = output->capacity - output->size;
}

static void begin_output(j_compress_ptr library)
{
    provide_room(jpeg_of((j_common_ptr)library));
}

/** Called when the room is full. */
static boolean grow_output(j_compress_ptr library)
{
    jpeg *j = jpeg_of((j_common_ptr)library);
    j->output->size = j->output->capacity;
    provide_room(j);
    return TRUE;
}

static void end_output(j_compress_ptr library)
{
    jpeg *j = jpeg_of((j_common_ptr)library);
    j->output->size = j->output->capacity - j->destination.free_in_buffer;
}

/* ---- encoding */

static void create(jpeg *j)
{
    memset(&j->library, 0, sizeof j->library);
    j->library.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = fail;
    j->errors.emit_message = ignore_message;
    j->library.client_data = j;
    j->created = true;
    jpeg_create_compress(&j->library);
    j->destination.init_destination = begin_output;
    j->destination.empty_output_buffer = grow_output;
    j->destination.term_destination = end_output;
    j->library.dest = &j->destination;
}

static void release(void *object)
{
    jpeg *j = object;
    if (j->created)
        jpeg_destroy_compress(&j->library);
    j->created = false;
}

static void write_rows(jpeg *j, const lx_image *image)
{
    struct jpeg_compress_struct *library = &j->library;
    library->image_width = image->width;
    library->image_height = image->height;
    library->input_components = (int)image->channels;
    library->in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(library);
    jpeg_set_quality(library, j->output->quality, TRUE);
    jpeg_start_compress(library, TRUE);
    for (uint32_t y = 0; y < image->height; y++) {
        JSAMPROW row = image->pixels + y * image->stride;
        jpeg_write_scanlines(library, &row, 1);
    }
    jpeg_finish_compress(library);
}

static lx_status encode(void *object, const lx_image *image, lx__codec_output *output,
                        lx_error *error)
{
    jpeg *j = object;
    j->output = output;
    j->error = error;
    if (setjmp(j->jump) != 0) {
        release(j);
        return j->status;
    }
    if (!j->created)
        create(j);
    write_rows(j, image);
    return LX_OK;
}

const lx__encoding_class lx__encoding_jpeg = {sizeof(jpeg), JPEG_MAX_DIMENSION, encode, release};
