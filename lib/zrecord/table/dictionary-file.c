/* SPDX-License-Identifier: MIT */
#include "zrecord/table/dictionary-file.h"

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/table/table-file.h"

static lx_status read_checked(const lx__file *file, const lx__dict *sum, uint8_t *data,
                              lx_error *error)
{
    lx_status status = lx__file_read(file, data, (size_t)sum->bytes, 0, error);
    uint32_t crc = status == LX_OK ? lx__crc32c(0, data, (size_t)sum->bytes) : 0;
    if (status == LX_OK && crc != sum->crc && lx__file_renew(file, 0, sum->bytes)) {
        status = lx__file_read(file, data, (size_t)sum->bytes, 0, error);
        crc = status == LX_OK ? lx__crc32c(0, data, (size_t)sum->bytes) : 0;
    }
    if (status != LX_OK || crc == sum->crc)
        return status;
    return lx_fail(error, LX_ERR_CORRUPT,
                   "dictionary checksum mismatch: expected %08x, computed %08x", sum->crc, crc);
}

lx_status lx__dictionary_read(const lx__file *directory, const char *stem, const lx__dict *sum,
                              uint8_t **data, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__file file;
    *data = NULL;
    lx__dict_name(stem, name);
    lx_status status = lx__committed_open(&file, directory, name, O_RDONLY, sum->bytes, true,
                                          error);
    if (status != LX_OK)
        return status;
    uint8_t *read = lx__alloc((size_t)sum->bytes);
    status = read != NULL ? read_checked(&file, sum, read, error)
                          : lx__fail_memory(error, "a dictionary");
    lx_error_locate(error, file.path, NULL, LX_NONE, LX_NONE);
    lx__file_close(&file);
    if (status == LX_OK)
        *data = read;
    else
        lx__free(read);
    return status;
}

lx_status lx__dictionary_load(const lx__file *directory, const char *stem, const lx__dict *sum,
                              const lx__codec *codec, int level, lx__dictionary **dictionary,
                              lx_error *error)
{
    uint8_t *data;
    *dictionary = NULL;
    lx_status status = lx__dictionary_read(directory, stem, sum, &data, error);
    if (status == LX_OK && codec->dictionary_new != NULL)
        status = lx__dictionary_new(codec, data, (size_t)sum->bytes, level, dictionary, error);
    lx__free(data);
    return status;
}
