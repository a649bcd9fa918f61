/* SPDX-License-Identifier: MIT */
/* Reading the index of a RecordIO file. */
#include "records.h"

static lx_recordio_index *open_text(const char *text)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_index *index;
    write_bytes("a.idx", text, strlen(text));
    unit_ok(lx_recordio_index_open("a.idx", &index, &error));
    return index;
}

START_TEST(reads_keys_and_offsets)
{
    char *scratch = scratch_make();
    uint64_t position;
    lx_recordio_index *index = open_text("7\t0\nb c\t18446744073709551612\r\n-1\t4\n7\t8");
    static const char *const keys[] = {"7", "b c", "-1", "7"};
    static const uint64_t offsets[] = {0, UINT64_MAX - 3, 4, 8};
    ck_assert_uint_eq(lx_recordio_index_get_count(index), 4);
    for (uint64_t i = 0; i < 4; i++) {
        ck_assert_str_eq(lx_recordio_index_get_key(index, i), keys[i]);
        ck_assert_uint_eq(lx_recordio_index_get_offset(index, i), offsets[i]);
    }
    ck_assert(lx_recordio_index_find(index, "7", &position) && position == 3);
    ck_assert(lx_recordio_index_find(index, "b c", &position) && position == 1);
    ck_assert(!lx_recordio_index_find(index, "8", &position));
    lx_recordio_index_free(index);
    index = open_text("");
    ck_assert_uint_eq(lx_recordio_index_get_count(index), 0);
    ck_assert(!lx_recordio_index_find(index, "7", &position));
    lx_recordio_index_free(index);
    lx_recordio_index_free(NULL);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_lines)
{
    static const char *const texts[] = {"\n",
                                        "a\n",
                                        "a\t\n",
                                        "\t4\n",
                                        "a 4\n",
                                        "a\t5\n",
                                        "a\t-4\n",
                                        "a\t4 \n",
                                        "a\t+4",
                                        "a\t4x\n",
                                        "a\t0x4\n",
                                        "a\t4\tb\n",
                                        "a\t184467440737095516160\n"};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_recordio_index *index;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[100];
        snprintf(text, sizeof text, "0\t0\n%s", texts[i]);
        write_bytes("a.idx", text, strlen(text));
        ck_assert_int_eq(lx_recordio_index_open("a.idx", &index, &error), LX_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.message, "line 2 "));
        ck_assert_str_eq(error.path, "a.idx");
        lx_error_clear(&error);
    }
    write_bytes("a.idx", "a\0b\t4\n", 6);
    unit_fails(lx_recordio_index_open("a.idx", &index, &error), LX_ERR_CORRUPT);
    unit_fails(lx_recordio_index_open("b.idx", &index, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_recordio_index_open(NULL, &index, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_recordio_index_open("a.idx", NULL, &error), LX_ERR_ARGUMENT);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("recordio/recordio-index", reads_keys_and_offsets, rejects_invalid_lines)
