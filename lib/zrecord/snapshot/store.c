/* SPDX-License-Identifier: MIT */
#include "zrecord/snapshot/store.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file-system.h"
#include "base/folder.h"
#include "executor/executor.h"
#include "executor/lifetime.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/snapshot/store-map.h"
#include "zrecord/table/dictionary-file.h"

/* ---- opening */

/* How many times to retry if the generation changes while meta.json is being read. */
#define META_TRIES 100

/** Takes a reader's lock on the generation. A dataset that has no LOCK or is on a read-only file
 * system cannot have a writer, and so needs no lock. */
static lx_status lock_generation(lx__store *store, uint64_t generation, lx_error *error)
{
    struct statvfs about;
    lx_error why = LX_ERROR_INIT;
    lx__file_close(&store->lock); /* it may hold the lock of an older generation */
    lx_status status = lx__reader_lock(&store->directory, generation, &store->lock, &why);
    /* On a network file system, the dataset must be sealed, and locks are unreliable anyway. */
    if (status == LX_OK || store->network != NULL)
        return LX_OK;
    if (fstatvfs(store->directory.fd, &about) == 0 && (about.f_flag & ST_RDONLY))
        return LX_OK;
    lx__error_propagate(error, &why);
    return status;
}

static lx_status read_meta(lx__store *store, lx_error *error)
{
    lx__file_close(&store->meta_file);
    lx__meta_free(&store->meta);
    lx_status status = lx__file_open(&store->meta_file, &store->directory, LX__META_NAME, O_RDONLY,
                                     error);
    if (status == LX_OK) {
        store->meta_id = lx__file_get_id(&store->meta_file);
        store->directory_id = lx__file_get_id(&store->directory);
        status = lx__meta_read(&store->meta, &store->meta_file, LX__META_CHECK, error);
    }
    if (status == LX_ERR_NOT_FOUND && error != NULL && error->status == status)
        lx__copy_tail(error->message, sizeof error->message,
                      store->directory.provider != NULL
                          ? "there is no dataset: check the URL, which must be that of the folder "
                            "with meta.json"
                          : "this directory is not a dataset: it has no meta.json");
    return status;
}

/** Reads meta.json of a dataset elsewhere. If a copy of it is wrong, fetches it again. */
static lx_status read_meta_elsewhere(lx__store *store, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = read_meta(store, &why);
    if (status == LX_ERR_CORRUPT && lx__file_renew(&store->meta_file, 0, LX__META_LIMIT)) {
        lx_error_clear(&why);
        status = read_meta(store, &why);
    }
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

/** Reads meta.json, locks its generation and reads meta.json again; repeats this until both reads
 * find the same generation. */
static lx_status read_and_lock(lx__store *store, lx_error *error)
{
    char uuid[LX__UUID_TEXT + 1];
    if (lx__store_is_elsewhere(store))
        return read_meta_elsewhere(store, error);
    lx_status status = read_meta(store, error);
    for (int tries = 0; status == LX_OK && tries < META_TRIES; tries++) {
        uint64_t generation = store->meta.generation;
        memcpy(uuid, store->meta.uuid_text, sizeof uuid);
        status = lock_generation(store, generation, error);
        if (status == LX_OK)
            status = read_meta(store, error);
        if (status == LX_OK && store->meta.generation == generation &&
            strcmp(store->meta.uuid_text, uuid) == 0)
            return LX_OK;
    }
    if (status == LX_OK) {
        status = lx_fail(error, LX_ERR_IO,
                         "cannot read meta.json: it is being replaced continually: try again");
        lx_error_locate(error, store->meta_file.path, NULL, LX_NONE, LX_NONE);
    }
    return status;
}

static lx_status prepare_fields(lx__store *store, lx_error *error)
{
    size_t count = store->schema->count;
    store->rules = lx__alloc_array(count, sizeof *store->rules);
    store->tables = lx__alloc_array(count, sizeof *store->tables);
    store->checked_rows = lx__alloc_array(count, sizeof *store->checked_rows);
    store->dictionaries = lx__alloc_array(count, sizeof *store->dictionaries);
    store->tables_requested = lx__alloc_array(count, sizeof *store->tables_requested);
    store->tables_checked = lx__alloc_array(count, sizeof *store->tables_checked);
    if (store->rules == NULL || store->tables == NULL || store->checked_rows == NULL ||
        store->dictionaries == NULL || store->tables_requested == NULL ||
        store->tables_checked == NULL)
        return lx__fail_memory(error, "a dataset");
    for (size_t i = 0; i < count; i++)
        store->rules[i] = lx__field_rules(lx__schema_field(store->schema, i), store->meta.uuid);
    return LX_OK;
}

/** Sets the fields to show: those of @p former if there is one, because callers know fields by
 * position. */
static lx_status show_fields(lx__store *store, const lx__store *former, lx_error *error)
{
    if (former == NULL || lx__schema_equal(former->schema, store->meta.schema)) {
        store->schema = lx__schema_ref(store->meta.schema);
        return LX_OK;
    }
    return lx__schema_pick(store->meta.schema, former->schema, &store->schema, error);
}

lx_status lx__store_fail_other(const lx__store *store, lx_error *error)
{
    lx_status status =
        lx_fail(error, LX_ERR_STATE,
                "a different dataset is at this path now: close this handle and open the path "
                "again");
    lx_error_locate(error, store->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status check_same(const lx__store *store, const lx__store *former, lx_error *error)
{
    if (former == NULL || memcmp(former->meta.uuid, store->meta.uuid, sizeof store->meta.uuid) == 0)
        return LX_OK;
    return lx__store_fail_other(store, error);
}

/** Opens the directory that @p former has open. Does not use the path, which may lead elsewhere if
 * the process changed its working directory or the dataset was moved. */
static lx_status reopen_directory(lx__store *store, const lx__store *former, lx_error *error)
{
    lx_status status = lx__directory_open(&store->directory, &former->directory, ".", error);
    char *path = status == LX_OK ? lx__strdup(former->directory.path) : NULL;
    if (status != LX_OK || path == NULL)
        return status != LX_OK ? status : lx__fail_memory(error, "a path");
    lx__free(store->directory.path);
    store->directory.path = path;
    return LX_OK;
}

lx_status lx__store_is_current(const lx__store *store, bool *current, lx_error *error)
{
    struct stat now;
    *current = true;
    if (lx__store_is_elsewhere(store))
        return LX_OK;
    if (fstatat(store->directory.fd, LX__META_NAME, &now, AT_SYMLINK_NOFOLLOW) == -1)
        return lx_fail_errno(error, errno, store->meta_file.path, "cannot stat");
    *current = lx__file_id_equal(store->meta_id, (lx__file_id){now.st_dev, now.st_ino});
    return LX_OK;
}

bool lx__store_was_replaced(const lx__store *store)
{
    bool current;
    return lx__store_is_current(store, &current, NULL) == LX_OK && !current;
}

/* ---- the lx__fd_open callback of the cache */

/** Writes the path of a chunk relative to the directory that is returned. */
static const lx__file *locate_chunk(const lx__store *store, uint32_t id,
                                    char path[LX__CHUNK_PATH_SIZE])
{
    if (lx__file_is_open(&store->chunk_directory)) {
        lx__chunk_name(id, path);
        return &store->chunk_directory;
    }
    lx__meta_get_chunk_path(&store->meta, id, path);
    return &store->directory;
}

lx_status lx__store_open_any_chunk(const lx__store *store, uint32_t id, lx__file *file,
                                   lx_error *error)
{
    char path[LX__CHUNK_PATH_SIZE];
    return lx__folder_open_file(file, locate_chunk(store, id, path), path, O_RDONLY, error);
}

lx_status lx__store_open_chunk(const lx__store *store, uint32_t id, uint64_t bytes, bool exact,
                               lx__file *file, lx_error *error)
{
    char path[LX__CHUNK_PATH_SIZE];
    return lx__committed_open(file, locate_chunk(store, id, path), path, O_RDONLY, bytes, exact,
                              error);
}

/** Opens a chunk, which must have all of its committed bytes. In a sealed dataset, it must have no
 * other bytes, unless a writer has unsealed the dataset since. */
static lx_status open_chunk(const lx__store *store, const lx__file_name *name, lx__file *file,
                            lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__store_open_chunk(store, name->number, name->bytes, store->meta.sealed,
                                            file, &why);
    if (status == LX_ERR_CORRUPT && store->meta.sealed && lx__store_was_replaced(store))
        return lx__store_open_chunk(store, name->number, name->bytes, false, file, error);
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

/** Opens a table without checking its size, which was checked when the snapshot was made. If the
 * file has been truncated since, the remaining rows can still be read. */
static lx_status open_table(const lx__store *store, const lx__file_name *name, lx__file *file,
                            lx_error *error)
{
    char text[LX__NAME_SIZE];
    lx__table_name(lx__schema_field(store->schema, name->number)->stem,
                   name->part == LX__PART_OFFSETS ? LX__OFFSET_KIND : LX__CHECK_KIND,
                   name->generation, text);
    return lx__committed_open(file, &store->directory, text, O_RDONLY, 0, false, error);
}

static lx_status open_named(void *user, const lx__file_name *name, lx__file *file, lx_error *error)
{
    return (name->part == LX__PART_CHUNK ? open_chunk : open_table)(user, name, file, error);
}

/** Rejects an unsealed dataset elsewhere or on a network file system, where locks and the order of
 * writes are unreliable. */
static lx_status check_network(const lx__store *store, lx_error *error)
{
    bool elsewhere = lx__store_is_elsewhere(store);
    if ((store->network == NULL && !elsewhere) || store->meta.sealed)
        return LX_OK;
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "cannot read the dataset %s%s: it is not sealed: seal it on the machine that "
                   "wrote it, or copy it to a local disk",
                   elsewhere ? "where it is" : "on the network file system ",
                   elsewhere ? "" : store->network);
}

lx_status lx__store_fail_elsewhere(const lx__store *store, const char *operation, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_UNSUPPORTED,
                               "cannot %s: the dataset is not on this machine: copy its files to a "
                               "local disk first",
                               operation);
    lx_error_locate(error, store->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Chooses the access mode, and assumes where the values are. */
static lx_status choose_access(lx__store *store, const lx__store *former, lx_error *error)
{
    bool elsewhere = lx__store_is_elsewhere(store);
    store->network = lx__file_network(&store->directory);
    bool slow = elsewhere || store->network != NULL || sizeof(void *) < sizeof(uint64_t);
    lx__residency residency = former != NULL                    ? atomic_load(&former->residency)
                              : elsewhere                       ? LX__ON_DISK
                              : store->access == LX_ACCESS_MMAP ? LX__ASSUMED
                                                                : LX__UNKNOWN;
    if (elsewhere && store->access == LX_ACCESS_MMAP) {
        lx_status status = lx_fail(error, LX_ERR_UNSUPPORTED,
                                   "cannot map the dataset: it is not on this machine: use access "
                                   "mode auto or pread");
        lx_error_locate(error, store->directory.path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    atomic_init(&store->residency, residency);
    if (store->access == LX_ACCESS_AUTO)
        store->access = slow ? LX_ACCESS_PREAD : LX_ACCESS_MMAP;
    if (store->access == LX_ACCESS_MMAP)
        store->files.max = LX__FILES_MAPPED_MAX;
    return LX_OK;
}

/** Opens the other files, once the directory is open. */
static lx_status open_files(lx__store *store, const lx__store *former, lx_error *error)
{
    lx_status status = choose_access(store, former, error);
    if (status == LX_OK)
        status = read_and_lock(store, error);
    if (status != LX_OK)
        return status;
    status = check_same(store, former, error);
    if (status == LX_OK)
        status = check_network(store, error);
    if (status == LX_OK)
        status = show_fields(store, former, error);
    if (status != LX_OK)
        lx_error_locate(error, store->meta_file.path, NULL, LX_NONE, LX_NONE);
    if (status == LX_OK && store->meta.run_count == 0 && !store->meta.sealed)
        status = lx__chunk_directory_open(&store->chunk_directory, &store->directory, error);
    if (status == LX_OK)
        status = prepare_fields(store, error);
    return status;
}

static lx__store *new_store(lx_verify_policy verify, lx_access access)
{
    lx__store *opened = lx__alloc_array(1, sizeof *opened);
    if (opened == NULL)
        return NULL;
    atomic_init(&opened->references, 1);
    lx__process_record(&opened->process);
    opened->directory = opened->chunk_directory = opened->lock = opened->meta_file =
        opened->log.file = (lx__file)LX__FILE_CLOSED;
    opened->verify = verify;
    opened->access = access;
    lx__fd_cache_init(&opened->files, LX__FILES_MAX, open_named, opened);
    pthread_mutex_init(&opened->mutex, NULL);
    pthread_mutex_init(&opened->log_mutex, NULL);
    return opened;
}

/** Sets @p store to the new store @p opened, whose directory was opened with @p status. */
static lx_status finish_opening(lx__store *opened, lx_status status, const lx__store *former,
                                lx__store **store, lx_error *error)
{
    if (status == LX_OK)
        status = open_files(opened, former, error);
    if (status == LX_OK)
        *store = opened;
    else
        lx__store_unref(opened);
    return status;
}

lx_status lx__store_open(const char *path, lx_verify_policy verify, lx_access access,
                         lx__store **store, lx_error *error)
{
    lx__store *opened = new_store(verify, access);
    if (opened == NULL)
        return lx__fail_memory(error, "a dataset");
    lx_status status = lx__directory_open(&opened->directory, LX__CWD, path, error);
    return finish_opening(opened, status, NULL, store, error);
}

lx_status lx__store_open_in(lx__file *directory, lx_verify_policy verify, lx_access access,
                            lx__store **store, lx_error *error)
{
    lx__store *opened = new_store(verify, access);
    if (opened == NULL) {
        lx__file_close(directory);
        return lx__fail_memory(error, "a dataset");
    }
    opened->directory = *directory;
    *directory = (lx__file)LX__FILE_CLOSED;
    return finish_opening(opened, LX_OK, NULL, store, error);
}

lx_status lx__store_reopen(const lx__store *former, lx__store **store, lx_error *error)
{
    lx__store *opened = new_store(former->verify, former->access);
    if (opened == NULL)
        return lx__fail_memory(error, "a dataset");
    lx_status status = reopen_directory(opened, former, error);
    return finish_opening(opened, status, former, store, error);
}

lx_status lx__store_open_log(lx__store *store, lx_error *error)
{
    lx__wal_identity identity = {.generation = store->meta.generation};
    if (lx__file_is_open(&store->log.file))
        return LX_OK;
    memcpy(identity.uuid, store->meta.uuid, sizeof identity.uuid);
    return lx__wal_open(&store->log, &store->directory, &identity, error);
}

/* ---- closing */

static void store_free(lx__store *store)
{
    for (size_t i = 0; store->dictionaries != NULL && i < store->schema->count; i++)
        lx__dictionary_free((lx__dictionary *)atomic_load(&store->dictionaries[i]));
    for (size_t i = 0; store->tables != NULL && i < store->schema->count; i++)
        lx__table_close(store->tables[i]);
    for (size_t i = 0; i < store->retired_table_count; i++)
        lx__table_close(store->retired_tables[i]);
    for (size_t i = 0; i < store->retired_count; i++)
        lx__chunk_mapping_unref(store->retired[i]);
    for (size_t i = 0; i < store->chunk_count; i++)
        lx__chunk_mapping_unref(store->chunks[i].mapped);
    for (size_t i = 0; i < store->inflater_count; i++)
        lx__inflater_free(store->inflaters[i]);
    lx__fd_cache_close(&store->files);
    lx__free(store->tables);
    lx__free(store->checked_rows);
    lx__free(store->retired_tables);
    lx__free(store->retired);
    lx__free(store->chunks);
    lx__free(store->inflaters);
    lx__free(store->dictionaries);
    lx__free(store->tables_requested);
    lx__free(store->tables_checked);
    lx__free(store->rules);
    lx_schema_free(store->schema);
    lx__meta_free(&store->meta);
    lx__wal_close(&store->log);
    lx__file_close(&store->meta_file);
    lx__file_close(&store->lock);
    lx__file_close(&store->chunk_directory);
    lx__file_close(&store->directory);
    pthread_mutex_destroy(&store->mutex);
    pthread_mutex_destroy(&store->log_mutex);
    lx__free(store);
}

lx__store *lx__store_ref(lx__store *store)
{
    atomic_fetch_add_explicit(&store->references, 1, memory_order_relaxed);
    return store;
}

void lx__store_unref(lx__store *store)
{
    if (atomic_fetch_sub_explicit(&store->references, 1, memory_order_acq_rel) == 1)
        store_free(store);
}

static void reset_log(lx__store *store)
{
    if (pthread_mutex_trylock(&store->log_mutex) == 0) {
        pthread_mutex_unlock(&store->log_mutex);
        return;
    }
    pthread_mutex_init(&store->log_mutex, NULL);
    store->log = (lx__wal_reader){.file = LX__FILE_CLOSED};
}

static void reset_mappings(lx__store *store)
{
    if (pthread_mutex_trylock(&store->mutex) == 0) {
        pthread_mutex_unlock(&store->mutex);
        return;
    }
    pthread_mutex_init(&store->mutex, NULL);
    /* The mappings are leaked, because snapshots refer to their addresses. */
    store->chunks = NULL;
    store->retired = NULL;
    store->retired_tables = NULL;
    store->inflaters = NULL;
    store->chunk_count = store->chunk_capacity = 0;
    store->retired_count = store->retired_capacity = 0;
    store->retired_table_count = store->retired_table_capacity = 0;
    store->inflater_count = store->inflater_capacity = 0;
}

void lx__store_take_over(lx__store *store)
{
    if (!lx__process_take_over(&store->process))
        return;
    reset_log(store);
    reset_mappings(store);
    lx__fd_cache_take_over(&store->files);
    lx__process_adopt(&store->process);
}

/* ---- dictionaries */

static lx_status load_dictionary(const lx__store *store, size_t field, lx__dictionary **dictionary,
                                 lx_error *error)
{
    const lx__field *shown = lx__schema_field(store->schema, field);
    uint32_t position;
    lx__dict sum;
    *dictionary = NULL;
    if (!lx__schema_find_id(store->meta.schema, shown->shown.id, &position) ||
        !lx__meta_find_dict(&store->meta, position, &sum))
        return LX_OK;
    lx_status status = lx__dictionary_load(&store->directory, shown->stem, &sum,
                                           store->rules[field].codec, 0, dictionary, error);
    lx_error_locate(error, NULL, shown->name, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__store_find_dictionary(lx__store *store, size_t field,
                                    const lx__dictionary **dictionary, lx_error *error)
{
    lx__dictionary *loaded;
    *dictionary = atomic_load_explicit(&store->dictionaries[field], memory_order_acquire);
    if (*dictionary != NULL)
        return LX_OK;
    lx_status status = load_dictionary(store, field, &loaded, error);
    if (loaded == NULL)
        return status;
    /* Several threads may have loaded it; the first one to get here keeps it for all. */
    if (atomic_compare_exchange_strong(&store->dictionaries[field], dictionary, loaded))
        *dictionary = loaded;
    else
        lx__dictionary_free(loaded);
    return LX_OK;
}

/* ---- inflaters */

lx__inflater *lx__store_take_inflater(lx__store *store, const lx__codec *codec)
{
    lx__inflater *inflater = NULL;
    pthread_mutex_lock(&store->mutex);
    for (size_t i = store->inflater_count; inflater == NULL && i-- != 0;) {
        if (store->inflaters[i]->codec != codec)
            continue;
        inflater = store->inflaters[i];
        store->inflaters[i] = store->inflaters[--store->inflater_count];
    }
    pthread_mutex_unlock(&store->mutex);
    return inflater;
}

void lx__store_release_inflater(lx__store *store, lx__inflater *inflater)
{
    if (inflater == NULL)
        return;
    pthread_mutex_lock(&store->mutex);
    lx__inflater **list = lx__grow_array(store->inflaters, store->inflater_count,
                                         &store->inflater_capacity, sizeof *list);
    if (list != NULL) {
        store->inflaters = list;
        list[store->inflater_count++] = inflater;
    }
    pthread_mutex_unlock(&store->mutex);
    if (list == NULL)
        lx__inflater_free(inflater);
}
