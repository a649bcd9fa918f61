/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options for HTTP and S3: where servers are, and where credentials come from.
 */
#ifndef LX_REMOTE_HTTP_OPTIONS_H
#define LX_REMOTE_HTTP_OPTIONS_H

#include <stdbool.h>

#include <loaderx/remote.h>

#include "remote/http/tier.h"

/** Zeros are the defaults. */
typedef struct lx__http_options {
    char *endpoint; /**< Owned; NULL: the environment tells. */
    char *region;   /**< Owned; NULL: the environment tells. */
    bool anonymous;
    lx__tier tier; /**< Its nodes are those to ask; which of them fail, each transport knows. */
    lx_get_credentials get_credentials; /**< NULL: the sources of credential-sources.h. */
    void *user;
    unsigned stall_seconds; /**< How long less than 4 KiB/s are tolerated; 0: 10. Tests set it. */
} lx__http_options;

/** Whether @p text is made of letters, digits and "-": it becomes a part of host names. */
bool lx__http_is_region(const char *text);

/** Frees what the options own. */
void lx__http_options_clear(lx__http_options *options);

#endif
