/* SPDX-License-Identifier: MIT */
/* The format "lines". */
#include "imports.h"

START_TEST(each_line_is_a_record)
{
    char *scratch = scratch_make();
    import_text("lines", "one\r\ntwo\n\nthr\ree\nh\xc3\xa9llo");
    expect_schema("d", "text:str");
    expect_length("d", 5);
    expect_text("d", 0, "text", "one");
    expect_text("d", 1, "text", "two");
    expect_text("d", 2, "text", "");
    expect_text("d", 3, "text", "thr\ree");
    expect_text("d", 4, "text", "h\xc3\xa9llo");
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_last_line_may_end_with_a_line_feed)
{
    char *scratch = scratch_make();
    import_text("lines", "one\ntwo\n");
    expect_length("d", 2);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_field_has_the_name_that_is_asked_for)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("input", "one\n");
    lx_importer *importer = importer_of("lines", "input");
    unit_ok(lx_importer_set_option(importer, "field", "line", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "line:str");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(invalid_utf8_is_refused_with_its_place)
{
    char *scratch = scratch_make();
    refuse_text("lines", "good\nbad \xff here\nmore\n", LX_ERR_CORRUPT, 1, 5, "byte 4");
    /* An overlong form, a surrogate, and a truncated character. */
    refuse_text("lines", "\xc0\x80\n", LX_ERR_CORRUPT, 0, 0, "UTF-8");
    refuse_text("lines", "\xed\xa0\x80\n", LX_ERR_CORRUPT, 0, 0, "UTF-8");
    refuse_text("lines", "a\nb\nabc\xe2\x82", LX_ERR_CORRUPT, 2, 4, "byte 3");
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_byte_order_mark_is_not_a_part_of_the_text)
{
    char *scratch = scratch_make();
    import_text("lines", "\xef\xbb\xbfone\n\xef\xbb\xbftwo");
    expect_text("d", 0, "text", "one");
    expect_text("d", 1, "text", "\xef\xbb\xbftwo");
    lx_dataset_remove("d", NULL);
    import_text("lines", "\xef\xbb\xbf\n");
    expect_length("d", 1);
    expect_text("d", 0, "text", "");
    scratch_remove(scratch);
}
END_TEST

START_TEST(lines_of_bytes_need_not_be_utf8)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    put_text("input", "good\nbad \xff here\n");
    lx_importer *importer = importer_of("lines", "input");
    unit_ok(lx_importer_set_field(importer, "text", "bytes", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_text("d", 1, "text", "bad \xff here");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_refused_and_the_next_one_is_found)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    size_t size = (size_t)3 << 20;
    char *text = malloc(size + 16);
    memset(text, 'x', size);
    memcpy(text, "first\n", 6);
    memcpy(text + size, "\nlast\n", 7);
    put_text("input", text);
    free(text);
    lx_importer *importer = importer_of("lines", "input");
    unit_ok(lx_importer_set_record_limit(importer, 1000, &error));
    unit_fails(lx_importer_run(importer, "stopped", NULL, &error), LX_ERR_LIMIT);
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 2);
    expect_text("d", 1, "text", "last");
    const lx_error *bad = lx_importer_get_bad(importer, 0);
    ck_assert_ptr_nonnull(bad);
    ck_assert_ptr_null(lx_importer_get_bad(importer, 1));
    ck_assert_int_eq(bad->status, LX_ERR_LIMIT);
    ck_assert_uint_eq(bad->record, 1);
    ck_assert_uint_eq(bad->offset, 6);
    ck_assert_str_eq(bad->path, "input");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-lines", each_line_is_a_record, the_last_line_may_end_with_a_line_feed,
          the_field_has_the_name_that_is_asked_for, invalid_utf8_is_refused_with_its_place,
          lines_of_bytes_need_not_be_utf8, a_byte_order_mark_is_not_a_part_of_the_text,
          a_line_that_is_too_long_is_refused_and_the_next_one_is_found)
