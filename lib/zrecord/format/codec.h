/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Codecs, which compress values. Each codec is defined in its own source file and listed in
 * codec.c; CONTRIBUTING.md lists the other places to change.
 */
#ifndef LX_ZRECORD_CODEC_H
#define LX_ZRECORD_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/schema.h>

/** Zstandard compression: part of the format, but not implemented in this version. */
#define LX__ZSTD ((lx_compression)2)

typedef struct lx__codec lx__codec;

/** A decompression context, for one thread at a time; it can decompress any number of values. Each
 * codec embeds it as the first member of its own struct. */
typedef struct lx__inflater {
    const lx__codec *codec;
} lx__inflater;

/** A compression context, for one thread at a time; embedded in the same way as lx__inflater. */
typedef struct lx__deflater {
    const lx__codec *codec;
} lx__deflater;

struct lx__codec {
    const char *name;   /**< The name in meta.json and in messages. */
    uint32_t ratio_max; /**< Maximum number of bytes that one stored byte can decompress to; 0:
                             unlimited. */
    bool dictionaries;  /**< Whether fields that use this codec may have a dictionary. */
    /* All of these functions are NULL if this library does not implement the codec. */
    lx__inflater *(*inflater_new)(void);
    void (*inflater_free)(lx__inflater *inflater);
    bool (*inflate)(lx__inflater *inflater, const void *stored, size_t size, void *value,
                    size_t value_size);
    lx__deflater *(*deflater_new)(int level);
    void (*deflater_free)(lx__deflater *deflater);
    size_t (*deflate)(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                      size_t capacity);
};

/** Maximum number of bytes that one byte of a Deflate stream can decompress to: two bits can encode
 * 258 bytes. */
#define LX__FLATE_RATIO_MAX 1032u

/** Raw Deflate (RFC 1951), one stream per value, using libdeflate or zlib. */
extern const lx__codec lx__flate;

/** Zstandard (RFC 8878). It has no functions: in fields that use it, only values stored raw can be
 * read. */
extern const lx__codec lx__zstd;

/** Returns the codec for a compression; NULL for #LX_COMPRESSION_RAW and for invalid values. */
const lx__codec *lx__codec_of(lx_compression compression);

/** Returns the name that meta.json uses for a compression. */
const char *lx__compression_name(lx_compression compression);

/** Looks up a compression method by name; returns false if the name is unknown. */
bool lx__compression_find(const char *name, lx_compression *compression);

/** Creates an inflater; @p codec must have functions. Returns NULL when out of memory. */
lx__inflater *lx__inflater_new(const lx__codec *codec);
void lx__inflater_free(lx__inflater *inflater);

/** Decompresses the @p size bytes at @p stored into @p value. Returns false unless these bytes are
 * one complete stream that decompresses to exactly @p value_size bytes. */
bool lx__inflate(lx__inflater *inflater, const void *stored, size_t size, void *value,
                 size_t value_size);

/** Creates a deflater; @p level is 1 to 9. Returns NULL when out of memory. */
lx__deflater *lx__deflater_new(const lx__codec *codec, int level);
void lx__deflater_free(lx__deflater *deflater);

/** Compresses a value into @p stored and returns the size of the stream; returns 0 if the stream
 * would exceed @p capacity, which means that the value does not shrink enough. */
size_t lx__deflate(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                   size_t capacity);

#endif
