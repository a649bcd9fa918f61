/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The process that writes: it fills a dataset, and changes it at a given pace.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_WRITER_H
#define LX_TESTS_FAULTS_CONCURRENT_WRITER_H

#include "share.h"

/** Fills a new dataset, waits for its phase, writes until the phase ends, and ends the process. */
_Noreturn void writer_run(struct share *share);

#endif
