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

/* Images of a block for each thread: enough to hide what a block costs. */
#define BLOCK_IMAGES 16
/* Of a block, in records. When a block has more, its other images wait until it is written. */
#define BLOCK_BYTES ((uint64_t)1 << 28)
/* While one block is written, the threads fill the other. */
#define BLOCKS 2

/** An image that was read, as a record, or its failure. */
typedef struct slot {
    uint8_t *record;
    size_t size;
    lx_error error;
} slot;

/** Consecutive images. Each part of its task takes images until none is left, or the block is
 * full. */
typedef struct block {
    packer *packer;
    pixel_budget *budget;
    size_t first, count;
    atomic_size_t next;          /* also counts the parts that found no image */
    atomic_uint_least64_t bytes; /* of the records */
    slot *slots;
    lx_ticket *ticket;
} block;

/** The blocks of a run. */
typedef struct pipeline {
    size_t parts, images; /* of a block */
    pixel_budget budget;
    block blocks[BLOCKS];
} pipeline;

/* ---- an image, on any thread */

static lx_status resize(slot *self, size_t size, lx_error *error)
{
    uint8_t *resized = realloc(self->record, size);
    if (resized == NULL)
        return fail_memory(error, "an image");
    self->record = resized;
    self->size = size;
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
    if (status == LX_OK)
        status = resize(self, header + (size_t)about.st_size, error);
    if (status == LX_OK)
        status = read_all(file, self->record + header, self->size - header, path, error);
    close(file);
    return status;
}

/** Replaces the file that was read by what the recoder makes of it. */
static lx_status replace(slot *self, size_t header, image_recoder *recoder, lx_error *error)
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
    status = resize(self, header + size, error);
    if (status == LX_OK)
        memcpy(self->record + header, bytes, size);
    return status;
}

static lx_status recode(slot *self, size_t header, const image_recoding *how, pixel_budget *budget,
                        lx_error *error)
{
    image_recoder *recoder;
    lx_status status = image_recoder_new(how, budget, &recoder, error);
    if (status == LX_OK)
        status = replace(self, header, recoder, error);
    image_recoder_free(recoder);
    return status;
}

static lx_status make_record(const packer *self, pixel_budget *budget, const image_entry *entry,
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
        status = recode(to, header, self->recoding, budget, error);
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
    (void)part;
    lx_status status = LX_OK;
    while (status == LX_OK && atomic_load(&self->bytes) < BLOCK_BYTES) {
        size_t i = atomic_fetch_add(&self->next, 1);
        if (i >= self->count)
            break;
        slot *to = &self->slots[i];
        lx_error_clear(&to->error);
        (void)make_record(self->packer, self->budget, &self->packer->list->entries[self->first + i],
                          to, &to->error);
        atomic_fetch_add(&self->bytes, to->size);
        status = interrupt_check(error);
    }
    return status;
}

/* ---- in order, on the calling thread */

/** Whether a failure is that of one image, and not that of the machine. */
static bool is_of_image(const lx_error *error)
{
    return error->status != LX_ERR_NOMEM && error->errnum != EMFILE && error->errnum != ENFILE &&
           error->errnum != EIO && error->errnum != ESTALE;
}

/** Fails as an image did, unless there was a signal before. If its file cannot be read, the input
 * is at fault, as with damage, and not the command line. */
static lx_status fail_as(const lx_error *failure, lx_error *error)
{
    if (error->status != LX_OK)
        return error->status;
    *error = *failure;
    if (error->status == LX_ERR_IO)
        error->status = LX_ERR_CORRUPT;
    if (is_of_image(failure))
        advise(error, error->status, "--on-bad skip leaves it out");
    return error->status;
}

static void print_skipped(packer *self, size_t entry, const lx_error *failure)
{
    char line[2048];
    progress_clear(self->bar);
    lx_error_describe(failure, line, sizeof line);
    fprintf(stderr, "loaderx pack: skipped: %s\n", line);
    self->skipped++;
    extensions_add(&self->skipped_extensions,
                   image_list_path(self->list, &self->list->entries[entry]));
}

static lx_status take_slot(packer *self, const slot *from, size_t entry, packer_take *take,
                           void *user, lx_error *error)
{
    if (from->error.status != LX_OK && self->skip && is_of_image(&from->error)) {
        print_skipped(self, entry, &from->error);
        return LX_OK;
    }
    if (from->error.status != LX_OK)
        return fail_as(&from->error, error);
    lx_status status = take(user, self->list->entries[entry].id, from->record, from->size, error);
    if (status != LX_OK)
        return status;
    self->packed++;
    self->bytes += from->size;
    progress_update(self->bar, entry + 1, self->total, self->bytes);
    return LX_OK;
}

static void empty_slot(slot *self)
{
    free(self->record);
    self->record = NULL;
    self->size = 0;
}

/** Takes the images that are in a block, and leaves those for which it had no room. */
static lx_status take_block(block *self, packer_take *take, void *user, lx_error *error)
{
    size_t made = atomic_load(&self->next);
    lx_status status = LX_OK;
    if (made > self->count)
        made = self->count;
    for (size_t i = 0; status == LX_OK && i < made; i++) {
        status = take_slot(self->packer, &self->slots[i], self->first + i, take, user, error);
        empty_slot(&self->slots[i]);
    }
    self->first += made;
    self->count -= made;
    return status;
}

/** Starts to fill a block with its images, if there are any. */
static lx_status start(block *self, size_t parts, lx_error *error)
{
    atomic_store(&self->next, 0);
    atomic_store(&self->bytes, 0);
    return self->count != 0 ? lx_executor_submit(self->packer->executor, LX_QUEUE_READ,
                                                 make_records, self, parts, &self->ticket, error)
                            : LX_OK;
}

/** Gives a block the next images. */
static void assign(const pipeline *p, block *self, size_t *first, size_t end)
{
    size_t left = end - *first;
    self->first = *first;
    self->count = left < p->images ? left : p->images;
    *first += self->count;
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

/** Takes all images of a block, which is filled again as long as some had no room. What was made
 * before a signal is taken, too. */
static lx_status drain(const pipeline *p, block *self, packer_take *take, void *user,
                       lx_error *error)
{
    for (;;) {
        lx_status status = finish(self, false, error);
        if (status == LX_OK || status == LX_ERR_CANCELED) {
            lx_status taken = take_block(self, take, user, error);
            status = status == LX_OK ? taken : status;
        }
        if (status == LX_OK && self->count != 0)
            status = start(self, p->parts, error);
        if (status != LX_OK || self->count == 0)
            return status;
    }
}

static lx_status pump(pipeline *p, size_t first, size_t count, packer_take *take, void *user,
                      lx_error *error)
{
    size_t end = first + count;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < BLOCKS; i++) {
        assign(p, &p->blocks[i], &first, end);
        status = start(&p->blocks[i], p->parts, error);
    }
    for (size_t i = 0; status == LX_OK && p->blocks[i].count != 0; i = (i + 1) % BLOCKS) {
        block *current = &p->blocks[i];
        status = drain(p, current, take, user, error);
        assign(p, current, &first, end);
        if (status == LX_OK)
            status = start(current, p->parts, error);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        (void)finish(&p->blocks[i], true, NULL);
    return status;
}

/* ---- the memory of a run */

static lx_status set_up(pipeline *p, packer *self, size_t count, lx_error *error)
{
    image_recoder *recoder;
    lx_status status = image_recoder_new(self->recoding, &p->budget, &recoder, error);
    image_recoder_free(recoder);
    if (status != LX_OK) /* no image could be changed */
        return status;
    p->parts = lx_executor_get_reader_count(self->executor);
    p->parts += p->parts == 0; /* the waiting thread */
    p->images = p->parts * BLOCK_IMAGES < count ? p->parts * BLOCK_IMAGES : count;
    for (size_t i = 0; i < BLOCKS; i++) {
        block *made = &p->blocks[i];
        made->packer = self;
        made->budget = &p->budget;
        made->slots = calloc(p->images, sizeof *made->slots);
        if (made->slots == NULL)
            return fail_memory(error, "the images");
    }
    return LX_OK;
}

static void release(pipeline *p)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        block *made = &p->blocks[i];
        for (size_t at = 0; made->slots != NULL && at < p->images; at++)
            empty_slot(&made->slots[at]);
        free(made->slots);
    }
}

lx_status packer_run(packer *self, size_t first, size_t count, packer_take *take, void *user,
                     lx_error *error)
{
    pipeline p = {.budget = PIXEL_BUDGET_INIT};
    if (count == 0)
        return LX_OK;
    lx_status status = set_up(&p, self, count, error);
    if (status == LX_OK)
        status = pump(&p, first, count, take, user, error);
    release(&p);
    return status;
}
