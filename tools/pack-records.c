/* SPDX-License-Identifier: MIT */
/* RecordIO files. The index is not needed to continue: an id is also the key. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <loaderx/recordio.h>

#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "pack-output.h"
#include "recordio-pass.h"

typedef struct pack_records {
    pack_output base;
    char *index, *unfinished_index;
    lx_recordio_writer *writer;
    bool replace, locked;
    int lock;
} pack_records;

static bool is_begun(const pack_records *self)
{
    struct stat about;
    return stat(self->base.unfinished, &about) == 0 && about.st_size != 0;
}

static lx_status check_names(const pack_records *self, lx_error *error)
{
    if (pack_output_is_named(&self->base))
        return LX_OK;
    lx_status status = recordio_check_output(self->base.path, self->replace, error);
    return status == LX_OK ? recordio_check_output(self->index, self->replace, error) : status;
}

static lx_status check(pack_output *output, pack_mode mode, lx_error *error)
{
    pack_records *self = (pack_records *)output;
    self->replace = mode == PACK_REPLACE;
    self->index = recordio_name_index(output->path);
    if (self->index != NULL)
        self->unfinished_index = pack_output_name(self->index, output->tag);
    if (self->unfinished_index == NULL)
        return fail_memory(error, "a path");
    lx_status status = directory_check_parent(output->path, error);
    if (status == LX_OK)
        status = check_names(self, error);
    if (mode == PACK_RESUME && is_begun(self))
        advise(error, LX_ERR_EXISTS, "once it is removed, --resume continues");
    if (status == LX_OK && mode == PACK_NEW && is_begun(self))
        status = pack_output_fail_begun(output->unfinished, error);
    return status;
}

/** Locks the unfinished file, which it creates. */
static lx_status lock(pack_output *output, lx_error *error)
{
    pack_records *self = (pack_records *)output;
    self->lock = open(output->unfinished, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (self->lock == -1)
        return lx_fail_errno(error, errno, output->unfinished, "cannot create the file");
    lx_status status = pack_output_lock(self->lock, output->path, error);
    self->locked = status == LX_OK;
    if (!self->locked)
        close(self->lock);
    return status;
}

/* ---- continuing */

/** Finds the image of a record, and adds the record to the index. Returns false if the record is
 * not that of an image that may follow. */
static bool take_found(const pack_images *images, size_t *at, const lx_recordio_record *record,
                       FILE *index)
{
    lx_recordio_label label;
    if (lx_recordio_label_read(record->data, record->size, &label, NULL) != LX_OK ||
        !pack_images_match(images, at, label.id))
        return false;
    fprintf(index, "%" PRIu64 "\t%" PRIu64 "\n", label.id, record->offset);
    return true;
}

/** Reads the records, and makes their index; @p length receives where the last good one ends. */
static lx_status read_found(const pack_records *self, const pack_images *images, size_t *at,
                            FILE *index, uint64_t *length, lx_error *error)
{
    lx_recordio_reader *reader = NULL;
    lx_recordio_record record;
    lx_error flaw = LX_ERROR_INIT;
    *length = 0;
    lx_status status = lx_recordio_reader_open(self->base.unfinished, false, NULL, NULL, &reader,
                                               error);
    while (status == LX_OK && (status = lx_recordio_reader_next(reader, &record, &flaw)) == LX_OK) {
        if (!take_found(images, at, &record, index))
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
static lx_status recover(const pack_records *self, const pack_images *images, size_t *at,
                         lx_error *error)
{
    uint64_t length;
    FILE *index = fopen(self->unfinished_index, "w");
    if (index == NULL)
        return lx_fail_errno(error, errno, self->unfinished_index, "cannot write the index");
    lx_status status = read_found(self, images, at, index, &length, error);
    bool failed = ferror(index) != 0;
    if ((fclose(index) != 0 || failed) && status == LX_OK)
        status = lx_fail_errno(error, errno, self->unfinished_index, "cannot write the index");
    if (status == LX_OK && truncate(self->base.unfinished, (off_t)length) == -1)
        status = lx_fail_errno(error, errno, self->base.unfinished, "cannot truncate the file");
    return status;
}

/* ---- writing */

static lx_status open_files(pack_output *output, const pack_images *images, pack_mode mode,
                            size_t *at, uint64_t *found, lx_error *error)
{
    pack_records *self = (pack_records *)output;
    bool resumes = mode == PACK_RESUME && is_begun(self);
    *at = images->first;
    *found = 0;
    lx_status status = resumes ? recover(self, images, at, error) : LX_OK;
    if (status == LX_OK)
        status = resumes ? lx_recordio_writer_append(output->unfinished, self->unfinished_index,
                                                     &self->writer, error)
                         : lx_recordio_writer_create(output->unfinished, self->unfinished_index,
                                                     true, &self->writer, error);
    if (status == LX_OK)
        *found = lx_recordio_writer_get_count(self->writer);
    return status;
}

static lx_status add(pack_output *output, uint64_t id, const void *record, size_t size,
                     lx_error *error)
{
    pack_records *self = (pack_records *)output;
    char key[24];
    snprintf(key, sizeof key, "%" PRIu64, id);
    return lx_recordio_writer_write(self->writer, key, record, size, error);
}

static lx_status close_files(pack_output *output, pack_end end, lx_error *error)
{
    pack_records *self = (pack_records *)output;
    bool ours = self->locked || self->writer != NULL;
    lx_status status = lx_recordio_writer_close(self->writer, error);
    self->writer = NULL;
    if (ours && (end == PACK_DISCARD || (end == PACK_KEEP && !is_begun(self)))) {
        unlink(self->unfinished_index);
        unlink(output->unfinished);
    }
    return status;
}

static lx_status install(pack_output *output, lx_error *error)
{
    pack_records *self = (pack_records *)output;
    /* Another process may have made it meanwhile, such as that of another part. */
    lx_status status = check_names(self, error);
    if (status != LX_OK)
        return status;
    bool named = pack_output_is_named(output);
    if (!named && unlink(self->index) == -1 && errno != ENOENT)
        return lx_fail_errno(error, errno, self->index, "cannot remove the old index");
    if (!named && rename(output->unfinished, output->path) == -1)
        return lx_fail_errno(error, errno, output->path, "cannot rename the finished file");
    if (rename(self->unfinished_index, self->index) == -1 && !(named && errno == ENOENT))
        return lx_fail_errno(error, errno, self->index, "cannot rename the finished index");
    return directory_sync_parent(output->path, error);
}

static void free_records(pack_output *output)
{
    pack_records *self = (pack_records *)output;
    if (self->locked)
        close(self->lock);
    free(self->index);
    free(self->unfinished_index);
}

const pack_output_class pack_records_class = {.size = sizeof(pack_records),
                                              .check = check,
                                              .lock = lock,
                                              .open = open_files,
                                              .add = add,
                                              .close = close_files,
                                              .install = install,
                                              .free = free_records};
