/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Detection of file systems that several machines share.
 *
 * On such a file system, locks do not exclude other machines, writes may become visible in an order
 * other than the one in which they were made, and a mapping shows what this machine has cached. A
 * host that exports its files to a virtual machine counts as another machine.
 */
#ifndef LX_BASE_FILE_SYSTEM_H
#define LX_BASE_FILE_SYSTEM_H

#include "base/file.h"

/** The name of the network file system that contains @p file; NULL if it is local or unknown. */
LX_API const char *lx__file_network(const lx__file *file);

#endif
