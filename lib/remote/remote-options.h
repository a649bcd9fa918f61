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
    lx__http_options http;
};

#endif
