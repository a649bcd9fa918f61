/* SPDX-License-Identifier: MIT */
#include "remote/push/upload.h"

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "base/pages.h"

/* How many requests to keep ready for each connection, so that none waits for the caller. */
#define PIECES_AHEAD 2

/** A file that is being sent. */
typedef struct sending {
    struct sending *next;
    const lx__listed_file *file;
    lx__file source;
    size_t part_size;
    uint32_t part_count, left; /**< The number of parts, and of those that were not sent yet. */
    lx__uploaded_part *parts;  /**< NULL: the file is sent as a whole. */
    char upload[LX__UPLOAD_SIZE];
} sending;

/** A request: a file, a part of it, or the first or the last request for a file in parts. */
typedef struct piece {
    lx__job job; /**< Must be first. */
    struct sender *sender;
    sending *whole; /**< NULL: this piece is idle. */
    uint32_t number;
    bool completes; /**< It makes the file of its parts. */
} piece;

typedef struct sender {
    const lx__upload *upload;
    lx__target *target;
    sending *files;
    piece *pieces;
    size_t piece_count;
    uint8_t **buffers; /**< Those that no attempt uses; guarded by the target's lock. */
    size_t idle, buffer_size;
} sender;

/* ---- on the threads of the queue */

/** Takes a buffer. There are as many as there were attempts at a time. */
static uint8_t *take_buffer(sender *self)
{
    pthread_mutex_lock(&self->target->lock);
    uint8_t *buffer = self->idle != 0 ? self->buffers[--self->idle] : NULL;
    pthread_mutex_unlock(&self->target->lock);
    return buffer != NULL ? buffer : lx__pages_alloc(self->buffer_size);
}

static void release_buffer(sender *self, uint8_t *buffer)
{
    pthread_mutex_lock(&self->target->lock);
    self->buffers[self->idle++] = buffer;
    pthread_mutex_unlock(&self->target->lock);
}

/** Compares the checksum of a table with that in meta.json. */
static lx_status check_table(const sending *whole, uint32_t crc, lx_error *error)
{
    if (!whole->file->is_table || crc == whole->file->crc)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_CORRUPT,
                               "table checksum mismatch: expected %08x, computed %08x",
                               whole->file->crc, crc);
    lx_error_locate(error, whole->source.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static size_t size_of(const sending *whole, uint32_t number)
{
    uint64_t left = whole->file->bytes - (uint64_t)number * whole->part_size;
    return left < whole->part_size ? (size_t)left : whole->part_size;
}

/** Explains that a file could not be written, as its upload is gone or as the file there is not the
 * one that the push has found. Only a push or a prune does that. */
static lx_status fail_late(const piece *self, bool abandoned, lx_error *why)
{
    char *path = lx__path_join(self->sender->target->transport->url, self->whole->file->path);
    lx_error_clear(why);
    lx_status status = lx_fail(why, LX_ERR_EXISTS,
                               "another process that pushes to the same URL, or prunes it, has %s: "
                               "wait until it has ended, and push again",
                               abandoned ? "abandoned this upload" : "written this file");
    lx_error_locate(why, path, NULL, LX_NONE, LX_NONE);
    lx__free(path);
    return status;
}

/** Reads a table that is at the URL into @p buffer, piece by piece, and computes its checksum. */
static lx_status read_back(const piece *self, lx__connection *connection, uint8_t *buffer,
                           uint32_t *crc, lx__answer *answer, lx_error *error)
{
    const lx__listed_file *file = self->whole->file;
    const size_t most = self->sender->buffer_size;
    lx_status status = LX_OK;
    *crc = 0;
    for (uint64_t at = 0; status == LX_OK && at < file->bytes; at += answer->got) {
        size_t size = file->bytes - at < most ? (size_t)(file->bytes - at) : most;
        status = connection->transport->class->read(connection, file->path, at, size, buffer,
                                                    answer, error);
        if (status == LX_OK && answer->got == 0)
            return lx_fail(error, LX_ERR_STATE, "the file was replaced while it was read");
        *crc = lx__crc32c(*crc, buffer, status == LX_OK ? answer->got : 0);
    }
    return status;
}

/** Decides about a file that could not be written, which is right if it is there: an attempt whose
 * answer was lost has written it, or another push of the same generation. The length tells that of
 * all files but tables. Replaces @p why. */
static lx_status settle(const piece *self, lx__connection *connection, uint8_t *buffer,
                        bool abandoned, lx__answer *answer, lx_error *why)
{
    const lx__listed_file *file = self->whole->file;
    lx__remote_info info = {.bytes = LX_NONE};
    uint32_t crc = file->crc;
    lx_error_clear(why);
    lx_status status = self->sender->target->writing->stat(connection, file->path, &info, answer,
                                                           why);
    if (status == LX_OK && info.bytes == file->bytes && file->is_table)
        status = read_back(self, connection, buffer, &crc, answer, why);
    if (status == LX_OK && info.bytes == file->bytes && crc == file->crc)
        return LX_OK;
    return status == LX_OK || status == LX_ERR_NOT_FOUND || status == LX_ERR_STATE
               ? fail_late(self, abandoned, why)
               : status;
}

/** Returns what must still be true of a file: an older push that hung must not write over what a
 * later one has sent. */
static lx__precondition get_precondition(const lx__listed_file *file)
{
    return lx__precondition_for(file->there != LX_NONE, file->etag);
}

/** Sends @p data: a file or a part of it. After a failure, @p data may be something else. */
static lx_status put(const piece *self, lx__connection *connection, uint8_t *data, size_t size,
                     lx__answer *answer, lx_error *error)
{
    const lx__transport_writing *writing = self->sender->target->writing;
    const sending *whole = self->whole;
    const lx__listed_file *file = whole->file;
    lx_error why = LX_ERROR_INIT;
    lx_status status;
    if (whole->parts != NULL) {
        status = writing->put_part(connection, file->path, whole->upload, self->number,
                                   (uint64_t)self->number * whole->part_size, data, size,
                                   &whole->parts[self->number], answer, &why);
        if (status == LX_ERR_NOT_FOUND)
            status = fail_late(self, true, &why);
    } else {
        status = check_table(whole, lx__crc32c(0, data, size), &why);
        if (status == LX_OK)
            status = writing->put(connection, file->path, data, size, get_precondition(file),
                                  file->etag, answer, &why);
        if (status == LX_ERR_STATE)
            status = settle(self, connection, data, false, answer, &why);
    }
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

static lx_status send_piece(lx__request *request, lx__connection *connection, lx__answer *answer,
                            lx_error *error)
{
    const piece *self = (const piece *)request;
    const sending *whole = self->whole;
    size_t size = size_of(whole, self->number);
    uint8_t *buffer = take_buffer(self->sender);
    lx_status status = LX_OK;
    if (buffer == NULL)
        return lx__fail_memory(error, "a part of a file");
    if (size != 0)
        status = lx__file_read(&whole->source, buffer, size,
                               (uint64_t)self->number * whole->part_size, error);
    if (status == LX_OK)
        status = put(self, connection, buffer, size, answer, error);
    release_buffer(self->sender, buffer);
    return status;
}

static lx_status begin_parts(lx__request *request, lx__connection *connection, lx__answer *answer,
                             lx_error *error)
{
    const piece *self = (const piece *)request;
    sending *whole = self->whole;
    return self->sender->target->writing->begin(connection, whole->file->path, whole->file->bytes,
                                                whole->upload, answer, error);
}

static lx_status complete_parts(lx__request *request, lx__connection *connection,
                                lx__answer *answer, lx_error *error)
{
    const piece *self = (const piece *)request;
    const sending *whole = self->whole;
    lx_error why = LX_ERROR_INIT;
    uint32_t crc = 0;
    for (uint32_t i = 0; i < whole->part_count; i++)
        crc = lx__crc32c_shift(crc, (uint32_t)size_of(whole, i)) ^ whole->parts[i].crc;
    lx_status status = check_table(whole, crc, &why);
    if (status == LX_OK)
        status = self->sender->target->writing->complete(
            connection, whole->file->path, whole->upload, whole->parts, whole->part_count,
            get_precondition(whole->file), whole->file->etag, answer, &why);
    if (status == LX_ERR_NOT_FOUND || status == LX_ERR_STATE) {
        uint8_t *buffer = take_buffer(self->sender);
        status = buffer != NULL
                     ? settle(self, connection, buffer, status == LX_ERR_NOT_FOUND, answer, &why)
                     : lx__fail_memory(&why, "a part of a file");
        if (buffer != NULL)
            release_buffer(self->sender, buffer);
    }
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

/* ---- on the caller's thread */

/** Ends a file, none of whose pieces is under way. */
static void end_file(sender *self, sending *whole)
{
    sending **at = &self->files;
    while (*at != whole)
        at = &(*at)->next;
    *at = whole->next;
    lx__file_close(&whole->source);
    lx__free(whole->parts);
    lx__free(whole);
}

/** Takes note of a piece that is done. After the last part of a file, the piece completes it. */
static lx_status reap(sender *self, piece *done, lx_error *error)
{
    sending *whole = done->whole;
    if (done->job.status != LX_OK) {
        lx__error_propagate(error, &done->job.why);
        return done->job.status;
    }
    if (!done->completes) {
        self->upload->sent(self->upload->user, size_of(whole, done->number));
        whole->left--;
    }
    if (whole->left == 0 && whole->parts != NULL && !done->completes) {
        done->completes = true;
        return lx__target_start(self->target, &done->job, complete_parts, 0, error);
    }
    if (whole->left == 0)
        end_file(self, whole);
    done->whole = NULL;
    return LX_OK;
}

/** Waits for an idle piece or, if @p all is true, until all are idle. */
static lx_status wait_for_piece(sender *self, bool all, piece **found, lx_error *error)
{
    for (;;) {
        size_t idle = 0;
        for (size_t i = 0; i < self->piece_count; i++) {
            piece *at = &self->pieces[i];
            if (at->whole != NULL && lx__target_is_done(self->target, &at->job)) {
                lx_status status = reap(self, at, error);
                if (status != LX_OK)
                    return status;
            }
            if (at->whole == NULL) {
                *found = at;
                idle++;
            }
        }
        if (idle == self->piece_count || (idle != 0 && !all))
            return lx__target_check(self->target, error); /* also if nothing ever waits */
        lx_status status = lx__target_wait(self->target, error);
        if (status != LX_OK)
            return status;
    }
}

static lx_status start_piece(sender *self, sending *whole, uint32_t number, lx_error *error)
{
    piece *idle;
    lx_status status = wait_for_piece(self, false, &idle, error);
    if (status != LX_OK)
        return status;
    idle->sender = self;
    idle->whole = whole;
    idle->number = number;
    idle->completes = false;
    status = lx__target_start(self->target, &idle->job, send_piece, size_of(whole, number), error);
    if (status != LX_OK)
        idle->whole = NULL;
    return status;
}

static size_t get_part_size(const lx__upload *upload, uint64_t bytes)
{
    return upload->target->writing->get_part_size(upload->target->transport, bytes);
}

/** Begins a file that is sent in parts. */
static lx_status begin_file(sender *self, sending *whole, lx_error *error)
{
    piece first = {.sender = self, .whole = whole};
    uint64_t count = (whole->file->bytes + whole->part_size - 1) / whole->part_size;
    whole->parts = lx__alloc_array((size_t)count, sizeof *whole->parts);
    if (whole->parts == NULL)
        return lx__fail_memory(error, "the parts of a file");
    whole->part_count = (uint32_t)count;
    return lx__target_run(self->target, &first.job, begin_parts, error);
}

static lx_status send_file(sender *self, const lx__listed_file *file, lx_error *error)
{
    sending *whole = lx__alloc_array(1, sizeof *whole);
    if (whole == NULL)
        return lx__fail_memory(error, "a file");
    *whole = (sending){.next = self->files,
                       .file = file,
                       .source = LX__FILE_CLOSED,
                       .part_size = get_part_size(self->upload, file->bytes),
                       .part_count = 1};
    self->files = whole;
    lx_status status = LX_OK;
    if (file->bytes != 0)
        status = lx__listed_file_open(file, self->upload->snapshot, &whole->source, error);
    if (status == LX_OK && file->bytes > whole->part_size)
        status = begin_file(self, whole, error);
    whole->left = whole->part_count;
    for (uint32_t i = 0; status == LX_OK && i < whole->part_count; i++)
        status = start_piece(self, whole, i, error);
    return status;
}

/** Returns the size of the largest piece. */
static size_t find_largest(const lx__upload *upload)
{
    size_t largest = 1;
    for (size_t i = 0; i < upload->files->count; i++) {
        const lx__listed_file *file = &upload->files->files[i];
        size_t part = get_part_size(upload, file->bytes);
        size_t size = file->bytes < part ? (size_t)file->bytes : part;
        if (file->wanted && size > largest)
            largest = size;
    }
    return largest;
}

static lx_status send_files(sender *self, lx_error *error)
{
    const lx__file_list *list = self->upload->files;
    piece *last;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < list->count; i++)
        if (list->files[i].wanted)
            status = send_file(self, &list->files[i], error);
    return status == LX_OK ? wait_for_piece(self, true, &last, error) : status;
}

lx_status lx__upload_files(const lx__upload *upload, lx_error *error)
{
    sender self = {.upload = upload,
                   .target = upload->target,
                   .piece_count = (size_t)upload->target->connections * PIECES_AHEAD,
                   .buffer_size = find_largest(upload)};
    self.pieces = lx__alloc_array(self.piece_count, sizeof *self.pieces);
    self.buffers = lx__alloc_array(self.target->connections, sizeof *self.buffers);
    lx_status status = self.pieces != NULL && self.buffers != NULL
                           ? send_files(&self, error)
                           : lx__fail_memory(error, "an upload");
    if (status != LX_OK)
        lx__target_cancel(self.target);
    while (self.files != NULL)
        end_file(&self, self.files);
    while (self.idle != 0)
        lx__pages_free(self.buffers[--self.idle], self.buffer_size);
    lx__free(self.buffers);
    lx__free(self.pieces);
    return status;
}
