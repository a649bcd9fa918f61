/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Notices when all requests fail, and says when to log that: after 10 s, then every 60 s,
 * and when it ends. Times are those of executor/clock.h.
 */
#ifndef LX_REMOTE_OUTAGE_H
#define LX_REMOTE_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/status.h>

typedef struct lx__outage {
    uint64_t since; /**< When the first attempt failed; 0: the last one has succeeded. */
    uint64_t next;  /**< When to log it next. */
    bool logged;    /**< Whether it was logged. */
} lx__outage;

/** Reports an attempt that has failed. Returns for how many seconds all have failed, if that should
 * be logged now; otherwise 0. */
uint64_t lx__outage_fail(lx__outage *outage, uint64_t now);

/** Reports an attempt that has succeeded. Returns for how many seconds none has, if an outage that
 * was logged ends with it; otherwise 0. */
uint64_t lx__outage_succeed(lx__outage *outage, uint64_t now);

/** Logs that all requests to @p url have failed for so many seconds, most recently with @p error;
 * or, if that describes no failure, that they succeed again. */
void lx__outage_log(const char *url, uint64_t seconds, const lx_error *error);

#endif
