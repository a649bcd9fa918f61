/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A provider of the files of a dataset that is on another machine, as far as a test can
 * tell: it reads the local files, and counts, delays, fails and damages what is read.
 *
 * Time is virtual: a page that is requested arrives in the next round, however many are requested,
 * and a read of a page that has not arrived waits for its round. So the number of rounds is the
 * number of times that a caller waited for the network.
 */
#ifndef LX_TESTS_PROVIDER_H
#define LX_TESTS_PROVIDER_H

#include <pthread.h>

#include "base/error.h"
#include "base/file.h"
#include "files.h"
#include "zrecord/read/dataset-open.h"

#define ELSEWHERE_FILES 64
#define ELSEWHERE_PAGE 4096

/** What is known about one file, however often it is opened. */
struct elsewhere_file {
    char name[96];
    unsigned *due; /**< For each page, the round in which it arrives; 0: not requested. */
    size_t pages;
};

/** A place with files. Zero it. */
struct elsewhere {
    pthread_mutex_t mutex;
    struct elsewhere_file files[ELSEWHERE_FILES];
    size_t file_count;
    unsigned rounds;    /**< The present round. */
    bool without_delay; /**< All pages are there. */
    unsigned opened, closed, sizes, reads, renewals;
    uint64_t wanted; /**< Bytes of all calls of will_need(). */
    lx_status fails; /**< If not LX_OK, each read of a file whose name contains @ref victim fails
                              with it. */
    unsigned failures;
    const char *victim;
    uint64_t flipped; /**< The byte of the victim whose lowest bit is flipped; LX_NONE: none. */
    bool heals;       /**< Renewing the byte repairs it. */
};

struct elsewhere_provider {
    lx__provider base;
    struct elsewhere *place;
    struct elsewhere_file *about; /**< NULL for a directory. */
    lx__file local;
};

static inline struct elsewhere_provider *elsewhere_of(lx__provider *self)
{
    return (struct elsewhere_provider *)self;
}

/** Finds a file by its path, or adds it. */
static inline struct elsewhere_file *elsewhere_find(struct elsewhere *place, const lx__file *local)
{
    struct elsewhere_file *file = place->files;
    uint64_t size;
    for (size_t i = 0; i < place->file_count; i++, file++)
        if (strcmp(file->name, local->path) == 0)
            return file;
    ck_assert_uint_lt(place->file_count, ELSEWHERE_FILES);
    ck_assert_int_eq(lx__file_size(local, &size, NULL), LX_OK);
    place->file_count++;
    snprintf(file->name, sizeof file->name, "%s", local->path);
    file->pages = (size_t)(size / ELSEWHERE_PAGE + 1);
    file->due = calloc(file->pages, sizeof *file->due);
    ck_assert_ptr_nonnull(file->due);
    return file;
}

/** Returns the round in which bytes have arrived, and requests those that were not. */
static inline unsigned elsewhere_request(struct elsewhere_provider *self, uint64_t offset,
                                         uint64_t size)
{
    struct elsewhere *place = self->place;
    unsigned last = 0;
    for (uint64_t page = offset / ELSEWHERE_PAGE;
         page < self->about->pages && page * ELSEWHERE_PAGE < offset + size; page++) {
        unsigned *due = &self->about->due[page];
        if (*due == 0)
            *due = place->without_delay ? place->rounds : place->rounds + 1;
        last = *due > last ? *due : last;
    }
    return last;
}

static inline lx__provider *elsewhere_new(struct elsewhere *place, const lx__file *local,
                                          bool directory);

static inline lx_status elsewhere_open(lx__provider *directory, const char *name,
                                       lx__provider **file, lx_error *error)
{
    struct elsewhere_provider *in = elsewhere_of(directory);
    lx__file local;
    bool folder = strcmp(name, "chunk") == 0;
    lx_status status = folder ? lx__directory_open(&local, &in->local, name, error)
                              : lx__file_open(&local, &in->local, name, O_RDONLY, error);
    if (status == LX_OK)
        *file = elsewhere_new(in->place, &local, folder);
    return status;
}

static inline void elsewhere_close(lx__provider *self)
{
    struct elsewhere_provider *p = elsewhere_of(self);
    pthread_mutex_lock(&p->place->mutex);
    p->place->closed++;
    pthread_mutex_unlock(&p->place->mutex);
    lx__file_close(&p->local);
    free(p);
}

static inline lx_status elsewhere_get_size(lx__provider *self, uint64_t *size, lx_error *error)
{
    struct elsewhere_provider *p = elsewhere_of(self);
    pthread_mutex_lock(&p->place->mutex);
    p->place->sizes++;
    pthread_mutex_unlock(&p->place->mutex);
    return lx__file_size(&p->local, size, error);
}

static inline lx_status elsewhere_expect_size(lx__provider *self, uint64_t size, bool exact,
                                              lx_error *error)
{
    return lx__file_expect_size(&elsewhere_of(self)->local, size, exact, error);
}

static inline bool elsewhere_is_victim(const struct elsewhere_provider *self)
{
    return self->place->victim != NULL && strstr(self->local.path, self->place->victim) != NULL;
}

static inline lx_status elsewhere_read(lx__provider *self, void *data, size_t size, uint64_t offset,
                                       size_t *got, lx_error *error)
{
    struct elsewhere_provider *p = elsewhere_of(self);
    struct elsewhere *place = p->place;
    pthread_mutex_lock(&place->mutex);
    unsigned due = elsewhere_request(p, offset, size);
    place->reads++;
    place->rounds = due > place->rounds ? due : place->rounds;
    bool fails = place->fails != LX_OK && elsewhere_is_victim(p);
    place->failures += fails;
    bool flips = elsewhere_is_victim(p) && place->flipped >= offset &&
                 place->flipped - offset < size;
    uint64_t at = place->flipped - offset;
    pthread_mutex_unlock(&place->mutex);
    if (fails) {
        (void)lx_fail(error, place->fails, "no answer from test://%s", p->local.path);
        lx_error_locate(error, p->local.path, NULL, LX_NONE, offset);
        return place->fails;
    }
    lx_status status = lx__file_read_once(&p->local, data, size, offset, got, error);
    if (status == LX_OK && flips && at < *got)
        ((uint8_t *)data)[at] ^= 1;
    return status;
}

static inline void elsewhere_will_need(lx__provider *self, uint64_t offset, uint64_t size)
{
    struct elsewhere_provider *p = elsewhere_of(self);
    pthread_mutex_lock(&p->place->mutex);
    p->place->wanted += size;
    (void)elsewhere_request(p, offset, size);
    pthread_mutex_unlock(&p->place->mutex);
}

static inline bool elsewhere_is_absent(lx__provider *self, uint64_t offset)
{
    struct elsewhere_provider *p = elsewhere_of(self);
    pthread_mutex_lock(&p->place->mutex);
    unsigned due = p->about->due[offset / ELSEWHERE_PAGE];
    bool absent = due == 0 || due > p->place->rounds;
    pthread_mutex_unlock(&p->place->mutex);
    return absent;
}

static inline bool elsewhere_renew(lx__provider *self, uint64_t offset, uint64_t size)
{
    struct elsewhere_provider *p = elsewhere_of(self);
    struct elsewhere *place = p->place;
    pthread_mutex_lock(&place->mutex);
    place->renewals++;
    bool heals = place->heals && elsewhere_is_victim(p);
    if (heals && place->flipped >= offset && place->flipped - offset < size)
        place->flipped = LX_NONE;
    pthread_mutex_unlock(&place->mutex);
    return heals; /* another thread may have healed the bytes since the caller read them */
}

static const char *test_get_network(lx__provider *self)
{
    (void)self;
    return "test";
}

static inline lx__provider *elsewhere_new(struct elsewhere *place, const lx__file *local,
                                          bool directory)
{
    static const lx__provider_class class = {.get_network = test_get_network,
                                             .open = elsewhere_open,
                                             .close = elsewhere_close,
                                             .get_size = elsewhere_get_size,
                                             .expect_size = elsewhere_expect_size,
                                             .read = elsewhere_read,
                                             .will_need = elsewhere_will_need,
                                             .is_absent = elsewhere_is_absent,
                                             .renew = elsewhere_renew};
    struct elsewhere_provider *made = calloc(1, sizeof *made);
    ck_assert_ptr_nonnull(made);
    pthread_mutex_lock(&place->mutex);
    place->opened++;
    *made = (struct elsewhere_provider){{&class}, place, NULL, *local};
    if (!directory)
        made->about = elsewhere_find(place, local);
    pthread_mutex_unlock(&place->mutex);
    return &made->base;
}

static inline void elsewhere_begin(struct elsewhere *place)
{
    memset(place, 0, sizeof *place);
    pthread_mutex_init(&place->mutex, NULL);
    place->rounds = 1;
    place->flipped = LX_NONE;
}

/** The directory at @p path, as it is seen from this machine. */
static inline lx__file elsewhere_directory(struct elsewhere *place, const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx__file local, directory = LX__FILE_CLOSED;
    unit_ok(lx__directory_open(&local, LX__CWD, path, &error));
    directory.provider = elsewhere_new(place, &local, true);
    directory.path = lx__path_join("test:", path);
    ck_assert_ptr_nonnull(directory.path);
    return directory;
}

/** Opens the dataset at @p path. */
static inline lx_status elsewhere_dataset(struct elsewhere *place, const char *path,
                                          const lx_dataset_options *options, lx_dataset **dataset,
                                          lx_error *error)
{
    lx__file directory = elsewhere_directory(place, path);
    lx_status status = lx__dataset_open_in(&directory, options, dataset, error);
    ck_assert(!lx__file_is_open(&directory));
    return status;
}

/** Every provider must be closed by now. */
static inline void elsewhere_end(struct elsewhere *place)
{
    ck_assert_uint_eq(place->opened, place->closed);
    for (size_t i = 0; i < place->file_count; i++)
        free(place->files[i].due);
    pthread_mutex_destroy(&place->mutex);
}

/** All pages become absent again. */
static inline void elsewhere_forget(struct elsewhere *place)
{
    for (size_t i = 0; i < place->file_count; i++)
        memset(place->files[i].due, 0, place->files[i].pages * sizeof *place->files[i].due);
}

#endif
