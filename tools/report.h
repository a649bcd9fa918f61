/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What subcommands print of their results, for people and as JSON.
 */
#ifndef LX_TOOLS_REPORT_H
#define LX_TOOLS_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include <loaderx/zrecord.h>

/** Bytes that hold any text of report_size(). */
#define REPORT_SIZE_TEXT 32

/** Bytes in units that are easy to read: "784 bytes", "44.9 MiB". Returns @p text. */
char *report_size(uint64_t bytes, char *text);

/** A shape as NumPy writes it: "()", "(5,)", "(28, 28)"; cut where @p size ends. Returns
 * @p text. */
char *report_shape(const lx_field *field, char *text, size_t size);

/** The name that meta.json has for it. */
const char *report_compression(lx_compression compression);

/** A number for JSON, whose integers end at 2^63 - 1 in jansson: what is larger, which no file of a
 * dataset can have, is that. */
json_t *report_number(uint64_t number);

/** A text for JSON, such as a path. JSON is UTF-8: in a text that is not, every byte that is not
 * ASCII becomes a question mark. */
json_t *report_text(const char *text);

/** Bytes that hold any text of report_real(). */
#define REPORT_REAL_TEXT 32

/** A finite number for JSON: the shortest text that reads as the same number. Returns @p text. */
char *report_real(double number, char *text);

/** Prints a text as JSON has it, in its quotes. */
lx_status report_print_text(const char *text, lx_error *error);

/** Prints @p document, indented and with a newline, and gives its reference up; NULL, which is what
 * building it gives when there is no memory, is #LX_ERR_NOMEM. */
lx_status report_print(json_t *document, lx_error *error);

#endif
