/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Detection of file systems that several machines share.
 *
 * On such a file system, locks do not exclude other machines, writes may become visible out of
 * order, and a mapping shows data from this machine's cache. A host that exports its files to a
 * virtual machine counts as another machine.
 */
#ifndef LX_BASE_FILE_SYSTEM_H
#define LX_BASE_FILE_SYSTEM_H

#include "base/file.h"

/** Returns the name of the network file system that contains @p file; NULL if the file system is
 * local or unknown. */
LX_API const char *lx__file_network(const lx__file *file);

#endif
