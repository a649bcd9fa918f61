/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Remote datasets: their URLs, and the options for all of them that a subcommand
 * opens.
 */
#ifndef LX_TOOLS_ELSEWHERE_H
#define LX_TOOLS_ELSEWHERE_H

#include <stdbool.h>

#include <loaderx/remote.h>

/** Whether a dataset is remote: its path is a URL. */
bool elsewhere_is(const char *path);

/** Redacts an argument of the command line in its place, if it is a URL, so that nothing prints its
 * secrets. Only elsewhere_get_url() knows them from then on. */
lx_status elsewhere_redact(char *argument, lx_error *error);

/** Returns the URL to open: the argument of the command line at @p path before it was redacted, or
 * @p path itself. */
const char *elsewhere_get_url(const char *path);

/** Takes an option of those for URLs; @p id is #OPTION_CACHE to #OPTION_ANONYMOUS (command.h). */
lx_status elsewhere_take(int id, char *value, lx_error *error);

/** Whether --cache was given. */
bool elsewhere_has_cache(void);

/** Fails if --limit was given without --cache. */
lx_status elsewhere_check(lx_error *error);

/** Fails, before anything is read, if nothing can be written to @p url: it must be one of s3:// or
 * file://, or a path. */
lx_status elsewhere_check_target(const char *url, lx_error *error);

/** Makes options of those that were taken; release them with lx_remote_options_free(). */
lx_status elsewhere_make_options(lx_remote_options **options, lx_error *error);

/** Opens a remote dataset, with the options that were taken. */
lx_status elsewhere_open(const char *url, const lx_dataset_options *options, lx_dataset **dataset,
                         lx_error *error);

#endif
