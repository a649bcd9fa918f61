/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Steps that read from a dataset, wherever it is.
 */
#ifndef LX_TESTS_FAULTS_FAILING_READERS_H
#define LX_TESTS_FAULTS_FAILING_READERS_H

#include "run.h"

/** Calls the functions of a dataset, and compares what they read with the pending version. */
void readers_take_steps(struct run *run, lx_dataset *dataset);

#endif
