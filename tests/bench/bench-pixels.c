/* SPDX-License-Identifier: MIT */
/* What training does to decoded images: random crops of 500 x 400 pixels, resized to 224 x 224, and
 * their conversion to tensors, compared with copies. */
#include "plain.h"

#include <math.h>
#include <string.h>

#include <loaderx/image.h>

#define WIDTH 500
#define HEIGHT 400
#define SIDE 224
#define PIXELS ((size_t)SIDE * SIDE)
#define CROPS 64   /* of a run */
#define TENSORS 64 /* of a batch, so that they do not stay in a cache */

/** The images, and how a case changes them. */
struct job {
    const uint8_t *photo;
    const lx_image *crops;
    lx_image small;
    uint8_t *tensors;
    lx_image_resizer *resizer;
    lx_image_filter filter;
    lx_image_tensorizer *tensorizer;
    size_t size; /* of an element */
    bool mirror;
};

static uint8_t *tensor_of(const struct job *job, size_t i)
{
    return job->tensors + i % TENSORS * PIXELS * 3 * sizeof(float);
}

static void copy_crops(void *context)
{
    const struct job *job = context;
    for (size_t i = 0; i < CROPS; i++)
        for (size_t y = 0; y < job->crops[i].height; y++)
            memcpy(job->tensors + y * WIDTH * 3, job->crops[i].pixels + y * job->crops[i].stride,
                   (size_t)job->crops[i].width * 3);
}

static void copy_tensors(void *context)
{
    const struct job *job = context;
    for (size_t i = 0; i < CROPS; i++)
        memcpy(tensor_of(job, i), tensor_of(job, i + 1), PIXELS * 3 * sizeof(float));
}

static void resize(void *context)
{
    const struct job *job = context;
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < CROPS; i++)
        must_be_ok(lx_image_resizer_resize(job->resizer, &job->crops[i], NULL, job->filter, true,
                                           &job->small, &error),
                   &error);
}

static void convert(void *context)
{
    const struct job *job = context;
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < CROPS; i++)
        must_be_ok(lx_image_tensorizer_convert(job->tensorizer, &job->small, job->mirror,
                                               tensor_of(job, i), PIXELS * 3 * job->size, &error),
                   &error);
}

static void resize_and_convert(void *context)
{
    const struct job *job = context;
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < CROPS; i++) {
        must_be_ok(lx_image_resizer_resize(job->resizer, &job->crops[i], NULL, job->filter, true,
                                           &job->small, &error),
                   &error);
        must_be_ok(lx_image_tensorizer_convert(job->tensorizer, &job->small, i % 2 != 0,
                                               tensor_of(job, i), PIXELS * 3 * job->size, &error),
                   &error);
    }
}

static double uniform(uint64_t *seed)
{
    return (double)next_random(seed) / 2147483648.0;
}

/** Crops as torchvision's RandomResizedCrop: area .08 to 1, ratio 3/4 to 4/3. */
static void make_crops(const uint8_t *photo, lx_image crops[CROPS])
{
    uint64_t seed = 1;
    for (size_t i = 0; i < CROPS;) {
        double area = (0.08 + 0.92 * uniform(&seed)) * WIDTH * HEIGHT;
        double ratio = exp((2 * uniform(&seed) - 1) * log(4.0 / 3));
        uint32_t width = (uint32_t)lrint(sqrt(area * ratio));
        uint32_t height = (uint32_t)lrint(sqrt(area / ratio));
        if (width > WIDTH || height > HEIGHT)
            continue;
        size_t left = next_random(&seed) % (WIDTH - width + 1);
        size_t top = next_random(&seed) % (HEIGHT - height + 1);
        crops[i++] = (lx_image){(uint8_t *)photo + (top * WIDTH + left) * 3, WIDTH * 3, width,
                                height, 3};
    }
}

static struct job tensor_job(const struct job *job, lx_dtype dtype, lx_image_layout layout,
                             bool mirror)
{
    static const float mean[] = {0.485F, 0.456F, 0.406F}, std[] = {0.229F, 0.224F, 0.225F};
    bool raw = dtype == LX_UINT8;
    struct job changed = *job;
    lx_error error = LX_ERROR_INIT;
    must_be_ok(lx_image_tensorizer_new(dtype, layout, 3, raw ? 1 : 255, raw ? NULL : mean,
                                       raw ? NULL : std, &changed.tensorizer, &error),
               &error);
    changed.size = lx_dtype_get_size(dtype);
    changed.mirror = mirror;
    return changed;
}

static void bench_resize(bench_run *bench, const struct job *job)
{
    static const char *const names[] = {"nearest", "box",     "bilinear",
                                        "hamming", "bicubic", "lanczos"};
    struct job jobs[6], copy = *job;
    bench_case cases[7] = {{"copies of the crops", copy_crops, &copy, CROPS * PIXELS}};
    for (int i = 0; i < 6; i++) {
        jobs[i] = *job;
        jobs[i].filter = (lx_image_filter)i;
        cases[i + 1] = (bench_case){names[i], resize, &jobs[i], CROPS * PIXELS};
    }
    bench_compare(bench, "random crops of 500 x 400, resized to 224 x 224", "pixel", cases, 7);
}

static void bench_tensors(bench_run *bench, const struct job *job)
{
    struct job copy = *job, chw = tensor_job(job, LX_FLOAT32, LX_IMAGE_CHW, false);
    struct job mirror = tensor_job(job, LX_FLOAT32, LX_IMAGE_CHW, true);
    struct job hwc = tensor_job(job, LX_FLOAT32, LX_IMAGE_HWC, false);
    struct job half = tensor_job(job, LX_FLOAT16, LX_IMAGE_CHW, false);
    struct job brain = tensor_job(job, LX_BFLOAT16, LX_IMAGE_CHW, false);
    struct job raw = tensor_job(job, LX_UINT8, LX_IMAGE_CHW, false);
    const double work = CROPS * PIXELS;
    const bench_case cases[] = {{"copies of float32", copy_tensors, &copy, work},
                                {"float32, CHW", convert, &chw, work},
                                {"float32, CHW, mirrored", convert, &mirror, work},
                                {"float32, HWC", convert, &hwc, work},
                                {"float16, CHW", convert, &half, work},
                                {"bfloat16, CHW", convert, &brain, work},
                                {"uint8, CHW", convert, &raw, work},
                                {"bilinear, then float32, CHW", resize_and_convert, &chw, work}};
    bench_compare(bench, "tensors of 3 x 224 x 224, normalized", "pixel", cases,
                  sizeof cases / sizeof *cases);
    struct job *const made[] = {&chw, &mirror, &hwc, &half, &brain, &raw};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        lx_image_tensorizer_free(made[i]->tensorizer);
}

void bench_pixels(bench_run *bench)
{
    lx_image crops[CROPS];
    uint64_t seed = 7;
    uint8_t *photo = malloc((size_t)WIDTH * HEIGHT * 3), *small = malloc(PIXELS * 3);
    struct job job = {.photo = photo,
                      .crops = crops,
                      .small = {small, SIDE * 3, SIDE, SIDE, 3},
                      .tensors = malloc(TENSORS * PIXELS * 3 * sizeof(float)),
                      .resizer = lx_image_resizer_new(),
                      .filter = LX_IMAGE_BILINEAR};
    must(photo != NULL && small != NULL && job.tensors != NULL && job.resizer != NULL, "memory");
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * 3; i++)
        photo[i] = (uint8_t)next_random(&seed);
    memset(small, 1, PIXELS * 3);
    memset(job.tensors, 1, TENSORS * PIXELS * 3 * sizeof(float));
    make_crops(photo, crops);
    bench_resize(bench, &job);
    bench_tensors(bench, &job);
    lx_image_resizer_free(job.resizer);
    free(job.tensors);
    free(small);
    free(photo);
}
