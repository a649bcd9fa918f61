/* SPDX-License-Identifier: MIT */
#include "sampler/orders/group-members.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/random/radix-sort.h"

lx_status lx__group_members_check(const char *what, const void *given, uint64_t count,
                                  lx_order **order, lx_error *error)
{
    if (order == NULL)
        return lx__fail_null(error, "order");
    *order = NULL;
    if (given == NULL && count != 0)
        return lx__fail_null(error, what);
    if (count > LX__GROUP_MEMBERS_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "%s has %" PRIu64 " elements, more than the limit of %" PRIu32
                       ": split the order",
                       what, count, LX__GROUP_MEMBERS_MAX);
    return LX_OK;
}

/** Whether a sorted item has a different key from the item before it. */
static bool begins_group(const lx__keyed *items, size_t at)
{
    return at == 0 || items[at].key != items[at - 1].key;
}

static lx_status list(const lx__keyed *items, size_t count, uint32_t **members, size_t *groups,
                      lx_error *error)
{
    size_t found = 0;
    for (size_t i = 0; groups != NULL && i < count; i++)
        found += begins_group(items, i);
    uint32_t *made = lx__alloc_array(groups != NULL ? count + found + 1 : count, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a table of groups");
    uint32_t *begins = made + count;
    for (size_t i = 0; i < count; i++) {
        made[i] = (uint32_t)items[i].value;
        if (groups != NULL && begins_group(items, i))
            *begins++ = (uint32_t)i;
    }
    if (groups != NULL) {
        *begins = (uint32_t)count;
        *groups = found;
    }
    *members = made;
    return LX_OK;
}

lx_status lx__group_members_sort(const uint64_t *keys, size_t count, uint32_t **members,
                                 size_t *groups, lx_error *error)
{
    lx__keyed *items = lx__alloc_array(count, sizeof *items);
    if (items == NULL)
        return lx__fail_memory(error, "a table of groups");
    for (size_t i = 0; i < count; i++)
        items[i] = (lx__keyed){keys[i], i};
    lx_status status = lx__radix_sort(items, count, error);
    if (status == LX_OK)
        status = list(items, count, members, groups, error);
    lx__free(items);
    return status;
}
