/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A process that reads while the writer writes, in all ways, and checks what it reads.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_READER_H
#define LX_TESTS_FAULTS_CONCURRENT_READER_H

#include "share.h"

/** Reads until the last phase is over, or something is wrong, and ends the process. */
_Noreturn void reader_run(struct share *share, size_t number, enum fault fault);

#endif
