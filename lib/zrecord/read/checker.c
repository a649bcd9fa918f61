/* SPDX-License-Identifier: MIT */
#include "zrecord/read/checker.h"

#include "base/alloc.h"
#include "base/error.h"

/** Decompresses a value. Skips raw values and values whose codec this library lacks. */
static lx_status decode(lx__checker *checker, size_t field, uint64_t index, const lx__value *value,
                        lx_error *error)
{
    const lx__entry_rules *rules = checker->snapshot->columns[field].rules;
    if (!lx__entry_is_compressed(&value->entry) ||
        lx__payload_check_codec(&value->entry, rules, NULL) != LX_OK)
        return LX_OK;
    if (!lx__reserve(&checker->buffer, &checker->capacity, value->entry.logical))
        return lx__fail_memory(error, "decompression");
    return lx__value_decode(&checker->reader, field, index, value, checker->buffer, error);
}

lx_status lx__checker_check(lx__checker *checker, size_t field, uint64_t index, uint64_t *bytes,
                            lx_error *error)
{
    lx__value value;
    lx__snapshot *snapshot = checker->snapshot;
    lx__value_reader *reader = &checker->reader;
    *bytes = 0;
    reader->snapshot = snapshot;
    reader->by_pread = true;
    lx_status status = lx__value_fetch_verified(reader, field, index, &value, error);
    if (status != LX_OK)
        return status;
    *bytes = value.entry.physical;
    checker->missing = lx__entry_is_missing(&value.entry);
    return decode(checker, field, index, &value, error);
}

void lx__checker_end(lx__checker *checker)
{
    lx__value_reader_end(&checker->reader);
    lx__free(checker->buffer);
    *checker = (lx__checker){.snapshot = checker->snapshot};
}
