/* SPDX-License-Identifier: MIT */
/* Token files that datatrove writes and Nanotron reads. x.ds contains raw tokens. x.ds.index
 * contains the end of each document in tokens (u64, little-endian). The first line of the text file
 * x.ds.metadata ends with "|" and the number of bytes per token. Only x.ds is required. */
#include "loader/tokens/token-file-ds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/tokens/token-file.h"

/* Ample: the metadata is three short lines. */
#define METADATA_MAX 65536

static char *with_more(const char *path, const char *more)
{
    size_t length = strlen(path) + strlen(more) + 1;
    char *made = lx__alloc(length);
    if (made != NULL) {
        strcpy(made, path);
        strcat(made, more);
    }
    return made;
}

static bool is_there(const char *path)
{
    bool regular = false;
    return lx__file_is_regular(LX__CWD, path, &regular, NULL) == LX_OK && regular;
}

static lx_status parse_width(char *text, lx_dtype *dtype, lx_error *error)
{
    text[strcspn(text, "\n")] = '\0';
    const char *bar = strrchr(text, '|');
    if (bar != NULL && strcmp(bar, "|2") == 0)
        *dtype = LX_UINT16;
    else if (bar != NULL && strcmp(bar, "|4") == 0)
        *dtype = LX_UINT32;
    else if (bar != NULL)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the first line ends with \"%.16s\", but must end with the number of bytes "
                       "per token, \"|2\" or \"|4\"",
                       bar);
    return LX_OK;
}

/** Reads the dtype from the metadata; leaves it unchanged if there is no metadata, or if it does
 * not state the dtype. */
static lx_status read_metadata(const char *path, lx_dtype *dtype, lx_error *error)
{
    lx__file file;
    char *text = NULL;
    size_t size;
    if (!is_there(path))
        return LX_OK;
    lx_status status = lx__file_open(&file, LX__CWD, path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__file_read_all(&file, METADATA_MAX, &text, &size, error);
    lx__file_close(&file);
    if (status == LX_OK)
        status = parse_width(text, dtype, error);
    lx__free(text);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status find_dtype(lx__token_file *file, lx_dtype dtype, lx_error *error)
{
    lx_dtype said = LX_BYTES;
    char *path = with_more(file->path, ".metadata");
    if (path == NULL)
        return lx__fail_memory(error, "a path");
    lx_status status = read_metadata(path, &said, error);
    lx__free(path);
    if (status != LX_OK)
        return status;
    if (said == LX_BYTES)
        said = dtype != LX_BYTES ? dtype : LX_UINT16;
    status = lx__token_file_set_dtype(file, dtype, said, error);
    lx_error_locate(error, file->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status find_ends(lx__token_file *file, lx_error *error)
{
    char *path = with_more(file->path, ".index");
    if (path == NULL)
        return lx__fail_memory(error, "a path");
    if (!is_there(path)) {
        lx__free(path);
        return LX_OK;
    }
    lx_status status = lx__token_file_map_index(file, path, error);
    if (status != LX_OK)
        return status;
    size_t size = file->index.size;
    file->how = LX__DOCUMENTS_ENDS;
    file->documents = size / 8;
    file->places = file->index.data;
    uint64_t end = size < 8 ? 0 : lx__load_le64(file->places + size / 8 * 8 - 8);
    if (size % 8 == 0 && end == file->length)
        return LX_OK;
    status = lx_fail(error, LX_ERR_CORRUPT,
                     "the index of %zu bytes ends at token %" PRIu64 ", but the file has %" PRIu64
                     " tokens: the index is truncated, or belongs to a different file",
                     size, end, file->length);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__token_file_open_ds(lx__token_file *file, lx_dtype dtype, lx_error *error)
{
    lx_status status = find_dtype(file, dtype, error);
    if (status == LX_OK)
        status = lx__token_file_map(file, file->path, file->dtype, 0, LX_NONE, error);
    return status == LX_OK ? find_ends(file, error) : status;
}
