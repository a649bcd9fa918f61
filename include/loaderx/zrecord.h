/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The zrecord library, which stores records with several fields in a directory.
 *
 * There are three kinds of objects. An ::lx_schema describes the fields. An ::lx_writer appends,
 * changes and deletes records, and commits; a dataset can have only one writer at a time. An
 * ::lx_dataset reads committed data, in any number of processes and threads, while the writer
 * continues. The functions of maintenance.h and repair.h work on whole datasets.
 * doc/zrecord-format.md describes the file formats.
 *
 * The library does not trust any byte of a dataset. If a file is damaged or hostile, a call that
 * reads it returns #LX_ERR_CORRUPT, and the error reports the field, record, file and offset. The
 * only exception is a memory-mapped file that another process truncates, or that contains a bad
 * sector: see #LX_ACCESS_MMAP.
 */
#ifndef LOADERX_ZRECORD_H
#define LOADERX_ZRECORD_H

#include <loaderx/arrow.h>
#include <loaderx/card.h>
#include <loaderx/dataset.h>
#include <loaderx/maintenance.h>
#include <loaderx/npy.h>
#include <loaderx/repair.h>
#include <loaderx/schema.h>
#include <loaderx/writer.h>

#endif
