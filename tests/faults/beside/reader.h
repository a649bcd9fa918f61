/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A process that reads beside the writer, in all ways there are, and judges what it reads.
 */
#ifndef LX_TESTS_FAULTS_BESIDE_READER_H
#define LX_TESTS_FAULTS_BESIDE_READER_H

#include "share.h"

/** Reads until the last phase is over, or something is wrong, and ends the process. */
_Noreturn void reader_run(struct share *share, size_t number, enum fault fault);

#endif
