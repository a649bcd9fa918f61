/* SPDX-License-Identifier: MIT */
#include <loaderx/status.h>
#include <loaderx/version.h>

#include <string.h>

#include "../unit.h"

START_TEST(every_status_has_a_name_and_a_text)
{
    int expected = -1;
#define CHECK_ONE(name, value, text)                                                               \
    ck_assert_int_eq(name, expected--);                                                            \
    ck_assert_str_eq(lx_status_get_name(name), #name);                                             \
    ck_assert_str_eq(lx_status_get_message(name), text);
    LX_STATUS_MAP(CHECK_ONE)
    ck_assert_str_eq(lx_status_get_name(LX_OK), "LX_OK");
    ck_assert_str_eq(lx_status_get_name(LX_END), "LX_END");
    ck_assert_str_eq(lx_status_get_message(LX_OK), "no error");
}
END_TEST

START_TEST(names_values_outside_the_table_unknown)
{
    ck_assert_str_eq(lx_status_get_name((lx_status)-1000), "LX_ERR_UNKNOWN");
    ck_assert_str_eq(lx_status_get_message((lx_status)2), "unknown status");
}
END_TEST

START_TEST(library_and_header_are_of_one_version)
{
    ck_assert_str_eq(lx_get_version(), LX_VERSION_STRING);
}
END_TEST

UNIT_MAIN("base/status", every_status_has_a_name_and_a_text, names_values_outside_the_table_unknown,
          library_and_header_are_of_one_version)
