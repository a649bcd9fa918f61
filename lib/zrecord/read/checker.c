/* SPDX-License-Identifier: MIT */
#include "zrecord/read/checker.h"

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/content.h"

/** Decompresses a value if it is compressed, and stores in @p data where its bytes are; NULL if the
 * value is missing, or if this library lacks its codec. */
static lx_status decode(lx__checker *checker, size_t field, uint64_t index, const lx__value *value,
                        const uint8_t **data, lx_error *error)
{
    const lx__entry_rules *rules = checker->snapshot->columns[field].rules;
    *data = value->data;
    if (!lx__entry_is_compressed(&value->entry))
        return LX_OK;
    *data = NULL;
    if (lx__payload_check_codec(&value->entry, rules, NULL) != LX_OK)
        return LX_OK;
    if (!lx__reserve(&checker->buffer, &checker->capacity, value->entry.logical))
        return lx__fail_memory(error, "decompression");
    *data = checker->buffer;
    return lx__value_decode(&checker->reader, field, index, value, checker->buffer, error);
}

/** Checks whether the type of the field allows the bytes of a value. */
static lx_status check_content(const lx__checker *checker, size_t field, uint64_t index,
                               const lx__value *value, const uint8_t *data, lx_error *error)
{
    lx_dtype dtype = lx__schema_field(checker->snapshot->store->schema, field)->shown.dtype;
    if (data == NULL)
        return LX_OK;
    lx_status status = lx__content_check(dtype, data, value->entry.logical, LX_ERR_CORRUPT, error);
    if (status != LX_OK)
        lx__snapshot_add_context(checker->snapshot, field, index, &value->entry, error);
    return status;
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
    const uint8_t *data;
    status = decode(checker, field, index, &value, &data, error);
    return status == LX_OK ? check_content(checker, field, index, &value, data, error) : status;
}

void lx__checker_end(lx__checker *checker)
{
    lx__value_reader_end(&checker->reader);
    lx__free(checker->buffer);
    *checker = (lx__checker){.snapshot = checker->snapshot};
}
