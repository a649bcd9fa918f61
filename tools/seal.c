/* SPDX-License-Identifier: MIT */
/* loaderx seal: makes a dataset immutable. */
#include <inttypes.h>

#include "dataset.h"
#include "report.h"
#include "maintenance.h"

static const command_option options[] = {
    QUIET_OPTION("suppress the summary"),
    JSON_OPTION("print the summary as JSON"),
};

static lx_status seal(const char *path, uint64_t *length, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_status status = dataset_open_writer(path, NULL, &writer, error);
    if (status != LX_OK)
        return status;
    status = lx_writer_seal(writer, error);
    *length = lx_writer_get_length(writer);
    lx_status closed = lx_writer_close(writer, error);
    return status != LX_OK ? status : closed;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    maintenance_request r;
    lx_dataset_identity identity;
    uint64_t length = 0;
    lx_status status = maintenance_parse(&r, &seal_command, argc, argv, error);
    if (status == LX_OK)
        status = dataset_identify(r.path, &identity, &length, error);
    bool sealed = status == LX_OK && identity.sealed; /* a writer cannot open a sealed dataset */
    if (status == LX_OK && !sealed)
        status = seal(r.path, &length, error);
    if (status != LX_OK)
        return status;
    if (r.json)
        return report_print(json_pack("{s:o, s:o, s:b, s:b}", "path", report_text(r.path), "length",
                                      report_number(length), "sealed", 1, "changed", !sealed),
                            error);
    if (!r.quiet)
        printf("%s: %s, %" PRIu64 " records\n", r.path, sealed ? "already sealed" : "sealed",
               length);
    return LX_OK;
}

const command seal_command = {
    .name = "seal",
    .arguments = "DIR [OPTION...]",
    .summary = "seal a dataset against changes",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "A sealed dataset opens fastest, and cannot be changed until it is unsealed.\n"
             "Sealing it again changes nothing.\n",
    .examples = "  loaderx seal fashion\n",
    .run = run};
