/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The constants of zrecord format 1, which doc/zrecord-format.md defines.
 */
#ifndef LX_ZRECORD_CONSTANTS_H
#define LX_ZRECORD_CONSTANTS_H

#include <stdint.h>

#define LX__FORMAT_MAJOR 1
#define LX__FORMAT_MINOR 0

/* ---- names in the directory */
#define LX__META_NAME "meta.json"
#define LX__META_NEW_NAME "meta.json.new"
#define LX__LOCK_NAME "LOCK"
#define LX__LOG_NAME "LOG"
#define LX__CHUNK_DIRECTORY "chunk"
/** Size of a buffer for any name; the longest is a stem, "~", a number, ".offset.", a number. */
#define LX__NAME_SIZE 160

/* ---- LOCK */
#define LX__LOCK_WRITER 0
#define LX__LOCK_READERS 8192

/* ---- meta.json */
#define LX__META_LIMIT ((size_t)16 << 20)
/** The beginning of meta.json; the zeros are a placeholder for its checksum. */
#define LX__META_STAMP "{\"checksum\": \"00000000\","
#define LX__META_CHECKSUM "checksum"
#define LX__CHUNK_RECORDS_DEFAULT 1048576u
#define LX__CHUNK_BYTES_DEFAULT (1ull << 30)
#define LX__CHUNK_BYTES_MIN 4096u        /**< accepted from callers */
#define LX__CHUNK_BYTES_MAX (1ull << 40) /**< accepted from callers */
#define LX__CHUNK_LIMIT_MAX (1ull << 62)
#define LX__CHUNK_ID_MAX 0xfffffffeu
#define LX__GENERATION_MAX (1ull << 62)
#define LX__LENGTH_MAX ((1ull << 59) - 1)
#define LX__ALIGN_MAX 4096u
#define LX__ALIGN_VARYING 8u
/** Largest default alignment: a cache line. */
#define LX__ALIGN_EQUAL 64u
#define LX__UUID_BYTES 16
#define LX__UUID_TEXT 36

/* ---- tables: bytes per row */
#define LX__OFFSET_ROW 16
#define LX__CHECK_ROW 8
#define LX__CHUNK_INLINE 0xffffffffu /**< chunk_id of inline and empty values */
#define LX__INLINE_MAX 8

/* ---- LOG */
#define LX__FRAME_MAGIC 0x464c584cu /**< "LXLF" */
#define LX__FRAME_HEADER 64
#define LX__FRAME_TRAILER 8
#define LX__FRAME_CHUNK 16
#define LX__FRAME_SET 40
#define LX__FRAME_MAX (1ull << 30)
#define LX__FRAME_ALIGN 8
#define LX__FRAME_BASE 1u
#define LX__FRAME_SYNCED 2u

#endif
