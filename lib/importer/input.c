/* SPDX-License-Identifier: MIT */
#include "importer/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

/* Bytes per read(), if no fewer are expected. */
#define STEP ((size_t)1 << 18)
#define STEP_MIN ((size_t)1 << 12)
/* Bytes that show whether an input is compressed: four, as two may be those of the length with
 * which a binary file begins. */
#define MAGIC 4
/* Interval of the calls of wait(), in milliseconds. */
#define WAIT_INTERVAL 100
/* A limit, so that a file system that always returns EINTR causes an error rather than a hang. */
#define OPEN_RETRIES 1000

struct lx__input_gzip {
    z_stream stream;
    bool member_ended;            /**< Another member may follow. */
    uint8_t stored[STEP + MAGIC]; /**< More, because first bytes may already be there. */
};

struct lx__input_zstd {
#ifdef HAVE_ZSTD
    ZSTD_DCtx *context;
    ZSTD_inBuffer unread; /**< What was not unpacked yet, in @ref stored. */
#endif
    bool frame_ended; /**< Another frame may follow. */
    uint8_t stored[STEP + MAGIC];
};

/* ---- the bytes of the file */

static lx_status await(lx__input *self, lx_error *error)
{
    struct pollfd wanted = {.fd = self->fd, .events = POLLIN};
    for (;;) {
        int ready = poll(&wanted, 1, WAIT_INTERVAL);
        if (ready > 0)
            return LX_OK;
        if (ready == -1 && errno != EINTR)
            return lx_fail_errno(error, errno, self->path, "cannot wait for data");
        lx_status status = self->wait(self->user, error);
        if (status != LX_OK)
            return status;
    }
}

/** Reads at most @p size bytes; @p got is 0 at the end. */
static lx_status read_some(lx__input *self, void *data, size_t size, size_t *got, lx_error *error)
{
    ssize_t count;
    do {
        lx_status status = self->regular ? LX_OK : await(self, error);
        if (status != LX_OK)
            return status;
        count = read(self->fd, data, size);
    } while (count == -1 && errno == EINTR);
    if (count == -1)
        return lx_fail_errno(error, errno, self->path, "cannot read");
    *got = (size_t)count;
    self->file_read += *got;
    return LX_OK;
}

/* ---- gzip */

static lx_status fail_gzip(const lx__input *self, const char *what, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "%s", what);
    lx_error_locate(error, self->path, NULL, LX_NONE,
                    self->file_read - self->gzip->stream.avail_in);
    return status;
}

/** Makes stored bytes available, at least two if the file has them. */
static lx_status fill_stored(lx__input *self, lx_error *error)
{
    z_stream *stream = &self->gzip->stream;
    lx_status status = LX_OK;
    if (stream->avail_in >= 2)
        return LX_OK;
    if (stream->avail_in == 1)
        self->gzip->stored[0] = *stream->next_in;
    stream->next_in = self->gzip->stored;
    for (size_t got = 1; status == LX_OK && got != 0 && stream->avail_in < 2;) {
        status = read_some(self, self->gzip->stored + stream->avail_in, STEP - stream->avail_in,
                           &got, error);
        stream->avail_in += status == LX_OK ? (uInt)got : 0;
    }
    return status;
}

/** After the end of a member: begins the next one, if there is one. */
static lx_status next_member(lx__input *self, bool *there, lx_error *error)
{
    z_stream *stream = &self->gzip->stream;
    while (stream->avail_in != 0 && *stream->next_in == 0) { /* padding, as of tapes */
        stream->next_in++;
        stream->avail_in--;
        lx_status status = fill_stored(self, error);
        if (status != LX_OK)
            return status;
    }
    *there = stream->avail_in != 0;
    if (!*there)
        return LX_OK;
    if (stream->avail_in < 2 || stream->next_in[0] != 0x1f || stream->next_in[1] != 0x8b)
        return fail_gzip(self, "other data follows the gzip data", error);
    inflateReset(stream);
    self->gzip->member_ended = false;
    return LX_OK;
}

/** Inflates at most @p size bytes; @p got is 0 only at the end. */
static lx_status inflate_some(lx__input *self, void *data, size_t size, size_t *got,
                              lx_error *error)
{
    z_stream *stream = &self->gzip->stream;
    *got = 0;
    stream->next_out = data;
    stream->avail_out = (uInt)size;
    while (*got == 0) {
        bool there = true;
        lx_status status = fill_stored(self, error);
        if (status == LX_OK && self->gzip->member_ended)
            status = next_member(self, &there, error);
        if (status != LX_OK || !there)
            return status;
        if (stream->avail_in == 0)
            return fail_gzip(self, "the gzip data ends too early: the file is truncated", error);
        int answer = inflate(stream, Z_NO_FLUSH);
        *got = size - stream->avail_out;
        self->gzip->member_ended = answer == Z_STREAM_END;
        if (answer == Z_MEM_ERROR)
            return lx__fail_memory(error, "decompression");
        if (answer != Z_OK && answer != Z_STREAM_END)
            return fail_gzip(self, "the gzip data is damaged", error);
    }
    return LX_OK;
}

/** Turns the bytes in the buffer into stored bytes. */
static lx_status begin_gzip(lx__input *self, lx_error *error)
{
    self->gzip = lx__alloc_array(1, sizeof *self->gzip);
    if (self->gzip == NULL)
        return lx__fail_memory(error, "decompression");
    /* 15 bits of window, plus 16 for the header and the checksum of gzip. */
    if (inflateInit2(&self->gzip->stream, 15 + 16) != Z_OK) {
        lx__free(self->gzip);
        self->gzip = NULL;
        return lx__fail_memory(error, "decompression");
    }
    memcpy(self->gzip->stored, self->data, self->size);
    self->gzip->stream.next_in = self->gzip->stored;
    self->gzip->stream.avail_in = (uInt)self->size;
    self->size = 0;
    return LX_OK;
}

/* ---- zstd */

#ifdef HAVE_ZSTD
static lx_status fail_zstd(const lx__input *self, const char *what, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "the zstd data %s", what);
    lx_error_locate(error, self->path, NULL, LX_NONE,
                    self->file_read - (self->zstd->unread.size - self->zstd->unread.pos));
    return status;
}

/** Unpacks at most @p size bytes; @p got is 0 only at the end. */
static lx_status unpack_some(lx__input *self, void *data, size_t size, size_t *got, lx_error *error)
{
    lx__input_zstd *zstd = self->zstd;
    ZSTD_inBuffer *unread = &zstd->unread;
    ZSTD_outBuffer out = {data, size, 0};
    for (*got = 0;;) {
        size_t before = unread->pos;
        size_t left = ZSTD_decompressStream(zstd->context, &out, unread);
        if (ZSTD_isError(left))
            return fail_zstd(self, ZSTD_getErrorName(left), error);
        if (unread->pos != before || out.pos != 0)
            zstd->frame_ended = left == 0;
        *got = out.pos;
        if (*got != 0)
            return LX_OK;
        if (unread->pos < unread->size)
            continue;
        *unread = (ZSTD_inBuffer){zstd->stored, 0, 0};
        lx_status status = read_some(self, zstd->stored, STEP, &unread->size, error);
        if (status != LX_OK)
            return status;
        if (unread->size == 0)
            return zstd->frame_ended
                       ? LX_OK
                       : fail_zstd(self, "ends too early: the file is truncated", error);
    }
}

/** Turns the bytes in the buffer into stored bytes. */
static lx_status begin_zstd(lx__input *self, lx_error *error)
{
    self->zstd = lx__alloc_array(1, sizeof *self->zstd);
    if (self->zstd == NULL)
        return lx__fail_memory(error, "decompression");
    self->zstd->context = ZSTD_createDCtx();
    if (self->zstd->context == NULL)
        return lx__fail_memory(error, "decompression");
    memcpy(self->zstd->stored, self->data, self->size);
    self->zstd->unread = (ZSTD_inBuffer){self->zstd->stored, self->size, 0};
    self->size = 0;
    return LX_OK;
}

static void end_zstd(lx__input *self)
{
    if (self->zstd != NULL)
        ZSTD_freeDCtx(self->zstd->context);
    lx__free(self->zstd);
}
#else
static lx_status begin_zstd(lx__input *self, lx_error *error)
{
    (void)self;
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "the input is compressed with zstd, which this build does not support: build "
                   "with libzstd");
}

static void end_zstd(lx__input *self)
{
    (void)self;
}
#endif

/* ---- the buffer */

/** The bytes before are needed again, but are too many to keep. */
static lx_status fail_overfull(lx__input *self, lx_error *error)
{
    self->failed = self->overfull = true;
    lx_status status = lx_fail(error, LX_ERR_LIMIT,
                               "the first %" PRIu64 " bytes of a pipe do not show which fields it "
                               "has: raise the limit of a record, or import from a file",
                               self->most_kept);
    lx_error_locate(error, self->path, NULL, LX_NONE, self->offset);
    return status;
}

/** Makes room for STEP bytes after those in the buffer. */
static lx_status make_room(lx__input *self, lx_error *error)
{
    size_t used = (size_t)(self->data - self->buffer);
    if (self->capacity - used - self->size >= STEP)
        return LX_OK;
    if (self->kept && used > self->most_kept)
        return fail_overfull(self, error);
    if (!self->kept && used != 0 && used >= self->size) {
        memmove(self->buffer, self->data, self->size);
        used = 0;
    }
    if (self->capacity - used - self->size < STEP &&
        (self->size > SIZE_MAX / 4 - used ||
         !lx__reserve(&self->buffer, &self->capacity, 2 * (used + self->size) + STEP)))
        return lx__fail_memory(error, "a record of the input");
    self->data = self->buffer + used;
    return LX_OK;
}

lx_status lx__input_fill(lx__input *self, size_t wanted, lx_error *error)
{
    while (self->size < wanted && !self->ended) {
        size_t got = 0;
        lx_status status = make_room(self, error);
        if (status != LX_OK)
            return status;
        uint8_t *end = self->buffer + (self->data - self->buffer) + self->size;
        if (self->gzip != NULL)
            status = inflate_some(self, end, STEP, &got, error);
#ifdef HAVE_ZSTD
        else if (self->zstd != NULL)
            status = unpack_some(self, end, STEP, &got, error);
#endif
        else
            status = read_some(self, end, self->step, &got, error);
        if (status != LX_OK) {
            self->failed = true;
            return status;
        }
        self->size += got;
        self->ended = got == 0;
    }
    return LX_OK;
}

lx_status lx__input_pass_mark(lx__input *self, lx_error *error)
{
    static const char mark[] = "\xef\xbb\xbf";
    lx_status status = lx__input_fill(self, sizeof mark - 1, error);
    if (status == LX_OK && self->size >= sizeof mark - 1 &&
        memcmp(self->data, mark, sizeof mark - 1) == 0)
        lx__input_take(self, sizeof mark - 1);
    return status;
}

void lx__input_take(lx__input *self, size_t size)
{
    self->data += size;
    self->size -= size;
    self->offset += size;
}

lx_status lx__input_skip(lx__input *self, uint64_t size, uint64_t *skipped, lx_error *error)
{
    lx_status status = LX_OK;
    *skipped = 0;
    while (status == LX_OK && *skipped < size) {
        uint64_t left = size - *skipped;
        size_t step = left < self->size ? (size_t)left : self->size;
        lx__input_take(self, step);
        *skipped += step;
        if (self->size == 0 && *skipped < size) {
            status = lx__input_fill(self, 1, error);
            if (self->size == 0)
                break;
        }
    }
    return status;
}

/** Takes the rest of a line that is too long. */
static lx_status skip_line(lx__input *self, lx_error *error)
{
    lx_status status = LX_OK;
    while (status == LX_OK && self->size != 0) {
        const uint8_t *end = memchr(self->data, '\n', self->size);
        lx__input_take(self, end != NULL ? (size_t)(end - self->data) + 1 : self->size);
        if (end != NULL)
            break;
        status = lx__input_fill(self, 1, error);
    }
    return status;
}

lx_status lx__input_line(lx__input *self, uint64_t limit, const char **line, size_t *size,
                         lx_error *error)
{
    const uint8_t *end = NULL;
    for (size_t searched = 0;;) {
        if (self->size > searched)
            end = memchr(self->data + searched, '\n', self->size - searched);
        if (end != NULL || self->size > limit || self->ended)
            break;
        searched = self->size;
        lx_status status = lx__input_fill(self, self->size + 1, error);
        if (status != LX_OK)
            return status;
    }
    if (self->size == 0)
        return LX_END;
    size_t length = end != NULL ? (size_t)(end - self->data) : self->size;
    if (length > limit) {
        lx_status status = skip_line(self, error);
        return status != LX_OK ? status
                               : lx_fail(error, LX_ERR_LIMIT,
                                         "the line has more than %" PRIu64
                                         " bytes: raise the limit of a record",
                                         limit);
    }
    *line = (const char *)self->data;
    *size = length != 0 && end != NULL && self->data[length - 1] == '\r' ? length - 1 : length;
    lx__input_take(self, end != NULL ? length + 1 : length);
    return LX_OK;
}

/* ---- opening and closing */

/** Opens the path; opening a pipe waits for its writer, and a signal may end the wait. */
static lx_status open_path(lx__input *self, lx_error *error)
{
    int left = OPEN_RETRIES;
    while ((self->fd = openat(AT_FDCWD, self->path, O_RDONLY | O_CLOEXEC | O_NOCTTY)) == -1 &&
           errno == EINTR && --left > 0) {
        lx_status status = self->wait(self->user, error);
        if (status != LX_OK)
            return status;
    }
    return LX_OK;
}

static lx_status open_file(lx__input *self, lx_error *error)
{
    struct stat about;
    lx_status status = LX_OK;
    bool standard = strcmp(self->path, "-") == 0;
    if (standard)
        self->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    else
        status = open_path(self, error);
    if (status != LX_OK)
        return status;
    if (self->fd == -1 && errno == ENOENT) {
        status = lx_fail(error, LX_ERR_NOT_FOUND, "the input does not exist");
        lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    if (self->fd == -1 || fstat(self->fd, &about) == -1)
        return lx_fail_errno(error, errno, self->path, "cannot open the input");
    if (S_ISDIR(about.st_mode))
        return lx_fail_errno(error, EISDIR, self->path, "cannot read the input");
    self->regular = S_ISREG(about.st_mode);
    self->once = standard || !self->regular;
    self->file_size = self->regular ? (uint64_t)about.st_size : LX_NONE;
    (void)posix_fadvise(self->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only affects speed */
    return LX_OK;
}

/** Whether the first bytes are @p magic, as far as the input has so many. */
static bool begins_with(const lx__input *self, const uint8_t *magic, size_t size)
{
    return memcmp(self->data, magic, self->size < size ? self->size : size) == 0;
}

/** Finds out whether the input is compressed. */
static lx_status begin_unpacking(lx__input *self, lx_error *error)
{
    static const uint8_t gzip[] = {0x1f, 0x8b, 8}; /* 8: Deflate */
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    /* A pipe may deliver no more than two bytes for a long time; usually, they are enough. */
    lx_status status = lx__input_fill(self, 2, error);
    if (status != LX_OK || self->size < 2)
        return status;
    if (memcmp(self->data, gzip, 2) == 0 || memcmp(self->data, zstd, 2) == 0)
        status = lx__input_fill(self, MAGIC, error);
    if (status != LX_OK)
        return status;
    if (begins_with(self, gzip, sizeof gzip) && (self->size < MAGIC || self->data[3] < 0x20))
        status = begin_gzip(self, error);
    else if (begins_with(self, zstd, sizeof zstd))
        status = begin_zstd(self, error);
    else
        return LX_OK;
    self->ended = false;
    return status;
}

lx_status lx__input_open_stored(lx__input *self, const char *path, lx__input_wait wait, void *user,
                                lx_error *error)
{
    *self = (lx__input){.path = path, .fd = -1, .step = STEP, .wait = wait, .user = user};
    return open_file(self, error);
}

lx_status lx__input_open(lx__input *self, const char *path, uint64_t keep, lx__input_wait wait,
                         void *user, lx_error *error)
{
    lx_status status = lx__input_open_stored(self, path, wait, user, error);
    self->most_kept = keep;
    self->kept = keep != 0 && self->once;
    if (status == LX_OK)
        status = begin_unpacking(self, error);
    return status;
}

void lx__input_close(lx__input *self)
{
    if (self->gzip != NULL)
        inflateEnd(&self->gzip->stream);
    if (self->fd != -1)
        close(self->fd);
    end_zstd(self);
    lx__free(self->gzip);
    lx__free(self->buffer);
    *self = (lx__input){.fd = -1};
}

void lx__input_rewind(lx__input *self)
{
    self->size += (size_t)(self->data - self->buffer);
    self->data = self->buffer;
    self->offset = 0;
    self->kept = false;
}

lx_status lx__input_seek(lx__input *self, uint64_t offset, lx_error *error)
{
    if (offset >= self->offset && offset - self->offset <= self->size) {
        lx__input_take(self, (size_t)(offset - self->offset));
        self->ended = self->ended && !self->regular; /* the file may have grown */
        return LX_OK;
    }
    if (self->once || self->gzip != NULL || self->zstd != NULL)
        return lx_fail(error, LX_ERR_STATE,
                       "cannot move to another place of an input that is compressed or a pipe");
    if (offset > INT64_MAX || lseek(self->fd, (off_t)offset, SEEK_SET) == -1)
        return lx_fail_errno(error, offset > INT64_MAX ? EOVERFLOW : errno, self->path,
                             "cannot move to an offset");
    self->data = self->buffer;
    self->size = 0;
    self->offset = offset;
    self->ended = self->failed = false;
    return LX_OK;
}

void lx__input_expect(lx__input *self, uint64_t size)
{
    self->step = size < STEP_MIN ? STEP_MIN : size < STEP ? (size_t)size : STEP;
}
