/* SPDX-License-Identifier: MIT */
#include "base/crc32c.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/bytes.h"
#include "base/crc32c-arm64.h"
#include "base/crc32c-sse42.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* 0x1edc6f41, reflected */

/* tables[k][b] is the CRC of byte b followed by k zero bytes, which allows eight bytes per step
 * (Kounavis and Berry, "A Systematic Approach to Building High Performance Software-based CRC
 * Generators", 2005). */
static uint32_t tables[8][256];
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        tables[0][byte] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (int byte = 0; byte < 256; byte++)
            tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 255];
}

uint32_t lx__crc32c_tables(uint32_t crc, const void *data, size_t size)
{
    pthread_once(&tables_made, make_tables);

    const uint8_t *at = data;
    crc = ~crc;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word = lx__load_le64(at) ^ crc;
        crc = 0;
        for (int k = 0; k < 8; k++)
            crc ^= tables[7 - k][word >> 8 * k & 255];
    }
    for (; size != 0; size--, at++)
        crc = crc >> 8 ^ tables[0][(crc ^ *at) & 255];
    return ~crc;
}

typedef uint32_t crc32c_function(uint32_t crc, const void *data, size_t size);

static crc32c_function *best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
        return lx__crc32c_sse42;
#elif defined(__aarch64__) && defined(__linux__)
    unsigned long features = getauxval(AT_HWCAP);
    if ((features & HWCAP_CRC32) && (features & HWCAP_PMULL))
        return lx__crc32c_arm64;
#endif
    return lx__crc32c_tables;
}

uint32_t lx__crc32c(uint32_t crc, const void *data, size_t size)
{
    /* A race is harmless: all threads store the same function. */
    static _Atomic(crc32c_function *) chosen;
    crc32c_function *function = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (function == NULL) {
        function = best();
        atomic_store_explicit(&chosen, function, memory_order_relaxed);
    }
    return function(crc, data, size);
}
