/* SPDX-License-Identifier: MIT */
/* Tensors of the JPEG files in the folder "photos", which photos.py makes. The reference decodes
 * whole images with libjpeg-turbo on two threads, and does nothing else. */
#include "bench.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <loaderx/image.h>
#include <loaderx/loaderx.h>

#include "plain.h"

#define THREADS 2
#define BATCH 64
#define SIDE 224

static lx_error error = LX_ERROR_INIT;

typedef struct album {
    size_t count;
    uint8_t **files;
    size_t *sizes;
} album;

static void read_album(album *made)
{
    glob_t found;
    if (glob("photos/*.jpg", 0, NULL, &found) != 0) {
        fprintf(stderr, "bench augment: no photos/*.jpg here: make them with photos.py\n");
        exit(1);
    }
    made->count = found.gl_pathc;
    made->files = calloc(made->count, sizeof *made->files);
    made->sizes = calloc(made->count, sizeof *made->sizes);
    for (size_t i = 0; i < made->count; i++) {
        FILE *file = fopen(found.gl_pathv[i], "rb");
        fseek(file, 0, SEEK_END);
        made->sizes[i] = (size_t)ftell(file);
        made->files[i] = malloc(made->sizes[i]);
        rewind(file);
        if (fread(made->files[i], 1, made->sizes[i], file) != made->sizes[i])
            exit(1);
        fclose(file);
    }
    globfree(&found);
}

/* ---- the reference */

typedef struct decoding {
    const album *album;
    size_t first;
} decoding;

static void decode(const uint8_t *bytes, size_t size, uint8_t **pixels)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg_start_decompress(&jpeg);
    size_t stride = (size_t)jpeg.output_width * 3;
    if (*pixels == NULL)
        *pixels = malloc(stride * jpeg.output_height);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = *pixels + jpeg.output_scanline * stride;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
}

static void *decode_some(void *context)
{
    const decoding *self = context;
    uint8_t *pixels = NULL;
    for (size_t i = self->first; i < self->album->count; i += THREADS)
        decode(self->album->files[i], self->album->sizes[i], &pixels);
    free(pixels);
    return NULL;
}

static void run_decoder(void *context)
{
    pthread_t threads[THREADS];
    decoding parts[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        parts[i] = (decoding){context, i};
        pthread_create(&threads[i], NULL, decode_some, &parts[i]);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- loaders */

static lx_status get_sizes(size_t column, const uint64_t *indices, size_t count, uint64_t *offsets,
                           void *user, lx_error *ignored)
{
    const album *self = user;
    (void)column, (void)ignored;
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++)
        offsets[i + 1] = offsets[i] + self->sizes[indices[i]];
    return LX_OK;
}

static lx_status fill_bytes(size_t column, const uint64_t *indices, size_t count,
                            const uint64_t *offsets, void *out, void *user, lx_error *ignored)
{
    const album *self = user;
    (void)column, (void)ignored;
    for (size_t i = 0; i < count; i++)
        memcpy((uint8_t *)out + offsets[i], self->files[indices[i]], self->sizes[indices[i]]);
    return LX_OK;
}

static lx_status fill(const uint64_t *indices, size_t count, const lx_target *targets, void *user,
                      lx_error *ignored)
{
    (void)indices, (void)count, (void)targets, (void)user, (void)ignored;
    return LX_OK;
}

static lx_source *open_album(album *files)
{
    static const lx_column_info column = {.name = "image", .dtype = LX_BYTES};
    lx_source_options *options = lx_source_options_new();
    lx_source *source;
    must_be_ok(lx_source_options_set_fill(options, fill, files, &error), &error);
    must_be_ok(lx_source_options_set_varying(options, get_sizes, fill_bytes, &error), &error);
    must_be_ok(lx_source_new(files->count, &column, 1, options, &source, &error), &error);
    lx_source_options_free(options);
    return source;
}

/** Takes one epoch. A loader prepares nothing between its epochs, so the cases do not overlap. */
static void take_epoch(void *context)
{
    lx_loader *loader = context;
    lx_batch *batch;
    lx_status status;
    lx_loader_next_epoch(loader);
    while ((status = lx_loader_next(loader, &batch, &error)) == LX_OK)
        lx_batch_unref(batch);
    if (status != LX_END)
        must_be_ok(status, &error);
}

enum chain { MIDDLE, CROP, CONTRASTIVE };

/** Adds the steps of SimCLR that follow the crop and the mirror. All images are blurred,
 * not every second one. */
static void add_contrastive(lx_image_transform *transform)
{
    static const double factors[] = {0.2, 1.8}, turn[] = {-0.2, 0.2};
    must_be_ok(
        lx_image_transform_add_color_jitter(transform, factors, factors, factors, turn, &error),
        &error);
    must_be_ok(lx_image_transform_add_grey(transform, 0.2, &error), &error);
    must_be_ok(lx_image_transform_add_blur(transform, 23, 23, NULL, &error), &error);
}

static lx_loader *open_loader(lx_source *part, enum chain chain, lx_dtype dtype)
{
    static const float mean[] = {0.485f, 0.456f, 0.406f}, std[] = {0.229f, 0.224f, 0.225f};
    lx_image_transform *transform = lx_image_transform_new();
    lx_loader_options *options = lx_loader_options_new();
    lx_source *source;
    lx_loader *loader;
    if (chain != MIDDLE) {
        must_be_ok(lx_image_transform_add_random_resized_crop(transform, SIDE, SIDE, NULL, NULL,
                                                              LX_IMAGE_BILINEAR, &error),
                   &error);
        must_be_ok(lx_image_transform_add_mirror(transform, 0.5, &error), &error);
        if (chain == CONTRASTIVE)
            add_contrastive(transform);
    } else {
        must_be_ok(lx_image_transform_add_resize_shorter(transform, 256, LX_IMAGE_BILINEAR, &error),
                   &error);
        must_be_ok(lx_image_transform_add_center_crop(transform, SIDE, SIDE, &error), &error);
    }
    if (dtype == LX_FLOAT32)
        must_be_ok(
            lx_image_transform_set_tensor(transform, dtype, LX_IMAGE_CHW, 255, mean, std, &error),
            &error);
    must_be_ok(lx_source_new_images(part, "image", transform, &source, &error), &error);
    must_be_ok(lx_loader_options_set_batch_size(options, BATCH, &error), &error);
    must_be_ok(lx_loader_options_set_epoch_count(options, 1, &error), &error);
    must_be_ok(lx_loader_options_set_shuffle(options, 1, &error), &error);
    must_be_ok(lx_loader_options_set_reader_count(options, THREADS, &error), &error);
    must_be_ok(lx_loader_open(source, options, &loader, &error), &error);
    lx_source_unref(source);
    lx_loader_options_free(options);
    lx_image_transform_free(transform);
    return loader;
}

void bench_augment(bench_run *bench)
{
    album files;
    read_album(&files);
    lx_source *part = open_album(&files);
    lx_loader *random = open_loader(part, CROP, LX_FLOAT32);
    lx_loader *bytes = open_loader(part, CROP, LX_UINT8);
    lx_loader *colours = open_loader(part, CONTRASTIVE, LX_FLOAT32);
    lx_loader *middle = open_loader(part, MIDDLE, LX_FLOAT32);
    double count = (double)files.count;
    const bench_case cases[] = {
        {"libjpeg-turbo, whole images", run_decoder, &files, count},
        {"loader, random resized crop, mirror, float32", take_epoch, random, count},
        {"loader, the same, uint8", take_epoch, bytes, count},
        {"loader, crop, colours, blur, float32", take_epoch, colours, count},
        {"loader, resize to 256, middle, float32", take_epoch, middle, count}};
    bench_compare(bench, "tensors of 224 x 224 from JPEGs in memory, on two threads", "image",
                  cases, 5);
    lx_loader_close(random);
    lx_loader_close(bytes);
    lx_loader_close(colours);
    lx_loader_close(middle);
    lx_source_unref(part);
    for (size_t i = 0; i < files.count; i++)
        free(files.files[i]);
    free(files.files);
    free(files.sizes);
}
