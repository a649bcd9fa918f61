/* SPDX-License-Identifier: MIT */
#include "sampler/core/order-json.h"

#include "base/error.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"

int lx__order_describe(const lx_order *order, json_t *object)
{
    int failed = json_object_set_new(object, "kind", json_string(order->class->kind));
    failed |= json_object_set_new(object, "formula", json_integer(order->class->formula));
    failed |= json_object_set_new(object, "length", lx__state_number(order->length));
    return failed == 0 ? order->class->describe(order, object) : -1;
}

json_t *lx__order_to_json(const lx_order *order)
{
    json_t *object = json_object();
    if (lx__order_describe(order, object) == 0)
        return object;
    json_decref(object);
    return NULL;
}

lx_status lx__order_match_json(const lx_order *order, const json_t *json, lx_error *error)
{
    json_t *ours = lx__order_to_json(order);
    if (ours == NULL)
        return lx__fail_memory(error, "a state");
    lx_status status = lx__state_match("order", json, ours, error);
    json_decref(ours);
    return status;
}
