/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Memory for fuzzers that run ten thousand inputs a second: cheaper than the sanitizer's,
 * and stricter where what uses it was not built with one.
 */
#ifndef LX_TESTS_FUZZ_MEMORY_H
#define LX_TESTS_FUZZ_MEMORY_H

#include "fuzz.h"

/**
 * A buffer that ends where a page begins that nobody may touch: who goes beyond it ends the
 * process, also libdeflate and zlib, of which the sanitizer sees nothing. Zeroed: none yet.
 */
struct guarded {
    uint8_t *end;
    size_t capacity;
};

/** The last @p size bytes of it, at most @p capacity, which is the same in all calls. */
uint8_t *guarded_take(struct guarded *buffer, size_t capacity, size_t size);

/** A copy of bytes at its end. */
const uint8_t *guarded_copy(struct guarded *buffer, size_t capacity, const void *data, size_t size);

/**
 * From here on the library's large pieces of memory are kept when they are freed, poisoned, for who
 * asks for as much again: the sanitizer would map and unmap each, which takes longer than all that
 * is done in it. Without the sanitizer nothing is changed.
 */
void fuzz_keep_large(void);

/**
 * From here on jansson, which was not built with a sanitizer either, has memory of ours. What it
 * frees is poisoned, and not given to anyone before fuzz_json_end(). What it frees twice, or never
 * had, ends the process.
 */
void fuzz_json_begin(void);

/** The input is over: all that jansson took since the last call must have been freed. */
void fuzz_json_end(void);

/** As fuzz_json_end(), but what is still taken stays: it belongs to all inputs. */
void fuzz_json_keep(void);

#endif
