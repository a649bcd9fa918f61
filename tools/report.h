/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Output of results, as text and as JSON.
 */
#ifndef LX_TOOLS_REPORT_H
#define LX_TOOLS_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include <loaderx/zrecord.h>

/** Size of a buffer for report_size(). */
#define REPORT_SIZE_TEXT 32

/** Formats a size: "784 bytes", "44.9 MiB". Returns @p text. */
char *report_size(uint64_t bytes, char *text);

/** What leftover bytes are; follows their size. */
#define REPORT_LEFTOVERS                                                                           \
    "in files are not committed, or in old files; the next writer frees what no reader uses"

/** Formats a shape as NumPy does: "()", "(5,)", "(28, 28)"; truncated to @p size. Returns @p
 * text. */
char *report_shape(const lx_field *field, char *text, size_t size);

/** Returns the name that meta.json uses for a compression. */
const char *report_compression(lx_compression compression);

/** Returns a number for JSON. jansson's integers end at 2^63 - 1, which is more than any value in a
 * dataset; larger numbers are reduced to this maximum. */
json_t *report_number(uint64_t number);

/** Returns a string for JSON, such as a path. JSON must be UTF-8: if @p text is not valid UTF-8,
 * every byte that is not ASCII becomes a question mark. */
json_t *report_text(const char *text);

/** Size of a buffer for report_real(). */
#define REPORT_REAL_TEXT 32

/** Formats a finite number for JSON: the shortest text that reads as the same number. Returns @p
 * text. */
char *report_real(double number, char *text);

/** Prints a quoted JSON string. */
lx_status report_print_text(const char *text, lx_error *error);

/** Prints each entry of a card: the key, and the text in a column of its own. Control characters,
 * which could change what a terminal shows, are printed as question marks. */
void report_card(const lx_card *card);

/** Returns a card as an object of strings. */
json_t *report_card_json(const lx_card *card);

/** Prints @p document, indented and with a newline, and releases it. If @p document is NULL, which
 * is the result of a failed allocation, returns #LX_ERR_NOMEM. */
lx_status report_print(json_t *document, lx_error *error);

#endif
