/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The report of a run: as text, and as JSON.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_REPORT_H
#define LX_TESTS_FAULTS_CONCURRENT_REPORT_H

#include "share.h"
#include "watch.h"

/** The number of stops and kills of the unmeasured reader; seconds with the writer. */
struct ordeal {
    unsigned stopped, killed;
    double seconds;
};

void report_print(const struct share *share, const struct watch *watch, const struct ordeal *ordeal,
                  bool as_json);

#endif
