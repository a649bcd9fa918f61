/* SPDX-License-Identifier: MIT */
#include "zrecord/read/damage.h"

#include "base/error.h"
#include "zrecord/read/checker.h"
#include "zrecord/read/prefetch.h"
#include "zrecord/read/refresh.h"

lx_status lx_dataset_options_set_damage_policy(lx_dataset_options *options, lx_damage_policy damage,
                                               lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    if (damage != LX_DAMAGE_RAISE && damage != LX_DAMAGE_ZEROS)
        return lx_fail(error, LX_ERR_ARGUMENT, "damage policy %d is invalid: use raise or zeros",
                       (int)damage);
    options->damage = damage;
    return LX_OK;
}

static lx_status probe_value(lx__checker *checker, size_t field, uint64_t index, uint8_t *damaged,
                             lx_error *error)
{
    uint64_t bytes;
    lx_status status = lx__checker_check(checker, field, index, &bytes, error);
    if (status != LX_ERR_CORRUPT)
        return status;
    lx__value_forget_damage(&checker->reader, field, index, error);
    *damaged = 1;
    return LX_OK;
}

static lx_status probe_record(lx__checker *checker, const size_t *fields, size_t field_count,
                              uint64_t index, uint8_t *damaged, lx_error *error)
{
    lx_status status = LX_OK;
    *damaged = 0;
    if (index >= checker->snapshot->length)
        return lx__fail_index(checker->snapshot, fields != NULL ? fields[0] : 0, index, error);
    for (size_t i = 0; status == LX_OK && *damaged == 0 && i < field_count; i++)
        status = probe_value(checker, fields != NULL ? fields[i] : i, index, damaged, error);
    return status;
}

lx_status lx_dataset_probe(lx_dataset *dataset, const size_t *fields, size_t field_count,
                           const uint64_t *indices, size_t count, uint8_t *damaged, lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (indices == NULL && count != 0)
        return lx__fail_null(error, "indices");
    if (damaged == NULL && count != 0)
        return lx__fail_null(error, "damaged");
    if (fields == NULL)
        field_count = dataset->schema->count;
    else if (field_count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "field_count is 0: pass NULL as fields to select all fields");
    lx_status status = LX_OK;
    for (size_t i = 0; fields != NULL && status == LX_OK && i < field_count; i++)
        status = lx__dataset_check_field(dataset, fields[i], error);
    if (status != LX_OK)
        return status;
    lx__checker checker = {0};
    status = lx__dataset_pin_newest(dataset, &checker.snapshot, error);
    if (status != LX_OK)
        return status;
    checker.reader = (lx__value_reader){.snapshot = checker.snapshot, .by_pread = true};
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        for (size_t k = 0; status == LX_OK && k < field_count; k++)
            status = lx__prefetch_block(&checker.reader, fields != NULL ? fields[k] : k, indices,
                                        count, i, error);
        if (status == LX_OK)
            status = probe_record(&checker, fields, field_count, indices[i], &damaged[i], error);
    }
    lx__checker_end(&checker);
    lx__snapshot_unref(checker.snapshot);
    return status;
}

void lx_dataset_get_stats(lx_dataset *dataset, lx_dataset_stats *stats)
{
    *stats = (lx_dataset_stats){
        .damaged = atomic_load_explicit(&dataset->damages->count, memory_order_relaxed)};
}
