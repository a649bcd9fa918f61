/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of an export, as the export reads them.
 */
#ifndef LX_ZRECORD_EXPORT_OPTIONS_H
#define LX_ZRECORD_EXPORT_OPTIONS_H

#include <loaderx/maintenance.h>

struct lx_export_options {
    const uint64_t *indices; /**< The caller's. NULL: all records. */
    uint64_t count;
    char suffix[LX_MAX_SUFFIX + 1]; /**< "" for none. */
    lx_progress_function progress;
    void *user;
};

#endif
