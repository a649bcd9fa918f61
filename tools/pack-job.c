/* SPDX-License-Identifier: MIT */
#include "pack-job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "failure.h"
#include "interrupt.h"
#include "pack-records.h"
#include "packer.h"
#include "report.h"

/* ---- one file */

static uint32_t add_to_tag(uint32_t tag, const void *data, size_t size)
{
    return (uint32_t)crc32_z(tag, data, size);
}

/** A number for what a file will have, by which an interrupted job is found again. */
static uint32_t make_tag(const pack_job *self, const pack_file *file)
{
    const image_list *list = self->list;
    const image_recoding *how = &self->recoding;
    const uint32_t numbers[] = {(uint32_t)how->format, how->shorter,           how->width,
                                how->height,           (uint32_t)how->quality, how->lossless};
    uint32_t tag = add_to_tag(0, self->root, strlen(self->root) + 1);
    tag = add_to_tag(tag, numbers, sizeof numbers);
    for (size_t i = file->first; i < file->first + file->count; i++) {
        const image_entry *entry = &list->entries[i];
        const char *path = image_list_path(list, entry);
        tag = add_to_tag(tag, &entry->id, sizeof entry->id);
        tag = add_to_tag(tag, list->labels + entry->label, entry->labels * sizeof *list->labels);
        tag = add_to_tag(tag, path, strlen(path) + 1);
    }
    return tag;
}

static pack_mode choose_mode(const pack_job *self)
{
    return self->resume ? PACK_RESUME : self->replace ? PACK_REPLACE : PACK_NEW;
}

static lx_status pack_file_images(pack_job *self, packer *images, const pack_file *file,
                                  pack_records *to, lx_error *error)
{
    size_t done = 0;
    lx_status status = pack_records_open(to, self->list, file->first, file->count,
                                         choose_mode(self), self->skip, &done, error);
    uint64_t found = to->writer != NULL ? lx_recordio_writer_get_count(to->writer) : 0;
    self->resumed += found;
    images->skipped += done - found;
    if (status == LX_OK)
        status = packer_run(images, file->first + done, file->count - done, pack_records_take, to,
                            error);
    lx_status closed = pack_records_close(to, status == LX_OK, error);
    return status != LX_OK ? status : closed;
}

/* ---- all files */

static lx_status name_files(const pack_job *self, pack_records *outputs, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; i < self->plan->count; i++)
        outputs[i].lock = -1;
    for (size_t i = 0; status == LX_OK && i < self->plan->count; i++) {
        const pack_file *file = &self->plan->files[i];
        status = pack_records_name(&outputs[i], file->path, make_tag(self, file), choose_mode(self),
                                   error);
    }
    return status == LX_OK ? pack_records_lock(&outputs[0], error) : status;
}

static lx_status pack_files(pack_job *self, pack_records *outputs, progress *bar, lx_error *error)
{
    size_t count = self->plan->count;
    packer images = {.list = self->list,
                     .root = self->root,
                     .recoding = &self->recoding,
                     .executor = self->executor,
                     .skip = self->skip,
                     .bar = bar,
                     .total = self->plan->images};
    lx_status status = name_files(self, outputs, error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = pack_file_images(self, &images, &self->plan->files[i], &outputs[i], error);
    progress_clear(bar);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = pack_records_install(&outputs[i], error);
    self->packed = images.packed;
    self->skipped = images.skipped;
    self->bytes = images.bytes;
    return status;
}

lx_status pack_job_run(pack_job *self, lx_error *error)
{
    progress bar;
    size_t count = self->plan->count;
    pack_records *outputs = calloc(count, sizeof *outputs);
    if (outputs == NULL)
        return fail_memory(error, "the files");
    interrupt_catch();
    progress_begin(&bar, "pack", self->quiet);
    lx_status status = pack_files(self, outputs, &bar, error);
    self->seconds = progress_seconds(&bar);
    if (self->packed + self->resumed != 0 && status != LX_OK)
        advise(error, status, "continue with --resume");
    for (size_t i = 0; i < count; i++)
        pack_records_free(&outputs[i]);
    free(outputs);
    return status;
}

/* ---- the summary */

static lx_status print_json(const pack_job *self, lx_error *error)
{
    json_t *files = json_array();
    for (size_t i = 0; i < self->plan->count; i++)
        json_array_append_new(files, report_text(self->plan->files[i].path));
    return report_print(
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "files", files, "images",
                  report_number(self->plan->images), "classes", report_number(self->list->classes),
                  "packed", report_number(self->packed), "resumed", report_number(self->resumed),
                  "skipped", report_number(self->skipped), "bytes", report_number(self->bytes),
                  "seconds", self->seconds),
        error);
}

lx_status pack_job_print(const pack_job *self, lx_error *error)
{
    char size[REPORT_SIZE_TEXT];
    if (self->json)
        return print_json(self, error);
    if (self->quiet)
        return LX_OK;
    printf("%s%s: ", self->plan->files[0].path, self->plan->count > 1 ? " and others" : "");
    if (self->executor == NULL)
        printf("%zu images", self->plan->images);
    else
        printf("packed %" PRIu64 " images (%s) in %.1f s", self->packed,
               report_size(self->bytes, size), self->seconds);
    if (self->list->classes != 0)
        printf(" of %zu classes", self->list->classes);
    if (self->resumed != 0)
        printf("; %" PRIu64 " were packed before the interruption", self->resumed);
    if (self->skipped != 0)
        printf("; %" PRIu64 " bad images skipped", self->skipped);
    putchar('\n');
    return LX_OK;
}
