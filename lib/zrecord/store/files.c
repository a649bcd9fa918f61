/* SPDX-License-Identifier: MIT */
#include "zrecord/store/files.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/names.h"

/* How often descriptors are given up for others to take before it is an error: each time fewer are
 * kept, down to one. */
#define TRIES 10

/* ---- the list, under the mutex */

static lx__open_file *find(lx__store *store, const lx__file_name *name)
{
    lx__open_file *file = store->files;
    while (file != NULL && (file->part != name->part || file->number != name->number))
        file = file->next;
    if (file != NULL) {
        file->users++;
        file->used = ++store->files_clock;
    }
    return file;
}

/** Takes the one out that was not used for longest, of those that nobody reads; NULL: none. */
static lx__open_file *take_out_oldest(lx__store *store)
{
    lx__open_file **oldest = NULL, *file;
    for (lx__open_file **at = &store->files; *at != NULL; at = &(*at)->next)
        if ((*at)->users == 0 && (oldest == NULL || (*at)->used < (*oldest)->used))
            oldest = at;
    if (oldest == NULL)
        return NULL;
    file = *oldest;
    *oldest = file->next;
    store->file_count--;
    return file;
}

static void put_in(lx__store *store, lx__open_file *file)
{
    file->users = 1;
    file->used = ++store->files_clock;
    file->next = store->files;
    store->files = file;
    store->file_count++;
}

/* ---- opening */

static void close_file(lx__open_file *file)
{
    lx__file_close(&file->file);
    lx__free(file);
}

/** Closes what nobody reads, until @p left are open. */
static void close_idle(lx__store *store, size_t left)
{
    lx__open_file *file;
    do {
        pthread_mutex_lock(&store->mutex);
        file = store->file_count > left ? take_out_oldest(store) : NULL;
        pthread_mutex_unlock(&store->mutex);
        if (file != NULL)
            close_file(file);
    } while (file != NULL);
}

/** How many may be open when another one is. */
static size_t most_open(lx__store *store)
{
    pthread_mutex_lock(&store->mutex);
    if (store->files_max == 0)
        store->files_max = store->placement == LX_PLACEMENT_MAPPED ? LX__FILES_MAPPED_MAX
                                                                   : LX__FILES_MAX;
    size_t most = store->files_max;
    pthread_mutex_unlock(&store->mutex);
    return most;
}

/** There are no descriptors left: gives up idle ones, and keeps fewer from here on, or else other
 * threads would take all that was given up before this one has one. */
static void keep_fewer(lx__store *store)
{
    (void)most_open(store);
    pthread_mutex_lock(&store->mutex);
    if (store->files_max > 1)
        store->files_max /= 2;
    pthread_mutex_unlock(&store->mutex);
    close_idle(store, 0);
}

/** The length of a table was looked at when the snapshot was made. If it has become shorter, only
 * those rows are lost that are gone. */
static lx_status open_table(const lx__store *store, const lx__file_name *name, lx__file *file,
                            lx_error *error)
{
    char text[LX__NAME_SIZE];
    lx__table_name(lx__schema_field(store->schema, name->number)->stem,
                   name->part == LX__PART_OFFSETS ? LX__OFFSET_KIND : LX__CHECK_KIND,
                   name->generation, text);
    return lx__committed_open(file, &store->directory, text, O_RDONLY, 0, false, error);
}

static lx_status open_file(lx__store *store, const lx__file_name *name, lx__file *file,
                           lx_error *error)
{
    for (int tries = 1;; tries++) {
        lx_error why = LX_ERROR_INIT;
        lx_status status =
            name->part == LX__PART_CHUNK
                ? lx__store_open_chunk(store, name->number, name->bytes, file, &why)
                : open_table(store, name, file, &why);
        if (status == LX_OK)
            return LX_OK;
        if (tries == TRIES || (why.errnum != EMFILE && why.errnum != ENFILE)) {
            lx__error_pass(error, &why);
            return status;
        }
        keep_fewer(store);
    }
}

lx_status lx__files_take(lx__store *store, const lx__file_name *name, lx__open_file **file,
                         lx_error *error)
{
    pthread_mutex_lock(&store->mutex);
    *file = find(store, name);
    pthread_mutex_unlock(&store->mutex);
    if (*file != NULL)
        return LX_OK;
    lx__open_file *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "an open file");
    made->part = name->part;
    made->number = name->number;
    lx_status status = open_file(store, name, &made->file, error);
    if (status != LX_OK) {
        lx__free(made);
        return status;
    }
    close_idle(store, most_open(store) - 1);
    pthread_mutex_lock(&store->mutex);
    put_in(store, made); /* another thread may have done so, too: then there are two */
    pthread_mutex_unlock(&store->mutex);
    *file = made;
    return LX_OK;
}

void lx__files_give(lx__store *store, lx__open_file *file)
{
    if (file == NULL)
        return;
    pthread_mutex_lock(&store->mutex);
    file->users--;
    pthread_mutex_unlock(&store->mutex);
}

void lx__files_close(lx__store *store)
{
    while (store->files != NULL) {
        lx__open_file *file = store->files;
        store->files = file->next;
        close_file(file);
    }
}
