/* SPDX-License-Identifier: MIT */
#include "parity/megatron-options.h"

#include "base/alloc.h"
#include "base/error.h"

lx_megatron_options *lx_megatron_options_new(void)
{
    lx_megatron_options *options = lx__alloc(sizeof *options);
    if (options != NULL)
        *options = (lx_megatron_options)LX__MEGATRON_DEFAULTS;
    return options;
}

void lx_megatron_options_free(lx_megatron_options *options)
{
    if (options == NULL)
        return;
    lx__free((char *)options->tables);
    lx__free(options);
}

lx_status lx_megatron_options_set_documents(lx_megatron_options *options, uint64_t first,
                                            uint64_t count, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->first_document = first;
    options->document_count = count;
    return LX_OK;
}

lx_status lx_megatron_options_set_tables(lx_megatron_options *options, const char *directory,
                                         lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    char *copy = directory != NULL ? lx__strdup(directory) : NULL;
    if (directory != NULL && copy == NULL)
        return lx__fail_memory(error, "options");
    lx__free((char *)options->tables);
    options->tables = copy;
    return LX_OK;
}

/** Defines the setter of a member, whose value is checked when the source is made. */
#define SETTER(member, type)                                                                       \
    lx_status lx_megatron_options_set_##member(lx_megatron_options *options, type member,          \
                                               lx_error *error)                                    \
    {                                                                                              \
        if (options == NULL)                                                                       \
            return lx__fail_null(error, "options");                                                \
        options->member = member;                                                                  \
        return LX_OK;                                                                              \
    }

SETTER(sequence_length, uint64_t)
SETTER(num_samples, uint64_t)
SETTER(seed, uint64_t)
SETTER(extra_token, bool)
SETTER(drop_last_partial, bool)
SETTER(dtype, lx_dtype)
SETTER(vocabulary, uint64_t)
SETTER(pad, int64_t)
SETTER(eod, int64_t)
SETTER(split_at_eod, bool)
SETTER(mask_eod, bool)
SETTER(columns, unsigned)
