/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies images between RecordIO files and datasets as they are.
 */
#ifndef LX_TOOLS_PACK_CONVERT_H
#define LX_TOOLS_PACK_CONVERT_H

#include "pack-job.h"

/** Copies the records of a RecordIO file, whose headers are MXNet's, to @p output. */
lx_status pack_convert_records(pack_job *self, const char *input, const char *output,
                               lx_error *error);

/** Copies the records of a dataset that has one field of the type image, the field label (float32
 * or int64) and, unless ids are indices, the field id (uint64). */
lx_status pack_convert_dataset(pack_job *self, const char *input, const char *output,
                               lx_error *error);

#endif
