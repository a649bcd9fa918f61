/* SPDX-License-Identifier: MIT */
/* A source of tensors, made from the encoded images of another source. */
#include <string.h>

#include <loaderx/map.h>
#include <loaderx/random.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "image/pixel/tensor.h"
#include "image/transform/transform.h"

/** What all threads share. */
typedef struct images {
    lx_image_transform transform;
    lx_image_tensorizer *tensorizer;
    size_t size; /* of a tensor, in bytes */
} images;

static void free_images(void *user)
{
    images *self = user;
    lx_image_tensorizer_free(self->tensorizer);
    lx__free(self);
}

/* ---- reading */

static lx_status new_worker(void *user, void **worker, lx_error *error)
{
    const images *self = user;
    lx__picture *picture = lx__alloc_array(1, sizeof *picture);
    if (picture == NULL)
        return lx__fail_memory(error, "an image");
    lx_status status = lx__picture_init(picture, self->transform.tensor.channels, error);
    if (status == LX_OK) {
        *worker = picture;
    } else {
        lx__picture_clear(picture);
        lx__free(picture);
    }
    return status;
}

static void free_worker(void *worker, void *user)
{
    (void)user;
    lx__picture_clear(worker);
    lx__free(worker);
}

static lx_status make_tensor(const images *self, lx__picture *picture, const uint64_t key[2],
                             const void *bytes, size_t size, void *out, lx_error *error)
{
    lx__exposure exposure;
    bool exposed = lx__transform_expose(&self->transform, key, &exposure);
    lx_status status = lx__picture_open(picture, bytes, size, error);
    if (status == LX_OK)
        status = lx__transform_run(&self->transform, key, picture, error);
    if (status == LX_OK)
        status = lx__tensorizer_convert(self->tensorizer, &picture->pixels, picture->mirrored,
                                        exposed ? &exposure : NULL, out, self->size, error);
    for (size_t i = 0; status == LX_OK && i < picture->erasure_count; i++)
        lx__tensorizer_fill(self->tensorizer, picture->width, picture->height,
                            &picture->erasures[i].part, picture->erasures[i].values, out);
    return status;
}

/** An image that cannot be decoded is a damaged record, to which the loader's policy applies. */
static lx_status fail_image(lx_status status, const char *column, uint64_t index, lx_error *error)
{
    if (status == LX_ERR_UNSUPPORTED || status == LX_ERR_LIMIT)
        status = LX_ERR_CORRUPT;
    error->status = status;
    lx_error_locate(error, NULL, column, index, LX_NONE);
    return status;
}

static lx_status read_images(const lx_samples *samples, const lx_column *inputs,
                             const lx_target *outputs, void *worker, void *user, lx_error *error)
{
    const images *self = user;
    const lx_column *column = &inputs[0];
    for (size_t i = 0; i < samples->count; i++) {
        const uint8_t *bytes = (const uint8_t *)column->data + column->offsets[i];
        uint64_t key[2];
        lx_random_get_key(self->transform.seed, samples->epoch, samples->positions[i], key);
        lx_status status = make_tensor(self, worker, key, bytes,
                                       (size_t)(column->offsets[i + 1] - column->offsets[i]),
                                       (uint8_t *)outputs[0].data + i * outputs[0].stride, error);
        if (status != LX_OK)
            return fail_image(status, column->name, samples->indices[i], error);
    }
    return LX_OK;
}

/* ---- constructor */

static lx_status check(const lx_source *part, const char *column,
                       const lx_image_transform *transform, lx_error *error)
{
    if (part == NULL || column == NULL || transform == NULL)
        return lx__fail_null(error, part == NULL     ? "part"
                                    : column == NULL ? "column"
                                                     : "transform");
    for (size_t i = 0; i < lx_source_get_column_count(part); i++) {
        const lx_column_info *info = lx_source_get_column(part, i);
        if (strcmp(info->name, column) != 0 || info->dtype == LX_IMAGE || info->dtype == LX_BYTES)
            continue;
        lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                                   "the column contains %s, not the bytes of encoded images",
                                   lx_dtype_get_name(info->dtype));
        lx_error_locate(error, NULL, column, LX_NONE, LX_NONE);
        return status;
    }
    return LX_OK;
}

/** Computes the shape and the size of a tensor. */
static lx_status get_shape(const lx_image_transform *transform, uint64_t shape[3], size_t *size,
                           lx_error *error)
{
    uint32_t width, height;
    const lx__tensor_spec *tensor = &transform->tensor;
    if (!lx__transform_get_size(transform, &width, &height))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the transform gives images different sizes: end it with a crop, or with a "
                       "resize to a width and a height");
    if (tensor->mean_image != NULL && (tensor->width != width || tensor->height != height))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the mean image has %u x %u pixels, and the tensors %u x %u", tensor->width,
                       tensor->height, width, height);
    bool first = tensor->layout == LX_IMAGE_CHW;
    shape[0] = first ? tensor->channels : height;
    shape[1] = first ? height : width;
    shape[2] = first ? width : tensor->channels;
    *size = (size_t)(shape[0] * shape[1] * shape[2]) * lx_dtype_get_size(tensor->dtype);
    return LX_OK;
}

static lx_status new_images(const lx_image_transform *transform, size_t size, images **made,
                            lx_error *error)
{
    images *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL)
        return lx__fail_memory(error, "a source of images");
    self->transform = *transform;
    self->transform.mean_image = NULL; /* the tensorizer has a copy */
    self->transform.tensor.mean_image = NULL;
    self->size = size;
    lx_status status = lx__tensorizer_new(&transform->tensor, &self->tensorizer, error);
    if (status == LX_OK)
        *made = self;
    else
        lx__free(self);
    return status;
}

/** Sets the functions of the map, and its identity. */
static lx_status set_options(lx_source_options *options, const lx_image_transform *transform,
                             images *self, lx_error *error)
{
    json_t *json = lx__transform_to_json(transform);
    char *identity = json != NULL ? lx__json_text(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(json);
    lx_status status = identity != NULL ? lx_source_options_set_identity(options, identity, error)
                                        : lx__fail_memory(error, "a source of images");
    lx__free(identity);
    if (status == LX_OK)
        status = lx_source_options_set_map(options, read_images, self, error);
    if (status == LX_OK)
        status = lx_source_options_set_worker(options, new_worker, free_worker, error);
    if (status == LX_OK)
        status = lx_source_options_set_release(options, free_images, error);
    return status;
}

lx_status lx_source_new_images(lx_source *part, const char *column,
                               const lx_image_transform *transform, lx_source **source,
                               lx_error *error)
{
    LX__CLEAR(source);
    uint64_t shape[3];
    size_t size = 0;
    images *self = NULL;
    if (source == NULL)
        return lx__fail_null(error, "source");
    lx_status status = check(part, column, transform, error);
    if (status == LX_OK)
        status = get_shape(transform, shape, &size, error);
    lx_source_options *options = status == LX_OK ? lx_source_options_new() : NULL;
    if (status == LX_OK && options == NULL)
        status = lx__fail_memory(error, "a source of images");
    if (status == LX_OK)
        status = new_images(transform, size, &self, error);
    if (status == LX_OK)
        status = set_options(options, transform, self, error);
    if (status == LX_OK) {
        const lx_column_info info = {
            .name = column, .dtype = transform->tensor.dtype, .ndim = 3, .shape = shape};
        status = lx_source_new_map(part, &column, 1, &info, 1, options, source, error);
    }
    lx_source_options_free(options);
    if (status != LX_OK && self != NULL)
        free_images(self);
    return status;
}
