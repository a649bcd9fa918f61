/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of lx_remote_open().
 */
#ifndef LX_REMOTE_OPTIONS_H
#define LX_REMOTE_OPTIONS_H

#include <loaderx/remote.h>

#include "remote/http/http-options.h"

struct lx_remote_options {
    char *cache; /**< NULL: none. */
    uint64_t limit;
    uint64_t memory_bytes;
    uint64_t patience_ns;
    uint32_t connections; /**< 0: as many as suit the transport. */
    lx__http_options http;
};

#endif
