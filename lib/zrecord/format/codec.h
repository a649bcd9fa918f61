/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Raw Deflate (RFC 1951), one stream a record, by libdeflate or by zlib.
 */
#ifndef LX_ZRECORD_CODEC_H
#define LX_ZRECORD_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No Deflate stream gives more bytes than this for one of its own: two bits can stand for 258. */
#define LX__FLATE_RATIO_MAX 1032u

/** What one thread needs to inflate, made once and used for many records. */
typedef struct lx__inflater lx__inflater;

/** NULL when out of memory. */
lx__inflater *lx__inflater_new(void);
void lx__inflater_free(lx__inflater *inflater);

/** True if the @p size bytes at @p stored are one whole stream of exactly @p value_size bytes,
 * which are then at @p value. */
bool lx__inflate(lx__inflater *inflater, const void *stored, size_t size, void *value,
                 size_t value_size);

/** What one thread needs to deflate. */
typedef struct lx__deflater lx__deflater;

/** @p level is 1 to 9. NULL when out of memory. */
lx__deflater *lx__deflater_new(int level);
void lx__deflater_free(lx__deflater *deflater);

/** Bytes of the stream for the value, written to @p stored; 0 if it would need more than
 * @p capacity, that is, if it does not shrink enough. */
size_t lx__deflate(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                   size_t capacity);

#endif
