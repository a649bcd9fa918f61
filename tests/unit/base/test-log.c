/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <string.h>

#include "../unit.h"

static char last[512];
static lx_log_level last_level;

static void keep(lx_log_level level, const char *message, void *user)
{
    ++*(int *)user;
    last_level = level;
    snprintf(last, sizeof last, "%s", message);
}

START_TEST(lines_reach_the_hook_until_it_is_removed)
{
    int lines = 0;
    lx__log(LX_LOG_INFO, "without a hook");
    lx_set_log_hook(keep, &lines);
    lx__log(LX_LOG_WARNING, "took %s", "the slow path");
    ck_assert_int_eq(lines, 1);
    ck_assert_int_eq(last_level, LX_LOG_WARNING);
    ck_assert_str_eq(last, "took the slow path");
    lx_set_log_hook(NULL, NULL);
    lx__log(LX_LOG_INFO, "without a hook");
    ck_assert_int_eq(lines, 1);
}
END_TEST

UNIT_MAIN("base/log", lines_reach_the_hook_until_it_is_removed)
