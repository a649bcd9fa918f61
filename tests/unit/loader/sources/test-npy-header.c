/* SPDX-License-Identifier: MIT */
#include "loader/sources/npy-header.h"

#include "../../scratch.h"
#include "../npy-file.h"

#define GOOD "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }          \n"

/** Reads the header of "a.npy". */
static lx_status read_file(lx_npy_info *npy, lx_error *error)
{
    lx__file file = LX__FILE_CLOSED;
    lx_status status = lx__file_open(&file, LX__CWD, "a.npy", O_RDONLY, error);
    ck_assert_int_eq(status, LX_OK);
    status = lx__npy_read(&file, npy, error);
    lx__file_close(&file);
    return status;
}

START_TEST(all_three_formats_are_read)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    for (int version = 1; version <= 3; version++) {
        lx_npy_info npy;
        size_t start = write_npy("a.npy", version, GOOD, 24);
        unit_ok(read_file(&npy, &error));
        ck_assert_uint_eq(npy.header_size, start);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_other_kinds_and_versions_as_unsupported)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_npy_info npy;
    write_bytes("a.npy", "PK\x03\x04 this is an archive", 24);
    unit_fails(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    write_npy("a.npy", 0, GOOD, 24);
    unit_fails(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    write_npy("a.npy", 4, GOOD, 24);
    ck_assert_int_eq(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "version 4.0"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_truncated_files_as_corrupt)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_npy_info npy;
    size_t start = write_npy("a.npy", 1, GOOD, 24);
    for (size_t size = 0; size < start + 24; size++) {
        ck_assert_int_eq(truncate("a.npy", (off_t)size), 0);
        unit_fails(read_file(&npy, &error), LX_ERR_CORRUPT);
        write_npy("a.npy", 1, GOOD, 24);
    }
    ck_assert_int_eq(truncate("a.npy", (off_t)start + 20), 0);
    ck_assert_int_eq(read_file(&npy, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "24 bytes, but only 20 follow the header"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_lengths_beyond_the_file_before_allocating)
{
    static const char *const shapes[] = {"(7, 1)",
                                         "(9223372036854775808,)",
                                         "(18446744073709551615,)",
                                         "(4294967296, 4294967296)",
                                         "(4611686018427387904, 4)",
                                         "(4611686018427387905,)",
                                         "(1, 2, 3, 4, 5, 18446744073709551615)"};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_npy_info npy;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}",
                 shapes[i]);
        write_npy("a.npy", 1, text, 24);
        unit_fails(read_file(&npy, &error), LX_ERR_CORRUPT);
    }
    uint8_t header[64] = "\x93NUMPY\x02";
    memset(header + 8, 0xff, 4);
    write_bytes("a.npy", header, sizeof header);
    unit_fails(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_header_without_text_as_corrupt)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_npy_info npy;
    write_npy("a.npy", 1, "", 24);
    unit_fails(read_file(&npy, &error), LX_ERR_CORRUPT);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_big_endian_arrays_as_unsupported)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_npy_info npy;
    write_npy("a.npy", 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2)}", 24);
    ck_assert_int_eq(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "newbyteorder"));
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/npy-header", all_three_formats_are_read,
          reports_other_kinds_and_versions_as_unsupported, reports_truncated_files_as_corrupt,
          rejects_lengths_beyond_the_file_before_allocating,
          reports_a_header_without_text_as_corrupt, reports_big_endian_arrays_as_unsupported)
