/* SPDX-License-Identifier: MIT */
/* loaderx checkpoint: writes the updates in the write-ahead log to the tables. */
#include <inttypes.h>

#include "dataset.h"
#include "report.h"
#include "maintenance.h"

static const command_option options[] = {
    QUIET_OPTION("suppress the summary"),
    JSON_OPTION("print the summary as JSON"),
};

/** Runs a WAL checkpoint. Sets @p changed to true if entries were moved from the log to tables: to
 * new tables or, if the log contained only appended rows, to the end of the existing ones. */
static lx_status checkpoint(const char *path, bool *changed, lx_dataset_identity *now,
                            uint64_t *length, lx_error *error)
{
    lx_dataset_identity before;
    lx_writer *writer = NULL;
    lx_status status = dataset_open_writer(path, NULL, &writer, error);
    if (status == LX_OK)
        status = dataset_identify(path, &before, NULL, error);
    if (status == LX_OK)
        status = lx_writer_checkpoint(writer, error);
    dataset_advise_repair(error);
    if (status == LX_OK)
        status = dataset_identify(path, now, length, error);
    *changed = status == LX_OK &&
               (now->generation != before.generation || now->sequence != before.sequence);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    maintenance_request r;
    bool changed = false;
    lx_dataset_identity now;
    uint64_t length = 0;
    lx_status status = maintenance_parse(&r, &checkpoint_command, argc, argv, error);
    if (status == LX_OK)
        status = checkpoint(r.path, &changed, &now, &length, error);
    if (status != LX_OK)
        return status;
    if (r.json)
        return report_print(json_pack("{s:o, s:o, s:o, s:b}", "path", report_text(r.path), "length",
                                      report_number(length), "generation",
                                      report_number(now.generation), "changed", changed),
                            error);
    if (!r.quiet)
        printf("%s: %s, %" PRIu64 " records\n", r.path,
               changed ? "checkpointed" : "nothing to checkpoint", length);
    return LX_OK;
}

const command checkpoint_command = {
    .name = "checkpoint",
    .arguments = "DIR [OPTION...]",
    .summary = "checkpoint the write-ahead log into new tables",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Writers do this automatically when the log has many updates. A checkpoint makes\n"
             "opening and reading faster; 'loaderx rebalance' does the same, and frees space.\n",
    .examples = "  loaderx checkpoint fashion\n",
    .run = run};
