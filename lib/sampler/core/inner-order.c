/* SPDX-License-Identifier: MIT */
#include "sampler/core/inner-order.h"

#include <stdbool.h>

#include "base/error.h"
#include "sampler/core/order-json.h"
#include "sampler/core/saved-state.h"

/* Maximum size in bytes of a part's JSON that is written in full, and maximum number of checksums
 * that are listed one by one. With one nested part of each kind, a state stays below
 * LX_MAX_SAMPLER_STATE. */
#define WHOLE_BYTES 1024
#define CHECKSUMS_MAX 64
/* Maximum nesting depth of JSON that is written in full: JSON readers limit the depth. */
#define WHOLE_DEPTH 8

void lx__inner_order_init(lx__inner_order *inner, lx_order *order, lx_order *in)
{
    if (in->depth <= order->depth)
        in->depth = order->depth + 1;
    in->size += order->size;
    inner->order = lx_order_ref(order);
    inner->epochs = order->length != 0 ? LX__POSITION_END / order->length : 0;
}

void lx__inner_order_keep_blocks(const lx__inner_order *inner, lx_order *in)
{
    in->lanes = inner->order->lanes;
    in->window = inner->order->window;
}

void lx__inner_order_clear(lx__inner_order *inner)
{
    lx_order_unref(inner->order);
    *inner = (lx__inner_order){0};
}

lx_status lx__inner_order_map(const lx__inner_order *inner, lx__scratch **scratch,
                              uint64_t *positions, size_t count, lx_error *error)
{
    lx_status status = *scratch == NULL ? lx__scratch_new(inner->order, scratch, error) : LX_OK;
    return status == LX_OK ? lx__order_map(inner->order, *scratch, positions, count, error)
                           : status;
}

lx_status lx__inner_order_find_block(const lx__inner_order *inner, lx__scratch **scratch,
                                     uint64_t position, lx__index_block *block, lx_error *error)
{
    lx_status status = *scratch == NULL ? lx__scratch_new(inner->order, scratch, error) : LX_OK;
    return status == LX_OK ? lx__order_find_block(inner->order, *scratch, position, block, error)
                           : status;
}

void lx__inner_order_clear_scratch(void *scratch)
{
    lx__scratch_free(*(lx__scratch **)scratch);
}

lx_status lx__inner_order_check(const lx_order *inner, lx_order **made, lx_error *error)
{
    if (made == NULL)
        return lx__fail_null(error, "order");
    *made = NULL;
    return inner != NULL ? lx__inner_order_check_size(inner, inner->size, error)
                         : lx__fail_null(error, "part");
}

lx_status lx__inner_order_check_size(const lx_order *inner, size_t size, lx_error *error)
{
    if (inner->batch_bounds != NULL)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the part is cut into batches, which the outer order would not preserve: "
                       "cut the outer order into batches instead");
    if (inner->depth >= LX_MAX_ORDER_DEPTH)
        return lx_fail(error, LX_ERR_LIMIT,
                       "orders are nested more than %d levels deep: use fewer levels",
                       LX_MAX_ORDER_DEPTH);
    if (size >= LX_MAX_ORDERS)
        return lx_fail(
            error, LX_ERR_LIMIT,
            "an order can consist of at most %d orders, including those within its parts",
            LX_MAX_ORDERS);
    return LX_OK;
}

/* ---- saved states */

static int depth_of(const json_t *value)
{
    int deepest = 0, depth;
    const char *key;
    json_t *inner;
    size_t i;
    json_object_foreach((json_t *)value, key, inner)
        deepest = (depth = depth_of(inner)) > deepest ? depth : deepest;
    json_array_foreach(value, i, inner) deepest = (depth = depth_of(inner)) > deepest ? depth
                                                                                      : deepest;
    return json_is_object(value) || json_is_array(value) ? deepest + 1 : 0;
}

static bool is_short(const json_t *value, size_t bytes)
{
    return bytes <= WHOLE_BYTES && depth_of(value) <= WHOLE_DEPTH;
}

/** Reduces the JSON of a long order to its kind, length and checksum. */
static json_t *shorten(const json_t *whole, json_t *sum)
{
    json_t *object = json_object();
    int failed = json_object_set(object, "kind", json_object_get(whole, "kind"));
    failed |= json_object_set(object, "length", json_object_get(whole, "length"));
    failed |= json_object_set(object, "crc32c", sum);
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *lx__inner_order_to_json(const lx__inner_order *inner)
{
    size_t bytes = 0;
    json_t *whole = lx__order_to_json(inner->order), *made = NULL;
    json_t *sum = lx__state_digest(whole, &bytes);
    if (sum != NULL)
        made = is_short(whole, bytes) ? json_incref(whole) : shorten(whole, sum);
    json_decref(sum);
    json_decref(whole);
    return made;
}

static json_t *full_list(const lx__inner_order *inners, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, lx__order_to_json(inners[i].order)) == -1) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *checksum_list(const json_t *whole)
{
    size_t bytes, i;
    json_t *value, *list = json_array();
    json_array_foreach(
        whole, i, value) if (json_array_append_new(list, lx__state_digest(value, &bytes)) == -1)
    {
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *lx__inner_orders_to_json(const lx__inner_order *inners, size_t count)
{
    size_t bytes = 0;
    json_t *whole = full_list(inners, count), *made = NULL;
    json_t *sum = lx__state_digest(whole, &bytes);
    if (sum != NULL && is_short(whole, bytes))
        made = json_incref(whole);
    else if (sum != NULL && count <= CHECKSUMS_MAX)
        made = checksum_list(whole);
    else if (sum != NULL)
        made = json_incref(sum);
    json_decref(sum);
    json_decref(whole);
    return made;
}
