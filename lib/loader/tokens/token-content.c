/* SPDX-License-Identifier: MIT */
#include "loader/tokens/token-content.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* How many bytes must be text: fewer could be tokens. */
#define TEXT_MIN 64
#define TEXT_MAX 4096

#define TEXT(text) (text), sizeof(text) - 1

static const char unpack[] = "unpack it first";
static const char convert[] = "write its tokens to a .npy file";

/** Signatures at the start. */
static const struct {
    const char *start;
    size_t start_size;
    const char *kind, *remedy;
} rows[] = {
    {TEXT("\x93NUMPY"), "a NumPy array",
     "its name must end with .npy, and it must not be opened as raw tokens"},
    {TEXT("PK\x03\x04"), "a ZIP archive, such as .npz", "save its array of tokens as .npy"},
    {TEXT("\x28\xb5\x2f\xfd"), "compressed with zstd", unpack},
    {TEXT("\xfd\x37zXZ\0"), "compressed with xz", unpack},
    {TEXT("\x89HDF\r\n\x1a\n"), "an HDF5 file", convert},
    {TEXT("ARROW1\0\0"), "an Arrow file", convert},
    {TEXT("MMIDIDX\0\0"), "the index of a Megatron dataset", "open it by its name, x.idx"},
};

/** Whether the header of gzip begins: two bytes alone could be a token. */
static bool is_gzip(const uint8_t *bytes, size_t size)
{
    return size >= 18 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0 && bytes[3] < 0x20 &&
           (bytes[8] == 0 || bytes[8] == 2 || bytes[8] == 4) && (bytes[9] < 14 || bytes[9] == 255);
}

static bool is_bzip2(const uint8_t *bytes, size_t size)
{
    return size >= 10 && memcmp(bytes, "BZh", 3) == 0 && memcmp(bytes + 4, "1AY&SY", 6) == 0;
}

static bool is_parquet(const uint8_t *bytes, size_t size)
{
    return size >= 12 && memcmp(bytes, "PAR1", 4) == 0 && memcmp(bytes + size - 4, "PAR1", 4) == 0;
}

/** Whether the first bytes are text without control characters. */
static bool is_text(const uint8_t *bytes, size_t size)
{
    if (size < TEXT_MIN)
        return false;
    size_t count = size < TEXT_MAX ? size : TEXT_MAX;
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == 0x7f || (bytes[i] < ' ' && (bytes[i] < '\t' || bytes[i] > '\r')))
            return false;
    return lx__utf8_span((const char *)bytes, count) + 3 >= count; /* the last may be cut */
}

static lx_status fail(const char *kind, const char *remedy, lx_error *error)
{
    return lx_fail(error, LX_ERR_UNSUPPORTED, "the file has no raw tokens: it is %s: %s", kind,
                   remedy);
}

lx_status lx__token_content_check(const uint8_t *bytes, size_t size, uint64_t width,
                                  lx_error *error)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (size >= rows[i].start_size && memcmp(bytes, rows[i].start, rows[i].start_size) == 0)
            return fail(rows[i].kind, rows[i].remedy, error);
    if (is_gzip(bytes, size))
        return fail("compressed with gzip", unpack, error);
    if (is_bzip2(bytes, size))
        return fail("compressed with bzip2", unpack, error);
    if (is_parquet(bytes, size))
        return fail("a Parquet file", convert, error);
    if (width > 1 && is_text(bytes, size))
        return fail("text", "tokenize it, for example with python -m loaderx.tokenize", error);
    return LX_OK;
}
