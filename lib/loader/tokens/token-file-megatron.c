/* SPDX-License-Identifier: MIT */
/* The two files of a Megatron indexed dataset. x.bin contains raw tokens; x.idx contains a 34-byte
 * header, the lengths of all sequences in tokens (i32), their offsets in bytes (i64), and the first
 * sequence of each document (i64). All numbers are little-endian. */
#include "loader/tokens/token-file-megatron.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/tokens/token-file.h"

#define HEADER 34
#define INDEX_VERSION 1

static const char magic[9] = "MMIDIDX\0";

static char *with_suffix(const char *path, const char *suffix)
{
    size_t stem = strlen(path) - strlen(suffix);
    char *made = lx__strdup(path);
    if (made != NULL)
        memcpy(made + stem, suffix, strlen(suffix));
    return made;
}

static lx_status fail_index(const lx__token_file *file, uint64_t offset, lx_status status,
                            lx_error *error)
{
    lx_error_locate(error, file->index_path, NULL, LX_NONE, offset);
    return status;
}

static lx_status find_dtype(const lx__token_file *file, lx_dtype *dtype, lx_error *error)
{
    static const lx_dtype codes[] = {0,        LX_UINT8,   LX_INT8,    LX_INT16, LX_INT32,
                                     LX_INT64, LX_FLOAT64, LX_FLOAT32, LX_UINT16};
    unsigned code = file->index.data[17];
    if (code == 0 || code >= sizeof codes / sizeof *codes)
        return lx_fail(error, LX_ERR_CORRUPT, "dtype code %u is unknown", code);
    *dtype = codes[code];
    if (*dtype == LX_FLOAT32 || *dtype == LX_FLOAT64)
        return lx_fail(error, LX_ERR_UNSUPPORTED, "tokens must be integers, not %s",
                       lx_dtype_get_name(*dtype));
    return LX_OK;
}

static lx_status check_header(const lx__token_file *file, lx_error *error)
{
    const uint8_t *bytes = file->index.data;
    if (file->index.size < HEADER || memcmp(bytes, magic, sizeof magic) != 0)
        return fail_index(file, 0,
                          lx_fail(error, LX_ERR_UNSUPPORTED,
                                  "the file is not a Megatron index: its magic number MMIDIDX is "
                                  "missing"),
                          error);
    if (lx__load_le64(bytes + 9) == INDEX_VERSION)
        return LX_OK;
    return fail_index(file, 9,
                      lx_fail(error, LX_ERR_UNSUPPORTED,
                              "index version %" PRIu64 " is not supported: only version %d is",
                              lx__load_le64(bytes + 9), INDEX_VERSION),
                      error);
}

/** Fails because the size of the index, without its header, is not @p expected. The index of a
 * multimodal dataset has one more byte for each sequence: its mode. */
static lx_status fail_size(const lx__token_file *file, uint64_t sequences, uint64_t documents,
                           uint64_t expected, lx_error *error)
{
    uint64_t size = file->index.size - HEADER;
    bool modes = size > expected && size - expected == sequences;
    lx_status status =
        modes ? lx_fail(error, LX_ERR_UNSUPPORTED,
                        "the index belongs to a multimodal dataset, since it has a mode for each "
                        "of its %" PRIu64 " sequences: only text datasets are supported",
                        sequences)
              : lx_fail(error, LX_ERR_CORRUPT,
                        "an index of %" PRIu64 " sequences and %" PRIu64
                        " documents cannot have %zu bytes: the index is truncated, or has extra "
                        "bytes",
                        sequences, documents, file->index.size);
    return fail_index(file, 18, status, error);
}

/** Checks that the file contains the arrays that its header describes, and finds them. */
static lx_status find_arrays(lx__token_file *file, lx_error *error)
{
    const uint8_t *bytes = file->index.data;
    uint64_t sequences = lx__load_le64(bytes + 18), documents = lx__load_le64(bytes + 26);
    uint64_t arrays, ends;
    bool fits = lx__multiply_fits(sequences, 12, &arrays) &&
                lx__multiply_fits(documents, 8, &ends) && lx__add_fits(arrays, ends, &arrays);
    if (!fits || arrays != file->index.size - HEADER)
        return fail_size(file, sequences, documents, fits ? arrays : UINT64_MAX, error);
    file->how = LX__DOCUMENTS_MEGATRON;
    file->documents = sequences;
    file->lengths = bytes + HEADER;
    file->places = file->lengths + 4 * sequences;
    return LX_OK;
}

/** Checks that the last sequence ends where the tokens end; the others are checked when they are
 * read. */
static lx_status check_end(const lx__token_file *file, lx_error *error)
{
    uint64_t first = 0, length = 0;
    lx_status status = LX_OK;
    if (file->documents != 0)
        status = lx__token_file_document(file, file->documents - 1, &first, &length, error);
    if (status != LX_OK || first + length == file->length)
        return status;
    status = lx_fail(error, LX_ERR_CORRUPT,
                     "the file has %" PRIu64 " tokens, but the index ends at token %" PRIu64
                     ": the index belongs to a different file",
                     file->length, first + length);
    lx_error_locate(error, file->path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__token_file_open_megatron(lx__token_file *file, lx_dtype dtype, lx_error *error)
{
    lx_dtype said = LX_BYTES;
    lx_status status = lx__token_file_map_index(file, with_suffix(file->path, ".idx"), error);
    char *tokens = status == LX_OK ? with_suffix(file->path, ".bin") : NULL;
    if (status == LX_OK && tokens == NULL)
        status = lx__fail_memory(error, "a path");
    if (status != LX_OK)
        return status;
    lx__free(file->path);
    file->path = tokens;
    status = check_header(file, error);
    if (status == LX_OK)
        status = fail_index(file, 17, find_dtype(file, &said, error), error);
    if (status == LX_OK)
        status = fail_index(file, 17, lx__token_file_set_dtype(file, dtype, said, error), error);
    if (status == LX_OK)
        status = find_arrays(file, error);
    if (status == LX_OK)
        status = lx__token_file_map(file, file->path, said, 0, LX_NONE, error);
    return status == LX_OK ? check_end(file, error) : status;
}
