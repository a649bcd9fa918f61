/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The files of a place as zrecord reads them: providers of lx__file.
 */
#ifndef LX_REMOTE_PROVIDER_H
#define LX_REMOTE_PROVIDER_H

#include "base/file.h"
#include "remote/place.h"

/** Opens the directory of the dataset at @p place, to which it holds a reference. */
lx_status lx__remote_directory_open(lx__place *place, lx__file *directory, lx_error *error);

/** Returns the place of a directory; NULL if it is not one that lx__remote_directory_open() has
 * opened. */
lx__place *lx__remote_directory_get_place(const lx__file *directory);

#endif
