/* SPDX-License-Identifier: MIT */
#include "remote/cache/cache-state.h"

#include <time.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "executor/clock.h"

#define MAGIC 0x5343584cu
#define STATE_VERSION 1
#define STATE_BYTES 32
#define CRC_OFFSET 28

/* A change takes microseconds, and a recount of many files less than a second or two. */
#define PATIENCE_NS ((uint64_t)3000000000)
#define RETRY_NS ((uint64_t)10000000000)

/* The pauses between attempts to lock, which double. */
#define FIRST_PAUSE_NS 20000
#define LONGEST_PAUSE_NS 2000000

lx_status lx__cache_state_open(lx__cache_state *self, const lx__file *directory, lx_error *error)
{
    lx_status status = lx__file_open(&self->file, directory, LX__CACHE_STATE_NAME, O_RDWR | O_CREAT,
                                     error);
    if (status != LX_OK)
        return status;
    pthread_mutex_init(&self->mutex, NULL);
    self->patience_ns = PATIENCE_NS;
    self->retry = 0;
    return LX_OK;
}

void lx__cache_state_close(lx__cache_state *self)
{
    lx__file_close(&self->file);
    pthread_mutex_destroy(&self->mutex);
}

/* ---- locking */

/** Locks the byte, again and again until it is free or the patience ends. */
static lx_status lock_in_time(lx__cache_state *self, lx_error *error)
{
    uint64_t now = lx__clock_now(), deadline = now + (now < self->retry ? 0 : self->patience_ns);
    for (long pause = FIRST_PAUSE_NS;;) {
        lx_error why = LX_ERROR_INIT;
        lx_status status = lx__file_lock(&self->file, true, LX__CACHE_CHANGE, 1, &why);
        now = lx__clock_now();
        if (status == LX_ERR_BUSY && now < deadline) {
            const struct timespec time = {0, pause};
            (void)nanosleep(&time, NULL);
            pause = pause < LONGEST_PAUSE_NS / 2 ? pause * 2 : LONGEST_PAUSE_NS;
            continue;
        }
        if (status == LX_ERR_BUSY && now >= self->retry)
            self->retry = now + RETRY_NS;
        if (status != LX_OK)
            lx__error_propagate(error, &why);
        return status;
    }
}

lx_status lx__cache_state_lock(lx__cache_state *self, lx_error *error)
{
    pthread_mutex_lock(&self->mutex);
    lx_status status = lock_in_time(self, error);
    if (status != LX_OK)
        pthread_mutex_unlock(&self->mutex);
    return status;
}

void lx__cache_state_unlock(lx__cache_state *self)
{
    lx__file_unlock(&self->file, LX__CACHE_CHANGE, 1);
    pthread_mutex_unlock(&self->mutex);
}

/* ---- the content */

static lx_status fail_state(const lx__cache_state *self, lx_status status, const char *why,
                            lx_error *error)
{
    (void)lx_fail(error, status, "%s", why);
    lx_error_locate(error, self->file.path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__cache_state_read(lx__cache_state *self, lx__cache_content *content, lx_error *error)
{
    uint8_t bytes[STATE_BYTES];
    size_t got = 0;
    *content = (lx__cache_content){0};
    lx_status status = lx__file_read_some(&self->file, bytes, sizeof bytes, 0, &got, error);
    if (status != LX_OK)
        return status;
    if (got < 8 || lx__load_le32(bytes) != MAGIC)
        return fail_state(self, LX_ERR_NOT_FOUND, "the file is not that of a cache", error);
    if (lx__load_le32(bytes + 4) != STATE_VERSION)
        return fail_state(self, LX_ERR_UNSUPPORTED,
                          "another release of this library has made the cache: use another "
                          "directory, or remove this one",
                          error);
    if (got < STATE_BYTES || lx__load_le32(bytes + CRC_OFFSET) != lx__crc32c(0, bytes, CRC_OFFSET))
        return fail_state(self, LX_ERR_CORRUPT,
                          "the state of the cache is damaged: end all processes that use the "
                          "cache, and open it again, which empties it",
                          error);
    *content = (lx__cache_content){.boot_id = lx__load_le64(bytes + 8),
                                   .reserved = lx__load_le64(bytes + 16),
                                   .boot = (uint16_t)lx__load_le32(bytes + 24)};
    return LX_OK;
}

lx_status lx__cache_state_write(lx__cache_state *self, const lx__cache_content *content,
                                lx_error *error)
{
    uint8_t bytes[STATE_BYTES];
    lx__store_le32(bytes, MAGIC);
    lx__store_le32(bytes + 4, STATE_VERSION);
    lx__store_le64(bytes + 8, content->boot_id);
    lx__store_le64(bytes + 16, content->reserved);
    lx__store_le32(bytes + 24, content->boot);
    lx__store_le32(bytes + CRC_OFFSET, lx__crc32c(0, bytes, CRC_OFFSET));
    return lx__file_write(&self->file, bytes, sizeof bytes, 0, error);
}

bool lx__cache_state_add(lx__cache_state *self, uint64_t bytes, uint64_t limit)
{
    lx__cache_content content;
    if (lx__cache_state_lock(self, NULL) != LX_OK)
        return false;
    bool added = lx__cache_state_read(self, &content, NULL) == LX_OK &&
                 lx__add_fits(content.reserved, bytes, &content.reserved) &&
                 content.reserved <= limit && lx__cache_state_write(self, &content, NULL) == LX_OK;
    lx__cache_state_unlock(self);
    return added;
}

void lx__cache_state_subtract(lx__cache_state *self, uint64_t bytes)
{
    lx__cache_content content;
    /* If this fails, the number is too high until the next recount. */
    if (lx__cache_state_lock(self, NULL) != LX_OK)
        return;
    if (lx__cache_state_read(self, &content, NULL) == LX_OK) {
        content.reserved -= bytes < content.reserved ? bytes : content.reserved;
        (void)lx__cache_state_write(self, &content, NULL);
    }
    lx__cache_state_unlock(self);
}

/* ---- fork() */

void lx__cache_state_take_over(lx__cache_state *self, const lx__file *directory)
{
    lx__file inherited = self->file;
    pthread_mutex_init(&self->mutex, NULL); /* a thread of the parent may have held it */
    if (inherited.fd == -1)
        return;
    lx_status status = lx__file_open(&self->file, directory, LX__CACHE_STATE_NAME, O_RDWR, NULL);
    /* The inherited lock ends only after this process has its own. */
    if (status == LX_OK && lx__file_lock(&self->file, false, LX__CACHE_PRESENT, 1, NULL) != LX_OK)
        lx__file_close(&self->file);
    lx__file_close(&inherited);
}
