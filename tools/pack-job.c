/* SPDX-License-Identifier: MIT */
#include "pack-job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "failure.h"
#include "interrupt.h"
#include "pack-commit.h"
#include "pack-output.h"
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

static lx_status pack_output_images(const pack_job *self, packer *work, const pack_file *file,
                                    pack_output *to, uint64_t *found, lx_error *error)
{
    const pack_images images = {self->list, file->first, file->count, self->skip};
    size_t at, end = file->first + file->count;
    lx_status status = to->class->open(to, &images, choose_mode(self), &at, found, error);
    if (status == LX_OK) {
        work->skipped += at - file->first - *found;
        status = packer_run(work, at, end - at, pack_output_take, to, error);
    }
    lx_status closed = to->class->close(to, status == LX_OK ? PACK_COMPLETE : PACK_KEEP, error);
    return status != LX_OK ? status : closed;
}

/* ---- all files */

/** Finds the commit of an earlier process, which --resume continues and --force removes. */
static lx_status find_commit(const pack_job *self, const uint32_t *tags, pack_commit *commit,
                             lx_error *error)
{
    const pack_plan *plan = self->plan;
    uint32_t tag = add_to_tag(0, tags, plan->count * sizeof *tags);
    lx_status status = pack_commit_read(commit, plan->files[0].path, tag, error);
    if (status != LX_OK || !commit->found || self->resume)
        return status;
    return self->replace ? pack_commit_remove(commit, error)
                         : pack_output_fail_begun(commit->path, error);
}

static lx_status make_outputs(const pack_job *self, pack_commit *commit, pack_output **outputs,
                              lx_error *error)
{
    size_t count = self->plan->count;
    uint32_t *tags = calloc(count, sizeof *tags);
    if (tags == NULL)
        return fail_memory(error, "the files");
    for (size_t i = 0; i < count; i++)
        tags[i] = make_tag(self, &self->plan->files[i]);
    lx_status status = find_commit(self, tags, commit, error);
    pack_mode mode = commit->found && commit->replaces ? PACK_REPLACE : choose_mode(self);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = pack_output_new(self->plan->files[i].path, tags[i], mode, commit->found,
                                 self->executor, &outputs[i], error);
    free(tags);
    return status;
}

static lx_status pack_outputs(pack_job *self, pack_output **outputs, progress *bar, lx_error *error)
{
    packer work = {.list = self->list,
                   .root = self->root,
                   .recoding = &self->recoding,
                   .executor = self->executor,
                   .skip = self->skip,
                   .bar = bar,
                   .total = self->plan->images};
    lx_status status = LX_OK;
    if (outputs[0]->class->lock != NULL)
        status = outputs[0]->class->lock(outputs[0], error);
    for (size_t i = 0; status == LX_OK && i < self->plan->count; i++) {
        uint64_t found = 0;
        status = pack_output_images(self, &work, &self->plan->files[i], outputs[i], &found, error);
        self->resumed += found;
    }
    progress_clear(bar);
    self->packed = work.packed;
    self->skipped = work.skipped;
    self->skipped_extensions = work.skipped_extensions;
    self->bytes = work.bytes;
    return status;
}

static lx_status commit_outputs(const pack_job *self, pack_commit *commit, lx_error *error)
{
    commit->packed = self->packed + self->resumed;
    commit->skipped = self->skipped;
    commit->replaces = self->replace;
    return pack_commit_write(commit, self->plan->files[0].path, error);
}

static lx_status pack_files(pack_job *self, pack_output **outputs, pack_commit *commit,
                            progress *bar, lx_error *error)
{
    lx_status status = make_outputs(self, commit, outputs, error);
    if (status == LX_OK && commit->found) {
        self->resumed = commit->packed;
        self->skipped = commit->skipped;
    } else if (status == LX_OK) {
        status = pack_outputs(self, outputs, bar, error);
        if (status == LX_OK)
            status = commit_outputs(self, commit, error);
    }
    for (size_t i = 0; status == LX_OK && i < self->plan->count; i++)
        status = outputs[i]->class->install(outputs[i], error);
    return status == LX_OK ? pack_commit_remove(commit, error) : status;
}

lx_status pack_job_run(pack_job *self, lx_error *error)
{
    progress bar;
    size_t count = self->plan->count;
    pack_commit commit = {0};
    pack_output **outputs = calloc(count, sizeof *outputs);
    if (outputs == NULL)
        return fail_memory(error, "the files");
    interrupt_catch();
    progress_begin(&bar, "pack", self->quiet);
    lx_status status = pack_files(self, outputs, &commit, &bar, error);
    self->seconds = progress_seconds(&bar);
    if (self->packed + self->resumed != 0 && status != LX_OK)
        advise(error, status, "continue with --resume");
    for (size_t i = 0; i < count; i++)
        pack_output_free(outputs[i]);
    free(outputs);
    pack_commit_free(&commit);
    return status;
}

/* ---- the summary */

static lx_status print_json(const pack_job *self, lx_error *error)
{
    json_t *files = json_array();
    for (size_t i = 0; i < self->plan->count; i++)
        json_array_append_new(files, report_text(self->plan->files[i].path));
    return report_print(
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "files", files, "images",
                  report_number(self->plan->images), "classes", report_number(self->list->classes),
                  "packed", report_number(self->packed), "resumed", report_number(self->resumed),
                  "skipped", report_number(self->skipped), "skipped_extensions",
                  extensions_to_json(&self->skipped_extensions), "left_out",
                  extensions_to_json(&self->list->left_out), "bytes", report_number(self->bytes),
                  "seconds", self->seconds),
        error);
}

lx_status pack_job_print(const pack_job *self, lx_error *error)
{
    char size[REPORT_SIZE_TEXT], kinds[EXTENSIONS_TEXT];
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
    if (self->skipped_extensions.files != 0)
        printf(" (%s)", extensions_print(&self->skipped_extensions, kinds));
    putchar('\n');
    return LX_OK;
}
