/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The framing of RecordIO, as dmlc-core and MXNet write it.
 *
 * A record is stored as one or more parts. A part is the magic number, a number that consists of
 * the kind of the part (3 bits) and its length (29 bits), the data, and zeros up to a multiple of 4
 * bytes; numbers are little-endian. Where the data of a record contains the magic number at a
 * multiple of 4 bytes, it is cut: these 4 bytes are left out, and a new part begins. At multiples of
 * 4 bytes, the magic number thus occurs only where parts begin, so that a reader can find the next
 * record from anywhere.
 *
 * Source: include/dmlc/recordio.h of dmlc-core.
 */
#ifndef LX_RECORDIO_RECORD_H
#define LX_RECORDIO_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LX__RECORDIO_MAGIC UINT32_C(0xced7230a)
/** Bytes of the two numbers before the data of a part. */
#define LX__RECORDIO_HEAD 8
/** The length of a record must be below this. */
#define LX__RECORDIO_LIMIT (UINT32_C(1) << 29)

typedef enum lx__recordio_part {
    LX__RECORDIO_WHOLE = 0, /**< The only part of a record. */
    LX__RECORDIO_FIRST = 1,
    LX__RECORDIO_MIDDLE = 2,
    LX__RECORDIO_LAST = 3
} lx__recordio_part;

/** Writes the two numbers before the data of a part. */
void lx__recordio_put_head(uint8_t *to, lx__recordio_part part, uint32_t length);

/** Returns the offset of the first magic number at a multiple of 4 bytes; @p size if there is
 * none. */
size_t lx__recordio_find_magic(const uint8_t *data, size_t size);

/** Returns the offset of the first place at a multiple of 4 bytes where a record may begin: a magic
 * number of a first or only part, or one whose kind is beyond the end. @p size if there is none. */
size_t lx__recordio_find_record(const uint8_t *data, size_t size);

/** A stored record, as far as its parts are known. Zero before. */
typedef struct lx__recordio_extent {
    uint64_t stored;  /**< Bytes of the parts, including padding. */
    uint64_t size;    /**< Bytes of the record in these parts. */
    uint64_t parts;   /**< Their number. */
    bool complete;    /**< The last part is among them. */
    uint64_t last;    /**< Where the last part begins that was not searched for magic numbers. */
    const char *flaw; /**< If the record is damaged: how. */
} lx__recordio_extent;

/** Adds the part whose head is at @p head, after the parts before; false if the record is
 * damaged. */
bool lx__recordio_add_part(lx__recordio_extent *extent, const uint8_t *head);

/**
 * Finds the parts of the record that begins at @p data, of which @p size bytes are there.
 *
 * @param extent  Zero at first. If more bytes are needed, pass it again.
 * @return How many bytes of the record are needed; at most @p size if it is complete or damaged.
 */
uint64_t lx__recordio_measure(const uint8_t *data, size_t size, lx__recordio_extent *extent);

/** Joins the parts of a complete record that has several: writes @c size bytes to @p out. */
void lx__recordio_join(const uint8_t *data, const lx__recordio_extent *extent, uint8_t *out);

#endif
