/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Packs the images of a plan into files.
 */
#ifndef LX_TOOLS_PACK_JOB_H
#define LX_TOOLS_PACK_JOB_H

#include <stdbool.h>

#include <loaderx/executor.h>

#include "image-recoder.h"
#include "pack-plan.h"

/** A job. Members from @c packed on are what it did. */
typedef struct pack_job {
    const image_list *list;
    const pack_plan *plan;
    const char *root; /**< The folder of the paths. */
    image_recoding recoding;
    lx_executor *executor;
    bool skip, resume, replace, quiet, json;
    uint64_t packed, skipped, resumed, bytes;
    extensions skipped_extensions; /**< Without the images before an interruption. */
    double seconds;
} pack_job;

/** Packs all files; they appear when all are complete. */
lx_status pack_job_run(pack_job *self, lx_error *error);

/** Prints the summary. */
lx_status pack_job_print(const pack_job *self, lx_error *error);

#endif
