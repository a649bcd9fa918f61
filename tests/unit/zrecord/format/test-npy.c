/* SPDX-License-Identifier: MIT */
#include <loaderx/npy.h>

#include "../../unit.h"

#define GOOD "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }          \n"

/** Parses a file of version 1.0 with this text as its dict. */
static lx_status parse_text(const char *text, size_t size, lx_npy_info *npy, lx_error *error)
{
    /* An exact copy, so that the sanitizers detect a read past its end. */
    char *header = malloc(10 + size);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(size & 0xff);
    header[9] = (char)(size >> 8);
    memcpy(header + 10, text, size);
    lx_status status = lx_npy_parse_header(header, 10 + size, npy, error);
    free(header);
    return status;
}

static lx_status parse(const char *text, lx_npy_info *npy, lx_error *error)
{
    return parse_text(text, strlen(text), npy, error);
}

START_TEST(reads_headers_of_numpy)
{
    lx_error error = LX_ERROR_INIT;
    lx_npy_info npy;
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

START_TEST(reads_other_spellings_of_the_dict)
{
    static const char *const texts[] = {
        "{\"shape\":(3,2),\"fortran_order\":False,\"descr\":\"<f4\"}",
        "  {'shape' : ( 3 , 2 , ) , 'descr' : '<f4' , 'fortran_order' : False }\n\n",
        "{'descr':'<f4','fortran_order':False,'shape':(3,2)}"};
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lx_npy_info npy = {0};
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
    } all[] = {{"|b1", LX_BOOL},
               {"|i1", LX_INT8},
               {"<i2", LX_INT16},
               {"<i4", LX_INT32},
               {"<i8", LX_INT64},
               {"|u1", LX_UINT8},
               {"<u2", LX_UINT16},
               {"<u4", LX_UINT32},
               {"<u8", LX_UINT64},
               {"<f2", LX_FLOAT16},
               {"<f4", LX_FLOAT32},
               {"<f8", LX_FLOAT64},
               {"<c8", LX_COMPLEX64},
               {"<c16", LX_COMPLEX128},
               {"<M8[D]", LX_DATETIME64_D},
               {"<M8[s]", LX_DATETIME64_S},
               {"<M8[ms]", LX_DATETIME64_MS},
               {"<M8[us]", LX_DATETIME64_US},
               {"<M8[ns]", LX_DATETIME64_NS}};
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[100];
        lx_npy_info npy;
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}",
                 all[i].code);
        unit_ok(parse(text, &npy, &error));
        ck_assert_int_eq(npy.dtype, all[i].dtype);
    }
}
END_TEST

/** A header with one error, and the expected message. */
struct refusal {
    const char *text;
    lx_status status;
    const char *part; /* of the message */
};

static void expect_refusals(const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_npy_info npy;
        lx_status status = parse(refusals[i].text, &npy, &error);
        ck_assert_msg(status == refusals[i].status, "%s: %s", refusals[i].text,
                      lx_status_get_name(status));
        ck_assert_msg(strstr(error.message, refusals[i].part) != NULL, "%s: %s", refusals[i].text,
                      error.message);
    }
}

START_TEST(errors_say_what_to_do)
{
    static const struct refusal refusals[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", LX_ERR_UNSUPPORTED,
         "ascontiguousarray"},
        {"{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (3,)}",
         LX_ERR_UNSUPPORTED, "structured"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED, "'|O'"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED, "'<U5'"},
        {"{'descr': '<M8[ps]', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED,
         "'<M8[ps]'"},
        {"{'descr': '<V2', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED, "bfloat16"},
        {"{'descr': '|V1', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED, "float8"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (3,)}", LX_ERR_UNSUPPORTED, "'<f16'"},
    };
    expect_refusals(refusals, sizeof refusals / sizeof *refusals);
}
END_TEST

START_TEST(ignores_fortran_order_with_one_axis)
{
    lx_error error = LX_ERROR_INIT;
    lx_npy_info npy;
    unit_ok(parse("{'descr': '<f4', 'fortran_order': True, 'shape': (3,)}", &npy, &error));
    unit_ok(parse("{'descr': '<f4', 'fortran_order': True, 'shape': ()}", &npy, &error));
}
END_TEST

START_TEST(reports_damaged_headers_as_corrupt)
{
    static const struct refusal refusals[] = {
        {"  ", LX_ERR_CORRUPT, "header"},
        {"{ ", LX_ERR_CORRUPT, "header"},
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
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x", LX_ERR_CORRUPT, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'shape': (4,)}", LX_ERR_CORRUPT,
         "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'other': 1, 'shape': (3,)}", LX_ERR_CORRUPT,
         "header"},
    };
    expect_refusals(refusals, sizeof refusals / sizeof *refusals);
}
END_TEST

START_TEST(reports_too_many_axes_as_unsupported)
{
    char text[1000] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    lx_error error = LX_ERROR_INIT;
    lx_npy_info npy;
    for (int i = 0; i <= LX_MAX_NDIM; i++)
        strcat(text, "1,");
    size_t end = strlen(text);
    strcpy(text + end, ")}");
    unit_ok(parse(text, &npy, &error));
    ck_assert_uint_eq(npy.ndim, LX_MAX_NDIM + 1);
    strcpy(text + end, "1)}");
    unit_fails(parse(text, &npy, &error), LX_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(reads_either_byte_order)
{
    lx_error error = LX_ERROR_INIT;
    lx_npy_info npy;
    unit_ok(parse("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2)}", &npy, &error));
    ck_assert_int_eq(npy.dtype, LX_FLOAT32);
    ck_assert(npy.big_endian);
    unit_ok(parse("{'descr': '>u1', 'fortran_order': False, 'shape': (3, 2)}", &npy, &error));
    ck_assert(!npy.big_endian); /* a byte has no order */
    unit_ok(parse(GOOD, &npy, &error));
    ck_assert(!npy.big_endian);
}
END_TEST

START_TEST(reads_the_length_of_the_header)
{
    uint8_t file[12 + sizeof GOOD - 1] = "\x93NUMPY\x02";
    lx_error error = LX_ERROR_INIT;
    lx_npy_info npy;
    file[8] = sizeof GOOD - 1;
    memcpy(file + 12, GOOD, sizeof GOOD - 1);
    for (size_t size = LX_NPY_PREFIX; size < sizeof file; size++) {
        ck_assert_int_eq(lx_npy_parse_header(file, size, &npy, &error), LX_END);
        ck_assert_uint_eq(npy.header_size, sizeof file);
    }
    unit_ok(lx_npy_parse_header(file, sizeof file, &npy, &error));
    ck_assert_uint_eq(npy.header_size, sizeof file);
    ck_assert_int_eq(lx_npy_parse_header(file, LX_NPY_PREFIX - 1, &npy, &error), LX_END);
    unit_fails(lx_npy_parse_header(NULL, LX_NPY_PREFIX, &npy, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_npy_parse_header(file, LX_NPY_PREFIX, NULL, &error), LX_ERR_ARGUMENT);
}
END_TEST

START_TEST(parses_its_own_headers)
{
    static const uint64_t shape[] = {28, 3};
    lx_error error = LX_ERROR_INIT;
    for (int dtype = LX_BOOL; dtype <= LX_DATETIME64_NS; dtype++) {
        char header[LX_MAX_NPY_HEADER];
        lx_npy_info npy;
        lx_field field = {.dtype = (lx_dtype)dtype, .ndim = 2, .shape = shape};
        if (dtype > LX_COMPLEX128 && dtype < LX_DATETIME64_D)
            continue; /* types of ml_dtypes */
        size_t size = lx_npy_format_header(&field, 5, header);
        unit_ok(lx_npy_parse_header(header, size, &npy, &error));
        ck_assert_uint_eq(npy.header_size, size);
        ck_assert_int_eq(npy.dtype, field.dtype);
        ck_assert_uint_eq(npy.ndim, 3);
        ck_assert_uint_eq(npy.shape[0], 5);
        ck_assert_uint_eq(npy.shape[2], 3);
    }
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

START_TEST(survives_any_mutation)
{
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < 20000; round++) {
        char text[256] = GOOD;
        size_t size = sizeof GOOD - 1;
        for (uint64_t n = 1 + random_below(&state, 8); n > 0; n--)
            mutate(text, &size, &state);
        lx_error error = LX_ERROR_INIT;
        lx_npy_info npy = {0};
        lx_status status = parse_text(text, size, &npy, &error);
        ck_assert(status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED ||
                  (status == LX_END && size < 2)); /* shorter than any header */
        if (status == LX_OK) {
            ck_assert_uint_ne(lx_dtype_get_size(npy.dtype), 0);
            ck_assert_uint_le(npy.ndim, LX_MAX_NDIM + 1);
        } else if (status != LX_END) {
            ck_assert_int_eq(error.status, status);
            ck_assert_int_ne(error.message[0], '\0');
        }
    }
}
END_TEST

UNIT_MAIN("zrecord/npy", reads_headers_of_numpy, reads_other_spellings_of_the_dict,
          every_dtype_has_its_code, errors_say_what_to_do, ignores_fortran_order_with_one_axis,
          reports_damaged_headers_as_corrupt, reports_too_many_axes_as_unsupported,
          reads_either_byte_order, reads_the_length_of_the_header, parses_its_own_headers,
          survives_any_mutation)
