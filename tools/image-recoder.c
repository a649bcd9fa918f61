/* SPDX-License-Identifier: MIT */
#include "image-recoder.h"

#include <stdlib.h>

#include "failure.h"

#ifdef HAVE_IMAGES
#include <loaderx/image.h>

struct image_recoder {
    lx_image_decoder *decoder;
};

lx_status image_recoder_new(image_recoder **recoder, lx_error *error)
{
    image_recoder *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->decoder = lx_image_decoder_new();
    *recoder = made;
    return made != NULL && made->decoder != NULL ? LX_OK : fail_memory(error, "a decoder");
}

void image_recoder_free(image_recoder *recoder)
{
    if (recoder == NULL)
        return;
    lx_image_decoder_free(recoder->decoder);
    free(recoder);
}

lx_status image_recoder_check(image_recoder *self, const void *bytes, size_t size, lx_error *error)
{
    lx_image_info info;
    return lx_image_decoder_open(self->decoder, bytes, size, &info, error);
}

#else

lx_status image_recoder_new(image_recoder **recoder, lx_error *error)
{
    (void)error;
    *recoder = NULL;
    return LX_OK;
}

void image_recoder_free(image_recoder *recoder)
{
    (void)recoder;
}

lx_status image_recoder_check(image_recoder *self, const void *bytes, size_t size, lx_error *error)
{
    (void)self, (void)bytes, (void)size, (void)error;
    return LX_OK;
}

#endif
