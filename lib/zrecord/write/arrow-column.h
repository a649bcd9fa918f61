/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A column of an Arrow array, checked, from which values are read in place.
 */
#ifndef LX_ZRECORD_ARROW_COLUMN_H
#define LX_ZRECORD_ARROW_COLUMN_H

#include <stdbool.h>

#include <loaderx/writer.h>

#include "zrecord/format/arrow-type.h"

/** A bitmap of the elements in lists; each value of the column contains @ref items of them. */
typedef struct lx__arrow_bits {
    const uint8_t *bits;
    uint64_t first; /**< The bit of the first item of the first value. */
    uint64_t items; /**< For lists that vary in length, per item of the list. */
} lx__arrow_bits;

/** The values of an array, or of a dictionary. Pointers are borrowed from the caller's array. */
typedef struct lx__arrow_values {
    lx__arrow_layout layout; /**< Of the outermost part: of the list, if there is one. */
    bool bits;               /**< Elements are single bits. */
    lx_dtype stored;         /**< Of the elements in the buffers. */
    lx_dtype dtype;          /**< Of the field. */
    uint64_t count;          /**< The number of values. */
    uint64_t offset;         /**< The number of values in the buffers before the first. */
    const uint8_t *valid;    /**< The bitmap of present values; NULL: all are present. */
    const uint8_t *offsets;  /**< The offsets or the views. */
    const uint8_t *data;     /**< The bytes, or the elements. */
    uint64_t first;          /**< The element at which the first item begins. */
    uint64_t items;          /**< Elements per value or, in a list, per item. */
    uint64_t limit;          /**< The number of items that the lists may refer to. */
    size_t size;             /**< Bytes per element in the buffers. */
    const void **variadic;   /**< The buffers that views refer to. */
    const uint8_t *sizes;    /**< Their sizes. */
    uint64_t variadic_count;
    bool converted;   /**< The field has a different form of elements. */
    uint64_t longest; /**< The most elements of a value, if they are converted. */
    uint8_t *value;   /**< Owned: the elements of the last value, if they are converted. */
    lx__arrow_bits nested[LX_MAX_NDIM + 1]; /**< Bitmaps of elements, in which all must be set. */
    size_t nested_count;
} lx__arrow_values;

/** A column with values for a field. */
typedef struct lx__arrow_column {
    lx__arrow_values values; /**< Of the column or, if it has indices, of its dictionary. */
    const uint8_t *indices;  /**< NULL: not dictionary-encoded. */
    lx_dtype index_dtype;
    uint64_t index_offset;
    const uint8_t *index_valid;
    const uint8_t *outer_valid; /**< The bitmap of the structs that contain the values; NULL: there
                                     are none, or all are present. */
    uint64_t outer_offset;
} lx__arrow_column;

/** Whether bit @p i of a bitmap is set. */
static inline bool lx__arrow_bit(const uint8_t *bits, uint64_t i)
{
    return (bits[i / 8] >> (i % 8) & 1) != 0;
}

/** Checks the members of an array that has @p buffers buffers and @p children children, except the
 * children themselves. Finds its bitmap; NULL if no value is null. */
lx_status lx__arrow_array_check(const struct ArrowArray *array, int64_t buffers, int64_t children,
                                const uint8_t **valid, lx_error *error);

/**
 * Checks @p count values of @p array, starting at @p first, as values of @p field. The column
 * borrows the memory of @p array. Close it even after a failure. Errors name the row, but not the
 * column.
 */
lx_status lx__arrow_column_open(lx__arrow_column *column, const lx_field *field,
                                const struct ArrowSchema *schema, const struct ArrowArray *array,
                                uint64_t first, uint64_t count, lx_error *error);

/** Returns the value at @p row, counted from the first one that was checked. It is valid until the
 * next call. */
lx_value lx__arrow_column_value(lx__arrow_column *column, uint64_t row);

/** Releases what the column owns; a zeroed column owns nothing. */
void lx__arrow_column_close(lx__arrow_column *column);

#endif
