/* SPDX-License-Identifier: MIT */
/* loaderx unseal: allows changes to a sealed dataset again. */
#include "dataset.h"
#include "report.h"
#include "maintenance.h"

static const command_option options[] = {
    QUIET_OPTION("suppress the summary"),
    JSON_OPTION("print the summary as JSON"),
};

static lx_status run(int argc, char **argv, lx_error *error)
{
    maintenance_request r;
    lx_dataset_identity identity;
    lx_status status = maintenance_parse(&r, &unseal_command, argc, argv, error);
    if (status == LX_OK)
        status = dataset_identify(r.path, &identity, NULL, error);
    bool sealed = status == LX_OK && identity.sealed;
    if (sealed)
        status = lx_dataset_unseal(r.path, error);
    if (status != LX_OK)
        return status;
    if (r.json)
        return report_print(json_pack("{s:o, s:b, s:b}", "path", report_text(r.path), "sealed", 0,
                                      "changed", sealed),
                            error);
    if (!r.quiet)
        printf("%s: %s\n", r.path, sealed ? "unsealed" : "was not sealed");
    return LX_OK;
}

const command unseal_command = {
    .name = "unseal",
    .arguments = "DIR [OPTION...]",
    .summary = "allow changes to a sealed dataset again",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Readers are not affected. Unsealing a dataset that is not sealed changes nothing.\n",
    .examples = "  loaderx unseal fashion\n",
    .run = run};
