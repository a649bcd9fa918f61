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
#include <loaderx/status.h>

typedef struct lx__codec lx__codec;

/** A dictionary that is ready for use by any number of threads. Each codec embeds it as the first
 * member of its own struct. */
typedef struct lx__dictionary {
    const lx__codec *codec;
} lx__dictionary;

/** A decompression context, for one thread at a time; it can decompress any number of values. Each
 * codec embeds it as the first member of its own struct. */
typedef struct lx__inflater {
    const lx__codec *codec;
    const lx__dictionary *dictionary; /**< For the values that need one; NULL: there is none. May be
                                           changed between two values. */
} lx__inflater;

/** A compression context, for one thread at a time; embedded in the same way as lx__inflater. */
typedef struct lx__deflater {
    const lx__codec *codec;
    int level;
    const lx__dictionary *dictionary; /**< NULL: compress without one. May be changed between two
                                           values; a dictionary has a level of its own. */
} lx__deflater;

struct lx__codec {
    const char *name;   /**< The name in meta.json and in messages. */
    uint32_t ratio_max; /**< Maximum number of bytes that one stored byte can decompress to. */
    int level_default;  /**< The level of fields for which none was chosen. */
    int level_max;      /**< The highest level; the lowest is 1. */
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
    /* These are also NULL if the codec has no dictionaries. */
    bool (*needs_dictionary)(const void *stored, size_t size);
    lx_status (*dictionary_new)(const void *data, size_t size, int level,
                                lx__dictionary **dictionary, lx_error *error);
    void (*dictionary_free)(lx__dictionary *dictionary);
    lx_status (*dictionary_train)(const void *samples, const size_t *sizes, size_t count,
                                  void *data, size_t capacity, size_t *size, lx_error *error);
};

/** What lx__deflate() returns if memory runs out. */
#define LX__DEFLATE_NOMEM SIZE_MAX

/** Maximum number of bytes that one byte of a Deflate stream can decompress to: two bits can encode
 * 258 bytes. */
#define LX__FLATE_RATIO_MAX 1032u

/** Raw Deflate (RFC 1951), one stream per value, using libdeflate or zlib. */
extern const lx__codec lx__flate;

/** Maximum number of bytes that one byte of a Zstandard frame can decompress to: the shortest block
 * has 4 bytes, and the longest value of a block has 128 KiB. */
#define LX__ZSTD_RATIO_MAX 32768u

/** Zstandard (RFC 8878), one frame per value, using libzstd. Without libzstd, it has no functions:
 * only values stored raw can be read in fields that use it. */
extern const lx__codec lx__zstd;

/** What is known about the codec even without libzstd. */
#define LX__ZSTD_PROPERTIES                                                                        \
    .name = "zstd", .ratio_max = LX__ZSTD_RATIO_MAX, .level_default = 3, .level_max = 22,          \
    .dictionaries = true

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
 * one complete stream that decompresses to exactly @p value_size bytes, with inflater->dictionary
 * if it needs one. */
bool lx__inflate(lx__inflater *inflater, const void *stored, size_t size, void *value,
                 size_t value_size);

/** Creates a deflater; @p level is 1 to codec->level_max. Returns NULL when out of memory. */
lx__deflater *lx__deflater_new(const lx__codec *codec, int level);
void lx__deflater_free(lx__deflater *deflater);

/** Compresses a value into @p stored and returns the size of the stream; returns 0 if the stream
 * would exceed @p capacity, which means that the value does not shrink enough. */
size_t lx__deflate(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                   size_t capacity);

/** Whether a stored value was compressed with a dictionary. False if @p codec has none. */
bool lx__codec_needs_dictionary(const lx__codec *codec, const void *stored, size_t size);

/**
 * Makes a dictionary from its stored form, which may be freed afterwards.
 *
 * @param level  The level to compress with; 0: the dictionary is only for decompression.
 * @retval LX_ERR_CORRUPT  The bytes are not a dictionary.
 * @retval LX_ERR_NOMEM    Out of memory.
 */
lx_status lx__dictionary_new(const lx__codec *codec, const void *data, size_t size, int level,
                             lx__dictionary **dictionary, lx_error *error);
void lx__dictionary_free(lx__dictionary *dictionary);

/**
 * Trains a dictionary on @p count samples, which follow one another.
 *
 * @param[out] data  Receives the dictionary, in stored form: up to @p capacity bytes.
 * @param[out] size  Receives its size.
 * @retval LX_ERR_STATE  The samples are too few or too small, or have nothing in common.
 */
lx_status lx__dictionary_train(const lx__codec *codec, const void *samples, const size_t *sizes,
                               size_t count, void *data, size_t capacity, size_t *size,
                               lx_error *error);

#endif
