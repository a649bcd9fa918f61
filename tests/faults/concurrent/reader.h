/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A process that reads in all ways while the writer writes, and checks what it reads.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_READER_H
#define LX_TESTS_FAULTS_CONCURRENT_READER_H

#include "share.h"

/** Reads until the last phase ends or a check fails, and ends the process. */
_Noreturn void reader_run(struct share *share, size_t number, enum fault fault);

#endif
