/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Which file systems are shared by several machines.
 *
 * There a lock keeps nobody on another machine away, writes may be seen in another order than that
 * in which they were made, and a mapping shows what this machine has cached. A kernel that serves
 * its files to a virtual machine is another machine, too.
 */
#ifndef LX_BASE_FILE_SYSTEM_H
#define LX_BASE_FILE_SYSTEM_H

#include "base/file.h"

/** The name of the network file system that @p file is on; NULL: it is a local one, or it cannot be
 * told. */
LX_API const char *lx__file_network(const lx__file *file);

#endif
