/* SPDX-License-Identifier: MIT */

#include "../../scarce.h"
#include "../orders.h"
#include "../statistics.h"
#include "../../../new-orders.h"

static lx_order *make_balanced(const uint64_t *classes, uint64_t count, uint64_t length,
                               uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(new_balanced(classes, count, length, seed, NULL, &order, &error));
    return order;
}

START_TEST(behaves_as_an_order)
{
    static uint64_t classes[12000];
    static const uint64_t lengths[] = {1, 17, 12000, 50000, UINT64_MAX};
    static const uint64_t kinds[] = {1, 2, 300, 5000}; /* fewer and more than are cached */
    for (int k = 0; k < 4; k++) {
        for (uint64_t i = 0; i < 12000; i++)
            classes[i] = i * i % 7919 % kinds[k] * 1000003;
        for (int i = 0; i < 5; i++) {
            lx_order *order = make_balanced(classes, 12000, lengths[i], 42);
            expect_order(order, 5);
            lx_order_unref(order);
        }
    }
}
END_TEST

/* Each round has each class once; and each class has all its indices before one is repeated. */
START_TEST(alternates_classes)
{
    enum { COUNT = 1000, CLASSES = 9, ROUNDS = 700 };
    static uint64_t classes[COUNT], indices[CLASSES * ROUNDS];
    static uint32_t given[COUNT];
    uint64_t sizes[CLASSES] = {0};
    for (int i = 0; i < COUNT; i++) {
        classes[i] = (uint64_t)(sqrt(i) / sqrt(COUNT) * CLASSES);
        sizes[classes[i]]++;
    }
    lx_order *order = make_balanced(classes, COUNT, 77, 1);
    read_order(order, 0, 1, CLASSES * ROUNDS, indices);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        unsigned seen = 0;
        for (int i = 0; i < CLASSES; i++) {
            uint64_t index = indices[round * CLASSES + i], class = classes[index];
            ck_assert_uint_eq(seen >> class & 1, 0);
            seen |= 1u << class;
            ck_assert_uint_eq(given[index]++, round / sizes[class]);
        }
    }
    lx_order_unref(order);
}
END_TEST

START_TEST(shuffles_classes_within_rounds)
{
    enum { CLASSES = 64, ROUNDS = 4096 };
    static uint64_t classes[CLASSES], indices[CLASSES * ROUNDS];
    static pair_table rounds = {.length = CLASSES};
    for (uint64_t i = 0; i < CLASSES; i++)
        classes[i] = i;
    lx_order *order = make_balanced(classes, CLASSES, 100, 1);
    read_order(order, 0, 1, CLASSES * ROUNDS, indices);
    for (int i = 0; i < CLASSES * (ROUNDS - 1); i++)
        if (i / CLASSES % 2 == 0)
            count_pair(&rounds, indices[i], indices[i + CLASSES]);
    expect_chance(z_of_cells(rounds.cells, BINS * BINS, (BINS - 1) * (BINS - 1)));
    lx_order_unref(order);
}
END_TEST

START_TEST(states_distinguish_classes)
{
    lx_order *one = make_balanced((uint64_t[]){1, 2, 2}, 3, 10, 3);
    lx_order *other = make_balanced((uint64_t[]){1, 2, 3}, 3, 10, 3);
    expect_other_order(one, other, "order.classes");
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    uint64_t index;
    const uint64_t classes[] = {7, 7, 9};
    unit_fails(new_balanced(classes, 3, 10, 3, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(new_balanced(NULL, 3, 10, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_balanced(NULL, 0, 10, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_ok(new_balanced(NULL, 0, 0, 3, NULL, &order, &error));
    lx_order_unref(order);
    for (int left = 0; left < 5; left++) {
        scarce_begin(left);
        unit_fails(new_balanced(classes, 3, 10, 3, NULL, &order, &error), LX_ERR_NOMEM);
        ck_assert_ptr_null(order);
    }
    scarce_begin(5);
    unit_ok(new_balanced(classes, 3, 10, 3, NULL, &order, &error));
    for (int left = 1; left < 4; left++) {
        lx__scratch *scratch;
        scarce_begin(left);
        unit_ok(lx__scratch_new(order, &scratch, &error));
        unit_fails(lx__order_read(order, scratch, 0, 1, 1, &index, &error), LX_ERR_NOMEM);
        scarce_begin(10);
        unit_ok(lx__order_read(order, scratch, 0, 1, 1, &index, &error));
        lx__scratch_free(scratch);
    }
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("sampler/balanced", behaves_as_an_order, alternates_classes,
          shuffles_classes_within_rounds, states_distinguish_classes, rejects_invalid_arguments)
