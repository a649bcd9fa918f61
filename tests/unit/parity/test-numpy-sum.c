/* SPDX-License-Identifier: MIT */
#include "parity/numpy-sum.h"

#include "../unit.h"

/* numpy.sum(1 / numpy.arange(1, n + 1)) */
START_TEST(matches_sums_of_numpy)
{
    static const struct {
        size_t count;
        double sum;
    } right[] = {{0, 0},
                 {1, 0x1.0000000000000p+0},
                 {7, 0x1.4be2be2be2be2p+1},
                 {8, 0x1.5be2be2be2be2p+1},
                 {9, 0x1.6a1ba1ba1ba1bp+1},
                 {127, 0x1.5b38ae9541ca6p+2},
                 {128, 0x1.5bb8ae9541ca7p+2},
                 {129, 0x1.5c37b09149ba9p+2},
                 {1000, 0x1.df11f45f4e61ap+2}};
    double values[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = 1.0 / (i + 1);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert_double_eq(lx__numpy_sum(values, right[i].count), right[i].sum);
}
END_TEST

UNIT_MAIN("parity/numpy-sum", matches_sums_of_numpy)
