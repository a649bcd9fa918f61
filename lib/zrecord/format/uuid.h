/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The name of a dataset among all others.
 */
#ifndef LX_ZRECORD_UUID_H
#define LX_ZRECORD_UUID_H

#include <stdbool.h>

#include <loaderx/status.h>

#include "zrecord/format/constants.h"

/** A random one, version 4 of RFC 9562. */
lx_status lx__uuid_make(uint8_t uuid[LX__UUID_BYTES], lx_error *error);

/** Writes it as 8-4-4-4-12 hexadecimal digits, in lower case. */
void lx__uuid_print(const uint8_t uuid[LX__UUID_BYTES], char text[LX__UUID_TEXT + 1]);

/** Reads that form and no other. */
bool lx__uuid_parse(const char *text, uint8_t uuid[LX__UUID_BYTES]);

#endif
