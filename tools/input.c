/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "failure.h"
#include "interrupt.h"

/* Bytes per read(). */
#define BUFFER ((size_t)1 << 17)
/* Best case of Deflate: 258 bytes from two bits. */
#define INFLATE_MOST 1032
/* Interval of the checks for a signal while waiting for a pipe, in milliseconds. */
#define LOOK_INTERVAL 100
/* zlib counts in unsigned int. */
#define INFLATE_STEP ((size_t)1 << 30)

struct input {
    char *path;
    int fd;
    bool regular;
    uint64_t file_size; /**< For a regular file. */
    uint64_t file_read; /**< Bytes read from the file. */
    uint64_t given;     /**< Bytes returned to the caller. */
    bool file_ended;
    bool gzip;
    bool member_ended; /**< The current gzip member has ended; another may follow. */
    z_stream stream;
    unsigned char buffer[BUFFER];
    size_t at, filled; /**< The unused part of the buffer: [at, filled). */
};

/* ---- raw input */

/** Waits for a pipe; returns on a signal, even if another thread received it. */
static lx_status await(const input *in, lx_error *error)
{
    struct pollfd wanted = {.fd = in->fd, .events = POLLIN};
    for (;;) {
        lx_status status = interrupt_check(error);
        if (status != LX_OK)
            return status;
        int ready = poll(&wanted, 1, LOOK_INTERVAL);
        if (ready > 0)
            return LX_OK;
        if (ready == -1 && errno != EINTR)
            return lx_fail_errno(error, errno, in->path, "cannot wait for data");
    }
}

/** Reads at most @p size bytes; @p got is 0 at the end of the file. */
static lx_status read_some(input *in, void *data, size_t size, size_t *got, lx_error *error)
{
    ssize_t count;
    do {
        lx_status status = in->regular ? LX_OK : await(in, error);
        if (status != LX_OK)
            return status;
        count = read(in->fd, data, size < INFLATE_STEP ? size : INFLATE_STEP);
    } while (count == -1 && errno == EINTR);
    if (count == -1)
        return lx_fail_errno(error, errno, in->path, "cannot read");
    *got = (size_t)count;
    in->file_read += *got;
    in->file_ended = count == 0;
    return LX_OK;
}

/** Fills the buffer until it has at least @p wanted bytes or the file ends. */
static lx_status fill_buffer(input *in, size_t wanted, lx_error *error)
{
    lx_status status = LX_OK;
    if (in->filled - in->at >= wanted)
        return LX_OK;
    memmove(in->buffer, in->buffer + in->at, in->filled - in->at);
    in->filled -= in->at;
    in->at = 0;
    while (status == LX_OK && in->filled < wanted && !in->file_ended) {
        size_t got = 0;
        status = read_some(in, in->buffer + in->filled, BUFFER - in->filled, &got, error);
        in->filled += got;
    }
    return status;
}

/** The file offset after the data consumed so far. */
static uint64_t file_place(const input *in)
{
    return in->file_read - (in->filled - in->at);
}

static lx_status fail_here(const input *in, lx_error *error, const char *message)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "%s", message);
    lx_error_locate(error, in->path, NULL, LX_NONE, file_place(in));
    return status;
}

/* ---- gzip */

static bool gzip_begins(const input *in)
{
    return in->filled - in->at >= 2 && in->buffer[in->at] == 0x1f && in->buffer[in->at + 1] == 0x8b;
}

static lx_status begin_gzip(input *in, lx_error *error)
{
    in->gzip = true;
    /* 15 bits of window, plus 16 to select the header and checksum of gzip. */
    if (inflateInit2(&in->stream, 15 + 16) == Z_OK)
        return LX_OK;
    in->gzip = false;
    return fail_memory(error, "decompression");
}

/** Called after the end of a member: starts the next member, if there is one. */
static lx_status next_member(input *in, bool *there, lx_error *error)
{
    lx_status status = fill_buffer(in, 2, error);
    while (status == LX_OK && in->filled != in->at && in->buffer[in->at] == 0) {
        in->at++; /* padding, as of tapes */
        status = fill_buffer(in, 2, error);
    }
    *there = status == LX_OK && in->filled != in->at;
    if (status != LX_OK || !*there)
        return status;
    if (!gzip_begins(in))
        return fail_here(in, error, "unexpected data after the end of the gzip data");
    inflateReset(&in->stream);
    in->member_ended = false;
    return LX_OK;
}

/** Inflates at most @p size bytes; @p got is 0 only at the end of the last member. */
static lx_status inflate_some(input *in, void *data, size_t size, size_t *got, lx_error *error)
{
    *got = 0;
    in->stream.next_out = data;
    in->stream.avail_out = (uInt)(size < INFLATE_STEP ? size : INFLATE_STEP);
    unsigned room = in->stream.avail_out;
    while (*got == 0) {
        bool there = true;
        lx_status status = in->member_ended ? next_member(in, &there, error)
                                            : fill_buffer(in, 1, error);
        if (status != LX_OK || !there)
            return status;
        in->stream.next_in = in->buffer + in->at;
        in->stream.avail_in = (uInt)(in->filled - in->at);
        int answer = inflate(&in->stream, Z_NO_FLUSH);
        in->at = in->filled - in->stream.avail_in;
        *got = room - in->stream.avail_out;
        in->member_ended = answer == Z_STREAM_END;
        if (answer == Z_MEM_ERROR)
            return fail_memory(error, "decompression");
        if (answer == Z_BUF_ERROR && in->file_ended)
            return fail_here(in, error, "the gzip data ends too early: the file is truncated");
        if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR) {
            lx_fail(error, LX_ERR_CORRUPT, "the gzip data is damaged (%s)",
                    in->stream.msg != NULL ? in->stream.msg : "zlib gives no reason");
            lx_error_locate(error, in->path, NULL, LX_NONE, file_place(in));
            return LX_ERR_CORRUPT;
        }
    }
    return LX_OK;
}

/* ---- interface */

static lx_status open_file(input *in, lx_error *error)
{
    struct stat about;
    do
        in->fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (in->fd == -1 && errno == EINTR && interrupted() == 0);
    if (in->fd == -1 && errno == EINTR)
        return interrupt_check(error);
    if (in->fd == -1 || fstat(in->fd, &about) == -1)
        return lx_fail_errno(error, errno, in->path, "cannot open");
    if (S_ISDIR(about.st_mode))
        return lx_fail_errno(error, EISDIR, in->path, "cannot read");
    in->regular = S_ISREG(about.st_mode);
    in->file_size = in->regular ? (uint64_t)about.st_size : LX_NONE;
#ifdef POSIX_FADV_SEQUENTIAL
    (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* a failure only affects speed */
#endif
    lx_status status = fill_buffer(in, 2, error);
    if (status == LX_OK && gzip_begins(in))
        status = begin_gzip(in, error);
    return status;
}

lx_status input_open(const char *path, input **in, lx_error *error)
{
    input *made = calloc(1, sizeof *made);
    *in = NULL;
    if (made == NULL)
        return fail_memory(error, "an input");
    made->fd = -1;
    made->path = strdup(path);
    lx_status status = made->path != NULL ? open_file(made, error) : fail_memory(error, "an input");
    if (status == LX_OK)
        *in = made;
    else
        input_close(made);
    return status;
}

void input_close(input *in)
{
    if (in == NULL)
        return;
    if (in->gzip)
        inflateEnd(&in->stream);
    if (in->fd != -1)
        close(in->fd);
    free(in->path);
    free(in);
}

const char *input_path(const input *in)
{
    return in->path;
}

uint64_t input_tell(const input *in)
{
    return in->given;
}

uint64_t input_bound(const input *in, int *exact)
{
    *exact = in->regular && !in->gzip;
    if (!in->regular)
        return LX_NONE;
    if (!in->gzip)
        return in->file_size;
    return in->file_size < UINT64_MAX / INFLATE_MOST ? in->file_size * INFLATE_MOST : LX_NONE;
}

/** Reads at most @p size bytes, bypassing the buffer if it would only add a copy. */
static lx_status give_some(input *in, void *data, size_t size, size_t *got, lx_error *error)
{
    if (in->gzip)
        return inflate_some(in, data, size, got, error);
    if (in->at == in->filled && size >= BUFFER)
        return read_some(in, data, size, got, error);
    lx_status status = fill_buffer(in, 1, error);
    *got = in->filled - in->at < size ? in->filled - in->at : size;
    memcpy(data, in->buffer + in->at, *got);
    in->at += *got;
    return status;
}

lx_status input_read(input *in, void *data, size_t size, lx_error *error)
{
    for (size_t done = 0; done < size;) {
        size_t got = 0;
        lx_status status = give_some(in, (char *)data + done, size - done, &got, error);
        if (status != LX_OK)
            return status;
        if (got == 0)
            return fail_here(in, error, "the file ends too early: it is truncated");
        done += got;
        in->given += got;
    }
    return LX_OK;
}

lx_status input_finish(input *in, lx_error *error)
{
    unsigned char more;
    size_t got = 0;
    lx_status status = give_some(in, &more, 1, &got, error);
    if (status == LX_OK && got != 0)
        status = fail_here(in, error, "the file is longer than its header declares");
    return status;
}
