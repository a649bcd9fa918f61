/* SPDX-License-Identifier: MIT */
#include "loader/npy.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

/* NumPy's own headers are far below this; whoever needs more has a structured dtype. */
#define HEADER_MAX ((uint64_t)1 << 16)
static const char magic[6] = "\x93NUMPY";

/** A place in the header's text. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && isspace((unsigned char)*c->at))
        c->at++;
}

static bool take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/** A text in single or double quotes; NumPy writes no escapes in what is looked for here. */
static bool take_text(cursor *c, char *text, size_t size)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    const char *end = memchr(c->at, quote, (size_t)(c->end - c->at));
    if (end == NULL || (size_t)(end - c->at) >= size)
        return false;
    memcpy(text, c->at, (size_t)(end - c->at));
    text[end - c->at] = '\0';
    c->at = end + 1;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    skip_space(c);
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool take_number(cursor *c, uint64_t *number)
{
    skip_space(c);
    const char *start = c->at;
    *number = 0;
    for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++) {
        uint64_t digit = (uint64_t)(*c->at - '0');
        if (!lx__multiply_fits(*number, 10, number) || !lx__add_fits(*number, digit, number))
            return false;
    }
    return c->at != start;
}

static bool take_shape(cursor *c, lx__npy *npy)
{
    if (!take(c, '('))
        return false;
    npy->ndim = 0;
    while (!take(c, ')')) {
        if (npy->ndim == LX_NDIM_MAX || !take_number(c, &npy->shape[npy->ndim]))
            return false;
        npy->ndim++;
        if (!take(c, ',')) {
            if (npy->ndim == 1)
                return false; /* (5) is a number, not a shape */
            return take(c, ')');
        }
    }
    return true;
}

static lx_status parse_descr(const char *descr, lx_dtype *dtype, lx_error *error)
{
    static const struct {
        const char *code;
        lx_dtype dtype;
    } codes[] = {{"b1", LX_BOOL},    {"i1", LX_INT8},    {"i2", LX_INT16},     {"i4", LX_INT32},
                 {"i8", LX_INT64},   {"u1", LX_UINT8},   {"u2", LX_UINT16},    {"u4", LX_UINT32},
                 {"u8", LX_UINT64},  {"f2", LX_FLOAT16}, {"f4", LX_FLOAT32},   {"f8", LX_FLOAT64},
                 {"c8", LX_COMPLEX64}, {"c16", LX_COMPLEX128}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (descr[0] == '\0' || strcmp(descr + 1, codes[i].code) != 0)
            continue;
        bool one_byte = lx_dtype_get_size(codes[i].dtype) == 1;
        if (descr[0] != '<' && !(one_byte && (descr[0] == '|' || descr[0] == '>')))
            return lx__fail(error, LX_ERR_UNSUPPORTED,
                            "the array is '%s', not little-endian: save it with "
                            "astype(dtype.newbyteorder('<'))",
                            descr);
        *dtype = codes[i].dtype;
        return LX_OK;
    }
    return lx__fail(error, LX_ERR_UNSUPPORTED, "arrays of dtype '%s' cannot be read", descr);
}

lx_status lx__npy_parse(const char *text, size_t size, lx__npy *npy, lx_error *error)
{
    cursor c = {text, text + size};
    char key[32], descr[32] = "";
    bool fortran = false, shaped = false, ordered = false, fine = take(&c, '{');
    while (fine && !take(&c, '}')) {
        fine = take_text(&c, key, sizeof key) && take(&c, ':');
        if (!fine)
            break;
        if (strcmp(key, "descr") == 0) {
            if (!take_text(&c, descr, sizeof descr))
                return lx__fail(error, LX_ERR_UNSUPPORTED, "structured arrays cannot be read");
        } else if (strcmp(key, "fortran_order") == 0) {
            fortran = take_word(&c, "True");
            ordered = fine = fortran || take_word(&c, "False");
        } else if (strcmp(key, "shape") == 0) {
            shaped = fine = take_shape(&c, npy);
        } else {
            fine = false;
        }
        if (fine && !take(&c, ','))
            skip_space(&c);
    }
    if (!fine || !shaped || !ordered || descr[0] == '\0')
        return lx__fail(error, LX_ERR_CORRUPT, "the header of the .npy file cannot be understood");
    if (fortran && npy->ndim > 1)
        return lx__fail(error, LX_ERR_UNSUPPORTED,
                        "the array is in Fortran order: save numpy.ascontiguousarray(array)");
    return parse_descr(descr, &npy->dtype, error);
}

/** Whether the file has every element. */
static lx_status check_length(const lx__file *file, const lx__npy *npy, lx_error *error)
{
    uint64_t size, bytes = lx_dtype_get_size(npy->dtype);
    bool empty = false;
    for (size_t i = 0; i < npy->ndim; i++) {
        empty = empty || npy->shape[i] == 0;
        if (npy->shape[i] != 0 && !lx__multiply_fits(bytes, npy->shape[i], &bytes))
            return lx__fail(error, LX_ERR_CORRUPT, "the array would have more than 2^64 bytes");
    }
    if (empty)
        return LX_OK;
    lx_status status = lx__file_size(file, &size, error);
    if (status == LX_OK && !lx__range_fits(npy->data_offset, bytes, size))
        status = lx__fail(error, LX_ERR_CORRUPT,
                          "the file is cut: the array needs %llu bytes behind the header, %llu "
                          "are there",
                          (unsigned long long)bytes,
                          (unsigned long long)(size - npy->data_offset));
    return status;
}

lx_status lx__npy_read(const lx__file *file, lx__npy *npy, lx_error *error)
{
    uint8_t start[12];
    size_t got;
    lx_status status = lx__file_read_some(file, start, sizeof start, 0, &got, error);
    if (status != LX_OK)
        return status;
    if (got < sizeof start || memcmp(start, magic, sizeof magic) != 0)
        return lx__fail(error, LX_ERR_UNSUPPORTED, "this is no .npy file");
    bool wide = start[6] >= 2;
    if (start[6] < 1 || start[6] > 3)
        return lx__fail(error, LX_ERR_UNSUPPORTED, ".npy format %u.%u is not known", start[6],
                        start[7]);
    uint64_t offset = wide ? 12 : 10;
    uint64_t size = wide ? lx__load_le32(start + 8) : (uint64_t)start[8] | (uint64_t)start[9] << 8;
    if (size > HEADER_MAX)
        return lx__fail(error, LX_ERR_UNSUPPORTED, "a header of %llu bytes is too long",
                        (unsigned long long)size);
    char *text = lx__alloc((size_t)size);
    if (text == NULL)
        return lx__fail_memory(error, "a header");
    status = lx__file_read(file, text, (size_t)size, offset, error);
    if (status == LX_OK)
        status = lx__npy_parse(text, (size_t)size, npy, error);
    lx__free(text);
    npy->data_offset = offset + size;
    return status == LX_OK ? check_length(file, npy, error) : status;
}
