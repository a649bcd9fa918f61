/* SPDX-License-Identifier: MIT */
#include "loader/npy.h"

#include "../scratch.h"
#include "npy-file.h"

#define GOOD "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }          \n"

static lx_status parse(const char *text, lx__npy *npy, lx_error *error)
{
    /* An exact copy, so that a byte read behind it is seen by the sanitizers. */
    size_t size = strlen(text);
    char *copy = malloc(size != 0 ? size : 1);
    memcpy(copy, text, size);
    lx_status status = lx__npy_parse(copy, size, npy, error);
    free(copy);
    return status;
}

START_TEST(what_numpy_writes_is_read)
{
    lx_error error = LX_ERROR_INIT;
    lx__npy npy;
    unit_ok(parse(GOOD, &npy, &error));
    ck_assert_int_eq(npy.dtype, LX_FLOAT32);
    ck_assert_uint_eq(npy.ndim, 2);
    ck_assert_uint_eq(npy.shape[0], 3);
    ck_assert_uint_eq(npy.shape[1], 2);
    unit_ok(parse("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", &npy, &error));
    ck_assert_uint_eq(npy.ndim, 0);
    unit_ok(parse("{'descr': '<u8', 'fortran_order': False, 'shape': (5,), }", &npy, &error));
    ck_assert_uint_eq(npy.ndim, 1);
    ck_assert_uint_eq(npy.shape[0], 5);
}
END_TEST

START_TEST(other_spellings_of_the_dict_are_read)
{
    static const char *const texts[] = {
        "{\"shape\":(3,2),\"fortran_order\":False,\"descr\":\"<f4\"}",
        "  {'shape' : ( 3 , 2 , ) , 'descr' : '<f4' , 'fortran_order' : False }\n\n",
        "{'descr':'<f4','fortran_order':False,'shape':(3,2)}"};
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lx__npy npy = {0};
        unit_ok(parse(texts[i], &npy, &error));
        ck_assert_uint_eq(npy.ndim, 2);
        ck_assert_uint_eq(npy.shape[1], 2);
        ck_assert_int_eq(npy.dtype, LX_FLOAT32);
    }
}
END_TEST

START_TEST(every_dtype_has_its_code)
{
    static const struct {
        const char *code;
        lx_dtype dtype;
    } all[] = {{"|b1", LX_BOOL},     {"|i1", LX_INT8},     {"<i2", LX_INT16},
               {"<i4", LX_INT32},    {"<i8", LX_INT64},    {"|u1", LX_UINT8},
               {"<u2", LX_UINT16},   {"<u4", LX_UINT32},   {"<u8", LX_UINT64},
               {"<f2", LX_FLOAT16},  {"<f4", LX_FLOAT32},  {"<f8", LX_FLOAT64},
               {"<c8", LX_COMPLEX64}, {"<c16", LX_COMPLEX128}};
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[100];
        lx__npy npy;
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}",
                 all[i].code);
        unit_ok(parse(text, &npy, &error));
        ck_assert_int_eq(npy.dtype, all[i].dtype);
    }
}
END_TEST

/** A header that has all but one thing right, and what must be said of it. */
struct refusal {
    const char *text;
    lx_status status;
    const char *part; /* of the message */
};

static void expect_refusals(const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__npy npy;
        lx_status status = parse(refusals[i].text, &npy, &error);
        ck_assert_msg(status == refusals[i].status, "%s: %s", refusals[i].text,
                      lx_status_name(status));
        ck_assert_msg(strstr(error.message, refusals[i].part) != NULL, "%s: %s", refusals[i].text,
                      error.message);
    }
}

START_TEST(what_cannot_be_read_says_what_to_do)
{
    static const struct refusal refusals[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", LX_ERR_UNSUPPORTED,
         "ascontiguousarray"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2)}", LX_ERR_UNSUPPORTED,
         "newbyteorder"},
        {"{'descr': '>c16', 'fortran_order': False, 'shape': (3, 2)}", LX_ERR_UNSUPPORTED,
         "newbyteorder"},
        {"{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (3,)}",
         LX_ERR_UNSUPPORTED, "structured"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED, "'|O'"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED, "'<U5'"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED,
         "'<M8[ns]'"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED, "'<f16'"},
    };
    expect_refusals(refusals, sizeof refusals / sizeof *refusals);
}
END_TEST

START_TEST(an_array_of_one_axis_has_no_fortran_order)
{
    lx_error error = LX_ERROR_INIT;
    lx__npy npy;
    unit_ok(parse("{'descr': '<f4', 'fortran_order': True, 'shape': (3,)}", &npy, &error));
    unit_ok(parse("{'descr': '<f4', 'fortran_order': True, 'shape': ()}", &npy, &error));
}
END_TEST

START_TEST(damaged_headers_are_corrupt)
{
    static const struct refusal refusals[] = {
        {"", LX_ERR_CORRUPT, "header"},
        {"{", LX_ERR_CORRUPT, "header"},
        {"{}", LX_ERR_CORRUPT, "header"},
        {"'descr'", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'shape': (3,)}", LX_ERR_CORRUPT, "header"},
        {"{'fortran_order': False, 'shape': (3,)}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '', 'fortran_order': False, 'shape': (3,)}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': None, 'shape': (3,)}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3)}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 3}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3.0,)}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
         LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'other': 1, 'shape': (3,)}", LX_ERR_CORRUPT,
         "header"},
    };
    expect_refusals(refusals, sizeof refusals / sizeof *refusals);
}
END_TEST

START_TEST(too_many_axes_are_corrupt)
{
    char text[1000] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    lx_error error = LX_ERROR_INIT;
    lx__npy npy;
    for (int i = 0; i < LX_NDIM_MAX; i++)
        strcat(text, "1,");
    size_t end = strlen(text);
    strcpy(text + end, ")}");
    unit_ok(parse(text, &npy, &error));
    ck_assert_uint_eq(npy.ndim, LX_NDIM_MAX);
    strcpy(text + end, "1)}");
    unit_fails(parse(text, &npy, &error), LX_ERR_CORRUPT);
}
END_TEST

/** Reads the file "a.npy". */
static lx_status read_file(lx__npy *npy, lx_error *error)
{
    lx__file file = LX__FILE_CLOSED;
    lx_status status = lx__file_open(&file, LX__HERE, "a.npy", O_RDONLY, error);
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
        lx__npy npy;
        size_t start = write_npy("a.npy", version, GOOD, 24);
        unit_ok(read_file(&npy, &error));
        ck_assert_uint_eq(npy.data_offset, start);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_file_of_another_kind_or_version_is_unsupported)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__npy npy;
    write_bytes("a.npy", "", 0);
    unit_fails(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    write_bytes("a.npy", "\x93NUMPY\x01", 7);
    unit_fails(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    write_bytes("a.npy", "PK\x03\x04 this is an archive", 24);
    unit_fails(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    write_npy("a.npy", 0, GOOD, 24);
    unit_fails(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    write_npy("a.npy", 4, GOOD, 24);
    ck_assert_int_eq(read_file(&npy, &error), LX_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "format 4.0"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_file_that_is_cut_is_corrupt_wherever_it_is_cut)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__npy npy;
    size_t start = write_npy("a.npy", 1, GOOD, 24);
    for (size_t size = 12; size < start + 24; size++) {
        ck_assert_int_eq(truncate("a.npy", (off_t)size), 0);
        unit_fails(read_file(&npy, &error), LX_ERR_CORRUPT);
        write_npy("a.npy", 1, GOOD, 24);
    }
    ck_assert_int_eq(truncate("a.npy", (off_t)start + 20), 0);
    ck_assert_int_eq(read_file(&npy, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "24 bytes behind the header, 20 are there"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(lengths_beyond_the_file_are_refused_before_memory_is_taken)
{
    static const char *const shapes[] = {"(7, 1)", "(9223372036854775808,)",
                                         "(18446744073709551615,)", "(4294967296, 4294967296)",
                                         "(4611686018427387904, 4)", "(4611686018427387905,)",
                                         "(1, 2, 3, 4, 5, 18446744073709551615)"};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__npy npy;
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

START_TEST(a_header_without_text_is_corrupt)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx__npy npy;
    write_npy("a.npy", 1, "", 24);
    unit_fails(read_file(&npy, &error), LX_ERR_CORRUPT);
    scratch_remove(scratch);
}
END_TEST

/** xorshift64 (Marsaglia 2003). */
static uint64_t random_below(uint64_t *state, uint64_t bound)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % bound;
}

static void mutate(char *text, size_t *size, uint64_t *state)
{
    static const char pieces[] = "0123456789,:(){}[]'\" <>|=Truefalsdscpt_orn\x00\x7f\xff";
    char piece = pieces[random_below(state, sizeof pieces - 1)];
    size_t at = random_below(state, *size + 1);
    switch (random_below(state, 4)) {
    case 0: /* another byte */
        if (at < *size)
            text[at] = piece;
        break;
    case 1: /* one more */
        memmove(text + at + 1, text + at, *size - at);
        text[at] = piece;
        ++*size;
        break;
    case 2: /* some fewer */
    {
        size_t count = random_below(state, 6);
        if (at + count <= *size) {
            memmove(text + at, text + at + count, *size - at - count);
            *size -= count;
        }
        break;
    }
    default: /* the end */
        if (random_below(state, 8) == 0)
            *size = at;
    }
}

START_TEST(no_mutation_does_harm)
{
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < 20000; round++) {
        char text[256] = GOOD;
        size_t size = sizeof GOOD - 1;
        for (uint64_t n = 1 + random_below(&state, 8); n > 0; n--)
            mutate(text, &size, &state);
        char *exact = malloc(size != 0 ? size : 1);
        memcpy(exact, text, size);
        lx_error error = LX_ERROR_INIT;
        lx__npy npy = {0};
        lx_status status = lx__npy_parse(exact, size, &npy, &error);
        ck_assert(status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED);
        if (status == LX_OK) {
            ck_assert_uint_ne(lx_dtype_get_size(npy.dtype), 0);
            ck_assert_uint_le(npy.ndim, LX_NDIM_MAX);
        } else {
            ck_assert_int_eq(error.status, status);
            ck_assert_int_ne(error.message[0], '\0');
        }
        free(exact);
    }
}
END_TEST

UNIT_MAIN("loader/npy", what_numpy_writes_is_read, other_spellings_of_the_dict_are_read,
          every_dtype_has_its_code, what_cannot_be_read_says_what_to_do,
          an_array_of_one_axis_has_no_fortran_order, damaged_headers_are_corrupt,
          too_many_axes_are_corrupt, all_three_formats_are_read,
          a_file_of_another_kind_or_version_is_unsupported,
          a_file_that_is_cut_is_corrupt_wherever_it_is_cut,
          lengths_beyond_the_file_are_refused_before_memory_is_taken,
          a_header_without_text_is_corrupt, no_mutation_does_harm)
