/* SPDX-License-Identifier: MIT */
#include "base/boot-id.h"

#include <sys/resource.h>

#include "base/bytes.h"

#include "../unit.h"

START_TEST(the_boot_id_is_known_and_constant)
{
    char text[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file == NULL) {
        ck_assert_uint_eq(lx__boot_id(), 0);
        return;
    }
    ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
    fclose(file);
    uint8_t bytes[8];
    unsigned first, second, third;
    ck_assert_int_eq(sscanf(text, "%8x-%4x-%4x", &first, &second, &third), 3);
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(first >> (24 - 8 * i));
    bytes[4] = (uint8_t)(second >> 8), bytes[5] = (uint8_t)second;
    bytes[6] = (uint8_t)(third >> 8), bytes[7] = (uint8_t)third;
    ck_assert_uint_eq(lx__boot_id(), lx__load_le64(bytes));
}
END_TEST

START_TEST(a_failed_read_of_the_boot_id_is_an_error)
{
    lx_error error = LX_ERROR_INIT;
    struct rlimit limit;
    uint64_t boot = 1;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file != NULL)
        fclose(file);
    unit_ok(lx__boot_id_read(&boot, &error));
    ck_assert_uint_eq(boot, lx__boot_id());
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    lx_status status = lx__boot_id_read(&boot, &error);
    limit.rlim_cur = before;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(status, file != NULL ? LX_ERR_IO : LX_OK);
    ck_assert_uint_eq(boot, 0);
}
END_TEST

UNIT_MAIN("base/boot-id", the_boot_id_is_known_and_constant,
          a_failed_read_of_the_boot_id_is_an_error)
