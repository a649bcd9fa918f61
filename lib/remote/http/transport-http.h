/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The transport for HTTP servers and object stores that speak S3. Each connection is a
 * client of libcurl with keep-alive; HTTP/1.1, because at ranges of 1 MiB, many connections are
 * faster than one that is multiplexed.
 */
#ifndef LX_REMOTE_TRANSPORT_HTTP_H
#define LX_REMOTE_TRANSPORT_HTTP_H

#include "remote/http/http-options.h"
#include "remote/transport/transport.h"

/**
 * Opens a transport, without communicating.
 *
 * @param url      `https://`, `http://` or `s3://bucket/prefix`.
 * @param options  Copied; NULL for the defaults.
 * @retval LX_ERR_ARGUMENT     The URL or a setting in the environment is invalid.
 * @retval LX_ERR_UNSUPPORTED  The scheme is another one.
 * @return Failures to read ~/.aws/config, if the environment does not tell endpoint and region.
 */
lx_status lx__transport_http_open(const char *url, const lx__http_options *options,
                                  lx__transport **transport, lx_error *error);

#endif
