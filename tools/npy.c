/* SPDX-License-Identifier: MIT */
/* The dict is parsed as what numpy.lib.format writes and nothing more: three keys, in any order. */
#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

/* Longest header that is read. Version 1.0 cannot have a longer one, and what needs one has a dtype
 * that is not read anyway. */
#define HEADER_MAX 65535
#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6

/** The text of a header, and how far it is understood. */
typedef struct parser {
    const char *at;
    const char *path;
    uint64_t extents[LX_NDIM_MAX + 1];
    size_t ndim;
    char descr[32];
    bool fortran, has_descr, has_order, has_shape;
} parser;

static lx_status fail_header(const parser *p, lx_error *error, const char *expected)
{
    lx_status status = fail(error, LX_ERR_CORRUPT,
                            "the .npy header is not as NumPy writes it: %s is expected at '%.20s'",
                            expected, p->at);
    locate(error, p->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static bool take(parser *p, const char *token)
{
    p->at += strspn(p->at, " \t\n");
    size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0)
        return false;
    p->at += length;
    return true;
}

/** A quoted string without escapes. */
static bool take_string(parser *p, char *text, size_t size)
{
    char quote[2] = {take(p, "'") ? '\'' : take(p, "\"") ? '"' : '\0', '\0'};
    size_t length = quote[0] != '\0' ? strcspn(p->at, quote) : 0;
    if (quote[0] == '\0' || p->at[length] == '\0' || length >= size)
        return false;
    memcpy(text, p->at, length);
    text[length] = '\0';
    p->at += length + 1;
    return true;
}

static lx_status parse_descr(parser *p, lx_error *error)
{
    p->has_descr = true;
    p->at += strspn(p->at, " \t\n");
    if (*p->at == '[')
        return fail(error, LX_ERR_UNSUPPORTED,
                    "its dtype is structured: save each of its fields as an array of its own");
    return take_string(p, p->descr, sizeof p->descr) ? LX_OK
                                                     : fail_header(p, error, "a dtype");
}

static lx_status parse_order(parser *p, lx_error *error)
{
    p->has_order = true;
    if (take(p, "False"))
        return LX_OK;
    p->fortran = take(p, "True");
    return p->fortran ? LX_OK : fail_header(p, error, "True or False");
}

static lx_status parse_shape(parser *p, lx_error *error)
{
    p->has_shape = true;
    if (!take(p, "("))
        return fail_header(p, error, "a tuple");
    while (!take(p, ")")) {
        char *end;
        p->at += strspn(p->at, " \t\n");
        if (*p->at < '0' || *p->at > '9')
            return fail_header(p, error, "an extent");
        if (p->ndim > LX_NDIM_MAX)
            return fail(error, LX_ERR_UNSUPPORTED, "it has more than %d axes", LX_NDIM_MAX + 1);
        unsigned long long extent = strtoull(p->at, &end, 10);
        if (extent > INT64_MAX) /* NumPy's own limit, and what strtoull gives on overflow */
            return fail_header(p, error, "an extent below 2^63");
        p->extents[p->ndim++] = extent;
        p->at = end;
        (void)take(p, "L"); /* as Python 2 wrote it */
        if (!take(p, ",") && *p->at != ')')
            return fail_header(p, error, "a comma");
    }
    return LX_OK;
}

static lx_status parse_item(parser *p, lx_error *error)
{
    char key[32];
    if (!take_string(p, key, sizeof key) || !take(p, ":"))
        return fail_header(p, error, "a key");
    if (strcmp(key, "descr") == 0 && !p->has_descr)
        return parse_descr(p, error);
    if (strcmp(key, "fortran_order") == 0 && !p->has_order)
        return parse_order(p, error);
    if (strcmp(key, "shape") == 0 && !p->has_shape)
        return parse_shape(p, error);
    return fail_header(p, error, "descr, fortran_order and shape, each once,");
}

static lx_status parse(parser *p, lx_error *error)
{
    if (!take(p, "{"))
        return fail_header(p, error, "a dict");
    while (!take(p, "}")) {
        lx_status status = parse_item(p, error);
        if (status != LX_OK)
            return status;
        p->at += strspn(p->at, " \t\n");
        if (!take(p, ",") && *p->at != '}')
            return fail_header(p, error, "a comma");
    }
    p->at += strspn(p->at, " \t\n");
    if (*p->at != '\0')
        return fail_header(p, error, "the end");
    return p->has_descr && p->has_order && p->has_shape
               ? LX_OK
               : fail_header(p, error, "a dict of descr, fortran_order and shape");
}

/** NumPy's short names of types: a kind, and bytes an element. */
static const struct {
    const char *code;
    lx_dtype dtype;
} types[] = {{"b1", LX_BOOL},     {"i1", LX_INT8},    {"i2", LX_INT16},
             {"i4", LX_INT32},    {"i8", LX_INT64},   {"u1", LX_UINT8},
             {"u2", LX_UINT16},   {"u4", LX_UINT32},  {"u8", LX_UINT64},
             {"f2", LX_FLOAT16},  {"f4", LX_FLOAT32}, {"f8", LX_FLOAT64},
             {"c8", LX_COMPLEX64}, {"c16", LX_COMPLEX128}};
#define TYPE_COUNT (sizeof types / sizeof *types)

static lx_status find_dtype(const char *descr, array_header *header, lx_error *error)
{
    if (strchr("<>|", descr[0]) != NULL && descr[0] != '\0')
        for (size_t i = 0; i < TYPE_COUNT; i++)
            if (strcmp(descr + 1, types[i].code) == 0 &&
                (descr[0] != '|' || lx_dtype_get_size(types[i].dtype) == 1)) {
                header->dtype = types[i].dtype;
                header->big_endian = descr[0] == '>';
                return LX_OK;
            }
    if (strcmp(descr, "|O") == 0)
        return fail(error, LX_ERR_UNSUPPORTED,
                    "it holds pickled Python objects, which are not read: save it with a dtype of "
                    "numbers");
    return fail(error, LX_ERR_UNSUPPORTED,
                "its dtype '%s' is not read: save it as bool, int8 to int64, uint8 to uint64, "
                "float16 to float64, complex64 or complex128",
                descr);
}

static lx_status fail_magic(input *in, const unsigned char *magic, lx_error *error)
{
    lx_status status = fail(error, LX_ERR_CORRUPT, "this is no .npy file%s",
                            magic[0] == 0 && magic[1] == 0 ? "; --idx reads IDX files" : "");
    locate(error, input_path(in), NULL, LX_NONE, 0);
    return status;
}

/** Reads what stands before the dict, and how long that is. */
static lx_status read_start(input *in, size_t *length, lx_error *error)
{
    unsigned char magic[8], bytes[4] = {0};
    lx_status status = input_read(in, magic, sizeof magic, error);
    if (status != LX_OK)
        return status;
    if (memcmp(magic, MAGIC, MAGIC_SIZE) != 0)
        return fail_magic(in, magic, error);
    if (magic[6] < 1 || magic[6] > 3 || magic[7] != 0)
        return fail(error, LX_ERR_UNSUPPORTED,
                    "it is .npy of version %d.%d; 1.0, 2.0 and 3.0 are read", magic[6], magic[7]);
    status = input_read(in, bytes, magic[6] == 1 ? 2 : 4, error);
    if (status != LX_OK)
        return status;
    *length = bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
    if (*length > HEADER_MAX)
        return fail(error, LX_ERR_CORRUPT, "its header has %zu bytes; %d is the most that is read",
                    *length, HEADER_MAX);
    return LX_OK;
}

static lx_status read_header(input *in, char *text, array_header *header, lx_error *error)
{
    parser p = {.at = text, .path = input_path(in)};
    size_t length = 0;
    lx_status status = read_start(in, &length, error);
    if (status == LX_OK)
        status = input_read(in, text, length, error);
    if (status != LX_OK)
        return status;
    text[length] = '\0';
    *header = (array_header){0};
    status = strlen(text) == length ? parse(&p, error) : fail_header(&p, error, "no zero byte");
    if (status == LX_OK)
        status = find_dtype(p.descr, header, error);
    /* With one axis both orders are the same. */
    if (status == LX_OK && p.fortran && p.ndim > 1)
        status = fail(error, LX_ERR_UNSUPPORTED,
                      "it is in Fortran order: save it as np.ascontiguousarray(x)");
    if (status == LX_OK)
        status = array_measure(header, p.extents, p.ndim, error);
    return status;
}

lx_status npy_read_header(input *in, array_header *header, lx_error *error)
{
    char *text = malloc(HEADER_MAX + 1);
    if (text == NULL)
        return fail_memory(error, "a header");
    lx_status status = read_header(in, text, header, error);
    locate(error, input_path(in), NULL, LX_NONE, LX_NONE);
    free(text);
    return status;
}
