/* SPDX-License-Identifier: MIT */
#include "sampler/orders/group-members.h"

#include "../../scarce.h"
#include "../../unit.h"
#include "base/alloc.h"

START_TEST(sorts_indices_by_key)
{
    const uint64_t keys[] = {5, 1, 5, 0};
    lx_error error = LX_ERROR_INIT;
    uint32_t *members;
    size_t groups;
    unit_ok(lx__group_members_sort(keys, 4, &members, NULL, &error));
    ck_assert_mem_eq(members, ((uint32_t[]){3, 1, 0, 2}), 4 * sizeof *members);
    lx__free(members);
    unit_ok(lx__group_members_sort(keys, 4, &members, &groups, &error));
    ck_assert_mem_eq(members, ((uint32_t[]){3, 1, 0, 2, 0, 1, 2, 4}), 8 * sizeof *members);
    ck_assert_uint_eq(groups, 3);
    lx__free(members);
    unit_ok(lx__group_members_sort(keys, 0, &members, &groups, &error));
    ck_assert_uint_eq(members[0], 0);
    ck_assert_uint_eq(groups, 0);
    lx__free(members);
    for (uint64_t left = 0; left < 3; left++) {
        scarce_begin(left);
        lx_error_clear(&error);
        unit_fails(lx__group_members_sort(keys, 4, &members, &groups, &error), LX_ERR_NOMEM);
    }
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = (lx_order *)&error;
    unit_fails(lx__group_members_check("x", &error, 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__group_members_check("x", NULL, 1, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_null(order);
    unit_fails(
        lx__group_members_check("x", &error, LX__GROUP_MEMBERS_MAX + UINT64_C(1), &order, &error),
        LX_ERR_LIMIT);
    unit_ok(lx__group_members_check("x", NULL, 0, &order, &error));
}
END_TEST

UNIT_MAIN("sampler/group-members", sorts_indices_by_key, rejects_invalid_arguments)
