/* SPDX-License-Identifier: MIT */
/* Names of fields. */
#include "importer/field-name.h"
#include "imports.h"

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

UNIT_MAIN("importer/field-name", options_must_have_valid_names)
