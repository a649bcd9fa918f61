/* SPDX-License-Identifier: MIT */
#include "zrecord/format/uuid.h"

#include <string.h>

#include "../../unit.h"

START_TEST(converts_text_and_bytes_both_ways)
{
    static const char text[] = "00112233-4455-6677-8899-aabbccddeeff";
    uint8_t uuid[LX__UUID_BYTES];
    char back[LX__UUID_TEXT + 1];
    ck_assert(lx__uuid_parse(text, uuid));
    for (int i = 0; i < LX__UUID_BYTES; i++)
        ck_assert_int_eq(uuid[i], 0x11 * i);
    lx__uuid_print(uuid, back);
    ck_assert_str_eq(back, text);
}
END_TEST

START_TEST(rejects_other_forms)
{
    static const char *const bad[] = {"",
                                      "00112233-4455-6677-8899-aabbccddeef",
                                      "00112233-4455-6677-8899-aabbccddeeff0",
                                      "00112233-4455-6677-8899-AABBCCDDEEFF",
                                      "00112233x4455-6677-8899-aabbccddeeff",
                                      "0011223344556677-8899-aabb-ccddeeff--",
                                      "{0112233-4455-6677-8899-aabbccddeeff}"};
    uint8_t uuid[LX__UUID_BYTES];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!lx__uuid_parse(bad[i], uuid), "%s", bad[i]);
}
END_TEST

START_TEST(new_uuids_are_random_of_version_4)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t a[LX__UUID_BYTES], b[LX__UUID_BYTES];
    unit_ok(lx__uuid_make(a, &error));
    unit_ok(lx__uuid_make(b, &error));
    ck_assert_mem_ne(a, b, sizeof a);
    ck_assert_int_eq(a[6] >> 4, 4);
    ck_assert_int_eq(a[8] >> 6, 2);
}
END_TEST

UNIT_MAIN("zrecord/uuid", converts_text_and_bytes_both_ways, rejects_other_forms,
          new_uuids_are_random_of_version_4)
