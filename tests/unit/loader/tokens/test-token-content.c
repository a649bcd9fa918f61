/* SPDX-License-Identifier: MIT */
/* Files of another content that are given as tokens: lib/loader/tokens/token-content.c. */
#include "loader/tokens/token-content.h"

#include "token-files.h"

#define FILE(text) (text), sizeof(text) - 1

static const struct {
    const char *start;
    size_t size;
    const char *said;
} files[] = {
    {FILE("\x93NUMPY\x01\0v\0{'descr': "), "a NumPy array: its name must end with .npy"},
    {FILE("PK\x03\x04\x14\0\0\0"), "a ZIP archive, such as .npz"},
    {FILE("\x1f\x8b\x08\0\0\0\0\0\x02\x03+"), "compressed with gzip: unpack it first"},
    {FILE("\x28\xb5\x2f\xfd$"), "compressed with zstd"},
    {FILE("\xfd\x37zXZ\0\0"), "compressed with xz"},
    {FILE("BZh91AY&SY"), "compressed with bzip2"},
    {FILE("PAR1\x15\x04"), "a Parquet file"},
    {FILE("ARROW1\0\0"), "an Arrow file"},
    {FILE("\x89HDF\r\n\x1a\n"), "an HDF5 file"},
    {FILE("MMIDIDX\0\0\x01"), "the index of a Megatron dataset"},
    {FILE("{\"text\": \"one\"}\n{\"text\": \"two\"}\n[1, 2, 3]\r\n\tand more and more text"),
     "text"},
    {FILE("Ein Text mit Umlauten: \xc3\xa4\xc3\xb6\xc3\xbc, lang genug, um keine Zahlen zu sein."),
     "text: tokenize it"},
};

/** Writes a file that begins so; the rest is zeros, unless it is text, and the end of Parquet. */
static size_t write_file(size_t i, const char *path)
{
    char bytes[200] = "";
    bool text = strstr(files[i].said, "text") == files[i].said;
    size_t size = text ? files[i].size & ~(size_t)3 : sizeof bytes;
    memcpy(bytes, files[i].start, files[i].size < size ? files[i].size : size);
    if (memcmp(bytes, "PAR1", 4) == 0)
        memcpy(bytes + sizeof bytes - 4, "PAR1", 4);
    write_bytes(path, bytes, size);
    return size;
}

static void expect_refused(lx_status status, const lx_error *error, size_t i, const char *path)
{
    ck_assert_msg(status == LX_ERR_UNSUPPORTED && strstr(error->message, files[i].said) != NULL,
                  "%zu, %s: %d, %s", i, path, status, error->message);
    ck_assert_str_eq(error->path, path);
}

START_TEST(other_files_are_refused_by_every_name)
{
    static const char *const paths[] = {"x", "x.bin", "x.ds", "y.bin"};
    static const uint32_t lengths[] = {50};
    char *scratch = scratch_make();
    write_idx("y.idx", 8, 2, lengths, 1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
            lx_error error = LX_ERROR_INIT;
            lx_tokens *tokens;
            write_file(i, paths[k]);
            expect_refused(lx_tokens_open(paths[k], LX_UINT16, &tokens, &error), &error, i,
                           paths[k]);
            if (strcmp(paths[k], "y.bin") == 0)
                continue;
            lx_error_clear(&error);
            expect_refused(lx_tokens_open_raw(paths[k], LX_UINT32, &tokens, &error), &error, i,
                           paths[k]);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(files_of_odd_sizes_are_named_first)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_bytes("x.bin", "\x28\xb5\x2f\xfd$", 5);
    expect_refused(lx_tokens_open("x.bin", LX_UINT16, &tokens, &error), &error, 3, "x.bin");
    scratch_remove(scratch);
}
END_TEST

START_TEST(tokens_are_not_refused)
{
    char *scratch = scratch_make();
    uint64_t numbers[4096];
    uint64_t state = 1;
    for (size_t i = 0; i < 4096; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        numbers[i] = (state >> 33) % 50257;
    }
    for (size_t count = 0; count <= 4096; count = 2 * count + 1) {
        for (size_t width = 1; width <= 8; width *= 2) {
            static const lx_dtype dtypes[] = {
                [1] = LX_UINT8, [2] = LX_UINT16, [4] = LX_UINT32, [8] = LX_INT64};
            write_numbers("x", width, numbers, count);
            lx_tokens *tokens = open_tokens("x", dtypes[width]);
            ck_assert_uint_eq(lx_tokens_get_length(tokens), count);
            lx_tokens_unref(tokens);
        }
    }
    /* What begins as gzip, Parquet or a text, but does not go on so. */
    numbers[0] = 0x8b1f;
    numbers[1] = 0x2008;
    write_numbers("x", 2, numbers, 4096);
    lx_tokens_unref(open_tokens("x", LX_UINT16));
    memcpy(numbers, "PAR1", 4);
    write_bytes("x", numbers, sizeof numbers);
    lx_tokens_unref(open_tokens("x", LX_UINT16));
    write_bytes("x", "a few words", 10);
    lx_tokens_unref(open_tokens("x", LX_UINT16));
    /* The tokens of bytes are text. */
    write_file(10, "x");
    lx_tokens_unref(open_tokens("x", LX_UINT8));
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/token-content", other_files_are_refused_by_every_name,
          files_of_odd_sizes_are_named_first, tokens_are_not_refused)
