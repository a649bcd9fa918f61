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

/* The inputs of the map, and its outputs in the same order: images, then annotations. */
#define COLUMNS (1 + LX_MAX_IMAGE_ANNOTATIONS)

/** What all threads share. */
typedef struct images {
    lx_image_transform transform;
    lx_image_tensorizer *tensorizer, *classes; /* classes: of masks; NULL without masks */
    size_t size;                               /* of a tensor, in bytes */
    size_t mask_size;
} images;

/** What a call has for itself. */
typedef struct worker {
    lx__picture image, mask; /* mask: zeroed without masks */
} worker;

static void free_images(void *user)
{
    images *self = user;
    lx_image_tensorizer_free(self->tensorizer);
    lx_image_tensorizer_free(self->classes);
    lx__free(self);
}

static void free_worker(void *made, void *user)
{
    worker *w = made;
    (void)user;
    lx__picture_clear(&w->image);
    lx__picture_clear(&w->mask);
    lx__free(w);
}

static lx_status new_worker(void *user, void **made, lx_error *error)
{
    images *self = user;
    worker *w = lx__alloc_array(1, sizeof *w);
    if (w == NULL)
        return lx__fail_memory(error, "an image");
    lx_status status = lx__picture_init(&w->image, self->transform.tensor.channels, error);
    if (status == LX_OK)
        lx__picture_set_max_pixels(&w->image, self->transform.max_pixels);
    if (status == LX_OK && self->classes != NULL)
        status = lx__picture_init_mask(&w->mask, error);
    if (status == LX_OK && self->classes != NULL)
        lx__picture_set_max_pixels(&w->mask, self->transform.max_pixels);
    if (status == LX_OK)
        *made = w;
    else
        free_worker(w, self);
    return status;
}

/* ---- reading */

/** The value of a column in one sample. */
typedef struct value {
    const uint8_t *bytes;
    size_t size;
} value;

static value value_of(const lx_column *column, size_t i)
{
    bool varies = column->offsets != NULL;
    uint64_t begin = varies ? column->offsets[i] : i * column->size;
    uint64_t size = varies ? column->offsets[i + 1] - begin : column->size;
    return (value){(const uint8_t *)column->data + begin, (size_t)size};
}

/** Runs the steps. Whatever limit an open image exceeds there, such as that of the scans of a JPEG,
 * is damage: no option raises it. */
static lx_status run_steps(const images *self, const uint64_t key[2], lx__picture *picture,
                           lx_error *error)
{
    lx_status status = lx__transform_run(&self->transform, key, picture, error);
    return status == LX_ERR_LIMIT ? LX_ERR_CORRUPT : status;
}

/** Makes a tensor, or only follows the steps if @p out is NULL. */
static lx_status make_tensor(const images *self, lx__picture *picture, const uint64_t key[2],
                             value image, void *out, lx_error *error)
{
    lx__exposure exposure;
    lx__conversion conversion = {.exposure = NULL};
    picture->content = out != NULL ? LX__PICTURE_COLORS : LX__PICTURE_OUTLINE;
    lx_status status = lx__picture_open(picture, image.bytes, image.size, error);
    if (status == LX_OK)
        status = run_steps(self, key, picture, error);
    if (status != LX_OK || out == NULL)
        return status;
    conversion.mirror = picture->mirrored;
    conversion.mirror_mean = picture->flipped;
    if (lx__transform_expose(&self->transform, key, &exposure))
        conversion.exposure = &exposure;
    status = lx__tensorizer_convert(self->tensorizer, &picture->pixels, &conversion, out,
                                    self->size, error);
    for (size_t i = 0; status == LX_OK && i < picture->erasure_count; i++)
        lx__tensorizer_fill(self->tensorizer, picture->width, picture->height,
                            &picture->erasures[i].part, picture->erasures[i].values, out);
    return status;
}

static lx_status make_mask(const images *self, worker *w, const uint64_t key[2], value mask,
                           void *out, lx_error *error)
{
    lx__picture *picture = &w->mask;
    const lx__move *image = &w->image.moves.list[0];
    lx_status status = lx__picture_open(picture, mask.bytes, mask.size, error);
    if (status == LX_OK && (picture->width != image->width || picture->height != image->height))
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the mask has %u x %u pixels, and its image has %u x %u", picture->width,
                         picture->height, image->width, image->height);
    if (status == LX_OK)
        status = run_steps(self, key, picture, error);
    return status == LX_OK
               ? lx_image_tensorizer_convert(self->classes, &picture->pixels, picture->mirrored,
                                             out, self->mask_size, error)
               : status;
}

/** Makes the value of an annotation of sample @p i, after the image was followed. */
static lx_status make_annotation(const images *self, worker *w, const lx__annotation *annotation,
                                 const uint64_t key[2], const lx_column *input, size_t i,
                                 const lx_target *output, lx_error *error)
{
    value in = value_of(input, i);
    uint8_t *out = output->data;
    if (annotation->kind == LX__ANNOTATION_MASK) {
        w->mask.fill = annotation->fill;
        return make_mask(self, w, key, in, out + i * output->stride, error);
    }
    out += input->offsets != NULL ? input->offsets[i] : i * output->stride;
    return lx__annotation_move(annotation, &w->image.moves, input->dtype, in.bytes, in.size, out,
                               error);
}

/** Makes the outputs of sample @p i. @p failed receives the input that a failure concerns. */
static lx_status make_outputs(const images *self, worker *w, const uint64_t key[2],
                              const lx_column *inputs, size_t i, const lx_target *outputs,
                              const lx_column **failed, lx_error *error)
{
    uint8_t *tensor = outputs[0].data;
    *failed = &inputs[0];
    lx_status status = make_tensor(self, &w->image, key, value_of(&inputs[0], i),
                                   tensor != NULL ? tensor + i * outputs[0].stride : NULL, error);
    for (size_t k = 0; status == LX_OK && k < self->transform.annotation_count; k++) {
        if (outputs[1 + k].data == NULL)
            continue;
        *failed = &inputs[1 + k];
        status = make_annotation(self, w, &self->transform.annotations[k], key, &inputs[1 + k], i,
                                 &outputs[1 + k], error);
    }
    return status;
}

/** An image that cannot be decoded is a damaged record, to which the loader's policy applies. One of
 * too many pixels is not: it may be good. */
static lx_status fail_image(lx_status status, const char *column, uint64_t index, lx_error *error)
{
    if (status == LX_ERR_UNSUPPORTED)
        status = LX_ERR_CORRUPT;
    error->status = status;
    lx_error_locate(error, NULL, column, index, LX_NONE);
    return status;
}

static lx_status read_images(const lx_samples *samples, const lx_column *inputs,
                             const lx_target *outputs, void *w, void *user, lx_error *error)
{
    const images *self = user;
    for (size_t i = 0; i < samples->count; i++) {
        const lx_column *failed;
        uint64_t key[2];
        lx_random_get_key(self->transform.seed, samples->epoch, samples->positions[i], key);
        lx_status status = make_outputs(self, w, key, inputs, i, outputs, &failed, error);
        if (status != LX_OK)
            return fail_image(status, failed->name, samples->indices[i], error);
    }
    return LX_OK;
}

/* ---- constructor */

/** The columns of the map. */
typedef struct columns {
    const char *inputs[COLUMNS];
    lx_column_info outputs[COLUMNS];
    size_t count;
    uint64_t shape[3], mask_shape[2]; /* of tensors and of masks */
} columns;

/** Returns the column of the source with this name; NULL after a failure. */
static const lx_column_info *find_column(const lx_source *part, const char *name, lx_error *error)
{
    for (size_t i = 0; i < lx_source_get_column_count(part); i++)
        if (strcmp(lx_source_get_column(part, i)->name, name) == 0)
            return lx_source_get_column(part, i);
    lx_fail(error, LX_ERR_NOT_FOUND, "the source has no column '%.64s'", name);
    return NULL;
}

/** Sets the first column, that of the images; checks the arguments. */
static lx_status set_image(const lx_source *part, const char *column,
                           const lx_image_transform *transform, columns *c, lx_error *error)
{
    if (part == NULL || column == NULL || transform == NULL)
        return lx__fail_null(error, part == NULL     ? "part"
                                    : column == NULL ? "column"
                                                     : "transform");
    const lx_column_info *info = find_column(part, column, error);
    if (info == NULL)
        return LX_ERR_NOT_FOUND;
    c->inputs[0] = column;
    c->outputs[0] = (lx_column_info){
        .name = column, .dtype = transform->tensor.dtype, .ndim = 3, .shape = c->shape};
    c->count = 1;
    if (info->dtype == LX_IMAGE || info->dtype == LX_BYTES)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                               "the column contains %s, not the bytes of encoded images",
                               lx_dtype_get_name(info->dtype));
    lx_error_locate(error, NULL, column, LX_NONE, LX_NONE);
    return status;
}

/** Adds the columns of the annotations. */
static lx_status set_annotations(const lx_source *part, const lx_image_transform *transform,
                                 columns *c, lx_error *error)
{
    for (size_t i = 0; i < transform->annotation_count; i++) {
        const lx__annotation *annotation = &transform->annotations[i];
        const lx_column_info *info = find_column(part, annotation->column, error);
        if (info == NULL)
            return LX_ERR_NOT_FOUND;
        lx_status status = lx__annotation_check(annotation, info, error);
        if (status != LX_OK)
            return status;
        c->inputs[c->count] = annotation->column;
        c->outputs[c->count] = *info;
        if (annotation->kind == LX__ANNOTATION_MASK)
            c->outputs[c->count] = (lx_column_info){
                .name = annotation->column, .dtype = LX_UINT8, .ndim = 2, .shape = c->mask_shape};
        c->count++;
    }
    return LX_OK;
}

/** Computes the shapes of tensors and masks. */
static lx_status set_shapes(const lx_image_transform *transform, columns *c, lx_error *error)
{
    uint32_t width, height;
    const lx__tensor_spec *tensor = &transform->tensor;
    uint64_t *shape = c->shape;
    if (!lx__transform_get_size(transform, &width, &height))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "no step gives the images one size: end with a crop, or with a resize to "
                       "a width and a height");
    if (tensor->mean_image != NULL && (tensor->width != width || tensor->height != height))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the mean image has %u x %u pixels, and the tensors %u x %u", tensor->width,
                       tensor->height, width, height);
    bool first = tensor->layout == LX_IMAGE_CHW;
    shape[0] = first ? tensor->channels : height;
    shape[1] = first ? height : width;
    shape[2] = first ? width : tensor->channels;
    c->mask_shape[0] = height;
    c->mask_shape[1] = width;
    return LX_OK;
}

static bool has_masks(const lx_image_transform *transform)
{
    for (size_t i = 0; i < transform->annotation_count; i++)
        if (transform->annotations[i].kind == LX__ANNOTATION_MASK)
            return true;
    return false;
}

static lx_status new_images(const lx_image_transform *transform, const columns *c, images **made,
                            lx_error *error)
{
    images *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL)
        return lx__fail_memory(error, "a source of images");
    self->transform = *transform;
    self->transform.mean_image = NULL; /* the tensorizer has a copy */
    self->transform.tensor.mean_image = NULL;
    self->mask_size = (size_t)(c->mask_shape[0] * c->mask_shape[1]);
    self->size = self->mask_size * transform->tensor.channels *
                 lx_dtype_get_size(transform->tensor.dtype);
    lx_status status = lx__tensorizer_new(&transform->tensor, &self->tensorizer, error);
    if (status == LX_OK && has_masks(transform))
        status = lx_image_tensorizer_new(LX_UINT8, LX_IMAGE_HWC, 1, 1, NULL, NULL, &self->classes,
                                         error);
    if (status == LX_OK)
        *made = self;
    else
        free_images(self);
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
    columns c;
    images *self = NULL;
    if (source == NULL)
        return lx__fail_null(error, "source");
    lx_status status = set_image(part, column, transform, &c, error);
    if (status == LX_OK)
        status = set_annotations(part, transform, &c, error);
    if (status == LX_OK)
        status = set_shapes(transform, &c, error);
    lx_source_options *options = status == LX_OK ? lx_source_options_new() : NULL;
    if (status == LX_OK && options == NULL)
        status = lx__fail_memory(error, "a source of images");
    if (status == LX_OK)
        status = new_images(transform, &c, &self, error);
    if (status == LX_OK)
        status = set_options(options, transform, self, error);
    if (status == LX_OK)
        status = lx_source_new_map(part, c.inputs, c.count, c.outputs, c.count, options, source,
                                   error);
    lx_source_options_free(options);
    if (status != LX_OK && self != NULL)
        free_images(self);
    return status;
}
