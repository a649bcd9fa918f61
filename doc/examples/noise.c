/* SPDX-License-Identifier: MIT */
/*
 * A format of your own, and an augmentation of your own: reads images from an IDX file, the format
 * of MNIST, and adds noise. One column has the same noise for an image in each epoch, another has
 * fresh noise in each. The program reads two epochs in different orders, with one thread and with
 * three, and checks that.
 *
 *     cc noise.c $(pkg-config --cflags --libs loaderx) -o noise
 *     gunzip -c /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz >images
 *     ./noise images
 *
 * Without an argument, it makes a small file first.
 */
#include <loaderx/loaderx.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An IDX file of images: a big-endian header, then the pixels of all images, one byte each. */
enum { HEADER = 16, MAGIC = 0x00000803, PIXELS_MAX = 1 << 24 };
enum { SEED = 42, BATCH = 128, EPOCHS = 2 };

/* ---- the format */

typedef struct images {
    int fd;
    char *path;
    uint64_t count;
    uint64_t shape[2]; /* height, width */
    uint64_t pixels;
} images;

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Reads all bytes at an offset. A file may be shorter than its header says. */
static lx_status read_at(const images *all, void *to, size_t size, uint64_t offset, lx_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(all->fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got == -1 && errno == EINTR)
            continue;
        if (got == -1)
            return lx_fail_errno(error, errno, all->path, "cannot read");
        if (got == 0) {
            lx_fail(error, LX_ERR_CORRUPT, "the file ends too early");
            lx_error_locate(error, all->path, NULL, LX_NONE, offset + done);
            return LX_ERR_CORRUPT;
        }
        done += (size_t)got;
    }
    return LX_OK;
}

/* Several threads call it at the same time: it only reads, with pread(), which has no position. */
static lx_status fill_images(const uint64_t *indices, size_t count, const lx_target *targets,
                             void *user, lx_error *error)
{
    const images *all = user;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        status = read_at(all, (char *)targets[0].data + i * targets[0].stride, all->pixels,
                         HEADER + indices[i] * all->pixels, error);
        if (status != LX_OK)
            lx_error_locate(error, NULL, "image", indices[i], LX_NONE);
    }
    return status;
}

static void close_images(void *user)
{
    images *all = user;
    if (all->fd != -1)
        close(all->fd);
    free(all->path);
    free(all);
}

/* Checks every number of the header before it is used. */
static lx_status read_header(images *all, lx_error *error)
{
    uint8_t header[HEADER];
    lx_status status = read_at(all, header, sizeof header, 0, error);
    if (status != LX_OK)
        return status;
    all->count = big_endian(header + 4);
    all->shape[0] = big_endian(header + 8);
    all->shape[1] = big_endian(header + 12);
    all->pixels = all->shape[0] * all->shape[1];
    if (big_endian(header) == MAGIC && all->pixels != 0 && all->pixels <= PIXELS_MAX)
        return LX_OK;
    lx_fail(error, LX_ERR_CORRUPT, "not an IDX file of images of at most %d pixels", PIXELS_MAX);
    lx_error_locate(error, all->path, NULL, LX_NONE, 0);
    return LX_ERR_CORRUPT;
}

static lx_status new_source(images *all, lx_source **source, lx_error *error)
{
    lx_column_info column = {.name = "image", .dtype = LX_UINT8, .ndim = 2, .shape = all->shape};
    lx_source_options *options = lx_source_options_new();
    lx_status status = options != NULL ? LX_OK : lx_fail(error, LX_ERR_NOMEM, "no memory");
    if (status == LX_OK)
        status = lx_source_options_set_fill(options, fill_images, all, error);
    if (status == LX_OK)
        status = lx_source_options_set_release(options, close_images, error);
    if (status == LX_OK) /* a saved state is not restored with another file */
        status = lx_source_options_set_identity(options, all->path, error);
    if (status == LX_OK)
        status = lx_source_new(all->count, &column, 1, options, source, error);
    lx_source_options_free(options);
    return status;
}

static lx_status open_images(const char *path, lx_source **source, lx_error *error)
{
    images *all = calloc(1, sizeof *all);
    if (all == NULL)
        return lx_fail(error, LX_ERR_NOMEM, "no memory");
    all->path = strdup(path);
    all->fd = open(path, O_RDONLY | O_CLOEXEC);
    lx_status status = all->path == NULL ? lx_fail(error, LX_ERR_NOMEM, "no memory")
                       : all->fd == -1   ? lx_fail_errno(error, errno, path, "cannot open")
                                         : read_header(all, error);
    if (status == LX_OK)
        status = new_source(all, source, error);
    if (status != LX_OK)
        close_images(all); /* a source that was not made releases nothing */
    return status;
}

/* ---- the augmentation */

static void add_noise(const uint8_t *pixels, uint64_t count, const uint64_t key[2], float *out)
{
    uint64_t draws[64];
    for (uint64_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            lx_random_get_draws(key, i, 64, draws);
        float uniform = (float)(draws[i % 64] >> 40) * 0x1p-24f; /* 0 to 1 */
        out[i] = (float)pixels[i] / 255 + 0.2f * (uniform - 0.5f);
    }
}

/* Depends on nothing but the seed, and the index or the place of a sample. So it does not matter
 * which thread calls it, for how many samples at a time, and in which order. */
static lx_status augment(const lx_samples *samples, const lx_column *inputs,
                         const lx_target *outputs, void *worker, void *user, lx_error *error)
{
    uint64_t size = inputs[0].size, key[2];
    (void)worker, (void)user, (void)error;
    for (size_t i = 0; i < samples->count; i++) {
        const uint8_t *pixels = (const uint8_t *)inputs[0].data + i * size;
        if (outputs[0].data != NULL) { /* the same in each epoch: the key has the index */
            lx_random_get_key(SEED, 0, samples->indices[i], key);
            add_noise(pixels, size, key,
                      (float *)((char *)outputs[0].data + i * outputs[0].stride));
        }
        if (outputs[1].data != NULL) { /* fresh: the key has the epoch and the position */
            lx_random_get_key(SEED, samples->epoch, samples->positions[i], key);
            add_noise(pixels, size, key,
                      (float *)((char *)outputs[1].data + i * outputs[1].stride));
        }
    }
    return LX_OK;
}

static lx_status open_noisy(const char *path, lx_source **source, lx_error *error)
{
    static const char *const input[] = {"image"};
    lx_source *part = NULL;
    lx_source_options *options = lx_source_options_new();
    lx_status status = options != NULL ? LX_OK : lx_fail(error, LX_ERR_NOMEM, "no memory");
    if (status == LX_OK)
        status = open_images(path, &part, error);
    if (status == LX_OK)
        status = lx_source_options_set_map(options, augment, NULL, error);
    if (status == LX_OK)
        status = lx_source_options_set_identity(options, "noise 0.2, seed 42", error);
    if (status == LX_OK) {
        const uint64_t *shape = lx_source_get_column(part, 0)->shape;
        const lx_column_info outputs[] = {
            {.name = "same", .dtype = LX_FLOAT32, .ndim = 2, .shape = shape},
            {.name = "fresh", .dtype = LX_FLOAT32, .ndim = 2, .shape = shape}};
        status = lx_source_new_map(part, input, 1, outputs, 2, options, source, error);
    }
    lx_source_options_free(options);
    lx_source_unref(part); /* the map has its own reference */
    return status;
}

/* ---- the proof */

/* FNV-1a (Fowler, Noll and Vo), of what a column has in a row. */
static uint64_t digest_of(const lx_column *column, uint64_t row)
{
    uint64_t digest = 0xcbf29ce484222325u;
    const uint8_t *bytes = (const uint8_t *)column->data + row * column->size;
    for (uint64_t i = 0; i < column->size; i++)
        digest = (digest ^ bytes[i]) * 0x100000001b3u;
    return digest;
}

/* An image in each epoch: its place in the order, and digests of its columns. */
typedef struct sighting {
    uint64_t place[EPOCHS], same[EPOCHS], fresh[EPOCHS];
} sighting;

/* Reads two epochs, in different orders; image i of the file is all[i]. */
static lx_status read_epochs(lx_source *source, uint32_t threads, sighting *all, lx_error *error)
{
    uint64_t count = lx_source_get_length(source);
    lx_loader *loader = NULL;
    lx_batch *batch = NULL;
    lx_loader_options *options = lx_loader_options_new();
    lx_status status = options != NULL ? LX_OK : lx_fail(error, LX_ERR_NOMEM, "no memory");
    if (status == LX_OK)
        status = lx_loader_options_set_batch_size(options, BATCH, error);
    if (status == LX_OK)
        status = lx_loader_options_set_reader_count(options, threads, error);
    if (status == LX_OK)
        status = lx_loader_options_set_shuffle(options, SEED, error);
    if (status == LX_OK)
        status = lx_loader_options_set_epoch_count(options, EPOCHS, error);
    if (status == LX_OK)
        status = lx_loader_open(source, options, &loader, error);
    while (status == LX_OK && (status = lx_loader_next(loader, &batch, error)) == LX_OK) {
        const lx_column *same = lx_batch_find_column(batch, "same");
        const lx_column *fresh = lx_batch_find_column(batch, "fresh");
        uint64_t epoch = lx_batch_get_epoch(batch);
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++) {
            sighting *image = &all[lx_batch_get_indices(batch)[i]];
            image->place[epoch] = lx_batch_get_position(batch) + i - epoch * count;
            image->same[epoch] = digest_of(same, i);
            image->fresh[epoch] = digest_of(fresh, i);
        }
        lx_batch_unref(batch);
    }
    lx_loader_close(loader);
    lx_loader_options_free(options);
    return status == LX_END ? LX_OK : status;
}

static bool check(const sighting *one, const sighting *three, uint64_t count)
{
    uint64_t moved = 0, same = 0, fresh = 0;
    for (uint64_t i = 0; i < count; i++) {
        moved += one[i].place[0] != one[i].place[1];
        same += one[i].same[0] == one[i].same[1];
        fresh += one[i].fresh[0] != one[i].fresh[1];
    }
    bool threads = memcmp(one, three, count * sizeof *one) == 0;
    printf("Of %" PRIu64 " images, %" PRIu64 " have another place in the second epoch, %" PRIu64
           " the same noise, and %" PRIu64 " fresh noise. Three threads %s.\n",
           count, moved, same, fresh, threads ? "change nothing" : "make a difference");
    return moved != 0 && same == count && fresh == count && threads;
}

static lx_status compare(lx_source *source, bool *right, lx_error *error)
{
    uint64_t count = lx_source_get_length(source);
    sighting *one = calloc(count, sizeof *one), *three = calloc(count, sizeof *three);
    lx_status status = one != NULL && three != NULL ? LX_OK
                                                    : lx_fail(error, LX_ERR_NOMEM, "no memory");
    if (status == LX_OK)
        status = read_epochs(source, 1, one, error);
    if (status == LX_OK)
        status = read_epochs(source, 3, three, error);
    if (status == LX_OK)
        *right = check(one, three, count);
    free(one);
    free(three);
    return status;
}

/* Writes 1,000 images of 28 by 28 pixels with a gradient. */
static bool make_file(const char *path)
{
    static const uint8_t header[HEADER] = {0, 0, 8, 3, 0, 0, 3, 232, 0, 0, 0, 28, 0, 0, 0, 28};
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    fwrite(header, 1, sizeof header, file);
    for (int i = 0; i < 1000; i++)
        for (int k = 0; k < 28 * 28; k++)
            putc((i + k % 28 * 4 + k / 28) % 256, file);
    bool failed = ferror(file);
    return fclose(file) == 0 && !failed;
}

int main(int argc, char **argv)
{
    lx_error error = LX_ERROR_INIT;
    const char *path = argc > 1 ? argv[1] : "images";
    bool right = false;
    lx_source *source = NULL;
    if (argc == 1 && !make_file(path)) {
        perror(path);
        return EXIT_FAILURE;
    }
    lx_status status = open_noisy(path, &source, &error);
    if (status == LX_OK)
        status = compare(source, &right, &error);
    lx_source_unref(source);
    if (status != LX_OK) {
        char line[2048];
        lx_error_describe(&error, line, sizeof line);
        fprintf(stderr, "noise: %s\n", line);
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
