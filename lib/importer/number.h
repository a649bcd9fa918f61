/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Converts the text of numbers to elements, exactly: an integer that does not fit is
 * refused, and a floating-point number is the nearest one, in every locale.
 */
#ifndef LX_IMPORTER_NUMBER_H
#define LX_IMPORTER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>

/** Longest text of a number, in bytes; converting a longer one would only cost time. */
#define LX__NUMBER_TEXT 512

/** Length of the number at the beginning of @p text, according to the grammar of JSON; 0 if none
 * begins there. @p whole: it has neither fraction nor exponent. */
size_t lx__number_span(const char *text, const char *end, bool *whole);

/** Whether text is a word for a floating-point number that has no digits: "nan", "inf" or
 * "infinity", with or without a sign, in small or capital letters. */
bool lx__number_is_word(const char *text, size_t size);

/** Whether a float64 stores a number that lx__number_span() has accepted, and loses nothing. Only
 * whole numbers must be exact: others were floating-point numbers before they were text, unless
 * @p decimal says that more than 15 digits count. */
bool lx__number_is_exact(const char *text, size_t size, bool decimal);

/** What some numbers are, which decides the dtype that stores all of them. */
typedef struct lx__numbers {
    bool fractions; /**< One is not whole. */
    bool large;     /**< A whole one does not fit in an int64. */
    bool inexact;   /**< A float64 would lose digits of one. */
} lx__numbers;

/** Notes one more number, which lx__number_span() has accepted; returns whether it is exact. */
bool lx__numbers_add(lx__numbers *self, const char *text, size_t size, bool whole, bool decimal);

/** The dtype that stores all of them without a loss: LX_INT64 or LX_FLOAT64; false: there is
 * none. */
bool lx__numbers_choose(const lx__numbers *self, lx_dtype *dtype);

/** Whether the numbers of this dtype can be made from text: booleans, integers, float32 and
 * float64. */
bool lx__number_has_text(lx_dtype dtype);

/**
 * Converts a number that lx__number_span() has accepted as a whole, or lx__number_is_word(), and
 * stores one little-endian element. Returns false if it is not a value of @p dtype: out of range,
 * or not whole in a field of integers. For LX_BOOL, only 0 and 1 are values.
 */
bool lx__number_store(const char *text, size_t size, lx_dtype dtype, void *element);

#endif
