/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief zrecord: a store of N records of several fields in a directory.
 *
 * Three objects. An ::lx_schema names the fields. An ::lx_writer, one a dataset at a time,
 * appends records, changes and deletes them, and commits. An ::lx_dataset reads what was committed,
 * in any number of processes and threads, beside the writer. What is done to a dataset as a whole
 * is in upkeep.h. The files are described in doc/zrecord-format.md.
 *
 * Records have no order but their index; an order in time or by key belongs inside the records.
 *
 * A dataset's bytes are never trusted: whatever a damaged or hostile file holds, a call answers
 * with #LX_ERR_CORRUPT that names field, record, file and offset. The exception is a mapped file
 * that another process truncates, or that lies on a bad sector: see #LX_PLACEMENT_MAPPED.
 */
#ifndef LOADERX_ZRECORD_H
#define LOADERX_ZRECORD_H

#include <loaderx/dataset.h>
#include <loaderx/npy.h>
#include <loaderx/schema.h>
#include <loaderx/upkeep.h>
#include <loaderx/writer.h>

#endif
