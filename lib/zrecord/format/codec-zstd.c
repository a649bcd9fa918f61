/* SPDX-License-Identifier: MIT */
#include "zrecord/format/codec.h"

#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

/* The frame header: the magic number, then the descriptor. */
#define DESCRIPTOR 4
#define CHECKSUM_FLAG 4u
#define RESERVED_FLAG 8u

struct inflater {
    lx__inflater base;
    ZSTD_DCtx *context;
};

struct deflater {
    lx__deflater base;
    ZSTD_CCtx *context;
};

/* ---- dictionaries */

/** A dictionary in the form that one of the two directions needs. */
struct dictionary {
    lx__dictionary base;
    unsigned id;
    ZSTD_DDict *decompress; /* NULL if the dictionary is for compression */
    ZSTD_CDict *compress;
};

static void dictionary_free(lx__dictionary *dictionary)
{
    struct dictionary *self = (struct dictionary *)dictionary;
    ZSTD_freeDDict(self->decompress);
    ZSTD_freeCDict(self->compress);
    lx__free(self);
}

/** Whether the bytes are a dictionary in the format of RFC 8878. libzstd does not say why it fails
 * to make a dictionary, so this decompresses an empty frame with the bytes. */
static lx_status check_dictionary(const void *data, size_t size, lx_error *error)
{
    static const uint8_t empty[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00};
    uint8_t nothing[1];
    if (ZSTD_getDictID_fromDict(data, size) == 0)
        return lx_fail(error, LX_ERR_CORRUPT, "the file is not a zstd dictionary with an id");
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL)
        return lx__fail_memory(error, "a dictionary");
    size_t done = ZSTD_decompress_usingDict(context, nothing, 0, empty, sizeof empty, data, size);
    ZSTD_freeDCtx(context);
    if (!ZSTD_isError(done))
        return LX_OK;
    return lx_fail(error, LX_ERR_CORRUPT, "the file is not a valid zstd dictionary: %s",
                   ZSTD_getErrorName(done));
}

static lx_status dictionary_new(const void *data, size_t size, int level,
                                lx__dictionary **dictionary, lx_error *error)
{
    lx_status status = check_dictionary(data, size, error);
    if (status != LX_OK)
        return status;
    struct dictionary *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL)
        return lx__fail_memory(error, "a dictionary");
    self->id = ZSTD_getDictID_fromDict(data, size);
    if (level == 0)
        self->decompress = ZSTD_createDDict(data, size);
    else
        self->compress = ZSTD_createCDict(data, size, level);
    if (self->decompress != NULL || self->compress != NULL) {
        *dictionary = &self->base;
        return LX_OK;
    }
    lx__free(self);
    return lx__fail_memory(error, "a dictionary");
}

static lx_status dictionary_train(const void *samples, const size_t *sizes, size_t count,
                                  void *data, size_t capacity, size_t *size, lx_error *error)
{
    *size = ZDICT_trainFromBuffer(data, capacity, samples, sizes, (unsigned)count);
    if (!ZDICT_isError(*size))
        return LX_OK;
    if (ZSTD_getErrorCode(*size) == ZSTD_error_memory_allocation)
        return lx__fail_memory(error, "the training of a dictionary");
    return lx_fail(error, LX_ERR_STATE,
                   "cannot train a dictionary: the %zu samples are too few or too small, or have "
                   "nothing in common",
                   count);
}

/* ---- decompression */

static lx__inflater *inflater_new(void)
{
    struct inflater *inflater = lx__alloc(sizeof *inflater);
    if (inflater == NULL)
        return NULL;
    inflater->context = ZSTD_createDCtx();
    if (inflater->context != NULL)
        return &inflater->base;
    lx__free(inflater);
    return NULL;
}

static void inflater_free(lx__inflater *inflater)
{
    ZSTD_freeDCtx(((struct inflater *)inflater)->context);
    lx__free(inflater);
}

/** Whether the bytes are one frame of the form that section 6.4 of the format requires, and nothing
 * else. libzstd itself accepts several frames, skippable ones, and those of its early versions. */
static bool is_one_frame(const uint8_t *stored, size_t size, size_t value_size)
{
    return size > DESCRIPTOR && lx__load_le32(stored) == ZSTD_MAGICNUMBER &&
           (stored[DESCRIPTOR] & (CHECKSUM_FLAG | RESERVED_FLAG)) == 0 &&
           ZSTD_getFrameContentSize(stored, size) == value_size &&
           ZSTD_findFrameCompressedSize(stored, size) == size;
}

static bool needs_dictionary(const void *stored, size_t size)
{
    return ZSTD_getDictID_fromFrame(stored, size) != 0;
}

static bool inflate_value(lx__inflater *inflater, const void *stored, size_t size, void *value,
                          size_t value_size)
{
    ZSTD_DCtx *context = ((struct inflater *)inflater)->context;
    const struct dictionary *with = (const struct dictionary *)inflater->dictionary;
    if (!is_one_frame(stored, size, value_size))
        return false;
    unsigned id = ZSTD_getDictID_fromFrame(stored, size);
    if (id == 0)
        return ZSTD_decompressDCtx(context, value, value_size, stored, size) == value_size;
    return with != NULL && with->id == id &&
           ZSTD_decompress_usingDDict(context, value, value_size, stored, size, with->decompress) ==
               value_size;
}

/* ---- compression */

static lx__deflater *deflater_new(int level)
{
    struct deflater *deflater = lx__alloc(sizeof *deflater);
    if (deflater == NULL)
        return NULL;
    deflater->context = ZSTD_createCCtx();
    if (deflater->context != NULL &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(deflater->context, ZSTD_c_compressionLevel, level)))
        return &deflater->base;
    ZSTD_freeCCtx(deflater->context);
    lx__free(deflater);
    return NULL;
}

static void deflater_free(lx__deflater *deflater)
{
    ZSTD_freeCCtx(((struct deflater *)deflater)->context);
    lx__free(deflater);
}

static size_t deflate_value(lx__deflater *deflater, const void *value, size_t value_size,
                            void *stored, size_t capacity)
{
    ZSTD_CCtx *context = ((struct deflater *)deflater)->context;
    const struct dictionary *with = (const struct dictionary *)deflater->dictionary;
    /* A value that did not shrink has left the context in the middle of a frame. */
    size_t size = ZSTD_CCtx_reset(context, ZSTD_reset_session_only);
    if (!ZSTD_isError(size))
        size = ZSTD_CCtx_refCDict(context, with != NULL ? with->compress : NULL);
    if (!ZSTD_isError(size))
        size = ZSTD_compress2(context, stored, capacity, value, value_size);
    if (!ZSTD_isError(size))
        return size;
    return ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall ? 0 : LX__DEFLATE_NOMEM;
}

const lx__codec lx__zstd = {LX__ZSTD_PROPERTIES,
                            .inflater_new = inflater_new,
                            .inflater_free = inflater_free,
                            .inflate = inflate_value,
                            .deflater_new = deflater_new,
                            .deflater_free = deflater_free,
                            .deflate = deflate_value,
                            .needs_dictionary = needs_dictionary,
                            .dictionary_new = dictionary_new,
                            .dictionary_free = dictionary_free,
                            .dictionary_train = dictionary_train};
