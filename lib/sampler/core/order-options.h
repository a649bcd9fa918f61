/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of orders, as their constructors read them.
 */
#ifndef LX_SAMPLER_ORDER_OPTIONS_H
#define LX_SAMPLER_ORDER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/order.h>

/** One bit for each option. */
enum lx__order_option {
    LX__ORDER_LENGTH = 1,
    LX__ORDER_SEED = 2,
    LX__ORDER_TABLES = 4,
    LX__ORDER_BUCKET = 8,
    LX__ORDER_BATCH = 16,
    LX__ORDER_PADDED = 32
};

struct lx_order_options {
    unsigned given;          /**< The options that were set, as bits of ::lx__order_option. */
    bool padded;             /**< Default: false. */
    uint64_t length;         /**< The default depends on the order. */
    uint64_t seed;           /**< Default: 0. */
    uint64_t bucket_size;    /**< Default: 100 batches. */
    uint64_t max_batch_size; /**< Default: 0, no limit. */
    const char *tables;      /**< Default: NULL, no files. */
};

/**
 * Reads the options of a new order. Setting an option that has no effect on the order is an error.
 *
 * @param[in]  options  As given by the caller; may be NULL.
 * @param[in]  allowed  The options that have an effect on the order, as bits of ::lx__order_option.
 * @param[out] taken    Receives the options, with the defaults for those that were not set. The
 *                      strings still belong to @p options.
 * @retval LX_ERR_ARGUMENT  An option that is not in @p allowed was set; the message names it.
 */
LX_API lx_status lx__order_options_take(const lx_order_options *options, unsigned allowed,
                                        lx_order_options *taken, lx_error *error);

#endif
