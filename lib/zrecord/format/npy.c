/* SPDX-License-Identifier: MIT */
/* Headers of .npy files (numpy.lib.format): the magic string, a version, a length in 2 or 4 bytes,
 * and a Python dict of that length as text. The parser accepts only the kind of dict that NumPy
 * writes: its three keys, in any order. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <loaderx/npy.h>

#include "base/bytes.h"
#include "base/error.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
/* Number of bytes before the dict, in version 1.0 and in later versions. */
#define PREFIX_SIZE 10
#define LATER_PREFIX_SIZE 12
/* NumPy aligns the first element to this boundary. */
#define ALIGNMENT 64
/* The limit of version 1.0. Only a structured dtype, which is rejected, can need a longer dict. */
#define DICT_MAX 65535

/** NumPy's type codes: a kind and the number of bytes per element. For the types of ml_dtypes,
 * NumPy writes V and the number of bytes, which does not say which type it is. */
static const struct {
    const char *code;
    lx_dtype dtype;
} types[] = {{"b1", LX_BOOL},
             {"i1", LX_INT8},
             {"i2", LX_INT16},
             {"i4", LX_INT32},
             {"i8", LX_INT64},
             {"u1", LX_UINT8},
             {"u2", LX_UINT16},
             {"u4", LX_UINT32},
             {"u8", LX_UINT64},
             {"f2", LX_FLOAT16},
             {"f4", LX_FLOAT32},
             {"f8", LX_FLOAT64},
             {"c8", LX_COMPLEX64},
             {"c16", LX_COMPLEX128},
             {"M8[D]", LX_DATETIME64_D},
             {"M8[s]", LX_DATETIME64_S},
             {"M8[ms]", LX_DATETIME64_MS},
             {"M8[us]", LX_DATETIME64_US},
             {"M8[ns]", LX_DATETIME64_NS},
             {"V2", LX_BFLOAT16},
             {"V1", LX_FLOAT8_E4M3FN},
             {"V1", LX_FLOAT8_E5M2},
             {"V1", LX_FLOAT8_E4M3FNUZ},
             {"V1", LX_FLOAT8_E5M2FNUZ},
             {"V1", LX_FLOAT8_E8M0FNU}};
#define TYPE_COUNT (sizeof types / sizeof *types)

/* ---- writing */

static const char *code_of(lx_dtype dtype)
{
    size_t i = 0;
    while (i + 1 < TYPE_COUNT && types[i].dtype != dtype)
        i++;
    return types[i].code;
}

size_t lx_npy_format_header(const lx_field *field, uint64_t length, char header[LX_MAX_NPY_HEADER])
{
    char *text = header + PREFIX_SIZE;
    size_t room = LX_MAX_NPY_HEADER - PREFIX_SIZE, used = 0;
    used += (size_t)snprintf(text, room, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                             lx_dtype_get_size(field->dtype) == 1 ? '|' : '<',
                             code_of(field->dtype));
    used += (size_t)snprintf(text + used, room - used, "%" PRIu64 ",", length);
    for (size_t i = 0; i < field->ndim; i++)
        used += (size_t)snprintf(text + used, room - used, " %" PRIu64 "%s", field->shape[i],
                                 i + 1 < field->ndim ? "," : "");
    used += (size_t)snprintf(text + used, room - used, "), }");
    size_t size = (PREFIX_SIZE + used + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    memcpy(header, MAGIC "\x01\x00", MAGIC_SIZE + 2);
    header[MAGIC_SIZE + 2] = (char)((size - PREFIX_SIZE) & 0xff);
    header[MAGIC_SIZE + 3] = (char)((size - PREFIX_SIZE) >> 8);
    memset(text + used, ' ', size - PREFIX_SIZE - used);
    header[size - 1] = '\n';
    return size;
}

/* ---- parsing */

/** The text that is left to parse, and the values parsed so far. */
typedef struct parser {
    const char *at, *end;
    lx_npy_info *npy;
    char descr[32];
    bool fortran, has_descr, has_order, has_shape;
} parser;

static lx_status fail_header(const parser *p, const char *expected, lx_error *error)
{
    size_t left = (size_t)(p->end - p->at);
    return lx_fail(error, LX_ERR_CORRUPT, "the .npy header is invalid: expected %s at '%.*s'",
                   expected, (int)(left < 20 ? left : 20), p->at);
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n'))
        p->at++;
}

static bool is_next(parser *p, char wanted)
{
    skip_space(p);
    return p->at < p->end && *p->at == wanted;
}

static bool take(parser *p, const char *token)
{
    size_t length = strlen(token);
    skip_space(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, token, length) != 0)
        return false;
    p->at += length;
    return true;
}

/** Parses a quoted string, which must not be empty or contain escapes. */
static bool take_string(parser *p, char *text, size_t size)
{
    if (!is_next(p, '\'') && !is_next(p, '"'))
        return false;
    const char *start = p->at + 1;
    const char *end = memchr(start, *p->at, (size_t)(p->end - start));
    size_t length = end != NULL ? (size_t)(end - start) : 0;
    if (length == 0 || length >= size)
        return false;
    memcpy(text, start, length);
    text[length] = '\0';
    p->at = end + 1;
    return true;
}

static lx_status parse_descr(parser *p, lx_error *error)
{
    p->has_descr = true;
    if (is_next(p, '['))
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the dtype of the array is structured: save each field as a separate array");
    return take_string(p, p->descr, sizeof p->descr) ? LX_OK : fail_header(p, "a dtype", error);
}

static lx_status parse_order(parser *p, lx_error *error)
{
    p->has_order = true;
    if (take(p, "False"))
        return LX_OK;
    p->fortran = take(p, "True");
    return p->fortran ? LX_OK : fail_header(p, "True or False", error);
}

static bool take_extent(parser *p, uint64_t *extent)
{
    const char *start = p->at;
    for (*extent = 0; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (!lx__multiply_fits(*extent, 10, extent) ||
            !lx__add_fits(*extent, (uint64_t)(*p->at - '0'), extent))
            return false;
    return p->at != start && *extent <= INT64_MAX; /* NumPy's own limit */
}

static lx_status parse_shape(parser *p, lx_error *error)
{
    lx_npy_info *npy = p->npy;
    p->has_shape = true;
    if (!take(p, "("))
        return fail_header(p, "a tuple", error);
    while (!take(p, ")")) {
        skip_space(p);
        if (p->at == p->end || *p->at < '0' || *p->at > '9')
            return fail_header(p, "an extent", error);
        if (npy->ndim > LX_MAX_NDIM)
            return lx_fail(error, LX_ERR_UNSUPPORTED, "the array has more than %d axes",
                           LX_MAX_NDIM + 1);
        if (!take_extent(p, &npy->shape[npy->ndim]))
            return fail_header(p, "an extent below 2^63", error);
        npy->ndim++;
        (void)take(p, "L");                                        /* Python 2 wrote 5L */
        if (!take(p, ",") && (npy->ndim == 1 || !is_next(p, ')'))) /* (5) is not a tuple */
            return fail_header(p, "a comma", error);
    }
    return LX_OK;
}

static lx_status parse_item(parser *p, lx_error *error)
{
    char key[32];
    if (!take_string(p, key, sizeof key) || !take(p, ":"))
        return fail_header(p, "a key", error);
    if (strcmp(key, "descr") == 0 && !p->has_descr)
        return parse_descr(p, error);
    if (strcmp(key, "fortran_order") == 0 && !p->has_order)
        return parse_order(p, error);
    if (strcmp(key, "shape") == 0 && !p->has_shape)
        return parse_shape(p, error);
    return fail_header(p, "descr, fortran_order and shape, each once,", error);
}

static lx_status parse_dict(parser *p, lx_error *error)
{
    if (memchr(p->at, '\0', (size_t)(p->end - p->at)) != NULL)
        return fail_header(p, "no zero byte", error);
    if (!take(p, "{"))
        return fail_header(p, "a dict", error);
    while (!take(p, "}")) {
        lx_status status = parse_item(p, error);
        if (status != LX_OK)
            return status;
        if (!take(p, ",") && !is_next(p, '}'))
            return fail_header(p, "a comma", error);
    }
    skip_space(p);
    if (p->at != p->end)
        return fail_header(p, "the end", error);
    return p->has_descr && p->has_order && p->has_shape
               ? LX_OK
               : fail_header(p, "a dict of descr, fortran_order and shape", error);
}

static lx_status find_dtype(const char *descr, lx_npy_info *npy, lx_error *error)
{
    if (descr[1] == 'V')
        return lx_fail(
            error, LX_ERR_UNSUPPORTED,
            "the dtype '%s' does not say what the elements are: save bfloat16 and float8 "
            "as float32, or append them with the Python package",
            descr);
    if (strchr("<>|", descr[0]) != NULL)
        for (size_t i = 0; i < TYPE_COUNT; i++)
            if (strcmp(descr + 1, types[i].code) == 0 &&
                (descr[0] != '|' || lx_dtype_get_size(types[i].dtype) == 1)) {
                npy->dtype = types[i].dtype;
                npy->big_endian = descr[0] == '>' && lx_dtype_get_size(npy->dtype) > 1;
                return LX_OK;
            }
    if (strcmp(descr, "|O") == 0)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the dtype '|O', which stores pickled Python objects, is not supported: "
                       "save the array with a numeric dtype");
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "the dtype '%s' is not supported: save the array as bool, int8 to int64, uint8 "
                   "to uint64, float16 to float64, complex64, complex128, or datetime64 in D, s, "
                   "ms, us or ns",
                   descr);
}

/** Reads the size of the header and of its prefix. */
static lx_status parse_start(const uint8_t *start, size_t size, size_t *header_size,
                             size_t *prefix_size, lx_error *error)
{
    if (memcmp(start, MAGIC, size < MAGIC_SIZE ? size : MAGIC_SIZE) != 0)
        return lx_fail(error, LX_ERR_UNSUPPORTED, "the file is not an .npy file");
    *header_size = LX_NPY_PREFIX;
    if (size < LX_NPY_PREFIX)
        return LX_END;
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       ".npy version %d.%d is not supported: use 1.0, 2.0 or 3.0", start[6],
                       start[7]);
    uint32_t dict = start[6] == 1 ? (uint32_t)start[8] | (uint32_t)start[9] << 8
                                  : lx__load_le32(start + 8);
    if (dict > DICT_MAX)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the .npy header has %" PRIu32 " bytes, but at most %d are supported", dict,
                       DICT_MAX);
    *prefix_size = start[6] == 1 ? PREFIX_SIZE : LATER_PREFIX_SIZE;
    *header_size = *prefix_size + dict;
    return LX_OK;
}

lx_status lx_npy_parse_header(const void *data, size_t size, lx_npy_info *npy, lx_error *error)
{
    if (data == NULL || npy == NULL)
        return lx__fail_null(error, data == NULL ? "data" : "npy");
    size_t prefix = 0;
    *npy = (lx_npy_info){0};
    lx_status status = parse_start(data, size, &npy->header_size, &prefix, error);
    if (status != LX_OK)
        return status;
    if (size < npy->header_size)
        return LX_END;
    const char *text = data;
    parser p = {.at = text + prefix, .end = text + npy->header_size, .npy = npy};
    status = parse_dict(&p, error);
    if (status == LX_OK)
        status = find_dtype(p.descr, npy, error);
    /* With one axis, both orders are the same. */
    if (status == LX_OK && p.fortran && npy->ndim > 1)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the array is in Fortran order: save np.ascontiguousarray(x) instead");
    return status;
}
