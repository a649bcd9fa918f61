/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A transport for an object store in memory, which fails as a test wants.
 */
#ifndef LX_TESTS_FAKE_STORE_H
#define LX_TESTS_FAKE_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "../../zrecord/placed.h"
#include "base/crc32c.h"
#include "remote/push/target.h"

#define STORE_MAX 400

struct stored {
    char name[200];
    uint8_t *data;
    size_t size;
    uint64_t modified;
    unsigned version; /* its ETag */
    unsigned sent;    /* how often it was written */
};

struct store_upload {
    char name[200];
    uint8_t *data; /* NULL: completed or abandoned */
    size_t size;
    uint64_t begun;
};

struct store;

/** Called before a request has its effect, and after that. A failure is the answer to it. */
typedef lx_status (*store_hook)(struct store *store, const char *request, const char *name,
                                bool after, lx__answer *answer, lx_error *error);

struct store {
    store_hook hook; /* NULL: all succeed */
    void *user;
    size_t part_size;
    bool unconditional; /* preconditions are ignored */
    bool no_writing;
    unsigned connections; /* of each push */
    uint64_t now;         /* the time at which files are written */

    atomic_uint requests, under_way, most; /* the most at a time */
    pthread_mutex_t lock;                  /* for what follows */
    struct stored files[STORE_MAX];
    size_t count;
    struct store_upload uploads[STORE_MAX];
    size_t upload_count;
    unsigned versions;
};

struct store_transport {
    lx__transport base;
    struct store *store;
    atomic_bool interrupted;
};

static inline struct store *store_new(size_t part_size)
{
    struct store *store = calloc(1, sizeof *store);
    pthread_mutex_init(&store->lock, NULL);
    store->part_size = part_size;
    store->connections = 3;
    return store;
}

static inline void store_free(struct store *store)
{
    for (size_t i = 0; i < store->count; i++)
        free(store->files[i].data);
    for (size_t i = 0; i < store->upload_count; i++)
        free(store->uploads[i].data);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/** Finds a file; NULL if there is none. */
static inline struct stored *store_find(struct store *store, const char *name)
{
    for (size_t i = 0; i < store->count; i++)
        if (strcmp(store->files[i].name, name) == 0)
            return &store->files[i];
    return NULL;
}

static inline struct store *store_of(const lx__connection *connection)
{
    return ((struct store_transport *)connection->transport)->store;
}

/** Fails as if the server were not there. */
static inline lx_status store_refuse(lx__answer *answer, lx_error *error)
{
    answer->retry = LX__RETRY_LATER;
    return lx_fail(error, LX_ERR_IO, "connection refused");
}

/** Begins a request: calls the hook, and locks the store unless it fails. */
static inline lx_status store_begin(lx__connection *connection, const char *request,
                                    const char *name, lx__answer *answer, lx_error *error)
{
    const struct store_transport *transport = (struct store_transport *)connection->transport;
    struct store *store = transport->store;
    unsigned now = atomic_fetch_add(&store->under_way, 1) + 1;
    atomic_fetch_add(&store->requests, 1);
    if (now > atomic_load(&store->most))
        atomic_store(&store->most, now);
    *answer = (lx__answer){.total = LX_NONE};
    lx_status status = atomic_load(&transport->interrupted)
                           ? lx_fail(error, LX_ERR_CANCELED, "interrupted")
                       : store->hook != NULL
                           ? store->hook(store, request, name, false, answer, error)
                           : LX_OK;
    if (status == LX_OK)
        pthread_mutex_lock(&store->lock);
    else
        atomic_fetch_sub(&store->under_way, 1);
    return status;
}

/** Ends one that has begun. */
static inline lx_status store_end(struct store *store, const char *request, const char *name,
                                  lx_status status, lx__answer *answer, lx_error *error)
{
    pthread_mutex_unlock(&store->lock);
    if (status == LX_OK && store->hook != NULL)
        status = store->hook(store, request, name, true, answer, error);
    atomic_fetch_sub(&store->under_way, 1);
    return status;
}

static inline lx_status store_fail_absent(const char *name, lx_error *error)
{
    return lx_fail(error, LX_ERR_NOT_FOUND, "%s is not there", name);
}

static inline lx_status store_read(lx__connection *connection, const char *name, uint64_t offset,
                                   size_t size, uint8_t *data, lx__answer *answer, lx_error *error)
{
    struct store *store = store_of(connection);
    lx_status status = store_begin(connection, "read", name, answer, error);
    if (status != LX_OK)
        return status;
    const struct stored *file = store_find(store, name);
    if (file == NULL) {
        status = store_fail_absent(name, error);
    } else {
        answer->total = file->size;
        if (offset < file->size)
            answer->got = file->size - (size_t)offset < size ? file->size - (size_t)offset : size;
        if (answer->got != 0)
            memcpy(data, file->data + offset, answer->got);
    }
    return store_end(store, "read", name, status, answer, error);
}

static inline void store_describe(const struct stored *file, lx__remote_info *info)
{
    *info = (lx__remote_info){.bytes = file->size, .modified = file->modified};
    snprintf(info->etag, sizeof info->etag, "\"%u\"", file->version);
}

static inline lx_status store_stat(lx__connection *connection, const char *name,
                                   lx__remote_info *info, lx__answer *answer, lx_error *error)
{
    struct store *store = store_of(connection);
    lx_status status = store_begin(connection, "stat", name, answer, error);
    if (status != LX_OK)
        return status;
    const struct stored *file = store_find(store, name);
    if (file != NULL)
        store_describe(file, info);
    else
        status = store_fail_absent(name, error);
    return store_end(store, "stat", name, status, answer, error);
}

/** Stores a file; takes over @p data. The caller has locked the store. */
static inline void store_write(struct store *store, const char *name, uint8_t *data, size_t size)
{
    struct stored *file = store_find(store, name);
    if (file == NULL) {
        ck_assert_uint_lt(store->count, STORE_MAX);
        file = &store->files[store->count++];
        *file = (struct stored){.size = 0};
        snprintf(file->name, sizeof file->name, "%s", name);
    }
    free(file->data);
    file->data = data;
    file->size = size;
    file->modified = store->now;
    file->version = ++store->versions;
    file->sent++;
}

static inline uint8_t *store_copy(const void *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (size != 0)
        memcpy(copy, data, size);
    return copy;
}

/** Puts a text there, without a request. */
static inline void store_set(struct store *store, const char *name, const char *text)
{
    store_write(store, name, store_copy(text, strlen(text)), strlen(text));
}

/** Fails unless the precondition is true. */
static inline lx_status store_check(struct store *store, const char *name,
                                    lx__precondition precondition, const char *etag,
                                    lx_error *error)
{
    lx__remote_info info = {.etag = ""};
    const struct stored *file = store_find(store, name);
    if (file != NULL)
        store_describe(file, &info);
    if (precondition == LX__WRITE_ALWAYS || store->unconditional ||
        (precondition == LX__WRITE_IF_ABSENT ? file == NULL
                                             : file != NULL && strcmp(info.etag, etag) == 0))
        return LX_OK;
    return lx_fail(error, LX_ERR_STATE, "the precondition is not true");
}

static inline lx_status store_put(lx__connection *connection, const char *name, const uint8_t *data,
                                  size_t size, lx__precondition precondition, const char *etag,
                                  lx__answer *answer, lx_error *error)
{
    struct store *store = store_of(connection);
    lx_status status = store_begin(connection, "put", name, answer, error);
    if (status != LX_OK)
        return status;
    status = store_check(store, name, precondition, etag, error);
    if (status == LX_OK)
        store_write(store, name, store_copy(data, size), size);
    answer->got = size;
    return store_end(store, "put", name, status, answer, error);
}

static inline size_t store_get_part_size(const lx__transport *self, uint64_t bytes)
{
    (void)bytes;
    return ((const struct store_transport *)self)->store->part_size;
}

static inline lx_status store_begin_upload(lx__connection *connection, const char *name,
                                           uint64_t bytes, char upload[LX__UPLOAD_SIZE],
                                           lx__answer *answer, lx_error *error)
{
    struct store *store = store_of(connection);
    lx_status status = store_begin(connection, "begin", name, answer, error);
    if (status != LX_OK)
        return status;
    ck_assert_uint_lt(store->upload_count, STORE_MAX);
    struct store_upload *made = &store->uploads[store->upload_count];
    snprintf(made->name, sizeof made->name, "%s", name);
    made->data = malloc((size_t)bytes);
    made->size = (size_t)bytes;
    made->begun = store->now;
    snprintf(upload, LX__UPLOAD_SIZE, "%zu", store->upload_count++);
    return store_end(store, "begin", name, status, answer, error);
}

/** Finds an upload; fails if it was completed or abandoned. */
static inline struct store_upload *store_find_upload(struct store *store, const char *name,
                                                     const char *upload, lx_error *error)
{
    struct store_upload *found = &store->uploads[strtoul(upload, NULL, 10)];
    ck_assert_str_eq(found->name, name);
    if (found->data != NULL)
        return found;
    lx_fail(error, LX_ERR_NOT_FOUND, "there is no such upload");
    return NULL;
}

static inline lx_status store_put_part(lx__connection *connection, const char *name,
                                       const char *upload, uint32_t number, uint64_t offset,
                                       const uint8_t *data, size_t size, lx__uploaded_part *part,
                                       lx__answer *answer, lx_error *error)
{
    struct store *store = store_of(connection);
    lx_status status = store_begin(connection, "put_part", name, answer, error);
    if (status != LX_OK)
        return status;
    struct store_upload *found = store_find_upload(store, name, upload, error);
    status = found != NULL ? LX_OK : LX_ERR_NOT_FOUND;
    if (found != NULL) {
        ck_assert_uint_eq(offset, (uint64_t)number * store->part_size);
        ck_assert_uint_le(offset + size, found->size);
        ck_assert(size == store->part_size || offset + size == found->size);
        memcpy(found->data + offset, data, size);
        part->crc = lx__crc32c(0, data, size);
        snprintf(part->etag, sizeof part->etag, "%u", number);
        answer->got = size;
    }
    return store_end(store, "put_part", name, status, answer, error);
}

static inline lx_status store_complete(lx__connection *connection, const char *name,
                                       const char *upload, const lx__uploaded_part *parts,
                                       uint32_t count, lx__precondition precondition,
                                       const char *etag, lx__answer *answer, lx_error *error)
{
    struct store *store = store_of(connection);
    lx_status status = store_begin(connection, "complete", name, answer, error);
    if (status != LX_OK)
        return status;
    struct store_upload *found = store_find_upload(store, name, upload, error);
    status = found != NULL ? store_check(store, name, precondition, etag, error) : LX_ERR_NOT_FOUND;
    if (status == LX_OK) {
        ck_assert_uint_eq(count, (found->size + store->part_size - 1) / store->part_size);
        for (uint32_t i = 0; i < count; i++)
            ck_assert_uint_eq(strtoul(parts[i].etag, NULL, 10), i);
        store_write(store, name, found->data, found->size);
        found->data = NULL;
    }
    return store_end(store, "complete", name, status, answer, error);
}

static inline lx_status store_abandon_all(lx__connection *connection, uint64_t before,
                                          lx__is_ours *is_ours, const void *user,
                                          lx__answer *answer, lx_error *error)
{
    struct store *store = store_of(connection);
    lx_status status = store_begin(connection, "abandon_all", "", answer, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < store->upload_count; i++)
        if (store->uploads[i].begun < before && is_ours(user, store->uploads[i].name)) {
            free(store->uploads[i].data);
            store->uploads[i].data = NULL;
        }
    return store_end(store, "abandon_all", "", status, answer, error);
}

static inline lx_status store_list(lx__connection *connection, const char *name,
                                   lx__visit_remote *visit, void *user, lx__answer *answer,
                                   lx_error *error)
{
    struct store *store = store_of(connection);
    lx__remote_info info;
    lx_status status = store_begin(connection, "list", name, answer, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; status == LX_OK && i < store->count; i++) {
        store_describe(&store->files[i], &info);
        status = visit(user, store->files[i].name, &info, error);
    }
    return store_end(store, "list", name, status, answer, error);
}

static inline lx_status store_remove(lx__connection *connection, const char *name,
                                     lx__answer *answer, lx_error *error)
{
    struct store *store = store_of(connection);
    lx_status status = store_begin(connection, "remove", name, answer, error);
    if (status != LX_OK)
        return status;
    struct stored *file = store_find(store, name);
    if (file != NULL) {
        free(file->data);
        *file = store->files[--store->count];
    }
    return store_end(store, "remove", name, status, answer, error);
}

static inline lx_status store_connect(lx__transport *self, lx__connection **connection,
                                      lx_error *error)
{
    (void)error;
    *connection = calloc(1, sizeof **connection);
    (*connection)->transport = self;
    return LX_OK;
}

static inline void store_disconnect(lx__connection *connection)
{
    free(connection);
}

static inline void store_interrupt(lx__transport *self)
{
    atomic_store(&((struct store_transport *)self)->interrupted, true);
}

static inline void store_close(lx__transport *self)
{
    free(self);
}

/** Returns a new transport for the store. */
static inline lx__transport *store_connect_to(struct store *store)
{
    static const lx__transport_writing writing = {.stat = store_stat,
                                                  .put = store_put,
                                                  .get_part_size = store_get_part_size,
                                                  .begin = store_begin_upload,
                                                  .put_part = store_put_part,
                                                  .complete = store_complete,
                                                  .abandon_all = store_abandon_all,
                                                  .list = store_list,
                                                  .remove = store_remove};
    static const lx__transport_class classes[] = {{.network = "fake",
                                                   .writing = &writing,
                                                   .connections = 4,
                                                   .connect = store_connect,
                                                   .disconnect = store_disconnect,
                                                   .read = store_read,
                                                   .interrupt = store_interrupt,
                                                   .close = store_close},
                                                  {.network = "fake",
                                                   .connections = 4,
                                                   .connect = store_connect,
                                                   .disconnect = store_disconnect,
                                                   .read = store_read,
                                                   .interrupt = store_interrupt,
                                                   .close = store_close}};
    struct store_transport *made = calloc(1, sizeof *made);
    made->base = (lx__transport){.class = &classes[store->no_writing],
                                 .url = (char *)(uintptr_t) "fake://bucket/set"};
    made->store = store;
    return &made->base;
}

static inline void store_open(struct store *store, unsigned connections, uint64_t patience_ns,
                              lx__target *target)
{
    lx_error error = LX_ERROR_INIT;
    const lx__request_limits limits = {connections, patience_ns};
    unit_ok(lx__target_open(target, store_connect_to(store), &limits, &error));
}

#endif
