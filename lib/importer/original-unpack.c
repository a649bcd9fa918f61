/* SPDX-License-Identifier: MIT */
#include "importer/original-unpack.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

#include "base/alloc.h"
#include "base/error.h"

struct lx__original_unpacker {
    ZSTD_DCtx *context;
    ZSTD_DDict *dictionary; /**< NULL: none. */
};

lx_status lx__original_unpacker_new(const void *dictionary, size_t size,
                                    lx__original_unpacker **unpacker, lx_error *error)
{
    lx__original_unpacker *self = lx__alloc_array(1, sizeof *self);
    *unpacker = self;
    if (self == NULL || (self->context = ZSTD_createDCtx()) == NULL)
        return lx__fail_memory(error, "decompression");
    if (dictionary == NULL)
        return LX_OK;
    if (ZSTD_getDictID_fromDict(dictionary, size) == 0)
        return lx_fail(error, LX_ERR_CORRUPT, "dict.zr is not a zstd dictionary");
    self->dictionary = ZSTD_createDDict(dictionary, size);
    return self->dictionary != NULL
               ? LX_OK
               : lx_fail(error, LX_ERR_CORRUPT, "dict.zr is not a valid zstd dictionary");
}

void lx__original_unpacker_free(lx__original_unpacker *self)
{
    if (self == NULL)
        return;
    ZSTD_freeDDict(self->dictionary);
    ZSTD_freeDCtx(self->context);
    lx__free(self);
}

lx_status lx__original_unpack(lx__original_unpacker *self, const void *stored, size_t stored_size,
                              void *data, size_t size, lx_error *error)
{
    size_t got = self->dictionary != NULL
                     ? ZSTD_decompress_usingDDict(self->context, data, size, stored, stored_size,
                                                  self->dictionary)
                     : ZSTD_decompressDCtx(self->context, data, size, stored, stored_size);
    if (ZSTD_isError(got))
        return lx_fail(error, LX_ERR_CORRUPT, "the zstd data of the record is damaged: %s",
                       ZSTD_getErrorName(got));
    return got == size ? LX_OK
                       : lx_fail(error, LX_ERR_CORRUPT,
                                 "the zstd data of the record has %zu bytes, but should have %zu",
                                 got, size);
}
#else
lx_status lx__original_unpacker_new(const void *dictionary, size_t size,
                                    lx__original_unpacker **unpacker, lx_error *error)
{
    (void)dictionary, (void)size;
    *unpacker = NULL;
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "the records are compressed with zstd, which this build does not support: build "
                   "with libzstd");
}

void lx__original_unpacker_free(lx__original_unpacker *unpacker)
{
    (void)unpacker;
}

lx_status lx__original_unpack(lx__original_unpacker *unpacker, const void *stored,
                              size_t stored_size, void *data, size_t size, lx_error *error)
{
    (void)unpacker, (void)stored, (void)stored_size, (void)data, (void)size;
    return lx_fail(error, LX_ERR_UNSUPPORTED, "this build does not support zstd");
}
#endif
