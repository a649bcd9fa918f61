/* SPDX-License-Identifier: MIT */
#include "sampler/orders/order-weights.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/weights.h"

lx_status lx__order_weights_check(const double *weights, uint64_t count, lx_order **order,
                                  lx__order_weights *properties, lx_error *error)
{
    if (order == NULL)
        return lx__fail_null(error, "order");
    *order = NULL;
    *properties = (lx__order_weights){.count = count};
    if (weights == NULL)
        return lx__fail_null(error, "weights");
    if (count > LX__WEIGHTS_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the number of weights, %" PRIu64 ", exceeds the limit of %" PRIu64
                       ": split the order",
                       count, LX__WEIGHTS_MAX);
    for (uint64_t i = 0; i < count; i++) {
        double weight = weights[i] + 0.0; /* converts -0 to 0 */
        uint64_t bits;
        memcpy(&bits, &weight, sizeof bits);
        properties->crc = lx__state_add(properties->crc, bits);
        properties->positive += weight > 0;
    }
    return lx__weights_check(weights, count, &properties->largest, error);
}

int lx__order_weights_describe(const lx__order_weights *properties, uint64_t seed, json_t *object)
{
    int failed = json_object_set_new(object, "count", lx__state_number(properties->count));
    failed |= json_object_set_new(object, "weights", lx__state_crc(properties->crc));
    failed |= json_object_set_new(object, "seed", lx__state_number(seed));
    return failed;
}
