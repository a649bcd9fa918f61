/* SPDX-License-Identifier: MIT */
#include "dataset.h"

#include <string.h>

#include "directory.h"
#include "elsewhere.h"
#include "failure.h"

void dataset_advise_repair(lx_error *error)
{
    static const char advice[] = "run 'loaderx repair' to see what can be done";
    if (strstr(error->message, "'loaderx repair'") == NULL && !elsewhere_is(error->path))
        advise(error, LX_ERR_CORRUPT, advice);
}

/** Adds advice to the error of a failed open. */
static void advise_open(lx_error *error)
{
    advise(error, LX_ERR_NOT_FOUND, "use 'loaderx import' to create a dataset");
    dataset_advise_repair(error);
}

lx_status dataset_open_with(const char *path, const lx_dataset_options *options,
                            lx_dataset **dataset, lx_error *error)
{
    if (elsewhere_is(path))
        return elsewhere_open(path, options, dataset, error);
    lx_status status = directory_check(path, error);
    if (status == LX_OK)
        status = lx_dataset_open(path, options, dataset, error);
    advise_open(error);
    return status;
}

lx_status dataset_open(const char *path, lx_dataset **dataset, lx_error *error)
{
    return dataset_open_damaged(path, LX_DAMAGE_RAISE, dataset, error);
}

lx_status dataset_open_damaged(const char *path, lx_damage_policy damage, lx_dataset **dataset,
                               lx_error *error)
{
    lx_dataset_options *options = lx_dataset_options_new();
    if (options == NULL)
        return fail_memory(error, "options");
    /* Truncation by another process, or a failing disk, should cause an error, not a signal. */
    lx_status status = lx_dataset_options_set_access(options, LX_ACCESS_PREAD, error);
    if (status == LX_OK)
        status = lx_dataset_options_set_damage_policy(options, damage, error);
    if (status == LX_OK)
        status = dataset_open_with(path, options, dataset, error);
    lx_dataset_options_free(options);
    return status;
}

bool dataset_is_incomplete(lx_dataset *dataset)
{
    lx_card *card = NULL;
    bool incomplete = lx_dataset_read_card(dataset, &card, NULL) == LX_OK &&
                      lx_card_get_text(card, LX_CARD_IMPORT) != NULL;
    lx_card_free(card);
    return incomplete;
}

lx_status dataset_identify(const char *path, lx_dataset_identity *identity, uint64_t *length,
                           lx_error *error)
{
    lx_dataset *dataset = NULL;
    lx_status status = dataset_open(path, &dataset, error);
    if (status != LX_OK)
        return status;
    lx_dataset_get_identity(dataset, identity);
    if (length != NULL)
        *length = lx_dataset_get_length(dataset);
    lx_dataset_close(dataset);
    return LX_OK;
}

lx_status dataset_open_writer(const char *path, const lx_writer_options *options,
                              lx_writer **writer, lx_error *error)
{
    lx_status status = elsewhere_is(path) ? lx_fail(error, LX_ERR_ARGUMENT,
                                                    "a remote dataset can only be read: use its "
                                                    "directory")
                                          : directory_check(path, error);
    if (status == LX_OK)
        status = lx_writer_open(path, options, writer, error);
    advise(error, LX_ERR_BUSY,
           "only one writer is allowed at a time: try again when it has finished");
    advise(error, LX_ERR_STATE, "use 'loaderx unseal' to do so");
    dataset_advise_repair(error);
    return status;
}
