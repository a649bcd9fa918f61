/* SPDX-License-Identifier: MIT */
/* loaderx rebalance: compacts a dataset, to free the space of deleted and replaced records. */
#include <inttypes.h>
#include <time.h>

#include "dataset.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"
#include "maintenance.h"

static const command_option options[] = {
    QUIET_OPTION("suppress the progress bar and the summary"),
    JSON_OPTION("print the summary as JSON"),
    {'w', "wait", NULL, "wait until no reader uses the old files, and remove them"},
};

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    progress_update(user, done, total, 0);
    return interrupt_check(error);
}

static lx_status print_result(const maintenance_request *r, const lx_rebalance_result *done,
                              double seconds, lx_error *error)
{
    char before[REPORT_SIZE_TEXT], after[REPORT_SIZE_TEXT];
    if (r->json)
        return report_print(
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "path",
                      report_text(r->path), "records", report_number(done->records),
                      "chunks_before", report_number(done->chunks_before), "chunks_after",
                      report_number(done->chunks_after), "bytes_before",
                      report_number(done->bytes_before), "bytes_after",
                      report_number(done->bytes_after), "kept_files",
                      report_number(done->kept_files), "utilisation_before",
                      done->utilisation_before, "utilisation_after", done->utilisation_after,
                      "live_ratio_before", done->live_ratio_before, "live_ratio_after",
                      done->live_ratio_after, "seconds", seconds),
            error);
    if (!r->quiet)
        printf("%s: %" PRIu64 " records, %s in chunks before, %s now; utilisation %.3f before, "
               "%.3f now; %.1f s\n",
               r->path, done->records, report_size(done->bytes_before, before),
               report_size(done->bytes_after, after), done->utilisation_before,
               done->utilisation_after, seconds);
    if (!r->quiet && done->kept_files != 0)
        printf("%s: %" PRIu64 " old file%s kept for readers, with the deleted values in them; the "
               "next writer removes them, and --wait waits for that\n",
               r->path, done->kept_files, done->kept_files == 1 ? " is" : "s are");
    return LX_OK;
}

/** Waits until the readers of @p kept old files are closed, and removes the files. */
static lx_status wait_for_readers(lx_writer *writer, const maintenance_request *r, uint64_t *kept,
                                  lx_error *error)
{
    lx_status status = LX_OK;
    if (*kept != 0 && !r->quiet && !r->json)
        printf("%s: waiting for readers of %" PRIu64 " old files\n", r->path, *kept);
    while (status == LX_OK && *kept != 0) {
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
        status = interrupt_check(error);
        advise(error, LX_ERR_CANCELED, "the dataset was rebalanced, and old files are left");
        if (status == LX_OK)
            status = lx_writer_remove_old_files(writer, kept, error);
    }
    return status;
}

static lx_status rebalance(const maintenance_request *r, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_rebalance_result done = {0};
    progress bar = {0};
    lx_status status = dataset_open_writer(r->path, NULL, &writer, error);
    if (status != LX_OK)
        return status;
    interrupt_catch();
    progress_begin(&bar, "rebalance", r->quiet);
    status = lx_writer_rebalance(writer, advanced, &bar, &done, error);
    progress_clear(&bar);
    advise(error, LX_ERR_CANCELED, "nothing was changed");
    advise(error, LX_ERR_CORRUPT, "nothing was changed");
    dataset_advise_repair(error);
    if (status == LX_OK && r->wait)
        status = wait_for_readers(writer, r, &done.kept_files, error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    if (status == LX_OK)
        status = closed;
    return status == LX_OK ? print_result(r, &done, progress_seconds(&bar), error) : status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    maintenance_request r;
    lx_status status = maintenance_parse(&r, &rebalance_command, argc, argv, error);
    return status == LX_OK ? rebalance(&r, error) : status;
}

const command rebalance_command = {
    .name = "rebalance",
    .arguments = "DIR [OPTION...]",
    .summary = "free the space of deleted and replaced values (compaction)",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "Writes all values to new files, in record order, and removes the old files when no\n"
        "reader uses them; the disk must have space for both. If the command is interrupted,\n"
        "no records are lost. Use 'loaderx stat' to see how much space can be freed. Until the\n"
        "old files are removed, deleted values can be read in them; with --wait, they are gone\n"
        "when the command succeeds.\n",
    .examples = "  loaderx rebalance fashion\n"
                "  loaderx rebalance fashion --json | jq .utilisation_after\n",
    .run = run};
