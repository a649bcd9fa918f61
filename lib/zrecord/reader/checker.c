/* SPDX-License-Identifier: MIT */
#include "zrecord/reader/checker.h"

#include "base/alloc.h"
#include "base/error.h"

static lx_status inflate_to_buffer(lx__checker *checker, const lx__value_place *place,
                                   lx_error *error)
{
    if (checker->inflater == NULL)
        checker->inflater = lx__store_take_inflater(checker->snapshot->store);
    if (checker->inflater == NULL ||
        !lx__reserve(&checker->buffer, &checker->capacity, place->logical))
        return lx__fail_memory(error, "decompression");
    if (lx__inflate(checker->inflater, place->data, place->physical, checker->buffer,
                    place->logical))
        return LX_OK;
    return lx__fail(error, LX_ERR_CORRUPT, "%u stored bytes are not a Deflate stream of %u bytes",
                    place->physical, place->logical);
}

lx_status lx__checker_check(lx__checker *checker, size_t field, uint64_t index, uint64_t *bytes,
                            lx_error *error)
{
    lx__entry entry;
    lx__value_place place;
    lx__snapshot *snapshot = checker->snapshot;
    *bytes = 0;
    checker->fetch.snapshot = snapshot;
    lx_status status = lx__fetch_value(&checker->fetch, field, index, &entry, &place, error);
    if (status == LX_OK)
        status = lx__snapshot_verify_now(snapshot, field, index, &entry, &place, error);
    if (status != LX_OK)
        return status;
    *bytes = place.physical;
    if (lx__entry_is_compressed(&entry)) {
        const lx__field *shown = lx__schema_field(snapshot->store->schema, field);
        if (shown->shown.compression == LX_FLATE)
            status = inflate_to_buffer(checker, &place, error);
        lx__snapshot_blame(snapshot, field, index, &entry, error);
    }
    return status;
}

void lx__checker_end(lx__checker *checker)
{
    lx__fetch_end(&checker->fetch);
    lx__store_give_inflater(checker->snapshot->store, checker->inflater);
    lx__free(checker->buffer);
    *checker = (lx__checker){.snapshot = checker->snapshot};
}
