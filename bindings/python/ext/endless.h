/* SPDX-License-Identifier: MIT */
#ifndef LXPY_ENDLESS_H
#define LXPY_ENDLESS_H

#include <loaderx/loader.h>

/* Records of an endless source: more than anybody will read. Loaders end before it, at the last
 * multiple of their batch. */
#define LXPY_ENDLESS ((uint64_t)1 << 62)

/* A source over the records of @p inner as @p order has them. Both are referenced. A failure
 * without a message in @p error is LX_ERR_NOMEM. */
lx_status lxpy_endless_new(lx_source *inner, lx_order *order, lx_source **source, lx_error *error);

#endif
