/* SPDX-License-Identifier: MIT */
#include "parity/numpy-sum.h"

#define CHAINS 8
#define BLOCK 128

static double sum_block(const double *values, size_t count)
{
    double sum = 0;
    size_t i = 0;
    if (count >= CHAINS) {
        double chain[CHAINS];
        for (; i < CHAINS; i++)
            chain[i] = values[i];
        for (; i + CHAINS <= count; i += CHAINS)
            for (size_t k = 0; k < CHAINS; k++)
                chain[k] += values[i + k];
        sum = ((chain[0] + chain[1]) + (chain[2] + chain[3])) +
              ((chain[4] + chain[5]) + (chain[6] + chain[7]));
    }
    for (; i < count; i++)
        sum += values[i];
    return sum;
}

double lx__numpy_sum(const double *values, size_t count)
{
    if (count <= BLOCK)
        return sum_block(values, count);
    size_t half = count / 2;
    half -= half % CHAINS;
    return lx__numpy_sum(values, half) + lx__numpy_sum(values + half, count - half);
}
