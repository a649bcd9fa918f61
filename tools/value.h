/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Formats values of a field as text.
 */
#ifndef LX_TOOLS_VALUE_H
#define LX_TOOLS_VALUE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <loaderx/dtype.h>
#include <loaderx/zrecord.h>

/** Size of a buffer for value_format(). */
#define VALUE_TEXT 64

/**
 * Formats a little-endian element: integers in decimal, bool as true and false, floating-point
 * numbers with the fewest digits that read as the same number, complex numbers as (a+bj), and times
 * as NumPy does.
 * @return The length of the text.
 */
size_t value_format(lx_dtype dtype, const void *element, char *text);

/** Prints a record of a dense or ragged field, which has @p bytes bytes: a number on one line; an
 * array with one line per row of its last axis, and an empty line between planes. */
void value_print(const lx_field *field, const void *record, uint64_t bytes, FILE *to);

/** Prints text in UTF-8 and a newline. Control characters, which could change the state of a
 * terminal, are printed as \\xNN, except for newlines and tabs. */
void value_print_text(const char *text, uint64_t size, FILE *to);

/** Prints bytes in lines of 16: the offset, then the bytes in hexadecimal and as text. */
void value_dump(const void *data, uint64_t size, FILE *to);

#endif
