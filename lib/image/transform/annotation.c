/* SPDX-License-Identifier: MIT */
#include "image/transform/annotation.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "image/transform/transform.h"

/* Numbers beyond this are no coordinates. Those within it remain finite as double, whatever the
 * steps are: each multiplies by LX_IMAGE_SIDE_MAX at most. */
#define COORDINATE_MAX 0x1p30

static const char *const kinds[] = {"mask", "boxes", "points"};
static const char *const formats[] = {"xyxy", "xywh", "cxcywh"};

/** The numbers of a box or of a point. */
static size_t count_numbers(const lx__annotation *annotation)
{
    return annotation->kind == LX__ANNOTATION_BOXES ? 4 : 2;
}

json_t *lx__annotation_to_json(const lx__annotation *annotation)
{
    json_t *object = json_pack("{s:s, s:s}", "kind", kinds[annotation->kind], "column",
                               annotation->column);
    int failed = object == NULL;
    if (annotation->kind == LX__ANNOTATION_MASK)
        failed |= json_object_set_new(object, "fill", json_integer(annotation->fill));
    if (annotation->kind == LX__ANNOTATION_BOXES)
        failed |= json_object_set_new(object, "format", json_string(formats[annotation->format]));
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

lx_status lx__annotation_check(const lx__annotation *annotation, const lx_column_info *info,
                               lx_error *error)
{
    const char *dtype = lx_dtype_get_name(info->dtype);
    unsigned long long last = info->ndim > 1 ? info->shape[info->ndim - 1] : 1;
    size_t numbers = count_numbers(annotation);
    lx_status status = LX_OK;
    if (annotation->kind == LX__ANNOTATION_MASK) {
        if (info->dtype != LX_IMAGE && info->dtype != LX_BYTES)
            status = lx_fail(error, LX_ERR_ARGUMENT,
                             "the column contains %s, not the bytes of encoded masks", dtype);
    } else if ((info->dtype != LX_FLOAT32 && info->dtype != LX_FLOAT64) || info->ndim != 2 ||
               info->shape[1] != numbers) {
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "the %s must be float32 or float64, with the shape (n, %zu), where n may "
                         "vary: the column contains %s with %zu axes and %llu numbers in a row",
                         kinds[annotation->kind], numbers, dtype, info->ndim, last);
    }
    lx_error_locate(error, NULL, info->name, LX_NONE, LX_NONE);
    return status;
}

/* ---- moving */

static double load(lx_dtype dtype, const uint8_t *from)
{
    double wide;
    float narrow;
    if (dtype == LX_FLOAT64) {
        memcpy(&wide, from, sizeof wide);
        return wide;
    }
    memcpy(&narrow, from, sizeof narrow);
    return (double)narrow;
}

static void store(lx_dtype dtype, double number, uint8_t *to)
{
    float narrow = (float)fmin(fmax(number, -(double)FLT_MAX), (double)FLT_MAX);
    if (dtype == LX_FLOAT64)
        memcpy(to, &number, sizeof number);
    else
        memcpy(to, &narrow, sizeof narrow);
}

static void move_box(const lx__moves *moves, lx_image_box_format format, double box[4])
{
    double shift = format == LX_IMAGE_CXCYWH ? 0.5 : 0;
    for (int k = 0; k < 2 && format != LX_IMAGE_XYXY; k++) {
        box[k] -= shift * box[2 + k];
        box[2 + k] += box[k];
    }
    lx__moves_map_box(moves, box);
    for (int k = 0; k < 2 && format != LX_IMAGE_XYXY; k++) {
        box[2 + k] -= box[k];
        box[k] += shift * box[2 + k];
    }
}

lx_status lx__annotation_move(const lx__annotation *annotation, const lx__moves *moves,
                              lx_dtype dtype, const uint8_t *in, size_t size, uint8_t *out,
                              lx_error *error)
{
    size_t step = lx_dtype_get_size(dtype), count = count_numbers(annotation);
    for (size_t at = 0; at < size; at += count * step) {
        double numbers[4];
        for (size_t k = 0; k < count; k++) {
            numbers[k] = load(dtype, in + at + k * step);
            if (!(fabs(numbers[k]) <= COORDINATE_MAX)) /* also NaN */
                return lx_fail(error, LX_ERR_CORRUPT,
                               "number %zu of row %zu is %g, which is no coordinate: it must be "
                               "from -2^30 to 2^30",
                               k, at / (count * step), numbers[k]);
        }
        if (annotation->kind == LX__ANNOTATION_BOXES)
            move_box(moves, annotation->format, numbers);
        else
            lx__moves_map_point(moves, numbers);
        for (size_t k = 0; k < count; k++)
            store(dtype, numbers[k], out + at + k * step);
    }
    return LX_OK;
}

/* ---- adding to a transform */

static lx_status add(lx_image_transform *transform, lx__annotation annotation, const char *column,
                     lx_error *error)
{
    if (transform == NULL || column == NULL)
        return lx__fail_null(error, transform == NULL ? "transform" : "column");
    size_t length = strlen(column);
    if (length == 0 || length > LX__ANNOTATION_NAME_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT, "a column name must have 1 to %d bytes",
                       LX__ANNOTATION_NAME_MAX);
    for (size_t i = 0; i < transform->annotation_count; i++)
        if (strcmp(transform->annotations[i].column, column) == 0)
            return lx_fail(error, LX_ERR_ARGUMENT, "the column '%s' is added twice", column);
    if (transform->annotation_count == LX_MAX_IMAGE_ANNOTATIONS)
        return lx_fail(error, LX_ERR_LIMIT,
                       "a transform has at most %d columns of masks, boxes and points",
                       LX_MAX_IMAGE_ANNOTATIONS);
    memcpy(annotation.column, column, length);
    transform->annotations[transform->annotation_count++] = annotation;
    return LX_OK;
}

lx_status lx_image_transform_add_mask(lx_image_transform *transform, const char *column,
                                      uint8_t fill, lx_error *error)
{
    const lx__annotation mask = {.kind = LX__ANNOTATION_MASK, .fill = fill};
    return add(transform, mask, column, error);
}

lx_status lx_image_transform_add_boxes(lx_image_transform *transform, const char *column,
                                       lx_image_box_format format, lx_error *error)
{
    const lx__annotation boxes = {.kind = LX__ANNOTATION_BOXES, .format = format};
    if (format < LX_IMAGE_XYXY || format > LX_IMAGE_CXCYWH)
        return lx_fail(error, LX_ERR_ARGUMENT, "there is no format of boxes %d", (int)format);
    return add(transform, boxes, column, error);
}

lx_status lx_image_transform_add_points(lx_image_transform *transform, const char *column,
                                        lx_error *error)
{
    return add(transform, (lx__annotation){.kind = LX__ANNOTATION_POINTS}, column, error);
}
