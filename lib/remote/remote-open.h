/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What leads to a URL: its transport, and how to use it.
 */
#ifndef LX_REMOTE_OPEN_H
#define LX_REMOTE_OPEN_H

#include <loaderx/remote.h>

#include "remote/queue/request-queue.h"

/**
 * Makes the transport of a URL.
 *
 * @param[in]  options  NULL: the defaults.
 * @param[in]  write    For writing: the directory of a `file://` URL need not exist.
 * @param[out] limits   Receives those that the options ask for.
 * @retval LX_ERR_ARGUMENT     The URL is malformed.
 * @retval LX_ERR_UNSUPPORTED  Its scheme is unknown.
 */
lx_status lx__transport_open(const char *url, const lx_remote_options *options, bool write,
                             lx__transport **transport, lx__request_limits *limits,
                             lx_error *error);

#endif
