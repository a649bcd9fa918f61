/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The time in which a large dataset opens after its writer was killed.
 */
#ifndef LX_TESTS_FAULTS_KILL_REOPEN_H
#define LX_TESTS_FAULTS_KILL_REOPEN_H

#include "../support.h"

#define REOPEN_RECORDS 1000000u

/** Seconds, the minimum over some kills. Processor time is independent of other processes. */
struct reopening {
    double reader, writer;
    double reader_processor, writer_processor;
    uint64_t log; /**< Bytes of the log, the maximum. */
};

/** Makes a dataset at @p path, kills its writer under load a few times, opens it each time, and
 * removes it. Returns false, and the reason in @p why, if it cannot be opened or has the wrong
 * content. */
bool reopen_measure(const char *path, struct reopening *reopening, char *why, size_t size);

#endif
