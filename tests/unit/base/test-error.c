/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "../unit.h"

START_TEST(keeps_the_first_failure)
{
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(lx_fail(&error, LX_ERR_RANGE, "index %d", 7), LX_ERR_RANGE);
    ck_assert_int_eq(lx_fail(&error, LX_ERR_NOMEM, "later"), LX_ERR_NOMEM);
    ck_assert_int_eq(error.status, LX_ERR_RANGE);
    ck_assert_str_eq(error.message, "index 7");

    lx_error_clear(&error);
    ck_assert_int_eq(error.status, LX_OK);
    lx_fail(&error, LX_ERR_NOMEM, "later");
    ck_assert_int_eq(error.status, LX_ERR_NOMEM);
}
END_TEST

START_TEST(keeps_the_innermost_place)
{
    lx_error error = LX_ERROR_INIT;
    lx_error_locate(&error, "nothing failed yet", "f", 1, 2);
    ck_assert_str_eq(error.path, "");

    lx_fail(&error, LX_ERR_CORRUPT, "bad");
    lx_error_locate(&error, "chunk/0.zr", NULL, LX_NONE, 4096);
    lx_error_locate(&error, "dataset", "image", 5, 9);
    ck_assert_str_eq(error.path, "chunk/0.zr");
    ck_assert_str_eq(error.field, "image");
    ck_assert_uint_eq(error.record, 5);
    ck_assert_uint_eq(error.offset, 4096);
}
END_TEST

START_TEST(system_errors_have_errno_and_path)
{
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(lx_fail_errno(&error, ENOSPC, "a/b", "cannot write"), LX_ERR_IO);
    ck_assert_int_eq(error.errnum, ENOSPC);
    ck_assert_str_eq(error.path, "a/b");

    lx_error_clear(&error);
    ck_assert_int_eq(lx_fail_errno(&error, ENOMEM, NULL, "cannot map"), LX_ERR_NOMEM);
    ck_assert_str_eq(error.path, "");
}
END_TEST

START_TEST(describe_names_all_details)
{
    lx_error error = LX_ERROR_INIT;
    char text[2048];
    lx_error_describe(&error, text, sizeof text);
    ck_assert_str_eq(text, "no error");

    lx_fail_errno(&error, EIO, "d/chunk/0.zr", "cannot read");
    lx_error_locate(&error, NULL, "image", 7, 512);
    size_t length = lx_error_describe(&error, text, sizeof text);
    ck_assert_str_eq(text, "d/chunk/0.zr, field 'image', record 7, offset 512: cannot read: "
                           "Input/output error");
    ck_assert_uint_eq(length, strlen(text));

    char small[8];
    ck_assert_uint_eq(lx_error_describe(&error, small, sizeof small), length);
    ck_assert_str_eq(small, "d/chunk");
    ck_assert_uint_eq(lx_error_describe(&error, NULL, 0), length);
}
END_TEST

START_TEST(advice_comes_after_the_text_of_the_system)
{
    lx_error error = LX_ERROR_INIT;
    char text[256];
    lx_fail_errno(&error, ENOENT, "a.lst", "cannot open the list");
    lx__error_append(&error, "; make it first; or name another");
    lx_error_describe(&error, text, sizeof text);
    ck_assert_str_eq(text, "a.lst: cannot open the list: No such file or directory; make it first; "
                           "or name another");
    lx_error_clear(&error);
    lx_fail(&error, LX_ERR_STATE, "it is sealed; unseal it");
    lx_error_describe(&error, text, sizeof text);
    ck_assert_str_eq(text, "it is sealed; unseal it");
}
END_TEST

START_TEST(a_status_without_message_describes_itself)
{
    lx_error error = LX_ERROR_INIT;
    char text[256];
    error.status = LX_ERR_CANCELED;
    lx_error_describe(&error, text, sizeof text);
    ck_assert_str_eq(text, "canceled");
}
END_TEST

START_TEST(long_paths_keep_their_end)
{
    char path[2000], text[4096];
    memset(path, 'x', sizeof path);
    memcpy(path + sizeof path - 5, "/end", 5);
    lx_error error = LX_ERROR_INIT;
    lx_fail(&error, LX_ERR_CORRUPT, "bad");
    lx_error_locate(&error, path, path, 1, 1);
    ck_assert_uint_eq(strlen(error.path), sizeof error.path - 1);
    ck_assert_int_eq(strncmp(error.path, "...", 3), 0);
    ck_assert_str_eq(error.path + strlen(error.path) - 4, "/end");
    ck_assert_uint_lt(lx_error_describe(&error, text, sizeof text), sizeof text);
}
END_TEST

START_TEST(escapes_control_characters_of_files)
{
    lx_error error = LX_ERROR_INIT;
    char line[256];
    lx_fail(&error, LX_ERR_CORRUPT, "'%s' is unknown",
            "\x1b[31m\r\n\x7f\x07 \xc2\x9b"
            "2J \xc3\xa9");
    lx_error_locate(&error, "a/b", "\x1b]0;x\x07", LX_NONE, LX_NONE);
    ck_assert_str_eq(error.message, "'?[31m???? ??2J \xc3\xa9' is unknown");
    ck_assert_str_eq(error.field, "?]0;x?");
    lx_error_describe(&error, line, sizeof line);
    ck_assert_str_eq(line, "a/b, field '?]0;x?': '?[31m???? ??2J \xc3\xa9' is unknown");
}
END_TEST

START_TEST(adds_a_message_to_a_bare_status_of_a_callback)
{
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(lx__error_return(&error, LX_OK, "progress"), LX_OK);
    ck_assert_int_eq(error.status, LX_OK);
    ck_assert_int_eq(lx__error_return(&error, LX_ERR_CANCELED, "progress"), LX_ERR_CANCELED);
    ck_assert_int_eq(error.status, LX_ERR_CANCELED);
    ck_assert_str_eq(error.message, "the progress callback failed without a message");

    lx_error_clear(&error);
    lx_fail(&error, LX_ERR_RANGE, "his own words");
    ck_assert_int_eq(lx__error_return(&error, LX_ERR_CANCELED, "progress"), LX_ERR_CANCELED);
    ck_assert_int_eq(error.status, LX_ERR_RANGE);
    ck_assert_str_eq(error.message, "his own words");
}
END_TEST

START_TEST(appends_to_a_message)
{
    lx_error error = LX_ERROR_INIT;
    char line[1000];
    lx_fail(&error, LX_ERR_CORRUPT, "bad");
    lx__error_append(&error, "; repair %s", "a\033b");
    ck_assert_str_eq(error.message, "bad; repair a?b");
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    lx__error_append(&error, "%s", line);
    ck_assert_uint_eq(strlen(error.message), sizeof error.message - 1);
    lx__error_append(NULL, "x");
}
END_TEST

START_TEST(accepts_no_error_object)
{
    ck_assert_int_eq(lx__error_return(NULL, LX_ERR_CANCELED, "progress"), LX_ERR_CANCELED);
    ck_assert_int_eq(lx_fail(NULL, LX_ERR_RANGE, "x"), LX_ERR_RANGE);
    ck_assert_int_eq(lx_fail_errno(NULL, EIO, "p", "x"), LX_ERR_IO);
    lx_error_locate(NULL, "p", "f", 0, 0);
    lx_error_clear(NULL);
}
END_TEST

UNIT_MAIN("base/error", keeps_the_first_failure, keeps_the_innermost_place,
          system_errors_have_errno_and_path, describe_names_all_details,
          advice_comes_after_the_text_of_the_system, a_status_without_message_describes_itself,
          long_paths_keep_their_end, escapes_control_characters_of_files,
          adds_a_message_to_a_bare_status_of_a_callback, appends_to_a_message,
          accepts_no_error_object)
