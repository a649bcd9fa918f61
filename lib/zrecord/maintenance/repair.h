/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A repair in place, of which a recovery into a new directory makes use, too.
 */
#ifndef LX_ZRECORD_REPAIR_H
#define LX_ZRECORD_REPAIR_H

#include <loaderx/maintenance.h>

#include "base/file.h"

struct lx_repair_options {
    lx_repair_mode mode;
    bool apply;
    lx_finding_function found;
    void *found_user;
    lx_progress_function progress;
    void *progress_user;
};

/** What a repair has found and done. */
typedef struct lx__repair {
    const lx_repair_options *options;
    bool apply;
    lx_repair_result result;
    lx_error first;    /**< The first damage that stays. */
    const char *path;  /**< What is repaired. Where findings name a file of it, */
    const char *shown; /**< they show this path for it. */
} lx__repair;

/** A repair that has found nothing yet. @p options may be NULL. */
lx__repair lx__repair_of(const char *path, const lx_repair_options *options, bool apply);

/** Reports a finding to the caller's function. */
lx_status lx__repair_report(lx__repair *self, lx_repair_action action, const lx_error *damage,
                            lx_error *error);

/** Finds what is damaged at the path of @p self, and repairs it if that is to be applied.
 * @retval LX_ERR_CORRUPT  It cannot be repaired in place. Damages that are only reported are no
 *                         failure here. */
lx_status lx__repair_run(lx__repair *self, lx_error *error);

/** Fails if @p name is a symbolic link: its target is not lost, but is where no reader looks. */
lx_status lx__repair_refuse_link(const lx__file *directory, const char *name, lx_error *error);

/** Opens a file for reading, and measures it; one that is absent, or not a file, is closed and has
 * 0 bytes. A link is refused. */
lx_status lx__repair_open(lx__file *file, const lx__file *directory, const char *name,
                          uint64_t *bytes, lx_error *error);

#endif
