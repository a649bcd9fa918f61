/* SPDX-License-Identifier: MIT */
#include "zrecord/write/create.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file-system.h"
#include "zrecord/fault.h"
#include "zrecord/wal/wal-writer.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/lock.h"

lx_status lx__check_local(const lx__file *directory, lx_error *error)
{
    const char *network = lx__file_network(directory);
    if (network == NULL)
        return LX_OK;
    lx_status status =
        lx_fail(error, LX_ERR_UNSUPPORTED,
                "cannot write to the network file system %s: locks and the order of writes are "
                "unreliable there: write to a local disk, then copy the sealed dataset",
                network);
    lx_error_locate(error, directory->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Opens the directory that contains the last component of a path. */
static lx_status open_parent(const char *path, lx__file *directory, lx_error *error)
{
    size_t end = strlen(path);
    while (end != 0 && path[end - 1] == '/')
        end--;
    while (end != 0 && path[end - 1] != '/')
        end--;
    char *parent = lx__strdup(end != 0 ? path : ".");
    if (parent == NULL)
        return lx__fail_memory(error, "a path");
    if (end != 0)
        parent[end] = '\0';
    lx_status status = lx__directory_open(directory, LX__CWD, parent, error);
    lx__free(parent);
    return status;
}

lx_status lx__check_local_path(const char *path, lx_error *error)
{
    lx__file directory;
    lx_status status = lx__directory_open(&directory, LX__CWD, path, NULL);
    if (status != LX_OK)
        status = open_parent(path, &directory, NULL);
    if (status != LX_OK)
        return LX_OK; /* creating the dataset there will report the reason */
    status = lx__check_local(&directory, error);
    lx__file_close(&directory);
    return status;
}

static bool has_meta(const lx__file *directory)
{
    bool regular;
    return lx__file_is_regular(directory, LX__META_NAME, &regular, NULL) == LX_OK && regular;
}

/** Whether this is the chunk directory of a dataset. */
static bool has_chunks(const lx__file *directory)
{
    struct stat here, there;
    lx__file above;
    if (lx__directory_open(&above, directory, "..", NULL) != LX_OK)
        return false;
    bool is = has_meta(&above) && fstat(directory->fd, &here) == 0 &&
              fstatat(above.fd, LX__CHUNK_DIRECTORY, &there, 0) == 0 &&
              here.st_dev == there.st_dev && here.st_ino == there.st_ino;
    lx__file_close(&above);
    return is;
}

lx_status lx__check_no_dataset(const lx__file *directory, lx_error *error)
{
    if (!has_meta(directory) && !has_chunks(directory))
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                               "the directory belongs to a dataset, which must not contain other "
                               "files: choose a different path");
    lx_error_locate(error, directory->path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__check_outside(const char *path, lx_error *error)
{
    lx__file directory;
    if (open_parent(path, &directory, NULL) != LX_OK)
        return LX_OK; /* creating the file there will report the reason */
    lx_status status = lx__check_no_dataset(&directory, error);
    lx__file_close(&directory);
    return status;
}

/* ---- the directory */

/** Whether the file is a prefix of @p beginning, except for zeros in place of bytes that did not
 * reach the disk. */
static bool begins_with(const lx__file *directory, const char *name, const char *beginning)
{
    char bytes[4];
    lx__file file;
    size_t got = 0, size = strlen(beginning);
    if (lx__file_open(&file, directory, name, O_RDONLY | O_NOFOLLOW, NULL) != LX_OK)
        return false;
    bool right = lx__file_read_once(&file, bytes, size, 0, &got, NULL) == LX_OK;
    for (size_t i = 0; right && i < got; i++)
        right = bytes[i] == beginning[i] || bytes[i] == '\0';
    lx__file_close(&file);
    return right;
}

/** What a directory may contain when a dataset is created in it. */
typedef struct clearing {
    const lx__file *directory;
    const char *const *parts; /**< The folders of the parts of a joined dataset. */
    uint64_t part_count;
    bool joined; /**< The files of an interrupted join are there. */
    bool clear;  /**< Remove the files that an interrupted creation left. */
} clearing;

/** Whether a join made this file, which may be complete. */
static bool is_joined(const char *name)
{
    char stem[LX__NAME_SIZE];
    uint64_t generation;
    return strcmp(name, LX__WAL_NAME) == 0 || lx__name_split_dict(name, stem) ||
           (lx__name_split_table(name, stem, &generation) && generation == 0);
}

/** Whether lx__create_files() made this file and nothing was added to it, or a join made it. A file
 * with more in it may belong to a dataset that has lost its meta.json but still has records. */
static bool is_ours(const clearing *self, const char *name)
{
    const lx__file *directory = self->directory;
    struct stat about;
    char stem[LX__NAME_SIZE];
    uint64_t generation;
    if (fstatat(directory->fd, name, &about, AT_SYMLINK_NOFOLLOW) == -1 || !S_ISREG(about.st_mode))
        return false;
    if (self->joined && is_joined(name))
        return true;
    if (strcmp(name, LX__WAL_NAME) == 0)
        return about.st_size <= LX__FRAME_HEADER + LX__FRAME_TRAILER &&
               begins_with(directory, name, "LXLF");
    if (lx__name_split_table(name, stem, &generation))
        return generation == 0 && about.st_size == 0;
    return strcmp(name, LX__META_NEW_NAME) == 0 && begins_with(directory, name, "{");
}

static lx_status fail_exists(const char *path, lx_error *error, const char *what)
{
    lx_status status = lx_fail(error, LX_ERR_EXISTS, "%s", what);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status refuse(void *user, const char *name, lx_error *error)
{
    (void)user;
    return lx_fail(error, LX_ERR_EXISTS, "'%s' already exists", name);
}

/** Whether this is LOCK or an empty chunk directory, both of which are kept. */
static lx_status check_kept(const lx__file *directory, const char *name, bool *stays,
                            lx_error *error)
{
    lx__file chunks;
    lx_error why = LX_ERROR_INIT;
    *stays = strcmp(name, LX__LOCK_NAME) == 0;
    if (strcmp(name, LX__CHUNK_DIRECTORY) != 0)
        return LX_OK;
    lx_status status = lx__directory_open(&chunks, directory, name, &why);
    if (status == LX_OK) {
        status = lx__directory_each(&chunks, refuse, NULL, &why);
        lx__file_close(&chunks);
    }
    *stays = status == LX_OK;
    if (status != LX_ERR_IO && status != LX_ERR_NOMEM)
        return LX_OK;
    lx__error_propagate(error, &why); /* what the directory contains is unknown */
    return status;
}

/** Whether this folder is one of the parts or contains some of them. */
static lx_status check_part(const clearing *self, const char *name, bool *is, lx_error *error)
{
    size_t length = strlen(name);
    *is = false;
    for (uint64_t i = 0; i < self->part_count && !*is; i++)
        *is = strncmp(self->parts[i], name, length) == 0 &&
              (self->parts[i][length] == '/' || self->parts[i][length] == '\0');
    return *is ? lx__file_is_directory(self->directory, name, is, error) : LX_OK;
}

static lx_status check_file(void *user, const char *name, lx_error *error)
{
    const clearing *self = user;
    bool stays;
    if (is_ours(self, name)) {
        /* As long as meta.json.new is there, it tells what the other files are. */
        bool marks = self->joined && strcmp(name, LX__META_NEW_NAME) == 0;
        return self->clear && !marks ? lx__file_remove(self->directory, name, error) : LX_OK;
    }
    lx_status status = check_part(self, name, &stays, error);
    if (status == LX_OK && !stays)
        status = check_kept(self->directory, name, &stays, error);
    if (status != LX_OK || stays)
        return status;
    status = lx_fail(error, LX_ERR_EXISTS,
                     "the directory is not empty: '%s' is in the way, and nothing is overwritten",
                     name);
    lx_error_locate(error, self->directory->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Whether a join was interrupted here. Its meta.json.new is sealed, and so is that of a copy that
 * lx_dataset_pull() has begun, whose original is elsewhere; no other one is without meta.json. If
 * the join was writing meta.json.new, there is no LOG, without which tables have no records. */
static lx_status look_for_join(clearing *self, lx_error *error)
{
    lx__meta meta;
    bool log, found;
    lx_status status = lx__file_is_regular(self->directory, LX__WAL_NAME, &log, error);
    if (status == LX_OK)
        status = lx__meta_load_new(&meta, self->directory, &found, error);
    if (status != LX_OK)
        return status;
    self->joined = found ? meta.sealed
                         : !log && begins_with(self->directory, LX__META_NEW_NAME, "{");
    lx__meta_free(&meta);
    return LX_OK;
}

/** Checks that the directory contains only parts and files of an interrupted creation. If
 * self->clear is set, also removes the latter. */
static lx_status check_directory(clearing *self, lx_error *error)
{
    struct stat about;
    if (fstatat(self->directory->fd, LX__META_NAME, &about, AT_SYMLINK_NOFOLLOW) == 0)
        return fail_exists(self->directory->path, error, "there is already a dataset at this path");
    self->joined = false;
    lx_status status = self->part_count != 0 ? look_for_join(self, error) : LX_OK;
    return status == LX_OK ? lx__directory_each(self->directory, check_file, self, error) : status;
}

/** Opens the directory, creating it if it does not exist. */
static lx_status open_or_make(const char *path, lx__file *directory, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__directory_make(LX__CWD, path, &why);
    bool there = status == LX_ERR_EXISTS;
    if (status == LX_OK || there) {
        lx_error_clear(&why);
        status = lx__directory_open(directory, LX__CWD, path, &why);
    }
    if (status == LX_ERR_NOT_FOUND && there)
        return fail_exists(path, error, "this path exists, but is not a directory");
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

lx_status lx__create_joined_directory(const char *path, const char *const *parts, uint64_t count,
                                      lx__file *directory, lx__file *lock, lx_error *error)
{
    clearing content = {.directory = directory, .parts = parts, .part_count = count};
    lx_status status = lx__check_outside(path, error);
    if (status == LX_OK)
        status = open_or_make(path, directory, error);
    if (status == LX_OK)
        status = check_directory(&content, error);
    if (status == LX_OK)
        status = lx__writer_lock(directory, lock, error);
    /* If meta.json was removed a moment ago, make its removal durable before the other files are
     * removed. */
    if (status == LX_OK)
        status = lx__file_sync(directory, error);
    /* Check again under the lock, because another process may have been faster. */
    content.clear = true;
    return status == LX_OK ? check_directory(&content, error) : status;
}

lx_status lx__create_directory(const char *path, lx__file *directory, lx__file *lock,
                               lx_error *error)
{
    return lx__create_joined_directory(path, NULL, 0, directory, lock, error);
}

/* ---- the files of an empty dataset */

static lx_status make_empty(const lx__file *directory, const char *name, lx_error *error)
{
    lx__file file;
    lx_status status = lx__file_open(&file, directory, name, O_WRONLY | O_CREAT | O_TRUNC, error);
    if (status != LX_OK)
        return status;
    status = lx__file_sync(&file, error);
    lx__file_close(&file);
    return status;
}

static lx_status make_tables(const lx__file *directory, const lx_schema *schema, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < schema->count; i++) {
        const char *stem = lx__schema_field(schema, i)->stem;
        lx__table_name(stem, LX__OFFSET_KIND, 0, name);
        status = make_empty(directory, name, error);
        if (status == LX_OK) {
            lx__table_name(stem, LX__CHECK_KIND, 0, name);
            status = make_empty(directory, name, error);
        }
    }
    return status;
}

lx_status lx__create_log(const lx__file *directory, const lx__meta *meta, const lx__state *state,
                         lx_error *error)
{
    lx__wal_identity identity = {.generation = meta->generation};
    char name[LX__NAME_SIZE];
    lx__file file;
    memcpy(identity.uuid, meta->uuid, sizeof identity.uuid);
    lx__wal_name(meta->generation, name);
    lx_status status = lx__file_open(&file, directory, name, O_WRONLY | O_CREAT | O_TRUNC, error);
    if (status != LX_OK)
        return status;
    status = lx__wal_write_synced(&file, &identity, state, error);
    lx__file_close(&file);
    return status;
}

lx_status lx__sync_parent(const lx__file *directory, lx_error *error)
{
    lx__file parent;
    lx_status status = lx__directory_open(&parent, directory, "..", error);
    if (status != LX_OK)
        return status;
    status = lx__file_sync(&parent, error);
    lx__file_close(&parent);
    return status;
}

lx_status lx__create_finish(const lx__file *directory, lx_error *error)
{
    lx_status status = lx__file_sync(directory, error);
    if (status == LX_OK)
        status = lx__sync_parent(directory, error);
    if (status == LX_OK)
        status = lx__file_rename(directory, LX__META_NEW_NAME, LX__META_NAME, error);
    if (status != LX_OK)
        return status;
    status = lx__file_sync(directory, error);
    if (status != LX_OK) /* the next call tries again */
        (void)lx__file_rename(directory, LX__META_NAME, LX__META_NEW_NAME, NULL);
    return status;
}

lx_status lx__create_files(const lx__file *directory, const lx__meta *meta, lx_error *error)
{
    const lx__state empty = {0};
    lx__file chunks;
    lx_status status = lx__directory_make(directory, LX__CHUNK_DIRECTORY, NULL);
    if (status == LX_OK || status == LX_ERR_EXISTS)
        status = lx__directory_open(&chunks, directory, LX__CHUNK_DIRECTORY, error);
    else
        status = lx_fail_errno(error, errno, directory->path, "cannot create the chunk directory");
    if (status != LX_OK)
        return status;
    status = lx__file_sync(&chunks, error);
    lx__file_close(&chunks);
    if (status == LX_OK)
        status = make_tables(directory, meta->schema, error);
    if (status == LX_OK)
        status = lx__create_log(directory, meta, &empty, error);
    if (status == LX_OK && !LX__FAULT(CREATION_SYNC))
        status = lx__file_sync(directory, error);
    /* This must be done before meta.json is written. Once meta.json exists, another writer may open
     * the dataset and commit, and then a power loss must not remove the whole directory. */
    if (status == LX_OK && !LX__FAULT(PARENT_SYNC))
        status = lx__sync_parent(directory, error);
    if (status == LX_OK)
        status = lx__meta_replace(meta, directory, error);
    /* No writer exists yet that could be poisoned. */
    return status == LX_ERR_POISONED ? LX_ERR_IO : status;
}
