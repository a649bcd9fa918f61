/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Values of a field as text.
 */
#ifndef LX_TOOLS_VALUE_H
#define LX_TOOLS_VALUE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <loaderx/dtype.h>
#include <loaderx/zrecord.h>

/** Bytes that hold any text of value_format(). */
#define VALUE_TEXT 64

/**
 * Writes one little-endian element: integers in decimal, bool as true and false, floating-point
 * numbers with the fewest digits that give them back, complex ones as (a+bj).
 * @return The length of the text.
 */
size_t value_format(lx_dtype dtype, const void *element, char *text);

/** Prints a dense record: a number on one line; an array in lines of its last axis, with an empty
 * line between planes. */
void value_print(const lx_field *field, const void *record, FILE *to);

/** Prints bytes in lines of 16: where they are, in hexadecimal, as text. */
void value_dump(const void *data, uint64_t size, FILE *to);

#endif
