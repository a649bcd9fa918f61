/* SPDX-License-Identifier: MIT */
/* The part of a rescue that tells of which records there can be anything. A log may claim any
 * number of rows, which no table has: who went through all of them would never end. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/maintenance/rescue.h"

static lx_status note(void *user, const lx__set *set, lx_error *error)
{
    lx__rescue *rescue = user;
    if (set->index < rescue->reach)
        return LX_OK;
    uint64_t *list = lx__grow_array(rescue->beyond, rescue->beyond_count,
                                    &rescue->beyond_capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a repair");
    rescue->beyond = list;
    list[rescue->beyond_count++] = set->index;
    return LX_OK;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

lx_status lx__rescue_find_reach(lx__rescue *rescue, lx_error *error)
{
    for (size_t i = 0; i < rescue->meta.schema->count; i++)
        if (rescue->reach < rescue->columns[i].rows)
            rescue->reach = rescue->columns[i].rows;
    lx_status status = lx__sets_each(&rescue->state.sets, note, rescue, error);
    if (status == LX_OK && rescue->beyond_count != 0)
        qsort(rescue->beyond, rescue->beyond_count, sizeof *rescue->beyond, compare);
    return status;
}

uint64_t lx__rescue_next(const lx__rescue *rescue, uint64_t index)
{
    uint64_t length = rescue->state.length;
    size_t low = 0, high = rescue->beyond_count;
    if (index < rescue->reach || index >= length)
        return index < length ? index : length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rescue->beyond[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rescue->beyond_count && rescue->beyond[low] < length ? rescue->beyond[low]
                                                                      : length;
}
