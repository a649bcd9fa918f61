/* SPDX-License-Identifier: MIT */
#include "sampler/groups/members.h"

#include "../../scarce.h"
#include "../../unit.h"
#include "base/alloc.h"

START_TEST(indices_by_their_keys)
{
    lx__keyed items[] = {{5, 0}, {1, 1}, {5, 2}, {0, 3}};
    lx_error error = LX_ERROR_INIT;
    uint32_t *members;
    unit_ok(lx__members_sort(items, 4, &members, &error));
    ck_assert_mem_eq(members, ((uint32_t[]){3, 1, 0, 2}), 4 * sizeof *members);
    ck_assert_uint_eq(items[0].key, 0);
    lx__free(members);
    unit_ok(lx__members_sort(items, 0, &members, &error));
    lx__free(members);
    scarce_begin(2);
    unit_fails(lx__members_sort(items, 4, &members, &error), LX_ERR_NOMEM);
}
END_TEST

START_TEST(wrong_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = (lx_order *)&error;
    unit_fails(lx__members_check("x", &error, 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__members_check("x", NULL, 1, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_null(order);
    unit_fails(lx__members_check("x", &error, LX__MEMBERS_MAX + UINT64_C(1), &order, &error),
               LX_ERR_LIMIT);
    unit_ok(lx__members_check("x", NULL, 0, &order, &error));
}
END_TEST

UNIT_MAIN("sampler/members", indices_by_their_keys, wrong_arguments)
