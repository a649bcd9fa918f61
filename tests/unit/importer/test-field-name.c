/* SPDX-License-Identifier: MIT */
/* Names of fields. */
#include "importer/field-name.h"
#include "imports.h"

START_TEST(names_of_inputs_become_valid)
{
    lx_error error = LX_ERROR_INIT;
    char name[LX_MAX_FIELD_NAME + 1], longest[LX_MAX_FIELD_NAME + 2];
    static const char *const cases[][2] = {
        {"a", "a"}, {"size (cm)", "size__cm_"}, {".a.b-C_9", "_a.b-C_9"}, {"\xc3\xa9/", "___"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unit_ok(lx__field_name_make(cases[i][0], name, &error));
        ck_assert_str_eq(name, cases[i][1]);
    }
    memset(longest, 'x', sizeof longest);
    longest[LX_MAX_FIELD_NAME] = '\0';
    unit_ok(lx__field_name_make(longest, name, &error));
    ck_assert_str_eq(name, longest);
    longest[LX_MAX_FIELD_NAME] = 'x';
    longest[LX_MAX_FIELD_NAME + 1] = '\0';
    unit_fails(lx__field_name_make(longest, name, &error), LX_ERR_ARGUMENT);
    unit_fails(lx__field_name_make("", name, &error), LX_ERR_ARGUMENT);
}
END_TEST

/* A name that the caller wrote is not changed. */
START_TEST(options_must_have_valid_names)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const options[][2] = {
        {"lines", "field"}, {"tar", "key"}, {"tfrecord", "raw"}};
    unit_ok(lx__field_name_check("field", "a.b", &error));
    unit_fails(lx__field_name_check("field", ".a", &error), LX_ERR_ARGUMENT);
    put_text("input", "text\n");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        lx_importer *importer = importer_of(options[i][0], "input");
        lx_error_clear(&error);
        unit_ok(lx_importer_set_option(importer, options[i][1], "a/b", &error));
        ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_ARGUMENT);
        ck_assert_ptr_nonnull(strstr(error.message, "'a/b'"));
        ck_assert_int_eq(access("d", F_OK), -1);
        lx_importer_free(importer);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/field-name", names_of_inputs_become_valid, options_must_have_valid_names)
