/* SPDX-License-Identifier: MIT */
/* Decoding of JPEG images, whole and in random regions, compared with libjpeg-turbo alone, which
 * decodes whole images into the same memory. */
#include "plain.h"

#include <math.h>
#include <string.h>

#include <jpeglib.h>

#include <loaderx/image/decoder.h>

#define WIDTH 500u
#define HEIGHT 400u
#define QUALITY 90
#define IMAGES 24

struct file {
    unsigned char *bytes;
    unsigned long size;
};

/** One thread's work. */
struct decoding {
    const struct file *files;
    lx_image_decoder *decoder;
    uint64_t random;
    bool crops;
    uint8_t pixels[WIDTH * HEIGHT * 3];
};

struct work {
    struct decoding *decodings;
    size_t threads;
    void *(*decode)(void *decoding);
};

/* ---- pictures: noise that is equally strong in each octave, as in photographs */

static double lattice(uint64_t seed, uint32_t x, uint32_t y)
{
    uint64_t state = seed * 1000003 + x * 7919 + y * 104729;
    next_random(&state);
    return (double)next_random(&state) / (double)(1u << 31) - 0.5;
}

static double smooth(uint64_t seed, uint32_t x, uint32_t y, uint32_t length)
{
    double u = (double)(x % length) / length, v = (double)(y % length) / length;
    uint32_t column = x / length, row = y / length;
    return (1 - v) * ((1 - u) * lattice(seed, column, row) + u * lattice(seed, column + 1, row)) +
           v * ((1 - u) * lattice(seed, column, row + 1) + u * lattice(seed, column + 1, row + 1));
}

static uint8_t sample(uint64_t seed, uint32_t x, uint32_t y, uint32_t channel)
{
    double value = 128;
    for (uint32_t length = 128; length >= 2; length /= 2)
        value += 50 * smooth(seed, x, y, length) + 15 * smooth(seed + channel, x, y, length);
    return (uint8_t)fmax(0, fmin(255, value));
}

static struct file encode(uint64_t seed)
{
    struct jpeg_compress_struct library;
    struct jpeg_error_mgr errors;
    struct file file = {NULL, 0};
    uint8_t row[WIDTH * 3];
    JSAMPROW rows[] = {row};
    library.err = jpeg_std_error(&errors);
    jpeg_create_compress(&library);
    jpeg_mem_dest(&library, &file.bytes, &file.size);
    library.image_width = WIDTH;
    library.image_height = HEIGHT;
    library.in_color_space = JCS_RGB;
    library.input_components = 3;
    jpeg_set_defaults(&library);
    jpeg_set_quality(&library, QUALITY, TRUE);
    jpeg_start_compress(&library, TRUE);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t i = 0; i < WIDTH * 3; i++)
            row[i] = sample(seed, i / 3, y, i % 3);
        jpeg_write_scanlines(&library, rows, 1);
    }
    jpeg_finish_compress(&library);
    jpeg_destroy_compress(&library);
    return file;
}

/* ---- decoding */

static void *decode_plain(void *user)
{
    struct decoding *decoding = user;
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr errors;
    library.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&library);
    for (int i = 0; i < IMAGES; i++) {
        jpeg_mem_src(&library, decoding->files[i].bytes, decoding->files[i].size);
        jpeg_read_header(&library, TRUE);
        jpeg_start_decompress(&library);
        while (library.output_scanline < HEIGHT) {
            JSAMPROW row = decoding->pixels + library.output_scanline * WIDTH * 3;
            jpeg_read_scanlines(&library, &row, 1);
        }
        jpeg_finish_decompress(&library);
    }
    jpeg_destroy_decompress(&library);
    return NULL;
}

/** Draws a region as torchvision's RandomResizedCrop() does, of .08 to 1 of the area. */
static lx_image_region draw(uint64_t *random)
{
    for (;;) {
        double area = WIDTH * HEIGHT * (.08 + .92 * (double)next_random(random) / (1u << 31));
        double ratio = exp(log(4. / 3) * (2 * (double)next_random(random) / (1u << 31) - 1));
        uint32_t width = (uint32_t)sqrt(area * ratio), height = (uint32_t)sqrt(area / ratio);
        if (width <= WIDTH && height <= HEIGHT)
            return (lx_image_region){(uint32_t)(next_random(random) % (WIDTH - width + 1)),
                                     (uint32_t)(next_random(random) % (HEIGHT - height + 1)), width,
                                     height};
    }
}

static void *decode_ours(void *user)
{
    struct decoding *decoding = user;
    lx_error error = LX_ERROR_INIT;
    lx_image_info info;
    for (int i = 0; i < IMAGES; i++) {
        const struct file *file = &decoding->files[i];
        lx_image_region region = {0, 0, WIDTH, HEIGHT};
        if (decoding->crops)
            region = draw(&decoding->random);
        must_be_ok(lx_image_decoder_open(decoding->decoder, file->bytes, file->size, &info, &error),
                   &error);
        must_be_ok(lx_image_decoder_read(decoding->decoder, &region, decoding->pixels,
                                         (size_t)region.width * 3, &error),
                   &error);
    }
    return NULL;
}

static void run(void *context)
{
    struct work *work = context;
    run_on_threads(work->decode, work->decodings, sizeof *work->decodings, work->threads);
}

/** Makes the work of one case, for run(). */
static struct work prepare(const struct file *files, size_t threads, void *(*decode)(void *),
                           bool crops)
{
    struct work work = {calloc(threads, sizeof *work.decodings), threads, decode};
    must(work.decodings != NULL, "memory");
    for (size_t i = 0; i < threads; i++) {
        work.decodings[i].files = files;
        work.decodings[i].decoder = lx_image_decoder_new();
        work.decodings[i].random = i;
        work.decodings[i].crops = crops;
    }
    return work;
}

static void drop(struct work *work)
{
    for (size_t i = 0; i < work->threads; i++)
        lx_image_decoder_free(work->decodings[i].decoder);
    free(work->decodings);
}

void bench_images(bench_run *bench)
{
    struct file files[IMAGES];
    char title[120];
    unsigned long total = 0;
    for (int i = 0; i < IMAGES; i++) {
        files[i] = encode((uint64_t)i * 10);
        total += files[i].size;
    }
    for (size_t threads = 1; threads <= THREADS_MAX; threads++) {
        struct work plain = prepare(files, threads, decode_plain, false);
        struct work whole = prepare(files, threads, decode_ours, false);
        struct work crops = prepare(files, threads, decode_ours, true);
        const double images = (double)(threads * IMAGES);
        const bench_case cases[] = {{"libjpeg-turbo, whole images", run, &plain, images},
                                    {"whole images", run, &whole, images},
                                    {"random regions", run, &crops, images}};
        snprintf(title, sizeof title, "JPEG images of %u x %u, %lu KB, %zu thread%s", WIDTH, HEIGHT,
                 total / IMAGES / 1000, threads, threads == 1 ? "" : "s");
        bench_compare(bench, title, "image", cases, 3);
        drop(&plain);
        drop(&whole);
        drop(&crops);
    }
    for (int i = 0; i < IMAGES; i++)
        free(files[i].bytes);
}
