/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One run of all processes.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_RUN_H
#define LX_TESTS_FAULTS_CONCURRENT_RUN_H

#include "report.h"
#include "share.h"
#include "watch.h"

/** Runs a writer and readers. Returns false, and the reason in @p why, if any check failed. */
bool run_all(struct share *share, struct watch *watch, struct ordeal *ordeal, char *why,
             size_t size);

/** Runs a writer and a faulty reader; @p why receives the detected failure. Returns false if the
 * fault was not detected. */
bool run_fault(struct share *share, enum fault fault, char *why, size_t size);

#endif
