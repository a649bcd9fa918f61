/* SPDX-License-Identifier: MIT */
/* Which way a call reads: it is decided once a call, so what is mapped costs no more for the
 * others.
 *
 * Under GUARDED a call reads what is mapped, looks whether a page was gone, and if so does all of
 * it again by pread, which finds what is still there and tells of the rest as it should. So do all
 * later calls. What the first try said and counted is forgotten. */
#include "base/error.h"
#include "base/guard.h"
#include "zrecord/reader/dataset.h"
#include "zrecord/reader/fetch.h"

/** A try to read what is mapped, of which nothing is believed before it is over. */
typedef struct attempt {
    const lx__store *store;
    lx__damages damages;
    lx_error error;
} attempt;

/** Whether to read what is mapped, and look behind it. */
static bool begin(attempt *try, const lx__snapshot *snapshot, const lx__damages *damages)
{
    try->store = snapshot->store;
    if (try->store->placement != LX_PLACEMENT_GUARDED || lx__guard_is_cut(try->store->cut))
        return false;
    atomic_init(&try->damages.met, 0);
    try->damages.policy = damages->policy;
    try->error = (lx_error)LX_ERROR_INIT;
    return true;
}

/** Whether what was read counts; then @p damages and @p error are told of it. */
static bool end(attempt *try, lx_status status, lx__damages *damages, lx_error *error)
{
    if (lx__guard_is_cut(try->store->cut))
        return false;
    atomic_fetch_add_explicit(&damages->met, atomic_load(&try->damages.met), memory_order_relaxed);
    if (status < 0)
        lx__error_pass(error, &try->error);
    return true;
}

static bool is_mapped(const lx__snapshot *snapshot)
{
    return snapshot->store->placement == LX_PLACEMENT_MAPPED;
}

/* What is guarded, or not mapped, stands apart: an attempt is large, and who reads what is mapped
 * is not to pay for its place on the stack. */
#define APART __attribute__((noinline))

static APART lx_status gather_dense(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                                    const uint64_t *indices, size_t count, uint8_t *out,
                                    size_t stride, lx_error *error)
{
    attempt try;
    if (begin(&try, snapshot, damages)) {
        lx_status status = lx__mapped_dense(snapshot, &try.damages, field, indices, count, out,
                                            stride, &try.error);
        if (end(&try, status, damages, error))
            return status;
    }
    return lx__fetch_dense(snapshot, damages, field, indices, count, out, stride, error);
}

lx_status lx__gather_dense(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                           lx_error *error)
{
    if (is_mapped(snapshot))
        return lx__mapped_dense(snapshot, damages, field, indices, count, out, stride, error);
    return gather_dense(snapshot, damages, field, indices, count, out, stride, error);
}

static APART lx_status gather_bytes(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                                    const uint64_t *indices, size_t count, uint8_t *out,
                                    const uint64_t *offsets, lx_error *error)
{
    attempt try;
    if (begin(&try, snapshot, damages)) {
        lx_status status = lx__mapped_bytes(snapshot, &try.damages, field, indices, count, out,
                                            offsets, &try.error);
        if (end(&try, status, damages, error))
            return status;
    }
    return lx__fetch_any(snapshot, damages, field, indices, count, out, offsets, error);
}

lx_status lx__gather_bytes(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out,
                           const uint64_t *offsets, lx_error *error)
{
    if (is_mapped(snapshot))
        return lx__mapped_bytes(snapshot, damages, field, indices, count, out, offsets, error);
    return gather_bytes(snapshot, damages, field, indices, count, out, offsets, error);
}

static APART lx_status measure(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                               const uint64_t *indices, size_t count, uint64_t *offsets,
                               uint8_t *present, lx_error *error)
{
    attempt try;
    if (begin(&try, snapshot, damages)) {
        lx_status status = lx__mapped_measure(snapshot, &try.damages, field, indices, count,
                                              offsets, present, &try.error);
        if (end(&try, status, damages, error))
            return status;
    }
    return lx__fetch_measure(snapshot, damages, field, indices, count, offsets, present, error);
}

lx_status lx__measure(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                      const uint64_t *indices, size_t count, uint64_t *offsets, uint8_t *present,
                      lx_error *error)
{
    if (is_mapped(snapshot))
        return lx__mapped_measure(snapshot, damages, field, indices, count, offsets, present,
                                  error);
    return measure(snapshot, damages, field, indices, count, offsets, present, error);
}

/** What is mapped is shown where it lies: the view is one more reference to the snapshot. */
static lx_status show_mapped(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                             const uint64_t *indices, size_t count, lx_slice *slices,
                             lx__snapshot **view, lx_error *error)
{
    lx_status status =
        lx__mapped_slices(snapshot, damages, field, indices, count, slices, error);
    if (status == LX_OK)
        *view = lx__snapshot_ref(snapshot);
    return status;
}

static APART lx_status view_records(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                                    const uint64_t *indices, size_t count, lx_slice *slices,
                                    lx__snapshot **view, lx_error *error)
{
    attempt try;
    if (begin(&try, snapshot, damages)) {
        lx_status status = show_mapped(snapshot, &try.damages, field, indices, count, slices,
                                       view, &try.error);
        if (end(&try, status, damages, error))
            return status;
        if (status == LX_OK)
            lx__snapshot_unref(*view);
    }
    return lx__fetch_view(snapshot, damages, field, indices, count, slices, view, error);
}

lx_status lx__view(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                   const uint64_t *indices, size_t count, lx_slice *slices, lx__snapshot **view,
                   lx_error *error)
{
    if (is_mapped(snapshot))
        return show_mapped(snapshot, damages, field, indices, count, slices, view, error);
    return view_records(snapshot, damages, field, indices, count, slices, view, error);
}

/* ---- the option */

lx_status lx_dataset_options_set_placement(lx_dataset_options *options, lx_placement placement,
                                           lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    switch (placement) {
    case LX_PLACEMENT_AUTO:
    case LX_PLACEMENT_MAPPED:
    case LX_PLACEMENT_PREAD:
    case LX_PLACEMENT_GUARDED:
        options->placement = placement;
        return LX_OK;
    }
    return lx__fail(error, LX_ERR_ARGUMENT,
                    "placement: %d is none of auto, mapped, pread, guarded", (int)placement);
}

lx_placement lx_dataset_get_placement(lx_dataset *dataset, const char **network)
{
    lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
    lx_placement placement = snapshot->store->placement;
    if (network != NULL)
        *network = snapshot->store->network; /* a constant of ours */
    lx__snapshot_unref(snapshot);
    return placement;
}
