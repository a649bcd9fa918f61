/* SPDX-License-Identifier: MIT */
#include "packer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <loaderx/recordio.h>

#include "failure.h"
#include "interrupt.h"
#include "pack-header.h"

/* Images of a block for each thread: enough to hide what a block costs, and few enough that two
 * blocks of large images fit into memory. */
#define BLOCK_IMAGES 16
/* While one block is written, the threads fill the other. */
#define BLOCKS 2

/** An image that was read, as a record, or its failure. */
typedef struct slot {
    uint8_t *record;
    size_t size, capacity;
    lx_error error;
} slot;

/** Consecutive images. Each part of its task takes images until none is left. */
typedef struct block {
    packer *packer;
    size_t first, count;
    atomic_size_t next;
    slot *slots;
    image_recoder **recoders; /* one for each part */
    lx_ticket *ticket;
} block;

/** The blocks of a run. */
typedef struct pipeline {
    size_t parts, images; /* of a block */
    block blocks[BLOCKS];
} pipeline;

/* ---- an image, on any thread */

static lx_status reserve(slot *self, size_t size, lx_error *error)
{
    if (size <= self->capacity)
        return LX_OK;
    uint8_t *grown = realloc(self->record, size);
    if (grown == NULL)
        return fail_memory(error, "an image");
    self->record = grown;
    self->capacity = size;
    return LX_OK;
}

static lx_status read_all(int file, uint8_t *to, size_t size, const char *path, lx_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(file, to + done, size - done);
        if (got == -1 && errno == EINTR)
            continue;
        if (got == -1)
            return lx_fail_errno(error, errno, path, "cannot read the image");
        if (got == 0)
            return lx_fail(error, LX_ERR_CORRUPT, "the file became shorter while it was read");
        done += (size_t)got;
    }
    return LX_OK;
}

/** Reads a file behind the header of the record. */
static lx_status read_file(slot *self, const char *path, size_t header, lx_error *error)
{
    struct stat about;
    /* Without O_NONBLOCK, opening a pipe would wait. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file == -1 || fstat(file, &about) == -1) {
        lx_status status = lx_fail_errno(error, errno, path, "cannot open the image");
        if (file != -1)
            close(file);
        return status;
    }
    lx_status status = LX_OK;
    if (!S_ISREG(about.st_mode))
        status = lx_fail(error, LX_ERR_CORRUPT, "this is not a regular file");
    else if ((uint64_t)about.st_size >= LX_MAX_RECORDIO_LENGTH - header)
        status = lx_fail(error, LX_ERR_LIMIT,
                         "the file has %jd bytes, and a record must have fewer than 2^29",
                         (intmax_t)about.st_size);
    self->size = header + (size_t)about.st_size;
    if (status == LX_OK)
        status = reserve(self, self->size, error);
    if (status == LX_OK)
        status = read_all(file, self->record + header, self->size - header, path, error);
    close(file);
    return status;
}

/** Replaces the file that was read by what is packed. */
static lx_status recode(slot *self, size_t header, image_recoder *recoder, lx_error *error)
{
    const void *bytes;
    size_t size;
    lx_status status = image_recoder_run(recoder, self->record + header, self->size - header,
                                         &bytes, &size, error);
    if (status != LX_OK || bytes == self->record + header)
        return status;
    if (size >= LX_MAX_RECORDIO_LENGTH - header)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the encoded image has %zu bytes, and a record must have fewer than 2^29",
                       size);
    self->size = header + size;
    status = reserve(self, self->size, error);
    if (status == LX_OK)
        memcpy(self->record + header, bytes, size);
    return status;
}

static lx_status make_record(const packer *self, image_recoder *recoder, const image_entry *entry,
                             slot *to, lx_error *error)
{
    size_t header = pack_header_size(entry->labels);
    const char *name = image_list_path(self->list, entry);
    char *path = malloc(strlen(self->root) + strlen(name) + 2);
    if (path == NULL)
        return fail_memory(error, "a path");
    if (name[0] == '/' || strcmp(self->root, ".") == 0)
        strcpy(path, name);
    else
        sprintf(path, "%s/%s", self->root, name);
    lx_status status = read_file(to, path, header, error);
    if (status == LX_OK)
        status = recode(to, header, recoder, error);
    if (status == LX_OK)
        pack_header_write(to->record, entry->id, self->list->labels + entry->label, entry->labels);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    free(path);
    return status;
}

/** A part of the task of a block. A bad image is no failure of the part. */
static lx_status make_records(size_t part, void *user, lx_error *error)
{
    block *self = user;
    lx_status status = LX_OK;
    for (;;) {
        size_t i = atomic_fetch_add(&self->next, 1);
        status = interrupt_check(error);
        if (status != LX_OK || i >= self->count)
            return status;
        lx_error_clear(&self->slots[i].error);
        (void)make_record(self->packer, self->recoders[part],
                          &self->packer->list->entries[self->first + i], &self->slots[i],
                          &self->slots[i].error);
    }
}

/* ---- in order, on the calling thread */

/** Whether a failure is that of one image, and not that of the machine. */
static bool is_of_image(const lx_error *error)
{
    return error->status != LX_ERR_NOMEM && error->errnum != EMFILE && error->errnum != ENFILE &&
           error->errnum != EIO && error->errnum != ESTALE;
}

/** Fails as an image did. If its file cannot be read, the input is at fault, as with damage, and
 * not the command line. */
static lx_status fail_as(const lx_error *failure, lx_error *error)
{
    *error = *failure;
    if (error->status == LX_ERR_IO)
        error->status = LX_ERR_CORRUPT;
    return error->status;
}

static void print_skipped(packer *self, const lx_error *failure)
{
    char line[2048];
    progress_clear(self->bar);
    lx_error_describe(failure, line, sizeof line);
    fprintf(stderr, "loaderx pack: skipped: %s\n", line);
    self->skipped++;
}

static lx_status take_block(packer *self, const block *from, packer_take *take, void *user,
                            lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < from->count; i++) {
        const slot *at = &from->slots[i];
        if (at->error.status != LX_OK && self->skip && is_of_image(&at->error)) {
            print_skipped(self, &at->error);
            continue;
        }
        status = at->error.status != LX_OK ? fail_as(&at->error, error)
                                           : take(user, self->list->entries[from->first + i].id,
                                                  at->record, at->size, error);
        if (status != LX_OK)
            break;
        self->packed++;
        self->bytes += at->size;
        progress_update(self->bar, from->first + i + 1, self->total, self->bytes);
    }
    return status;
}

/** Starts to fill a block with the next images, if there are any. */
static lx_status start(const pipeline *p, block *self, size_t *first, size_t end, lx_error *error)
{
    size_t left = end - *first;
    self->first = *first;
    self->count = left < p->images ? left : p->images;
    *first += self->count;
    atomic_store(&self->next, 0);
    if (self->count == 0)
        return LX_OK;
    return lx_executor_submit(self->packer->executor, LX_QUEUE_READ, make_records, self, p->parts,
                              &self->ticket, error);
}

static lx_status finish(block *self, bool cancel, lx_error *error)
{
    if (self->ticket == NULL)
        return LX_OK;
    if (cancel)
        lx_ticket_cancel(self->ticket);
    lx_status status = lx_ticket_wait(self->ticket, error);
    lx_ticket_unref(self->ticket);
    self->ticket = NULL;
    return status;
}

static lx_status pump(pipeline *p, size_t first, size_t count, packer_take *take, void *user,
                      lx_error *error)
{
    size_t end = first + count;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < BLOCKS; i++)
        status = start(p, &p->blocks[i], &first, end, error);
    for (size_t i = 0; status == LX_OK && p->blocks[i].count != 0; i = (i + 1) % BLOCKS) {
        block *current = &p->blocks[i];
        status = finish(current, false, error);
        if (status == LX_OK)
            status = take_block(current->packer, current, take, user, error);
        if (status == LX_OK)
            status = start(p, current, &first, end, error);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        (void)finish(&p->blocks[i], true, NULL);
    return status;
}

/* ---- the memory of a run */

static lx_status set_up(pipeline *p, packer *self, size_t count, lx_error *error)
{
    lx_status status = LX_OK;
    p->parts = lx_executor_get_reader_count(self->executor);
    p->parts += p->parts == 0; /* the waiting thread */
    p->images = p->parts * BLOCK_IMAGES < count ? p->parts * BLOCK_IMAGES : count;
    for (size_t i = 0; status == LX_OK && i < BLOCKS; i++) {
        block *made = &p->blocks[i];
        made->packer = self;
        made->slots = calloc(p->images, sizeof *made->slots);
        made->recoders = calloc(p->parts, sizeof *made->recoders);
        if (made->slots == NULL || made->recoders == NULL)
            return fail_memory(error, "the images");
        for (size_t part = 0; status == LX_OK && part < p->parts; part++)
            status = image_recoder_new(self->recoding, &made->recoders[part], error);
    }
    return status;
}

static void release(pipeline *p)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        block *made = &p->blocks[i];
        for (size_t part = 0; made->recoders != NULL && part < p->parts; part++)
            image_recoder_free(made->recoders[part]);
        for (size_t at = 0; made->slots != NULL && at < p->images; at++)
            free(made->slots[at].record);
        free(made->recoders);
        free(made->slots);
    }
}

lx_status packer_run(packer *self, size_t first, size_t count, packer_take *take, void *user,
                     lx_error *error)
{
    pipeline p = {0};
    if (count == 0)
        return LX_OK;
    lx_status status = set_up(&p, self, count, error);
    if (status == LX_OK)
        status = pump(&p, first, count, take, user, error);
    release(&p);
    return status;
}
