/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of an export.
 */
#ifndef LX_ZRECORD_EXPORT_OPTIONS_H
#define LX_ZRECORD_EXPORT_OPTIONS_H

#include <loaderx/maintenance.h>

struct lx_export_options {
    const uint64_t *indices; /**< Owned by the caller; NULL for all records. */
    uint64_t count;
    char suffix[LX_MAX_SUFFIX + 1]; /**< Empty if there is none. */
    lx_progress_function progress;
    void *user;
};

#endif
