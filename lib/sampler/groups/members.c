/* SPDX-License-Identifier: MIT */
#include "sampler/groups/members.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"

lx_status lx__members_check(const char *what, const void *given, uint64_t count, lx_order **order,
                            lx_error *error)
{
    if (order == NULL)
        return lx__fail_null(error, "order");
    *order = NULL;
    if (given == NULL && count != 0)
        return lx__fail_null(error, what);
    if (count > LX__MEMBERS_MAX)
        return lx__fail(error, LX_ERR_LIMIT, "%s: there are %" PRIu64 ", and %" PRIu32 " at most",
                        what, count, LX__MEMBERS_MAX);
    return LX_OK;
}

lx_status lx__members_sort(lx__keyed *items, size_t count, uint32_t **members, lx_error *error)
{
    lx_status status = lx__radix_sort(items, count, error);
    if (status != LX_OK)
        return status;
    *members = lx__alloc_array(count, sizeof **members);
    if (*members == NULL)
        return lx__fail_memory(error, "a table of groups");
    for (size_t i = 0; i < count; i++)
        (*members)[i] = (uint32_t)items[i].value;
    return LX_OK;
}
