/* SPDX-License-Identifier: MIT */
/* Files of tokens: a byte for the kind, one for options, one for the length of the index in units
 * of 4 bytes, the index (or metadata), and the tokens. The kinds are bare tokens, .npy, Megatron's
 * .bin with .idx, and Nanotron's .ds with .ds.index and .ds.metadata. If the files open, each
 * document and all tokens are read, as samples and packed; documents must be within the tokens, and
 * the tokens must be those of the file. */
#include "fuzz.h"

#include <fcntl.h>
#include <loaderx/loader.h>
#include <loaderx/packing.h>
#include <loaderx/tokens.h>
#include <unistd.h>

#include "base/bytes.h"
#include "memory.h"
#include "../new-sources.h"

enum kind { BARE, NPY, MEGATRON, DS, DS_METADATA, KINDS };

enum {
    DTYPE = 15,  /* the requested dtype, if it is valid */
    REPAIR = 16, /* correct the magic, version, counts and last offset of an index */
    PACK = 32,   /* also read packed */
    JOIN = 64    /* also read joined */
};

/* Limits on what is read, since a file may declare any number. */
#define DOCUMENTS 200
#define TOKENS 4096
#define FILE_MAX 8192

/* ---- files that stay open while their bytes change */

struct file {
    const char *name;
    int fd; /* -1: not made */
};

static struct file tokens_files[KINDS] = {
    {"bare", -1}, {"a.npy", -1}, {"m.bin", -1}, {"n.ds", -1}, {"o.ds", -1}};
static struct file index_files[KINDS] = {
    {NULL, -1}, {NULL, -1}, {"m.idx", -1}, {"n.ds.index", -1}, {"o.ds.metadata", -1}};

static void put(struct file *file, const uint8_t *data, size_t size)
{
    if (file->fd == -1)
        file->fd = open(fuzz_path(file->name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd == -1 || ftruncate(file->fd, (off_t)size) == -1 ||
        pwrite(file->fd, data, size, 0) != (ssize_t)size)
        give_up(file->name);
}

/** Corrects the parts of Megatron's index that no fuzzer guesses. */
static void repair_megatron(uint8_t *index, size_t size)
{
    if (size < 34)
        return;
    memcpy(index, "MMIDIDX\0\0", 9);
    lx__store_le64(index + 9, 1);
    index[17] = (uint8_t)(index[17] % 9);
    uint64_t sequences = lx__load_le64(index + 18) % ((size - 34) / 12 + 1);
    lx__store_le64(index + 18, sequences);
    lx__store_le64(index + 26, (size - 34 - 12 * sequences) / 8);
}

static void repair_ends(uint8_t *index, size_t size, size_t tokens)
{
    if (size >= 8)
        lx__store_le64(index + size / 8 * 8 - 8, tokens / 2);
}

/* ---- reading */

static void check_tokens(const lx_tokens *tokens, const uint8_t *data, size_t size)
{
    static int64_t out[TOKENS];
    lx_error error = LX_ERROR_INIT;
    uint64_t length = lx_tokens_get_length(tokens);
    size_t width = lx_dtype_get_size(lx_tokens_get_dtype(tokens));
    if (length > size / width)
        fuzz_fail("there are more tokens than bytes");
    if (length > TOKENS)
        return;
    lx_status status = lx_tokens_read(tokens, 0, length, LX_INT64, out, &error);
    if (status != error.status || (status != LX_OK && status != LX_ERR_CORRUPT))
        fuzz_fail("tokens are %s", lx_status_get_name(status));
    /* The tokens end with the file, except that an array may be followed by more bytes. */
    for (uint64_t i = 0; status == LX_OK && width == 2 && data != NULL && i < length; i++)
        if ((out[i] & 0xffff) != (lx__load_le32(data + 2 * i) & 0xffff))
            fuzz_fail("token %llu is another", (unsigned long long)i);
    (void)lx_tokens_read(tokens, 0, length, LX_INT32, out, NULL);
}

static void check_documents(const lx_tokens *tokens)
{
    uint64_t count = lx_tokens_get_document_count(tokens), first, length;
    uint64_t total = lx_tokens_get_length(tokens);
    for (uint64_t i = 0; i < count && i < DOCUMENTS; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_status status = lx_tokens_get_document(tokens, i, &first, &length, &error);
        if (status != error.status || (status != LX_OK && status != LX_ERR_CORRUPT))
            fuzz_fail("a document is %s", lx_status_get_name(status));
        if (status == LX_OK && (first > total || length > total - first))
            fuzz_fail("a document is not in the tokens");
    }
    if (lx_tokens_get_document(tokens, count, &first, &length, NULL) != LX_ERR_RANGE)
        fuzz_fail("there is a document after the last one");
}

/** Reads the first samples of a source, and drops its reference; NULL does nothing. */
static void read_source(lx_source *source)
{
    static uint8_t out[4][TOKENS];
    lx_target targets[4];
    uint64_t index, length = source != NULL ? lx_source_get_length(source) : 0;
    for (size_t i = 0; source != NULL && i < lx_source_get_column_count(source); i++)
        targets[i] = (lx_target){.data = out[i], .stride = TOKENS};
    for (index = 0; index < length && index < 20; index++)
        (void)lx_source_fill(source, &index, 1, targets, NULL);
    lx_source_unref(source);
}

static void read_sources(lx_tokens *tokens, unsigned options)
{
    lx_source *source = NULL;
    (void)new_tokens(tokens, 7, LX_INT32, 0, &source, NULL);
    read_source(source);
    source = NULL;
    if (options & PACK)
        (void)new_packed_tokens(tokens, 16, LX_INT64, 0, 0,
                                LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS, &source, NULL);
    read_source(source);
    source = NULL;
    if (options & JOIN)
        (void)new_joined_tokens(tokens, 16, LX_INT32, 0, 3,
                                LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS, &source, NULL);
    read_source(source);
}

static void try_open(enum kind kind, unsigned options, const uint8_t *data, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens = NULL;
    unsigned requested = options & DTYPE;
    lx_dtype dtype = requested < 11 ? (lx_dtype)requested : LX_BYTES;
    const char *name = kind == MEGATRON ? index_files[kind].name : tokens_files[kind].name;
    lx_status status = lx_tokens_open(fuzz_path(name), dtype, &tokens, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status != LX_OK)
        return;
    check_tokens(tokens, kind != NPY ? data : NULL, size);
    check_documents(tokens);
    read_sources(tokens, options);
    lx_tokens_unref(tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct guarded buffer;
    struct input input = {data, size};
    uint8_t index[256 * 4 + 8];
    enum kind kind = (enum kind)(input_byte(&input) % KINDS);
    unsigned options = input_byte(&input);
    fuzz_json_begin();
    if (index_files[kind].name != NULL) {
        size_t length = input_byte(&input) * (size_t)4 + (options & REPAIR && kind == MEGATRON) * 2;
        memset(index, 0, sizeof index);
        const uint8_t *bytes = input_bytes(&input, &length);
        if (length != 0)
            memcpy(index, bytes, length);
        if (options & REPAIR && kind == MEGATRON)
            repair_megatron(index, length);
        if (options & REPAIR && kind == DS)
            repair_ends(index, length, input.size);
        put(&index_files[kind], index, length);
    }
    size_t left = input.size < FILE_MAX ? input.size : FILE_MAX;
    put(&tokens_files[kind], input.data, left);
    /* With space after the last token, so that it can be loaded as a word. */
    uint8_t *copy = guarded_take(&buffer, FILE_MAX + 4, left + 4);
    if (left != 0)
        memcpy(copy, input.data, left);
    try_open(kind, options, copy, left);
    fuzz_json_end();
    return 0;
}
