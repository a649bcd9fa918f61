/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief UUIDs, which identify datasets.
 */
#ifndef LX_ZRECORD_UUID_H
#define LX_ZRECORD_UUID_H

#include <stdbool.h>

#include <loaderx/status.h>

#define LX__UUID_BYTES 16
#define LX__UUID_TEXT 36

/** Generates a random UUID (version 4, RFC 9562). */
lx_status lx__uuid_make(uint8_t uuid[LX__UUID_BYTES], lx_error *error);

/** Formats a UUID as 8-4-4-4-12 lowercase hexadecimal digits. */
void lx__uuid_print(const uint8_t uuid[LX__UUID_BYTES], char text[LX__UUID_TEXT + 1]);

/** Parses the form that lx__uuid_print() writes; returns false for any other form. */
LX_API bool lx__uuid_parse(const char *text, uint8_t uuid[LX__UUID_BYTES]);

#endif
