/* SPDX-License-Identifier: MIT */
/* The order in which frame 0 of a log has its sets, and in which rows are folded. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/write/install.h"

static int compare(const void *a, const void *b)
{
    const lx__sorted *left = a, *right = b;
    if (left->index != right->index)
        return left->index < right->index ? -1 : 1;
    return (left->field_id > right->field_id) - (left->field_id < right->field_id);
}

lx_status lx__sets_sort(const lx__set_map *sets, const lx_schema *schema, uint64_t length,
                        lx__sorted **sorted, size_t *count, lx_error *error)
{
    lx__sorted *list = lx__alloc_array(sets->count, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "changes");
    *count = 0;
    for (size_t i = 0; i < sets->count; i++) {
        const lx__set *set = &sets->list[i];
        if (set->index < length)
            list[(*count)++] =
                (lx__sorted){.index = set->index,
                             .field_id = lx__schema_field(schema, set->field)->shown.id,
                             .position = (uint32_t)i};
    }
    qsort(list, *count, sizeof *list, compare);
    *sorted = list;
    return LX_OK;
}
