/* SPDX-License-Identifier: MIT */
#include "zrecord/chunk/fetch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Largest gap between two extents at which a single call still reads both extents and the gap. */
#define GAP 512
/* Largest gap between two extents at which reads still count as sequential. */
#define WALK_GAP 4096
/* Maximum number of bytes to read with one call if the extents must then be copied to their
 * destinations. */
#define STAGING ((size_t)32 << 10)
/* Larger extents are read one by one, because a call for each costs less than copying them. */
#define SMALL 4096

/** Stores the address of the bytes of the only extent in a batch. */
static void keep(void *user, size_t which, const uint8_t *data)
{
    (void)which;
    *(const uint8_t **)user = data;
}

lx_status lx__fetch_one(lx__fetcher *fetcher, const lx__extent *extent, const uint8_t **data,
                        lx_error *error)
{
    return fetcher->fetch(fetcher, extent, 1, keep, data, error);
}

/* ---- one extent */

static lx_status take_file(const lx__pread *pread, const lx__chunk_item *chunk,
                           lx__open_file **file, lx_error *error)
{
    const lx__file_name name = {.part = LX__PART_CHUNK, .number = chunk->id, .bytes = chunk->bytes};
    return lx__fd_cache_take(pread->cache, &name, file, error);
}

static lx_status read_bytes(const lx__pread *pread, const lx__extent *from, size_t size,
                            uint8_t *to, lx_error *error)
{
    lx__open_file *file;
    lx_status status = take_file(pread, from->chunk, &file, error);
    if (status != LX_OK)
        return status;
    status = lx__file_read(&file->file, to, size, from->offset, error);
    lx__fd_cache_release(pread->cache, file);
    return status;
}

static bool is_buffered(const lx__pread *pread, const lx__extent *extent)
{
    return pread->chunk == extent->chunk->id && extent->offset >= pread->start &&
           lx__range_fits(extent->offset - pread->start, extent->size, pread->size);
}

/** Returns how many bytes to read for an extent. If reads are sequential, this is more than the
 * size of the extent. */
static size_t size_to_read(const lx__pread *pread, const lx__extent *extent)
{
    uint64_t end = pread->start + pread->size, left = extent->chunk->bytes - extent->offset;
    if (pread->size == 0 || pread->chunk != extent->chunk->id || extent->offset < pread->start ||
        extent->offset > end + WALK_GAP || extent->size >= pread->ahead)
        return extent->size;
    return left < pread->ahead ? (size_t)left : pread->ahead;
}

/** Reads an extent, and perhaps bytes after it, into the buffer of @p pread. */
static lx_status read_own(lx__pread *pread, const lx__extent *extent, lx_error *error)
{
    size_t size = size_to_read(pread, extent);
    lx__open_file *file;
    /* Open the chunk before allocating: a hostile entry may claim gigabytes, but opening fails if
     * the file does not have its committed bytes. */
    lx_status status = take_file(pread, extent->chunk, &file, error);
    if (status != LX_OK)
        return status;
    pread->size = 0;
    if (!lx__reserve(&pread->bytes, &pread->capacity, size)) {
        lx__fd_cache_release(pread->cache, file);
        return lx__fail_memory(error, "a record");
    }
    if (pread->elsewhere && size > extent->size &&
        lx__file_is_absent(&file->file, extent->offset + size - 1))
        size = extent->size; /* Do not wait for more than was requested. */
    lx_error why = LX_ERROR_INIT;
    status = lx__file_read(&file->file, pread->bytes, size, extent->offset, &why);
    if (status != LX_OK && size > extent->size && !lx__file_gave_up(&file->file, status)) {
        size = extent->size; /* The error may lie beyond the extent, so read only the extent. */
        status = lx__file_read(&file->file, pread->bytes, size, extent->offset, error);
    } else if (status != LX_OK) {
        lx__error_propagate(error, &why);
    }
    lx__fd_cache_release(pread->cache, file);
    if (status != LX_OK)
        return status;
    pread->chunk = extent->chunk->id;
    pread->start = extent->offset;
    pread->size = size;
    return LX_OK;
}

static lx_status fetch_single(lx__pread *pread, const lx__extent *extent, const uint8_t **data,
                              lx_error *error)
{
    lx_status status = LX_OK;
    if (extent->into != NULL) {
        *data = extent->into;
        return read_bytes(pread, extent, extent->size, extent->into, error);
    }
    if (!is_buffered(pread, extent))
        status = read_own(pread, extent, error);
    if (status == LX_OK)
        *data = pread->bytes + (extent->offset - pread->start);
    return status;
}

/* ---- batches */

/** The extents at the start of a batch that are read with a single call. */
typedef struct run {
    size_t count;
    size_t bytes;  /**< Including the gaps between the extents. */
    bool straight; /**< The extents are adjacent, both in the chunk and at their destinations. */
} run;

static run find_run(const lx__extent *extents, size_t count)
{
    const lx__extent *first = &extents[0];
    run r = {.count = 1, .bytes = first->size, .straight = first->into != NULL};
    for (; r.count < count && first->into != NULL; r.count++) {
        const lx__extent *next = &extents[r.count];
        uint64_t end = first->offset + r.bytes;
        if (next->into == NULL || next->chunk != first->chunk || next->offset < end ||
            next->offset - end > GAP)
            break;
        size_t bytes = (size_t)(next->offset - first->offset) + next->size;
        bool straight = r.straight && next->offset == end && next->into == first->into + r.bytes;
        if (!straight && (bytes > STAGING || next->size > SMALL))
            break;
        r.bytes = bytes;
        r.straight = straight;
    }
    return r;
}

/** Reads a run and copies each extent to its destination, unless the run is straight. */
static lx_status fetch_run(lx__pread *pread, const lx__extent *extents, const run *r,
                           lx_error *error)
{
    const lx__extent *first = &extents[0];
    if (r->straight)
        return read_bytes(pread, first, r->bytes, first->into, error);
    pread->size = 0;
    if (!lx__reserve(&pread->bytes, &pread->capacity, r->bytes))
        return lx__fail_memory(error, "records");
    lx_status status = read_bytes(pread, first, r->bytes, pread->bytes, error);
    for (size_t i = 0; status == LX_OK && i < r->count; i++)
        memcpy(extents[i].into, pread->bytes + (extents[i].offset - first->offset),
               extents[i].size);
    return status;
}

static lx_status fetch_by_pread(lx__fetcher *self, const lx__extent *extents, size_t count,
                                lx__fetch_done *done, void *user, lx_error *error)
{
    lx__pread *pread = (lx__pread *)self;
    lx_status failed = LX_OK;
    /* On this machine, extents are read one by one after a failure, which finds the bad one. */
    lx_error *whole_error = pread->elsewhere ? error : NULL;
    for (size_t i = 0; i < count;) {
        run r = find_run(extents + i, count - i);
        size_t end = i + r.count;
        lx_status whole = r.count > 1 ? fetch_run(pread, extents + i, &r, whole_error) : LX_OK;
        if (pread->elsewhere && whole != LX_OK)
            return whole;
        for (; i < end; i++) {
            const uint8_t *data = extents[i].into;
            lx_status status = r.count > 1 && whole == LX_OK
                                   ? LX_OK
                                   : fetch_single(pread, &extents[i], &data, failed ? NULL : error);
            if (status == LX_OK)
                done(user, i, data);
            else if (pread->elsewhere)
                return status;
            else if (failed == LX_OK)
                failed = status;
        }
    }
    return failed;
}

void lx__pread_init(lx__pread *pread, lx__fd_cache *cache, size_t ahead)
{
    *pread = (lx__pread){.fetcher = {fetch_by_pread}, .cache = cache, .ahead = ahead};
}

void lx__pread_advise(const lx__pread *pread, const lx__extent *extent)
{
    lx__open_file *file;
    if (take_file(pread, extent->chunk, &file, NULL) != LX_OK)
        return; /* the read itself will report the error */
    lx__file_will_need(&file->file, extent->offset, extent->size);
    lx__fd_cache_release(pread->cache, file);
}

bool lx__pread_renew(lx__pread *pread, const lx__extent *extent)
{
    lx__open_file *file;
    pread->size = 0; /* the buffer may contain the extent */
    if (take_file(pread, extent->chunk, &file, NULL) != LX_OK)
        return false;
    bool renewed = lx__file_renew(&file->file, extent->offset, extent->size);
    lx__fd_cache_release(pread->cache, file);
    return renewed;
}

void lx__pread_end(lx__pread *pread)
{
    lx__free(pread->bytes);
    pread->bytes = NULL;
    pread->capacity = pread->size = 0;
}
