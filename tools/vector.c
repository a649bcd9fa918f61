/* SPDX-License-Identifier: MIT */
#include "vector.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "failure.h"

/* Number of elements read at a time. */
#define BLOCK 65536

/** The plural noun, and the expected types, for error messages. */
static const struct {
    const char *several, *types;
} words[] = {[VECTOR_INDICES] = {"indices", "integers"},
             [VECTOR_LENGTHS] = {"lengths", "integers"},
             [VECTOR_COSTS] = {"costs", "integers"},
             [VECTOR_CLASSES] = {"classes", "integers"},
             [VECTOR_KEYS] = {"keys", "integers"},
             [VECTOR_WEIGHTS] = {"weights", "integers, float32 or float64"}};

/* ---- elements, which are little-endian */

static bool is_signed(lx_dtype dtype)
{
    return dtype >= LX_INT8 && dtype <= LX_INT64;
}

static bool is_real(lx_dtype dtype)
{
    return dtype == LX_FLOAT32 || dtype == LX_FLOAT64;
}

/** Reads an integer, which is sign-extended if it is negative. */
static uint64_t read_integer(const unsigned char *at, size_t size, bool negative)
{
    uint64_t number = negative ? UINT64_MAX : 0;
    for (size_t byte = size; byte-- > 0;)
        number = number << 8 | at[byte];
    return number;
}

static double read_real(const unsigned char *at, size_t size)
{
    uint64_t bits = read_integer(at, size, false);
    uint32_t narrow = (uint32_t)bits;
    float single;
    double number;
    memcpy(&single, &narrow, sizeof single);
    memcpy(&number, &bits, sizeof number);
    return size == sizeof single ? (double)single : number;
}

/** Parses an element. Returns NULL, or the reason why the element is invalid. */
static const char *take(lx_dtype dtype, size_t size, vector_kind kind, const unsigned char *at,
                        vector_number *number)
{
    bool negative = is_signed(dtype) && (at[size - 1] & 0x80) != 0;
    if (is_real(dtype)) {
        number->real = read_real(at, size);
        return !isfinite(number->real) ? "not finite" : number->real < 0 ? "negative" : NULL;
    }
    uint64_t word = read_integer(at, size, negative);
    if (negative && kind != VECTOR_CLASSES && kind != VECTOR_KEYS)
        return "negative";
    if (kind == VECTOR_WEIGHTS)
        number->real = (double)word;
    else
        number->word = word;
    return word == UINT64_MAX && !negative && kind < VECTOR_CLASSES ? "2^64 - 1" : NULL;
}

static lx_status take_block(const column *file, vector_kind kind, uint64_t count,
                            vector_number *numbers, lx_error *error)
{
    const unsigned char *at = file->blocks[0];
    size_t size = (size_t)file->header.size;
    for (uint64_t i = 0; i < count; i++, at += size) {
        const char *wrong = take(file->header.dtype, size, kind, at, &numbers[i]);
        if (wrong != NULL) {
            lx_status status = lx_fail(error, LX_ERR_CORRUPT,
                                       "the value is %s, which is not allowed for %s", wrong,
                                       words[kind].several);
            lx_error_locate(error, file->path, NULL, file->read - count + i, LX_NONE);
            return status;
        }
    }
    return LX_OK;
}

/* ---- the file */

static lx_status check_form(const column *file, vector_kind kind, lx_error *error)
{
    lx_dtype dtype = file->header.dtype;
    bool integers = is_signed(dtype) || (dtype >= LX_UINT8 && dtype <= LX_UINT64);
    lx_status status = LX_OK;
    if (!integers && !(kind == VECTOR_WEIGHTS && is_real(dtype)))
        status = lx_fail(error, LX_ERR_UNSUPPORTED, "the elements are %s, but %s must be %s",
                         lx_dtype_get_name(dtype), words[kind].several, words[kind].types);
    else if (file->header.ndim != 0)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the array has %zu axes, but an array of %s must have one",
                         file->header.ndim + 1, words[kind].several);
    lx_error_locate(error, file->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Doubles the capacity, up to the declared total: a pipe may contain less data than its header
 * declares. */
static lx_status grow(vector *self, uint64_t *room, uint64_t total, lx_error *error)
{
    uint64_t more = *room < BLOCK ? BLOCK : *room * 2;
    if (more > total)
        more = total;
    vector_number *larger = more <= SIZE_MAX / sizeof *larger
                                ? realloc(self->numbers,
                                          more != 0 ? (size_t)more * sizeof *larger : 1)
                                : NULL;
    if (larger == NULL)
        return fail_memory(error, "the numbers of a file");
    self->numbers = larger;
    *room = more;
    return LX_OK;
}

static lx_status read_all(column *file, vector_kind kind, vector *self, lx_error *error)
{
    uint64_t total = file->header.length, room = 0;
    lx_status status = check_form(file, kind, error);
    if (status == LX_OK)
        status = column_reserve(file, total < BLOCK ? total : BLOCK, error);
    do { /* also runs for an empty array, to check that nothing follows it */
        uint64_t done = file->read, count = total - done < BLOCK ? total - done : BLOCK;
        if (status == LX_OK && (self->numbers == NULL || done + count > room))
            status = grow(self, &room, total, error);
        if (status == LX_OK)
            status = column_read(file, 0, count, error);
        if (status == LX_OK)
            status = take_block(file, kind, count, self->numbers + done, error);
    } while (status == LX_OK && file->read < total);
    return status;
}

lx_status vector_read(vector *self, vector_kind kind, const char *path, lx_error *error)
{
    column file = {.path = path, .kind = COLUMN_NPY};
    *self = (vector){0};
    lx_status status = column_open(&file, error);
    if (status == LX_OK)
        status = read_all(&file, kind, self, error);
    self->count = file.header.length;
    column_close(&file);
    return status;
}

void vector_free(vector *self)
{
    free(self->numbers);
    *self = (vector){0};
}
