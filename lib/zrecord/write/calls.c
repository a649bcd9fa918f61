/* SPDX-License-Identifier: MIT */
#include "zrecord/write/calls.h"

#include <stdio.h>

#include "base/error.h"

/** Turns the error of a failed sync into the one that a poisoned writer reports. The kernel may
 * have dropped the pages that it failed to write, and another sync would not report that, so this
 * writer can no longer guarantee anything. */
static void describe_poison(lx_error *failure)
{
    char line[sizeof failure->message];
    lx_error_describe(failure, line, sizeof line);
    failure->status = LX_ERR_POISONED;
    snprintf(failure->message, sizeof failure->message,
             "a sync failed, so it is unknown which of the latest commits are on disk: close this "
             "writer and open the dataset again (%.300s)",
             line);
}

lx_status lx__calls_fail(lx__calls *calls, uint64_t call, lx_status status, const lx_error *failure,
                         lx_error *error)
{
    if (status == LX_OK)
        return LX_OK;
    lx_error kept = *failure;
    if (status == LX_ERR_POISONED && calls->failure.status != LX_ERR_POISONED)
        describe_poison(&kept);
    if (calls->failure.status == LX_OK || status == LX_ERR_POISONED) {
        calls->failure = kept;
        calls->failed = status == LX_ERR_POISONED ? 0 : call;
    } else if (call < calls->failed) {
        calls->failed = call;
    }
    lx__error_propagate(error, &kept);
    return status;
}

lx_status lx__calls_poison(lx__calls *calls, const lx_error *failure, lx_error *error)
{
    if (calls->failure.status != LX_ERR_POISONED) {
        calls->failure = *failure;
        calls->failure.status = LX_ERR_POISONED;
        calls->failed = 0;
    }
    lx__error_propagate(error, &calls->failure);
    return LX_ERR_POISONED;
}

lx_status lx__calls_check(const lx__calls *calls, lx_error *error)
{
    if (calls->failure.status != LX_OK)
        lx__error_propagate(error, &calls->failure);
    return calls->failure.status;
}

void lx__calls_clear_failure(lx__calls *calls)
{
    calls->failure = (lx_error)LX_ERROR_INIT;
}

void lx__calls_roll_back(lx__calls *calls)
{
    calls->kept = calls->committed;
    calls->applied = calls->committed = calls->submitted = calls->made;
    calls->rollbacks++;
}

bool lx__calls_is_undone(const lx__calls *calls, uint64_t call, uint64_t rollbacks)
{
    return calls->rollbacks != rollbacks &&
           (calls->rollbacks != rollbacks + 1 || call > calls->kept);
}
