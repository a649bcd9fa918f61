/* SPDX-License-Identifier: MIT */
/* The digest of a dataset's contents: doc/zrecord-format.md, 9.10. */
#include <stdio.h>
#include <string.h>

#include <loaderx/maintenance.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/maintenance/scan.h"
#include "zrecord/read/checker.h"
#include "zrecord/read/refresh.h"

/* Every number is folded into a sum modulo 2^64. The factor is odd, so no bit is lost, and its
 * powers differ for as many numbers as possible. */
#define FACTOR 0x9e3779b97f4a7c15u
/* Folded first, so that another definition gives another digest. */
#define DEFINITION 1

static uint64_t fold(uint64_t sum, uint64_t number)
{
    return sum * FACTOR + number;
}

/** Appends @p count folds to a sum, whose own sum, beginning with 0, is @p more. */
static uint64_t join(uint64_t sum, uint64_t more, uint64_t count)
{
    for (uint64_t power = FACTOR; count != 0; power *= power, count /= 2)
        if (count % 2 != 0)
            sum *= power;
    return sum + more;
}

typedef struct digesting {
    lx__snapshot *snapshot;
    size_t fields;
    uint64_t *sums; /**< One per field. */
    struct {
        lx__checker checker;
        uint64_t *sums; /**< One per field, of a range of records. */
    } slots[LX__SCAN_SLOTS];
} digesting;

static uint64_t fold_value(uint64_t sum, const lx__checker *checker)
{
    uint32_t size = checker->value.entry.logical;
    return checker->missing
               ? fold(fold(sum, 0), 0)
               : fold(fold(sum, (uint64_t)size + 1), lx__crc32c(0, checker->data, size));
}

static lx_status work(void *user, size_t slot, uint64_t first, uint64_t end, lx_error *error)
{
    digesting *d = user;
    lx__checker *checker = &d->slots[slot].checker;
    uint64_t *sums = d->slots[slot].sums;
    lx_status status = LX_OK;
    if (sums == NULL)
        sums = d->slots[slot].sums = lx__alloc_array(d->fields, sizeof *sums);
    if (sums == NULL)
        return lx__fail_memory(error, "a digest");
    checker->snapshot = d->snapshot;
    memset(sums, 0, d->fields * sizeof *sums);
    for (uint64_t i = first; status == LX_OK && i < end; i++) {
        for (size_t k = 0; status == LX_OK && k < d->fields; k++) {
            status = lx__checker_read(checker, k, i, error);
            if (status == LX_OK)
                sums[k] = fold_value(sums[k], checker);
        }
    }
    return status;
}

static void take(void *user, size_t slot, uint64_t first, uint64_t end)
{
    digesting *d = user;
    for (size_t k = 0; k < d->fields; k++)
        d->sums[k] = join(d->sums[k], d->slots[slot].sums[k], 2 * (end - first));
}

/** Folds the name, dtype and shape of a field, as a text. */
static uint64_t fold_field(uint64_t sum, const lx_field *field)
{
    char text[LX_MAX_FIELD_NAME + 32 + LX_MAX_NDIM * 24];
    size_t size = (size_t)snprintf(text, sizeof text, "%s %s", field->name,
                                   lx_dtype_get_name(field->dtype));
    for (size_t i = 0; i < field->ndim; i++)
        size += field->shape[i] == LX_NONE
                    ? (size_t)snprintf(text + size, sizeof text - size, " null")
                    : (size_t)snprintf(text + size, sizeof text - size, " %llu",
                                       (unsigned long long)field->shape[i]);
    return fold(fold(sum, size), lx__crc32c(0, text, size));
}

static uint64_t combine(const digesting *d)
{
    const lx_schema *schema = d->snapshot->store->schema;
    uint64_t sum = fold(fold(DEFINITION, d->fields), d->snapshot->length);
    for (size_t k = 0; k < d->fields; k++)
        sum = fold(fold_field(sum, lx_schema_get_field(schema, k)), d->sums[k]);
    return sum;
}

static void end(digesting *d)
{
    for (size_t i = 0; i < LX__SCAN_SLOTS; i++) {
        if (d->slots[i].checker.snapshot != NULL)
            lx__checker_end(&d->slots[i].checker);
        lx__free(d->slots[i].sums);
    }
    lx__free(d->sums);
    lx__snapshot_unref(d->snapshot);
}

lx_status lx_dataset_digest(lx_dataset *dataset, lx_progress_function progress, void *user,
                            uint64_t *digest, lx_error *error)
{
    digesting d = {0};
    if (dataset == NULL || digest == NULL)
        return lx__fail_null(error, dataset == NULL ? "dataset" : "digest");
    lx_status status = lx__dataset_pin_newest(dataset, &d.snapshot, error);
    if (status != LX_OK)
        return status;
    d.fields = d.snapshot->store->schema->count;
    d.sums = lx__alloc_array(d.fields, sizeof *d.sums);
    const lx__scan scan = {
        d.snapshot, d.snapshot->length, dataset->options.executor, work, take, &d, progress, user};
    status = d.sums != NULL ? lx__scan_run(&scan, error) : lx__fail_memory(error, "a digest");
    if (status == LX_OK)
        *digest = combine(&d);
    end(&d);
    return status;
}
