/* SPDX-License-Identifier: MIT */
#include "sampler/orders/order-weights.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/weights.h"

lx_status lx__weigh(const double *weights, uint64_t count, lx_order **order, lx__weighing *weighing,
                    lx_error *error)
{
    if (order == NULL)
        return lx__fail_null(error, "order");
    *order = NULL;
    *weighing = (lx__weighing){.count = count};
    if (weights == NULL)
        return lx__fail_null(error, "weights");
    if (count > LX__WEIGHTS_MAX)
        return lx__fail(error, LX_ERR_LIMIT,
                        "the number of weights, %" PRIu64 ", exceeds the limit of %" PRIu64
                        ": split the order",
                        count, LX__WEIGHTS_MAX);
    for (uint64_t i = 0; i < count; i++) {
        double weight = weights[i] + 0.0; /* converts -0 to 0 */
        uint64_t bits;
        memcpy(&bits, &weight, sizeof bits);
        weighing->crc = lx__state_add(weighing->crc, bits);
        weighing->positive += weight > 0;
    }
    return lx__weights_check(weights, count, &weighing->largest, error);
}

int lx__weighing_describe(const lx__weighing *weighing, uint64_t seed, json_t *object)
{
    int failed = json_object_set_new(object, "count", lx__state_number(weighing->count));
    failed |= json_object_set_new(object, "weights", lx__state_crc(weighing->crc));
    failed |= json_object_set_new(object, "seed", lx__state_number(seed));
    return failed;
}
