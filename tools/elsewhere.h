/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Datasets that are elsewhere: their URLs, and the options for all of them that a subcommand
 * opens.
 */
#ifndef LX_TOOLS_ELSEWHERE_H
#define LX_TOOLS_ELSEWHERE_H

#include <stdbool.h>

#include <loaderx/dataset.h>

/** Whether a dataset is elsewhere: its path is a URL. */
bool elsewhere_is(const char *path);

/** Takes the value of --cache or --limit; @p id is that of the option (command.h). */
lx_status elsewhere_take(int id, char *value, lx_error *error);

/** Whether --cache was given. */
bool elsewhere_has_cache(void);

/** Fails if --limit was given without --cache. */
lx_status elsewhere_check(lx_error *error);

/** Opens a dataset that is elsewhere, with the options that were taken. */
lx_status elsewhere_open(const char *url, const lx_dataset_options *options, lx_dataset **dataset,
                         lx_error *error);

#endif
