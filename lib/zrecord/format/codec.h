/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Codecs: how a value can be compressed. One row each; a new codec is a source of its own
 * and a row in codec.c.
 */
#ifndef LX_ZRECORD_CODEC_H
#define LX_ZRECORD_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/schema.h>

/** Compressed by zstd: the format names it, later versions read and write it. */
#define LX__ZSTD ((lx_compression)2)

typedef struct lx__codec lx__codec;

/** What one thread needs to decompress, made once and used for many values. What a codec needs
 * follows in a struct of its own. */
typedef struct lx__inflater {
    const lx__codec *codec;
} lx__inflater;

/** What one thread needs to compress. */
typedef struct lx__deflater {
    const lx__codec *codec;
} lx__deflater;

struct lx__codec {
    const char *name;   /**< In meta.json, and in messages. */
    uint32_t ratio_max; /**< Most bytes that one stored byte gives; 0: nothing bounds them. */
    bool dictionaries;  /**< A field may have one. */
    /* All are NULL where this library cannot compress or decompress such values. */
    lx__inflater *(*inflater_new)(void);
    void (*inflater_free)(lx__inflater *inflater);
    bool (*inflate)(lx__inflater *inflater, const void *stored, size_t size, void *value,
                    size_t value_size);
    lx__deflater *(*deflater_new)(int level);
    void (*deflater_free)(lx__deflater *deflater);
    size_t (*deflate)(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                      size_t capacity);
};

/** No Deflate stream gives more bytes than this for one of its own: two bits can stand for 258. */
#define LX__FLATE_RATIO_MAX 1032u

/** Raw Deflate (RFC 1951), one stream a value, by libdeflate or by zlib. */
extern const lx__codec lx__flate;

/** Zstandard (RFC 8878): a row without functions. Values that are not compressed can be read. */
extern const lx__codec lx__zstd;

/** The codec of a compression; NULL: values are stored raw, or @p compression is invalid. */
const lx__codec *lx__codec_of(lx_compression compression);

/** The name of a compression in meta.json. */
const char *lx__compression_name(lx_compression compression);

/** Finds a compression by its name; false: unknown. */
bool lx__compression_find(const char *name, lx_compression *compression);

/** Makes an inflater of a codec that has functions. NULL: out of memory. */
lx__inflater *lx__inflater_new(const lx__codec *codec);
void lx__inflater_free(lx__inflater *inflater);

/** True if the @p size bytes at @p stored are one whole stream of exactly @p value_size bytes,
 * which are then at @p value. */
bool lx__inflate(lx__inflater *inflater, const void *stored, size_t size, void *value,
                 size_t value_size);

/** @p level is 1 to 9. NULL: out of memory. */
lx__deflater *lx__deflater_new(const lx__codec *codec, int level);
void lx__deflater_free(lx__deflater *deflater);

/** Bytes of the stream for the value, written to @p stored; 0 if it would need more than
 * @p capacity, that is, if it does not shrink enough. */
size_t lx__deflate(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                   size_t capacity);

#endif
