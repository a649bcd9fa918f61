/* SPDX-License-Identifier: MIT */
#include "base/crc32c.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/bytes.h"
#include "base/cpu.h"
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
    if (lx__cpu_has(LX__CPU_SSE42))
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

/* ---- shifting */

typedef uint32_t multiply_function(uint32_t a, uint32_t b);

/* Polynomials modulo that of the CRC. Their highest coefficients are their lowest bits. */
#define ONE 0x80000000u
#define X_TO_33 0x417b1dbcu
#define X_TO_MINUS_33 0xa9cdda0du

/* powers[k][b] is x^(8n - 33), where n = b * 256^k: shifting a CRC past n zero bytes multiplies it
 * by x^(8n), and the processor's products include a factor x^33 (see crc32c-streams.h). */
static uint32_t powers[4][256];
static multiply_function *best_multiply;
static pthread_once_t powers_made = PTHREAD_ONCE_INIT;

static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (int i = 0; i < 32; i++) {
        product ^= b & -(a >> 31);
        b = b >> 1 ^ (POLYNOMIAL & -(b & 1));
        a <<= 1;
    }
    return product;
}

/** Multiplies as the processor does. */
static uint32_t multiply_in_software(uint32_t a, uint32_t b)
{
    return multiply(multiply(a, b), X_TO_33);
}

static multiply_function *choose_multiply(void)
{
#if defined(__x86_64__)
    if (best() == lx__crc32c_sse42)
        return lx__crc32c_multiply_sse42;
#elif defined(__aarch64__) && defined(__linux__)
    if (best() == lx__crc32c_arm64)
        return lx__crc32c_multiply_arm64;
#endif
    return multiply_in_software;
}

static void make_powers(void)
{
    uint32_t base = ONE >> 8; /* x^8 */
    for (int k = 0; k < 4; k++) {
        powers[k][0] = X_TO_MINUS_33;
        for (int byte = 1; byte < 256; byte++)
            powers[k][byte] = multiply(powers[k][byte - 1], base);
        for (int i = 0; i < 8; i++)
            base = multiply(base, base); /* to the power of 256 */
    }
    best_multiply = choose_multiply();
}

static uint32_t shift(uint32_t change, uint32_t size, multiply_function *product)
{
    for (int k = 0; size != 0; k++, size >>= 8)
        if ((size & 255) != 0)
            change = product(change, powers[k][size & 255]);
    return change;
}

uint32_t lx__crc32c_shift(uint32_t change, uint32_t size)
{
    pthread_once(&powers_made, make_powers);
    return shift(change, size, best_multiply);
}

uint32_t lx__crc32c_shift_in_software(uint32_t change, uint32_t size)
{
    pthread_once(&powers_made, make_powers);
    return shift(change, size, multiply_in_software);
}
