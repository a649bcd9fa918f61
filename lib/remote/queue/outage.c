/* SPDX-License-Identifier: MIT */
#include "remote/queue/outage.h"

#include <inttypes.h>

#include "base/log.h"

#define SECOND 1000000000u
#define FIRST ((uint64_t)10 * SECOND)
#define REPEAT ((uint64_t)60 * SECOND)

uint64_t lx__outage_fail(lx__outage *outage, uint64_t now)
{
    if (outage->since == 0)
        *outage = (lx__outage){.since = now, .next = now + FIRST};
    if (now < outage->next)
        return 0;
    outage->next = now + REPEAT;
    outage->logged = true;
    return (now - outage->since) / SECOND;
}

uint64_t lx__outage_succeed(lx__outage *outage, uint64_t now)
{
    uint64_t seconds = outage->logged ? (now - outage->since) / SECOND : 0;
    *outage = (lx__outage){0};
    return seconds;
}

void lx__outage_log(const char *url, uint64_t seconds, const lx_error *error)
{
    char text[sizeof error->path + sizeof error->message + 128];
    if (error->status == LX_OK) {
        lx__log(LX_LOG_INFO, "%s answers again, after %" PRIu64 " s", url, seconds);
        return;
    }
    lx_error_describe(error, text, sizeof text);
    lx__log(LX_LOG_WARNING, "all requests to %s have failed for %" PRIu64 " s: %s", url, seconds,
            text);
}
