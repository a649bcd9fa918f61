/* SPDX-License-Identifier: MIT */
/* Compares the values of two datasets. */
#include <string.h>

#include <loaderx/maintenance.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/maintenance/scan.h"
#include "zrecord/read/checker.h"
#include "zrecord/read/refresh.h"

/** A snapshot of one of the datasets. */
typedef struct side {
    lx_dataset *dataset;
    lx__snapshot *snapshot;
} side;

typedef struct comparing {
    side a, b;
    lx_field_diff *fields;
    size_t count;
    struct {
        lx__checker a, b;
        lx_field_diff *fields; /**< The differences in a range of records. */
    } slots[LX__SCAN_SLOTS];
} comparing;

static void add(lx_field_diff *field, uint64_t index)
{
    if (field->count < LX_DIFF_FIRST)
        field->first[field->count] = index;
    field->count++;
}

static bool equal(const lx__checker *a, const lx__checker *b)
{
    uint32_t size = a->value.entry.logical;
    if (a->missing || b->missing)
        return a->missing && b->missing;
    return size == b->value.entry.logical && memcmp(a->data, b->data, size) == 0;
}

static lx_status work(void *user, size_t slot, uint64_t first, uint64_t end, lx_error *error)
{
    comparing *c = user;
    lx__checker *a = &c->slots[slot].a, *b = &c->slots[slot].b;
    lx_field_diff *fields = c->slots[slot].fields;
    lx_status status = LX_OK;
    if (fields == NULL)
        fields = c->slots[slot].fields = lx__alloc_array(c->count, sizeof *fields);
    if (fields == NULL)
        return lx__fail_memory(error, "a comparison");
    a->snapshot = c->a.snapshot;
    b->snapshot = c->b.snapshot;
    for (size_t k = 0; k < c->count; k++)
        fields[k].count = 0;
    for (uint64_t i = first; status == LX_OK && i < end; i++) {
        for (size_t k = 0; status == LX_OK && k < c->count; k++) {
            status = lx__checker_read(a, c->fields[k].a, i, error);
            if (status == LX_OK)
                status = lx__checker_read(b, c->fields[k].b, i, error);
            if (status == LX_OK && !equal(a, b))
                add(&fields[k], i);
        }
    }
    return status;
}

static void take(void *user, size_t slot, uint64_t first, uint64_t end)
{
    comparing *c = user;
    (void)first, (void)end;
    for (size_t k = 0; k < c->count; k++) {
        const lx_field_diff *found = &c->slots[slot].fields[k];
        lx_field_diff *field = &c->fields[k];
        uint64_t listed = field->count +
                          (found->count < LX_DIFF_FIRST ? found->count : LX_DIFF_FIRST);
        for (uint64_t i = field->count; i < listed && i < LX_DIFF_FIRST; i++)
            field->first[i] = found->first[i - field->count];
        field->count += found->count;
    }
}

static lx_status check_fields(const comparing *c, lx_error *error)
{
    for (size_t k = 0; k < c->count; k++) {
        lx_field_diff *pair = &c->fields[k];
        lx_status status = lx__dataset_check_field(c->a.dataset, pair->a, error);
        if (status == LX_OK)
            status = lx__dataset_check_field(c->b.dataset, pair->b, error);
        if (status != LX_OK)
            return status;
        const lx_field *a = lx_schema_get_field(c->a.snapshot->store->schema, pair->a),
                       *b = lx_schema_get_field(c->b.snapshot->store->schema, pair->b);
        if (!lx__field_same_form(a, b))
            return lx_fail(error, LX_ERR_MISMATCH,
                           "the fields '%s' and '%s' have different dtypes or shapes", a->name,
                           b->name);
        *pair = (lx_field_diff){.a = pair->a, .b = pair->b};
    }
    return LX_OK;
}

static void end(comparing *c)
{
    for (size_t i = 0; i < LX__SCAN_SLOTS; i++) {
        if (c->slots[i].a.snapshot != NULL)
            lx__checker_end(&c->slots[i].a);
        if (c->slots[i].b.snapshot != NULL)
            lx__checker_end(&c->slots[i].b);
        lx__free(c->slots[i].fields);
    }
    if (c->a.snapshot != NULL)
        lx__snapshot_unref(c->a.snapshot);
    if (c->b.snapshot != NULL)
        lx__snapshot_unref(c->b.snapshot);
}

lx_status lx_dataset_diff(lx_dataset *a, lx_dataset *b, lx_field_diff *fields, size_t count,
                          lx_progress_function progress, void *user, lx_error *error)
{
    comparing c = {.a = {.dataset = a}, .b = {.dataset = b}, .fields = fields, .count = count};
    if (a == NULL || b == NULL)
        return lx__fail_null(error, a == NULL ? "a" : "b");
    if (fields == NULL && count != 0)
        return lx__fail_null(error, "fields");
    lx_status status = lx__dataset_pin_newest(a, &c.a.snapshot, error);
    if (status == LX_OK)
        status = lx__dataset_pin_newest(b, &c.b.snapshot, error);
    if (status == LX_OK)
        status = check_fields(&c, error);
    if (status == LX_OK) {
        uint64_t here = c.a.snapshot->length, there = c.b.snapshot->length;
        const lx__scan scan = {c.a.snapshot,
                               here < there ? here : there,
                               a->options.executor,
                               work,
                               take,
                               &c,
                               progress,
                               user};
        status = lx__scan_run(&scan, error);
    }
    end(&c);
    return status;
}
