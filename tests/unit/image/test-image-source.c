/* SPDX-License-Identifier: MIT */
/* Encoded images as a column of tensors: lib/image/image-source.c. */
#include <loaderx/image.h>
#include <loaderx/loaderx.h>

#include "../scarce.h"
#include "../loader/loaders.h"
#include "../sampler/orders.h"
#include "pictures.h"

#define SIDE 16

static const struct setup plain = {.batch_size = 10};

/** Files as records of "label", the index, and "image". */
struct album {
    struct picture *pictures;
    uint64_t length;
};

static lx_status get_sizes(size_t column, const uint64_t *indices, size_t count, uint64_t *offsets,
                           void *user, lx_error *error)
{
    const struct album *album = user;
    (void)column, (void)error;
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++)
        offsets[i + 1] = offsets[i] + album->pictures[indices[i]].size;
    return LX_OK;
}

static lx_status fill_bytes(size_t column, const uint64_t *indices, size_t count,
                            const uint64_t *offsets, void *out, void *user, lx_error *error)
{
    const struct album *album = user;
    (void)column, (void)error;
    for (size_t i = 0; i < count; i++)
        memcpy((uint8_t *)out + offsets[i], album->pictures[indices[i]].bytes,
               album->pictures[indices[i]].size);
    return LX_OK;
}

static lx_status fill(const uint64_t *indices, size_t count, const lx_target *targets, void *user,
                      lx_error *error)
{
    (void)user, (void)error;
    for (size_t i = 0; i < count; i++)
        memcpy((uint8_t *)targets[0].data + i * targets[0].stride, &indices[i], 8);
    return LX_OK;
}

static lx_source *album_source(struct album *album)
{
    static const source_functions functions = {
        .fill = fill, .sizes = get_sizes, .fill_bytes = fill_bytes};
    static const lx_column_info columns[] = {{.name = "label", .dtype = LX_UINT64},
                                             {.name = "image", .dtype = LX_BYTES}};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_ok(new_source(&functions, album, album->length, columns, 2, NULL, &source, &error));
    return source;
}

static struct album make_album(uint64_t length)
{
    struct album album = {calloc(length, sizeof *album.pictures), length};
    size_t kinds = 0;
    while (picture_kinds[kinds].name != NULL)
        kinds++;
    for (uint64_t i = 0; i < length; i++)
        album.pictures[i] = picture_encode(&picture_kinds[i % kinds], 40 + (uint32_t)i % 7,
                                           30 + (uint32_t)i % 11, 1 + (uint32_t)i % 8);
    return album;
}

static void free_album(struct album *album)
{
    for (uint64_t i = 0; i < album->length; i++)
        free(album->pictures[i].bytes);
    free(album->pictures);
}

static lx_image_transform *random_transform(uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    static const float mean[] = {0.5f, 0.4f, 0.3f}, std[] = {0.2f, 0.3f, 0.4f};
    static const double factors[] = {0.6, 1.4}, turn[] = {-0.1, 0.1}, degrees[] = {-20, 20};
    static const uint32_t sides[] = {1, 2, 3, 4};
    lx_image_transform *transform = lx_image_transform_new();
    lx_image_transform_set_seed(transform, seed);
    unit_ok(lx_image_transform_add_random_resized_crop(transform, SIDE, SIDE, NULL, NULL,
                                                       LX_IMAGE_BILINEAR, &error));
    unit_ok(lx_image_transform_add_mirror(transform, 0.5, &error));
    unit_ok(
        lx_image_transform_add_color_jitter(transform, factors, factors, factors, turn, &error));
    unit_ok(lx_image_transform_add_grey(transform, 0.2, &error));
    unit_ok(lx_image_transform_add_lighting(transform, 0.1, &error));
    unit_ok(lx_image_transform_add_blur(transform, 5, 3, NULL, &error));
    unit_ok(lx_image_transform_add_pad(transform, sides, NULL, &error));
    unit_ok(lx_image_transform_add_rotation(transform, degrees, LX_IMAGE_BILINEAR, NULL, &error));
    unit_ok(lx_image_transform_add_random_crop(transform, SIDE, SIDE, &error));
    unit_ok(lx_image_transform_add_erasing(transform, 0.5, NULL, NULL, NULL, &error));
    unit_ok(
        lx_image_transform_set_tensor(transform, LX_FLOAT32, LX_IMAGE_CHW, 255, mean, std, &error));
    return transform;
}

static lx_source *images_of(struct album *album, lx_image_transform *transform)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *part = album_source(album), *source;
    unit_ok(lx_source_new_images(part, "image", transform, &source, &error));
    lx_source_unref(part);
    return source;
}

static const uint8_t *tensor_of(const lx_batch *batch, uint64_t row)
{
    const lx_column *column = lx_batch_find_column(batch, "image");
    return (const uint8_t *)column->data + row * column->size;
}

/* The pixels of a position are the same for any number of threads and ranks, and after a seek. */
START_TEST(pixels_depend_on_the_position_alone)
{
    enum { LENGTH = 75, SIZE = 3 * SIDE * SIDE * 4 };
    static uint8_t right[2 * LENGTH][SIZE];
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(LENGTH);
    lx_image_transform *transform = random_transform(5);
    lx_source *source = images_of(&album, transform);
    lx_order *order = make_order("shuffle", LENGTH, 3, 0);
    for (uint64_t world = 1; world <= 3; world++) {
        for (uint64_t rank = 0; rank < world; rank++) {
            struct setup setup = {.batch_size = 8,
                                  .world = world,
                                  .rank = rank,
                                  .epochs = 2,
                                  .uneven = true,
                                  .threads = (uint32_t)world - 1,
                                  .order = order};
            lx_loader *loader = open_loader(source, setup);
            if (world == 3)
                unit_ok(lx_loader_seek(loader, 24, &error));
            for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
                for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++) {
                    uint64_t epoch = lx_batch_get_epoch(batch) * LENGTH;
                    uint64_t offset = lx_batch_get_position(batch) - epoch;
                    uint64_t position = epoch + (offset + world - 1 - rank) / world * world + rank +
                                        i * world; /* the rank's next one */
                    ck_assert_uint_eq(lx_batch_find_column(batch, "image")->size, SIZE);
                    if (world == 1)
                        memcpy(right[position], tensor_of(batch, i), SIZE);
                    else
                        ck_assert_mem_eq(tensor_of(batch, i), right[position], SIZE);
                }
            lx_loader_close(loader);
        }
    }
    lx_order_unref(order);
    lx_source_unref(source);
    lx_image_transform_free(transform);
    free_album(&album);
}
END_TEST

START_TEST(draws_of_one_image_differ)
{
    enum { SIZE = 3 * SIDE * SIDE * 4 };
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(1);
    lx_image_transform *transform = random_transform(5);
    lx_source *one = images_of(&album, transform), *source;
    const uint64_t table[6] = {0};
    unit_ok(lx_source_new_subset(one, table, 6, &source, &error));
    lx_loader *loader = open_loader(source, plain);
    lx_batch *batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_row_count(batch), 6);
    for (uint64_t i = 0; i < 6; i++)
        for (uint64_t k = 0; k < i; k++)
            ck_assert(memcmp(tensor_of(batch, i), tensor_of(batch, k), SIZE) != 0);
    lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_source_unref(source);
    lx_source_unref(one);
    lx_image_transform_free(transform);
    free_album(&album);
}
END_TEST

START_TEST(bad_images_follow_the_policy)
{
    enum { LENGTH = 40 };
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(LENGTH);
    album.pictures[3].size /= 2;               /* truncated */
    memcpy(album.pictures[17].bytes, "BM", 2); /* of an unknown format */
    album.pictures[25].size = 0;
    lx_image_transform *transform = lx_image_transform_new();
    unit_ok(lx_image_transform_add_resize(transform, 8, 8, LX_IMAGE_BILINEAR, &error));
    lx_source *source = images_of(&album, transform);
    lx_batch *batch;
    lx_loader *loader = open_loader(source, plain);
    ck_assert_int_eq(lx_loader_next(loader, &batch, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(error.record, 3);
    ck_assert_str_eq(error.field, "image");
    lx_error_clear(&error);
    lx_loader_close(loader);
    struct setup setup = {.batch_size = 10, .damage = LX_DAMAGE_SKIP, .threads = 2};
    uint64_t labels = 0, count = 0;
    loader = open_loader(source, setup);
    for (; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, count++)
            labels |= UINT64_C(1) << ((uint64_t *)lx_batch_find_column(batch, "label")->data)[i];
    ck_assert_uint_eq(count, LENGTH - 3);
    ck_assert_uint_eq(labels, ((UINT64_C(1) << LENGTH) - 1) &
                                  ~(UINT64_C(1) << 3 | UINT64_C(1) << 17 | UINT64_C(1) << 25));
    lx_loader_close(loader);
    lx_source_unref(source);
    lx_image_transform_free(transform);
    free_album(&album);
}
END_TEST

/** Reads all batches; returns the status of the last call. */
static lx_status read_through(struct album *album, lx_image_transform *transform,
                              lx_damage_policy policy, lx_error *error)
{
    lx_source *source = images_of(album, transform);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 10, .damage = policy});
    lx_batch *batch;
    lx_status status;
    while ((status = lx_loader_next(loader, &batch, error)) == LX_OK)
        lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_source_unref(source);
    return status;
}

START_TEST(images_of_too_many_pixels_are_not_damage)
{
    static const lx_damage_policy policies[] = {LX_DAMAGE_RAISE, LX_DAMAGE_SKIP, LX_DAMAGE_ZEROS};
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(40);
    uint64_t most = 0;
    for (size_t i = 0; i < album.length; i++) {
        uint64_t pixels = (40 + i % 7) * (30 + i % 11);
        most = pixels > most ? pixels : most;
    }
    album.pictures[2].size = 0; /* damage before it in the batch */
    lx_image_transform *transform = lx_image_transform_new();
    unit_ok(lx_image_transform_add_resize(transform, 8, 8, LX_IMAGE_BILINEAR, &error));
    for (size_t i = 1; i < sizeof policies / sizeof *policies; i++) {
        lx_image_transform_set_max_pixels(transform, most - 1);
        ck_assert_int_eq(read_through(&album, transform, policies[i], &error), LX_ERR_LIMIT);
        ck_assert_str_eq(error.field, "image");
        ck_assert(error.record < album.length && error.record != 2);
        ck_assert_msg(strstr(error.message, "raise max_pixels") != NULL, "%s", error.message);
        lx_error_clear(&error);
        lx_image_transform_set_max_pixels(transform, most);
        ck_assert_int_eq(read_through(&album, transform, policies[i], &error), LX_END);
    }
    lx_image_transform_free(transform);
    free_album(&album);
}
END_TEST

START_TEST(tensors_have_the_layout_and_channels_asked_for)
{
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(1);
    for (int i = 0; i < 4; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        bool grey = i % 2, last = i / 2;
        lx_image_transform_set_grey(transform, grey);
        unit_ok(lx_image_transform_add_resize(transform, 5, 7, LX_IMAGE_BILINEAR, &error));
        unit_ok(lx_image_transform_set_tensor(
            transform, LX_INT8, last ? LX_IMAGE_HWC : LX_IMAGE_CHW, 1, NULL, NULL, &error));
        lx_source *source = images_of(&album, transform);
        const lx_column_info *column = lx_source_get_column(source, 1);
        const uint64_t shape[3] = {last   ? 7
                                   : grey ? 1
                                          : 3,
                                   last ? 5 : 7, last ? (grey ? 1 : 3) : 5};
        ck_assert(column->dtype == LX_INT8 && column->ndim == 3);
        ck_assert_mem_eq(column->shape, shape, sizeof shape);
        lx_source_unref(source);
        lx_image_transform_free(transform);
    }
    free_album(&album);
}
END_TEST

/* The part that is erased is where the tensor shows it, in each layout and type. */
START_TEST(parts_of_tensors_are_erased)
{
    static const lx_dtype dtypes[] = {LX_UINT8, LX_INT8, LX_FLOAT16, LX_BFLOAT16, LX_FLOAT32};
    static const float values[] = {3, 200, -1};
    static const uint8_t elements[5][3][4] = {
        {{3}, {200}, {0}},
        {{3}, {127}, {0xff}},
        {{0, 0x42}, {0x40, 0x5a}, {0, 0xbc}},
        {{0x40, 0x40}, {0x48, 0x43}, {0x80, 0xbf}},
        {{0, 0, 0x40, 0x40}, {0, 0, 0x48, 0x43}, {0, 0, 0x80, 0xbf}}};
    static const double area[] = {0.2, 0.3};
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(1);
    for (int i = 0; i < 20; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        size_t size = lx_dtype_get_size(dtypes[i / 4]), channels = i % 2 ? 1 : 3, count = 0;
        bool last = i / 2 % 2;
        lx_image_transform_set_grey(transform, channels == 1);
        unit_ok(lx_image_transform_add_resize(transform, 20, 25, LX_IMAGE_BOX, &error));
        unit_ok(lx_image_transform_add_mirror(transform, 1, &error));
        unit_ok(lx_image_transform_add_erasing(transform, 1, area, NULL, values, &error));
        unit_ok(lx_image_transform_set_tensor(
            transform, dtypes[i / 4], last ? LX_IMAGE_HWC : LX_IMAGE_CHW, 1, NULL, NULL, &error));
        lx_source *source = images_of(&album, transform);
        lx_loader *loader = open_loader(source, plain);
        lx_batch *batch = next_batch(loader);
        const uint8_t *tensor = tensor_of(batch, 0);
        for (size_t pixel = 0; pixel < 500; pixel++) {
            bool erased = true;
            for (size_t c = 0; c < channels; c++) {
                size_t at = last ? pixel * channels + c : c * 500 + pixel;
                erased = erased && memcmp(tensor + at * size, elements[i / 4][c], size) == 0;
            }
            count += erased;
        }
        ck_assert(count > 85 && count < 170);
        lx_batch_unref(batch);
        lx_loader_close(loader);
        lx_source_unref(source);
        lx_image_transform_free(transform);
    }
    free_album(&album);
}
END_TEST

START_TEST(states_distinguish_transforms)
{
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(3);
    lx_image_transform *a = random_transform(1), *b = random_transform(2), *c = random_transform(1);
    unit_ok(lx_image_transform_set_convention(c, LX_IMAGE_MXNET, &error));
    lx_source *one = images_of(&album, a), *same = images_of(&album, a),
              *other = images_of(&album, b), *mxnet = images_of(&album, c);
    char text[4096];
    unit_ok(lx_source_save(one, text, sizeof text, NULL, &error));
    unit_ok(lx_source_match(same, text, false, &error));
    unit_fails(lx_source_match(other, text, false, &error), LX_ERR_MISMATCH);
    unit_fails(lx_source_match(mxnet, text, false, &error), LX_ERR_MISMATCH);
    lx_source_unref(one);
    lx_source_unref(same);
    lx_source_unref(other);
    lx_source_unref(mxnet);
    lx_image_transform_free(a);
    lx_image_transform_free(b);
    lx_image_transform_free(c);
    free_album(&album);
}
END_TEST

/** Returns a transform to grey tensors of 4 x 2 elements, of which a mean image is subtracted. */
static lx_image_transform *mean_transform(const float mean_image[8], const float *factor)
{
    lx_error error = LX_ERROR_INIT;
    lx_image_transform *transform = lx_image_transform_new();
    lx_image_transform_set_grey(transform, true);
    unit_ok(lx_image_transform_add_resize(transform, 4, 2, LX_IMAGE_BILINEAR, &error));
    unit_ok(lx_image_transform_set_scaled_tensor(transform, LX_FLOAT32, LX_IMAGE_CHW, NULL, factor,
                                                 &error));
    if (mean_image != NULL)
        unit_ok(lx_image_transform_set_mean_image(transform, 1, 4, 2, mean_image, &error));
    return transform;
}

static void read_tensor(lx_source *source, void *tensor, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    const uint64_t index = 0;
    uint64_t label;
    const lx_target targets[] = {{&label, sizeof label}, {tensor, size}};
    unit_ok(lx_source_fill(source, &index, 1, targets, &error));
}

/* The transform is gone when the source is read. */
START_TEST(a_mean_image_is_subtracted)
{
    const float mean_image[] = {0, 1, 2, 3, 4, 5, 6, 250}, two[] = {2, 2, 2};
    struct album album = make_album(1);
    lx_image_transform *one = mean_transform(mean_image, two), *other = mean_transform(NULL, two);
    lx_source *source = images_of(&album, one), *raw = images_of(&album, other);
    float tensor[8], pixels[8];
    lx_image_transform_free(one);
    lx_image_transform_free(other);
    read_tensor(source, tensor, sizeof tensor);
    read_tensor(raw, pixels, sizeof pixels);
    for (int i = 0; i < 8; i++)
        ck_assert(tensor[i] == pixels[i] - 2 * mean_image[i]);
    lx_source_unref(source);
    lx_source_unref(raw);
    free_album(&album);
}
END_TEST

/* A transform whose factors are 1 has the state that one without factors has. */
START_TEST(states_distinguish_mean_images_and_factors)
{
    float mean_image[8] = {1, 2, 3}, other_image[8] = {1, 2, 4};
    const float two[] = {2, 2, 2};
    static const int kinds[] = {0, 1, 2, 3, 4, 0, 2}; /* those of a kind have the same state */
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(1);
    lx_image_transform *transforms[] = {
        mean_transform(NULL, NULL),       mean_transform(NULL, two),
        mean_transform(mean_image, NULL), mean_transform(other_image, NULL),
        mean_transform(NULL, NULL),       mean_transform(NULL, NULL),
        mean_transform(mean_image, NULL)};
    unit_ok(lx_image_transform_set_exposure(transforms[4], 0.1, 0, &error));
    unit_ok(lx_image_transform_set_tensor(transforms[5], LX_FLOAT32, LX_IMAGE_CHW, 1, NULL, NULL,
                                          &error));
    lx_source *sources[7];
    for (size_t i = 0; i < 7; i++)
        sources[i] = images_of(&album, transforms[i]);
    for (size_t i = 0; i < 7; i++) {
        char text[4096];
        unit_ok(lx_source_save(sources[i], text, sizeof text, NULL, &error));
        for (size_t k = 0; k < 7; k++) {
            ck_assert_int_eq(lx_source_match(sources[k], text, false, &error),
                             kinds[i] == kinds[k] ? LX_OK : LX_ERR_MISMATCH);
            lx_error_clear(&error);
        }
    }
    for (size_t i = 0; i < 7; i++) {
        lx_source_unref(sources[i]);
        lx_image_transform_free(transforms[i]);
    }
    free_album(&album);
}
END_TEST

START_TEST(a_mean_image_must_have_the_shape_of_the_tensors)
{
    static const float mean_image[24] = {0};
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(1);
    lx_source *part = album_source(&album), *source;
    lx_image_transform *transform = mean_transform(mean_image, NULL);
    unit_ok(lx_image_transform_set_mean_image(transform, 1, 2, 4, mean_image, &error));
    unit_fails(lx_source_new_images(part, "image", transform, &source, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_image_transform_set_mean_image(transform, 1, 4, 2, mean_image, &error));
    lx_image_transform_set_grey(transform, false);
    unit_fails(lx_source_new_images(part, "image", transform, &source, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_image_transform_set_mean_image(transform, 3, 4, 2, mean_image, &error));
    unit_ok(lx_source_new_images(part, "image", transform, &source, &error));
    lx_source_unref(source);
    lx_source_unref(part);
    lx_image_transform_free(transform);
    free_album(&album);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    struct album album = make_album(1);
    lx_source *part = album_source(&album), *source;
    lx_image_transform *transform = random_transform(1), *open = lx_image_transform_new();
    unit_fails(lx_source_new_images(part, "picture", transform, &source, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_source_new_images(part, "label", transform, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_new_images(part, "image", open, &source, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_source_new_images(NULL, "image", transform, &source, &error), "part");
    unit_refuses_null(lx_source_new_images(part, NULL, transform, &source, &error), "column");
    unit_refuses_null(lx_source_new_images(part, "image", NULL, &source, &error), "transform");
    unit_refuses_null(lx_source_new_images(part, "image", transform, NULL, &error), "source");
    lx_status status = LX_ERR_NOMEM;
    int left = 0;
    for (; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = lx_source_new_images(part, "image", transform, &source, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    ck_assert_int_gt(left, 5);
    lx_source_unref(source);
    lx_source_unref(part);
    lx_image_transform_free(transform);
    lx_image_transform_free(open);
    free_album(&album);
}
END_TEST

UNIT_MAIN("image/image-source", pixels_depend_on_the_position_alone, draws_of_one_image_differ,
          bad_images_follow_the_policy, images_of_too_many_pixels_are_not_damage,
          tensors_have_the_layout_and_channels_asked_for, parts_of_tensors_are_erased,
          states_distinguish_transforms, a_mean_image_is_subtracted,
          states_distinguish_mean_images_and_factors,
          a_mean_image_must_have_the_shape_of_the_tensors, rejects_invalid_arguments)
