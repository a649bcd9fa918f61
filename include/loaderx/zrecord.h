/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The zrecord library, which stores records with several fields in a directory.
 *
 * There are three kinds of objects. An ::lx_schema describes the fields. An ::lx_writer, of which a
 * dataset can have only one at a time, appends, changes and deletes records, and commits. An
 * ::lx_dataset reads committed data, in any number of processes and threads, while the writer
 * continues. The functions of maintenance.h and repair.h work on whole datasets.
 * doc/zrecord-format.md describes the files.
 *
 * The library trusts no byte of a dataset: whatever a damaged or hostile file contains, a call
 * returns #LX_ERR_CORRUPT, and the error reports the field, record, file and offset. The only
 * exception is a memory-mapped file that another process truncates, or that has a bad sector: see
 * #LX_ACCESS_MMAP.
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
