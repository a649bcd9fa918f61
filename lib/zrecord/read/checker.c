/* SPDX-License-Identifier: MIT */
#include "zrecord/read/checker.h"

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/content.h"

/** Decompresses a value if it is compressed, unless this library lacks its codec. */
static lx_status decode(lx__checker *checker, size_t field, uint64_t index, lx_error *error)
{
    const lx__value *value = &checker->value;
    const lx__entry_rules *rules = checker->snapshot->columns[field].rules;
    checker->data = value->data;
    if (!lx__entry_is_compressed(&value->entry))
        return LX_OK;
    checker->data = NULL;
    if (lx__payload_check_codec(&value->entry, rules, NULL) != LX_OK)
        return LX_OK;
    if (!lx__reserve(&checker->buffer, &checker->capacity, value->entry.logical))
        return lx__fail_memory(error, "decompression");
    checker->data = checker->buffer;
    return lx__value_decode(&checker->reader, field, index, value, checker->buffer, error);
}

/** Checks whether the type of the field allows the bytes of a value. */
static lx_status check_content(const lx__checker *checker, size_t field, uint64_t index,
                               lx_error *error)
{
    const lx__entry *entry = &checker->value.entry;
    lx_dtype dtype = lx__schema_field(checker->snapshot->store->schema, field)->shown.dtype;
    if (checker->data == NULL)
        return LX_OK;
    lx_status status = lx__content_check(dtype, checker->data, entry->logical, LX_ERR_CORRUPT,
                                         error);
    if (status != LX_OK)
        lx__snapshot_add_context(checker->snapshot, field, index, entry, error);
    return status;
}

lx_status lx__checker_check(lx__checker *checker, size_t field, uint64_t index, uint64_t *bytes,
                            lx_error *error)
{
    lx__value *value = &checker->value;
    lx__snapshot *snapshot = checker->snapshot;
    lx__value_reader *reader = &checker->reader;
    *bytes = 0;
    reader->snapshot = snapshot;
    reader->by_pread = true;
    lx_status status = lx__value_fetch_verified(reader, field, index, value, error);
    if (status != LX_OK)
        return status;
    *bytes = value->entry.physical;
    checker->missing = lx__entry_is_missing(&value->entry);
    status = decode(checker, field, index, error);
    return status == LX_OK ? check_content(checker, field, index, error) : status;
}

lx_status lx__checker_read(lx__checker *checker, size_t field, uint64_t index, lx_error *error)
{
    uint64_t bytes;
    const lx__entry *entry = &checker->value.entry;
    lx_status status = lx__checker_check(checker, field, index, &bytes, error);
    if (status != LX_OK || checker->missing || checker->data != NULL)
        return status;
    status = lx__payload_check_codec(entry, checker->snapshot->columns[field].rules, error);
    lx__snapshot_add_context(checker->snapshot, field, index, entry, error);
    return status;
}

void lx__checker_end(lx__checker *checker)
{
    lx__value_reader_end(&checker->reader);
    lx__free(checker->buffer);
    *checker = (lx__checker){.snapshot = checker->snapshot};
}
