/* SPDX-License-Identifier: MIT */
#include "remote/http/utc-time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

bool lx__utc_time_parse(const char *text, uint64_t *seconds)
{
    struct tm tm = {0};
    int used = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec, &used) != 6)
        return false;
    text += used;
    if (*text == '.')
        text += 1 + strspn(text + 1, "0123456789");
    if (strcmp(text, "Z") != 0 && strcmp(text, "+00:00") != 0)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    time_t time = timegm(&tm);
    *seconds = time > 0 ? (uint64_t)time : 0;
    return time > 0;
}
