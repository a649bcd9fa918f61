/* SPDX-License-Identifier: MIT */
/* The part of a rescue that follows the log. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/rescue.h"

/* Behind a damage, whole frames are looked for in so many bytes at most; */
#define SEARCH_BYTES ((uint64_t)256 << 20)
/* and what looks like one is tried until the sizes sum to this many times the bytes. */
#define SEARCH_EFFORT 4

/** Whether the frames up to @p end keep the rules. */
static lx_status try_to(const lx__rescue *rescue, lx__log_reader *log, uint64_t end,
                        lx_error *error)
{
    lx__state state = {0};
    lx_status status = lx__state_replay_to(&state, log, rescue->meta.schema, end, error);
    lx__state_free(&state);
    return status;
}

/** The ends of the valid frames up to @p until. */
static lx_status find_ends(lx__log_reader *log, uint64_t until, uint64_t **ends, size_t *count,
                           lx_error *error)
{
    size_t capacity = 0;
    lx_status status = LX_OK;
    for (uint64_t at = 0; status == LX_OK && at < until;) {
        lx__frame frame;
        status = lx__log_frame(log, at, &frame, error);
        uint64_t *list = lx__grow_array(*ends, *count, &capacity, sizeof *list);
        if (status == LX_OK && list == NULL)
            status = lx__fail_memory(error, "a log");
        if (list != NULL)
            *ends = list;
        if (status != LX_OK)
            break;
        at += frame.bytes;
        list[(*count)++] = at;
    }
    return status;
}

/** Where the last frame ends, at most at @p end, up to which all keep the rules; those behind the
 * first one that does not cannot be replayed either. 0: there is none. */
static lx_status find_obedient(lx__rescue *rescue, lx__log_reader *log, uint64_t *end,
                               lx_error *error)
{
    uint64_t *ends = NULL;
    size_t count = 0;
    lx_status status = try_to(rescue, log, *end, &rescue->why_cut);
    if (status != LX_OK && status != LX_ERR_CORRUPT)
        lx__error_pass(error, &rescue->why_cut);
    if (status != LX_ERR_CORRUPT)
        return status;
    rescue->cut = true;
    status = find_ends(log, *end, &ends, &count, error);
    size_t low = 0, high = count; /* frames [0, low) are good, the frame before high is not */
    while (status == LX_OK && low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        lx_status tried = try_to(rescue, log, ends[middle - 1], NULL);
        if (tried == LX_OK)
            low = middle;
        else if (tried == LX_ERR_CORRUPT)
            high = middle;
        else
            status = lx__fail(error, tried, "the log cannot be replayed");
    }
    *end = low != 0 ? ends[low - 1] : 0;
    lx__free(ends);
    return status;
}

/** @p obedient: whether all frames up to where it ends keep the rules. */
static lx_status replay(lx__rescue *rescue, lx__log_reader *log, bool *obedient, lx_error *error)
{
    const lx__log_place start = {0};
    lx__log_scan scan;
    lx_status status = lx__log_scan_from(log, &start, lx__boot_id(), &scan, &rescue->why_cut);
    rescue->cut = status == LX_ERR_CORRUPT;
    if (status != LX_OK && !rescue->cut) {
        lx__error_pass(error, &rescue->why_cut);
        return status;
    }
    /* Before a synced frame everything was synced, also where the frames between are rotten. */
    uint64_t end = rescue->cut ? scan.valid.offset : scan.trusted.offset;
    uint64_t settled = rescue->cut ? scan.valid.offset : scan.durable.offset;
    uint64_t valid = end;
    status = find_obedient(rescue, log, &end, error);
    *obedient = end == valid;
    if (status == LX_OK && end == 0)
        status = lx__log_fail_first(log, error);
    if (status == LX_OK)
        status = lx__state_replay_to(&rescue->settled, log, rescue->meta.schema,
                                     settled < end ? settled : end, error);
    if (status == LX_OK)
        status = lx__state_replay_to(&rescue->state, log, rescue->meta.schema, end, error);
    return status;
}

/* ---- what is lost */

/** What is known of commits behind a damage. */
typedef struct lost_commits {
    uint64_t bytes;   /**< From the damage to the end of the log. */
    uint64_t commits; /**< Up to the last frame that is whole; 0: there is none. */
    uint64_t records; /**< That there were after it. */
} lost_commits;

/** Looks for whole frames behind the state: for the report alone, so what cannot be read ends it.
 * Where a whole one breaks the rules, none is believed. */
static void find_lost(const lx__rescue *rescue, lx__log_reader *log, bool obedient,
                      lost_commits *lost)
{
    const lx__log_place *from = &rescue->state.place;
    uint64_t at = from->offset, tried = 0;
    lost->bytes = lx__log_find_end(log, at) - at;
    uint64_t end = lost->bytes < SEARCH_BYTES ? log->size : at + SEARCH_BYTES;
    lx_status status = lx__log_find_magic(log, &at, NULL);
    while (obedient && status == LX_OK && lx__range_fits(at, LX__FRAME_HEADER, end)) {
        const uint8_t *bytes;
        lx__frame frame;
        bool whole = false;
        if (lx__log_bytes(log, at, LX__FRAME_HEADER, &bytes, NULL) != LX_OK)
            break;
        if (lx__frame_load(&frame, bytes) && frame.epoch >= from->epoch &&
            lx__range_fits(at, frame.bytes, log->size)) {
            tried += frame.bytes;
            if (tried > lost->bytes * SEARCH_EFFORT ||
                lx__log_look_at(log, at, &frame, &whole, NULL) != LX_OK)
                break;
        }
        if (whole) {
            lost->commits = frame.epoch - from->epoch + 1;
            lost->records = frame.length;
        }
        at += whole ? frame.bytes : LX__FRAME_ALIGN;
        status = lx__log_find_magic(log, &at, NULL);
    }
}

static void add_lost(lx__rescue *rescue, const lost_commits *lost)
{
    lx_error *why = &rescue->why_cut;
    size_t used = strlen(why->message), size = sizeof why->message - used;
    used += (size_t)snprintf(why->message + used, size,
                             "; what was committed before that, %llu records, is kept; what was "
                             "committed behind, %llu bytes of the log, is lost",
                             (unsigned long long)rescue->state.length,
                             (unsigned long long)lost->bytes);
    if (lost->commits != 0 && used < sizeof why->message)
        snprintf(why->message + used, sizeof why->message - used,
                 ": %llu commits or more, after which there were %llu records",
                 (unsigned long long)lost->commits, (unsigned long long)lost->records);
}

/* ---- all of it */

static lx_status read_log(lx__rescue *rescue, lost_commits *lost, lx_error *why)
{
    lx__log_reader log;
    bool obedient = true;
    lx_status status = lx__log_open(&log, &rescue->directory, &rescue->identity, why);
    if (status != LX_OK)
        return status;
    status = replay(rescue, &log, &obedient, why);
    if (status == LX_OK && rescue->cut)
        find_lost(rescue, &log, obedient, lost);
    lx__log_close(&log);
    return status;
}

lx_status lx__rescue_follow(lx__rescue *rescue, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lost_commits lost = {0};
    rescue->identity.generation = rescue->meta.generation;
    memcpy(rescue->identity.uuid, rescue->meta.uuid, sizeof rescue->identity.uuid);
    lx_status status = read_log(rescue, &lost, &why);
    if (rescue->meta.sealed && (status == LX_OK || status == LX_ERR_CORRUPT)) {
        lx_status taken = lx__rescue_take_seal(rescue, status == LX_OK ? NULL : &why, error);
        if (taken != LX_OK || rescue->by_seal)
            return taken;
    }
    if (status == LX_OK && rescue->cut)
        add_lost(rescue, &lost);
    if (status == LX_ERR_CORRUPT) {
        size_t used = strlen(why.message);
        snprintf(why.message + used, sizeof why.message - used,
                 ": it alone tells which records there are, so only a backup of it helps, put in "
                 "its place, or a backup of the dataset");
    }
    if (status != LX_OK)
        lx__error_pass(error, &why);
    return status;
}
