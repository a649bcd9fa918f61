/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief MXNet's header of a record, as im2rec writes it: one label is in it, several follow it.
 */
#ifndef LX_TOOLS_PACK_HEADER_H
#define LX_TOOLS_PACK_HEADER_H

#include <stddef.h>
#include <stdint.h>

/** Returns the size of a header and its labels, of which there is at least one. */
size_t pack_header_size(uint32_t labels);

/** Writes that many bytes. */
void pack_header_write(uint8_t *record, uint64_t id, const float *labels, uint32_t count);

#endif
