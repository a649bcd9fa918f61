/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief zrecord: a store of records with several fields in a directory.
 *
 * It has three objects. An ::lx_schema names the fields. An ::lx_writer, one at a time for each
 * dataset, appends, changes and deletes records, and commits. An ::lx_dataset reads what is
 * committed, in any number of processes and threads, while the writer continues.
 * maintenance.h and repair.h work on whole datasets. doc/zrecord-format.md describes the files.
 *
 * No byte of a dataset is trusted: whatever a damaged or hostile file holds, a call returns
 * #LX_ERR_CORRUPT, and the error has field, record, file and offset. The exception is a mapped file
 * that another process truncates, or that has a bad sector: see #LX_ACCESS_MMAP.
 */
#ifndef LOADERX_ZRECORD_H
#define LOADERX_ZRECORD_H

#include <loaderx/dataset.h>
#include <loaderx/maintenance.h>
#include <loaderx/npy.h>
#include <loaderx/repair.h>
#include <loaderx/schema.h>
#include <loaderx/writer.h>

#endif
