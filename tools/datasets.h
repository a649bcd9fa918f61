/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Several datasets that are open at a time.
 */
#ifndef LX_TOOLS_DATASETS_H
#define LX_TOOLS_DATASETS_H

#include <stddef.h>

#include <loaderx/dataset.h>

/**
 * Opens datasets like dataset_open(), some at a time, since a remote one takes several answers of
 * its server. A signal (interrupt.h) ends this.
 *
 * @param[in]  paths   Their paths or URLs.
 * @param[in]  count   How many there are.
 * @param[out] opened  Receives the datasets: close them with datasets_close(), also on failure.
 * @param[out] error   One of the failures.
 */
lx_status datasets_open(const char *const *paths, size_t count, lx_dataset **opened,
                        lx_error *error);

void datasets_close(lx_dataset **opened, size_t count);

#endif
