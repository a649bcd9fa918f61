/* SPDX-License-Identifier: MIT */
#include "pack-records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "recordio-pass.h"

/** Makes the temporary name of a file; NULL if memory runs out. */
static char *name_unfinished(const char *path, uint32_t tag)
{
    size_t size = strlen(path) + sizeof ".pack-01234567";
    char *name = malloc(size);
    if (name != NULL)
        snprintf(name, size, "%s.pack-%08" PRIx32, path, tag);
    return name;
}

static bool is_begun(const pack_records *self)
{
    struct stat about;
    return stat(self->unfinished, &about) == 0 && about.st_size != 0;
}

lx_status pack_records_name(pack_records *self, const char *path, uint32_t tag, pack_mode mode,
                            lx_error *error)
{
    *self = (pack_records){.path = path, .index = recordio_name_index(path), .lock = -1};
    self->unfinished = name_unfinished(path, tag);
    if (self->index != NULL)
        self->unfinished_index = name_unfinished(self->index, tag);
    if (self->unfinished == NULL || self->unfinished_index == NULL)
        return fail_memory(error, "a path");
    lx_status status = recordio_check_output(path, mode == PACK_REPLACE, error);
    if (status == LX_OK)
        status = recordio_check_output(self->index, mode == PACK_REPLACE, error);
    if (status == LX_OK && mode == PACK_NEW && is_begun(self))
        status = lx_fail(error, LX_ERR_EXISTS,
                         "%.400s is what an interrupted pack has left: --resume continues it, and "
                         "--force begins again",
                         self->unfinished);
    return status;
}

/* ---- continuing */

/** A record that an interrupted pack has left. */
typedef struct found {
    const image_list *list;
    size_t at, end; /* the images that may follow */
    bool gaps;
    FILE *index;
} found;

/** Finds the image of a record, and adds the record to the index. Returns false if the record is
 * not that of an image that may follow. */
static bool take_found(found *self, const lx_recordio_record *record)
{
    lx_recordio_label label;
    size_t at = self->at;
    if (lx_recordio_label_read(record->data, record->size, &label, NULL) != LX_OK)
        return false;
    while (self->gaps && at < self->end && self->list->entries[at].id != label.id)
        at++;
    if (at == self->end || self->list->entries[at].id != label.id)
        return false;
    self->at = at + 1;
    fprintf(self->index, "%" PRIu64 "\t%" PRIu64 "\n", label.id, record->offset);
    return true;
}

/** Reads the records, and makes their index; @p length receives where the last good one ends. */
static lx_status read_found(const pack_records *self, found *f, uint64_t *length, lx_error *error)
{
    lx_recordio_reader *reader = NULL;
    lx_recordio_record record;
    lx_error flaw = LX_ERROR_INIT;
    *length = 0;
    lx_status status = lx_recordio_reader_open(self->unfinished, false, NULL, NULL, &reader, error);
    while (status == LX_OK && (status = lx_recordio_reader_next(reader, &record, &flaw)) == LX_OK) {
        if (!take_found(f, &record))
            break;
        *length = lx_recordio_reader_tell(reader);
        status = interrupt_check(error);
    }
    if (status == LX_END || flaw.status == LX_ERR_CORRUPT) /* the last record was not completed */
        status = LX_OK;
    else if (flaw.status != LX_OK)
        *error = flaw;
    lx_recordio_reader_close(reader);
    return status;
}

/** Cuts the file after the last good record, and makes its index. */
static lx_status recover(const pack_records *self, found *f, lx_error *error)
{
    uint64_t length;
    f->index = fopen(self->unfinished_index, "w");
    if (f->index == NULL)
        return lx_fail_errno(error, errno, self->unfinished_index, "cannot write the index");
    lx_status status = read_found(self, f, &length, error);
    bool failed = ferror(f->index) != 0;
    if ((fclose(f->index) != 0 || failed) && status == LX_OK)
        status = lx_fail_errno(error, errno, self->unfinished_index, "cannot write the index");
    if (status == LX_OK && truncate(self->unfinished, (off_t)length) == -1)
        status = lx_fail_errno(error, errno, self->unfinished, "cannot truncate the file");
    return status;
}

/* ---- writing */

lx_status pack_records_lock(pack_records *self, lx_error *error)
{
    self->lock = open(self->unfinished, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (self->lock == -1)
        return lx_fail_errno(error, errno, self->unfinished, "cannot create the file");
    if (flock(self->lock, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == EOPNOTSUPP)
        return LX_OK; /* also if the file system has no locks */
    int errnum = errno;
    close(self->lock);
    self->lock = -1;
    return errnum == EWOULDBLOCK
               ? lx_fail(error, LX_ERR_BUSY, "another process packs %.400s", self->path)
               : lx_fail_errno(error, errnum, self->unfinished, "cannot lock the file");
}

lx_status pack_records_open(pack_records *self, const image_list *list, size_t first, size_t count,
                            pack_mode mode, bool gaps, size_t *done, lx_error *error)
{
    found f = {.list = list, .at = first, .end = first + count, .gaps = gaps};
    bool resumes = mode == PACK_RESUME && is_begun(self);
    lx_status status = resumes ? recover(self, &f, error) : LX_OK;
    if (status == LX_OK)
        status = resumes ? lx_recordio_writer_append(self->unfinished, self->unfinished_index,
                                                     &self->writer, error)
                         : lx_recordio_writer_create(self->unfinished, self->unfinished_index, true,
                                                     &self->writer, error);
    *done = f.at - first;
    return status;
}

lx_status pack_records_take(void *user, const image_entry *entry, const void *record, size_t size,
                            lx_error *error)
{
    pack_records *self = user;
    char key[24];
    snprintf(key, sizeof key, "%" PRIu64, entry->id);
    return lx_recordio_writer_write(self->writer, key, record, size, error);
}

lx_status pack_records_close(pack_records *self, bool complete, lx_error *error)
{
    bool ours = self->lock != -1 || self->writer != NULL;
    lx_status status = lx_recordio_writer_close(self->writer, error);
    self->writer = NULL;
    if (!complete && ours && !is_begun(self)) {
        unlink(self->unfinished_index);
        unlink(self->unfinished);
    }
    return status;
}

lx_status pack_records_install(pack_records *self, lx_error *error)
{
    if (unlink(self->index) == -1 && errno != ENOENT)
        return lx_fail_errno(error, errno, self->index, "cannot remove the old index");
    if (rename(self->unfinished, self->path) == -1)
        return lx_fail_errno(error, errno, self->path, "cannot rename the finished file");
    if (rename(self->unfinished_index, self->index) == -1)
        return lx_fail_errno(error, errno, self->index, "cannot rename the finished index");
    return directory_sync_parent(self->path, error);
}

void pack_records_free(pack_records *self)
{
    if (self->lock != -1)
        close(self->lock);
    free(self->index);
    free(self->unfinished);
    free(self->unfinished_index);
    *self = (pack_records){.lock = -1};
}
