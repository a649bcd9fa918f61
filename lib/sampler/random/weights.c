/* SPDX-License-Identifier: MIT */
#include "sampler/random/weights.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"

lx_status lx__weight_check(uint64_t number, double weight, lx_error *error)
{
    if (weight >= 0 && !isinf(weight))
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "weight %" PRIu64 " is %g: weights must be finite and not negative", number,
                   weight);
}

lx_status lx__weights_check(const double *weights, uint64_t count, double *largest, lx_error *error)
{
    lx_status status = LX_OK;
    *largest = 0;
    for (uint64_t i = 0; status == LX_OK && i < count; i++) {
        status = lx__weight_check(i, weights[i], error);
        *largest = weights[i] > *largest ? weights[i] : *largest;
    }
    if (status == LX_OK && *largest == 0)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "all weights are 0: at least one must be positive");
    return status;
}

int lx__weights_scale(double largest, uint64_t count)
{
    int exponent, bits = 62;
    (void)frexp(largest, &exponent); /* largest < 2^exponent */
    while (count > 1) {
        bits--;
        count = count / 2 + count % 2;
    }
    return bits - exponent;
}

uint64_t lx__weight_to_integer(double weight, int scale)
{
    uint64_t whole = (uint64_t)ldexp(weight, scale);
    return whole != 0 ? whole : 1; /* a positive weight keeps a positive share */
}
