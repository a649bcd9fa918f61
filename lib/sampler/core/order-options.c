/* SPDX-License-Identifier: MIT */
#include "sampler/core/order-options.h"

#include "base/alloc.h"
#include "base/error.h"

lx_order_options *lx_order_options_new(void)
{
    return lx__alloc_array(1, sizeof(lx_order_options));
}

void lx_order_options_free(lx_order_options *options)
{
    if (options == NULL)
        return;
    lx__free((char *)options->tables);
    lx__free(options);
}

lx_status lx_order_options_set_length(lx_order_options *options, uint64_t length, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->length = length;
    options->given |= LX__ORDER_LENGTH;
    return LX_OK;
}

lx_status lx_order_options_set_seed(lx_order_options *options, uint64_t seed, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->seed = seed;
    options->given |= LX__ORDER_SEED;
    return LX_OK;
}

lx_status lx_order_options_set_tables(lx_order_options *options, const char *directory,
                                      lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    char *copy = directory != NULL ? lx__strdup(directory) : NULL;
    if (directory != NULL && copy == NULL)
        return lx__fail_memory(error, "options");
    lx__free((char *)options->tables);
    options->tables = copy;
    options->given &= ~(unsigned)LX__ORDER_TABLES;
    if (copy != NULL)
        options->given |= LX__ORDER_TABLES;
    return LX_OK;
}

lx_status lx_order_options_set_bucket_size(lx_order_options *options, uint64_t size,
                                           lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->bucket_size = size;
    options->given |= LX__ORDER_BUCKET;
    return LX_OK;
}

lx_status lx_order_options_set_max_batch_size(lx_order_options *options, uint64_t size,
                                              lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->max_batch_size = size;
    options->given |= LX__ORDER_BATCH;
    return LX_OK;
}

lx_status lx_order_options_set_padded(lx_order_options *options, bool padded, lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    options->padded = padded;
    options->given |= LX__ORDER_PADDED;
    return LX_OK;
}

lx_status lx__order_options_take(const lx_order_options *options, unsigned allowed,
                                 lx_order_options *taken, lx_error *error)
{
    static const char *const names[] = {"length",      "seed",           "tables",
                                        "bucket_size", "max_batch_size", "padded"};
    *taken = options != NULL ? *options : (lx_order_options){0};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if ((taken->given & ~allowed & 1U << i) != 0)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "%s: this option has no effect on the order: leave it unset", names[i]);
    return LX_OK;
}
