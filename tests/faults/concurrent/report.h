/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a run reports: for people, and as JSON.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_REPORT_H
#define LX_TESTS_FAULTS_CONCURRENT_REPORT_H

#include "share.h"
#include "watch.h"

/** How often the reader that is not measured was stopped and killed; seconds with the writer. */
struct ordeal {
    unsigned stopped, killed;
    double seconds;
};

void report_print(const struct share *share, const struct watch *watch, const struct ordeal *ordeal,
                  bool as_json);

#endif
