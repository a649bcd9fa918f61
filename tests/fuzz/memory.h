/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Allocators for fuzzers that run ten thousand inputs a second: cheaper than the
 * sanitizer's, and stricter for libraries that were built without one.
 */
#ifndef LX_TESTS_FUZZ_MEMORY_H
#define LX_TESTS_FUZZ_MEMORY_H

#include "fuzz.h"

/**
 * A buffer that is followed by an inaccessible page: any access past its end is a crash, even in
 * libdeflate and zlib, which the sanitizer does not check. All zeros: not allocated yet.
 */
struct guarded {
    uint8_t *end;
    size_t capacity;
};

/** The last @p size bytes of the buffer. @p capacity is the maximum, the same in all calls. */
uint8_t *guarded_take(struct guarded *buffer, size_t capacity, size_t size);

/** Copies bytes to the end of the buffer. */
const uint8_t *guarded_copy(struct guarded *buffer, size_t capacity, const void *data, size_t size);

/**
 * From now on, large pieces of memory that the library frees are poisoned and reused for later
 * requests of the same size: the sanitizer would map and unmap each, which takes longer than their
 * use. Without the sanitizer this does nothing.
 */
void fuzz_keep_large(void);

/**
 * From now on jansson, which was built without a sanitizer, uses this allocator. Freed memory is
 * poisoned, and not reused before fuzz_json_end(). A double or invalid free aborts.
 */
void fuzz_json_begin(void);

/** Ends an input: jansson must have freed all memory that it allocated since the last call. */
void fuzz_json_end(void);

/** As fuzz_json_end(), but memory that is still allocated stays, for use by all inputs. */
void fuzz_json_keep(void);

#endif
