/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Steps that exchange records through the Arrow C data interface.
 */
#ifndef LX_TESTS_FAULTS_FAILING_ARROWS_H
#define LX_TESTS_FAULTS_FAILING_ARROWS_H

#include "run.h"

/** Appends the @p count last records of the pending version as an Arrow array. Returns whether that
 * succeeded. */
bool arrows_append(struct run *run, lx_writer *writer, uint64_t count);

/** Reads all records as an Arrow stream, and makes a schema for them. */
void arrows_read(struct run *run, lx_dataset *dataset);

#endif
