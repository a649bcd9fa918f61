/* SPDX-License-Identifier: MIT */
#include "zrecord/format/arrow-metadata.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

/** Finds a value in the metadata of a column, which has no size of its own: a count, and for each
 * key and value, its size and its bytes. Returns NULL if there is none. */
static const char *find(const char *metadata, const char *key, size_t *size)
{
    int32_t count = 0, key_size, value_size;
    if (metadata != NULL)
        memcpy(&count, metadata, sizeof count);
    for (const char *at = metadata + sizeof count; count > 0; count--) {
        memcpy(&key_size, at, sizeof key_size);
        const char *name = at + sizeof key_size;
        if (key_size < 0)
            return NULL;
        memcpy(&value_size, name + key_size, sizeof value_size);
        const char *value = name + key_size + sizeof value_size;
        if (value_size < 0)
            return NULL;
        *size = (size_t)value_size;
        if ((size_t)key_size == strlen(key) && memcmp(name, key, (size_t)key_size) == 0)
            return value;
        at = value + value_size;
    }
    return NULL;
}

bool lx__arrow_is_extension(const struct ArrowSchema *column, const char *name)
{
    size_t size;
    const char *found = find(column->metadata, "ARROW:extension:name", &size);
    return found != NULL && size == strlen(name) && memcmp(found, name, size) == 0;
}

/* ---- tensors: fixed-size lists with a shape */

static lx_status check_order(const json_t *tensor, lx_error *error)
{
    size_t i;
    json_t *axis;
    json_array_foreach(json_object_get(tensor, "permutation"), i, axis)
    {
        if (json_integer_value(axis) != (json_int_t)i)
            return lx_fail(error, LX_ERR_UNSUPPORTED,
                           "the axes of the Arrow tensors are permuted: copy them to C order");
    }
    return LX_OK;
}

static lx_status read_shape(const json_t *tensor, uint64_t items, uint64_t *shape, size_t *ndim,
                            lx_error *error)
{
    const json_t *extents = json_object_get(tensor, "shape");
    uint64_t product = 1;
    bool valid = json_array_size(extents) != 0;
    if (json_array_size(extents) > LX_MAX_NDIM)
        return lx_fail(error, LX_ERR_UNSUPPORTED, "the Arrow tensors have more than %d dimensions",
                       LX_MAX_NDIM);
    for (size_t i = 0; valid && i < json_array_size(extents); i++) {
        const json_t *extent = json_array_get(extents, i);
        valid = json_is_integer(extent) && json_integer_value(extent) >= 0;
        shape[i] = valid ? (uint64_t)json_integer_value(extent) : 0;
        valid = valid && lx__multiply_fits(product, shape[i], &product);
    }
    if (!valid || product != items)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the shape of the Arrow tensors does not fit their lists of %llu elements",
                       (unsigned long long)items);
    *ndim = json_array_size(extents);
    return LX_OK;
}

lx_status lx__arrow_tensor_shape(const struct ArrowSchema *column, uint64_t items, uint64_t *shape,
                                 size_t *ndim, lx_error *error)
{
    size_t size;
    json_t *tensor = NULL;
    *ndim = 0;
    if (!lx__arrow_is_extension(column, "arrow.fixed_shape_tensor"))
        return LX_OK;
    const char *text = find(column->metadata, "ARROW:extension:metadata", &size);
    lx_status status = text != NULL ? lx__json_parse(text, size, &tensor, error) : LX_OK;
    if (status == LX_OK)
        status = check_order(tensor, error);
    if (status == LX_OK)
        status = read_shape(tensor, items, shape, ndim, error);
    json_decref(tensor);
    return status;
}

/* ---- features */

bool lx__arrow_is_no_image(const struct ArrowSchema *columns, const char *name)
{
    size_t size;
    json_t *all = NULL;
    const char *text = find(columns->metadata, "huggingface", &size);
    if (text == NULL || lx__json_parse(text, size, &all, NULL) != LX_OK)
        return false;
    const json_t *features = json_object_get(json_object_get(all, "info"), "features");
    const char *feature =
        json_string_value(json_object_get(json_object_get(features, name), "_type"));
    bool is_no_image = feature != NULL && strcmp(feature, "Image") != 0;
    json_decref(all);
    return is_no_image;
}
