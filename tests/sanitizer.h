/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The sanitizer of the build: tests that it slows down or does not support are skipped,
 * shortened, or repeated.
 */
#ifndef LX_TESTS_SANITIZER_H
#define LX_TESTS_SANITIZER_H

#ifdef __has_feature
#define SANITIZER_IS(feature) __has_feature(feature)
#else
#define SANITIZER_IS(feature) 0
#endif

#if defined __SANITIZE_ADDRESS__ || SANITIZER_IS(address_sanitizer)
#define ADDRESS_SANITIZED 1
#else
#define ADDRESS_SANITIZED 0
#endif

#if defined __SANITIZE_THREAD__ || SANITIZER_IS(thread_sanitizer)
#define THREAD_SANITIZED 1
#else
#define THREAD_SANITIZED 0
#endif

#define SANITIZED (ADDRESS_SANITIZED || THREAD_SANITIZED)

/** The factor by which time limits grow. */
#define SLOWER (SANITIZED ? 10 : 1)

/** The number of retries of a hanging child. The allocator of the address sanitizer does not handle
 * fork() before LLVM 18: a child whose parent had another thread in it waits for that thread's
 * lock forever. */
#define SANITIZER_RETRIES (ADDRESS_SANITIZED ? 3 : 0)

#endif
