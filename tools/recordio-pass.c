/* SPDX-License-Identifier: MIT */
#include "recordio-pass.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "failure.h"
#include "interrupt.h"
#include "report.h"

/* Records between two updates of the progress bar. */
#define UPDATE_STEP 64

void recordio_pass_begin(recordio_pass *self, const char *job, bool skip, bool quiet)
{
    *self = (recordio_pass){.skip = skip, .quiet = quiet, .advice = "--skip passes over damage"};
    progress_begin(&self->bar, job, quiet);
}

/** Returns the length of a file, or UINT64_MAX if it is unknown. */
static uint64_t size_of_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (uint64_t)about.st_size : UINT64_MAX;
}

void recordio_pass_expect(recordio_pass *self, const char *path)
{
    uint64_t size = size_of_file(path);
    self->total = size > UINT64_MAX - self->total ? UINT64_MAX : self->total + size;
}

/** Ends a wait for a pipe after a signal. */
static lx_status check_signal(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)done, (void)total, (void)user;
    return interrupt_check(error);
}

static lx_status read_all(recordio_pass *self, recordio_visit *visit, void *user, lx_error *error)
{
    lx_status status = LX_OK;
    while (status == LX_OK) {
        lx_recordio_record record;
        lx_error why = LX_ERROR_INIT;
        status = lx_recordio_reader_next(self->reader, &record, &why);
        if (self->damaged != NULL && (status == LX_ERR_CORRUPT || status == LX_ERR_LIMIT)) {
            progress_clear(&self->bar);
            status = self->damaged(user, &why, error);
            if (status == LX_OK)
                status = interrupt_check(error);
            continue;
        }
        if (status != LX_OK) {
            *error = why;
            advise(error, LX_ERR_CORRUPT, self->advice);
            break;
        }
        self->records++;
        self->bytes += record.size;
        uint64_t done = self->before + record.offset;
        status = visit(user, self, &record, error);
        if (status == LX_OK && self->records % UPDATE_STEP == 0)
            progress_update(&self->bar, done, done < self->total ? self->total : UINT64_MAX, done);
        if (status == LX_OK)
            status = interrupt_check(error);
    }
    return status == LX_END ? LX_OK : status;
}

static void add_skipped(lx_recordio_skipped *sum, lx_recordio_skipped skipped)
{
    sum->places += skipped.places;
    sum->bytes += skipped.bytes;
    sum->rest = sum->rest || skipped.rest;
}

lx_status recordio_pass_read(recordio_pass *self, const char *path, recordio_visit *visit,
                             void *user, lx_error *error)
{
    lx_status status = lx_recordio_reader_open(path, self->skip, check_signal, NULL, &self->reader,
                                               error);
    if (status != LX_OK)
        return status;
    status = read_all(self, visit, user, error);
    progress_clear(&self->bar);
    add_skipped(&self->skipped, lx_recordio_reader_get_skipped(self->reader));
    self->before += lx_recordio_reader_tell(self->reader);
    lx_recordio_reader_close(self->reader);
    self->reader = NULL;
    return status;
}

void recordio_pass_print(const recordio_pass *self, const char *path, FILE *to)
{
    char text[REPORT_SIZE_TEXT], lost[REPORT_SIZE_TEXT];
    if (self->quiet)
        return;
    fprintf(to, "%s: %" PRIu64 " records, %s", path, self->records, report_size(self->bytes, text));
    if (self->skipped.places != 0)
        fprintf(to, "; damaged in %" PRIu64 " place%s, where %s were passed over",
                self->skipped.places, self->skipped.places == 1 ? "" : "s",
                report_size(self->skipped.bytes, lost));
    if (self->skipped.rest)
        fputs("; the compressed data after the last place is lost", to);
    fputc('\n', to);
}

char *recordio_name_index(const char *path)
{
    size_t length = strlen(path);
    char *name = malloc(length + sizeof ".idx");
    if (name == NULL)
        return NULL;
    if (length > 4 && strcmp(path + length - 4, ".rec") == 0)
        length -= 4;
    memcpy(name, path, length);
    memcpy(name + length, ".idx", sizeof ".idx");
    return name;
}

lx_status recordio_check_output(const char *path, bool replace, lx_error *error)
{
    struct stat about;
    bool standard = strcmp(path, "-") == 0, exists = stat(path, &about) == 0;
    if (standard || (exists && !S_ISREG(about.st_mode)))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "cannot write to %.400s: the result must be a regular file, which appears "
                       "when it is complete",
                       standard ? "the standard output" : path);
    return exists && !replace
               ? lx_fail(error, LX_ERR_EXISTS, "%.400s exists: --force replaces it", path)
               : LX_OK;
}
