/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Makes the n-th allocation, or the n-th system call of a kind, fail: once, or from then on.
 *
 * The linker redirects the library's calls to this file (--wrap in Makemodule.am); allocations use
 * lx_set_allocator(), and those of jansson its own hook. Nothing fails unless a fault is armed.
 */
#ifndef LX_TESTS_FAULTS_FAILING_INJECT_H
#define LX_TESTS_FAULTS_FAILING_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The system calls of the library, and functions of the C library and of libdeflate that make
 * some. Each has a wrapper in inject.c and a --wrap in the Makemodule.am. */
/* clang-format off */
#define INJECT_CALLS(call)                                                                         \
    call(alloc)                                                                                    \
    call(copy_file_range)                                                                          \
    call(fcntl)                                                                                    \
    call(fdatasync)                                                                                \
    call(fdopendir)                                                                                \
    call(fstat)                                                                                    \
    call(fstatat)                                                                                  \
    call(fstatvfs)                                                                                 \
    call(fsync)                                                                                    \
    call(ftruncate)                                                                                \
    call(getrandom)                                                                                \
    call(linkat)                                                                                   \
    call(madvise)                                                                                  \
    call(mkdirat)                                                                                  \
    call(mmap)                                                                                     \
    call(openat)                                                                                   \
    call(posix_fadvise)                                                                            \
    call(pread)                                                                                    \
    call(pthread_create)                                                                           \
    call(pwrite)                                                                                   \
    call(readdir)                                                                                  \
    call(realpath)                                                                                 \
    call(renameat)                                                                                 \
    call(sched_getaffinity)                                                                        \
    call(stat)                                                                                     \
    call(sync_file_range)                                                                          \
    call(unlinkat)
/* clang-format on */

enum inject_call {
#define INJECT_NUMBER(name) INJECT_##name,
    INJECT_CALLS(INJECT_NUMBER)
#undef INJECT_NUMBER
        INJECT_COUNT
};

/** In place of an errno: the call transfers half of its size and succeeds. */
#define INJECT_SHORT (-1)

struct fault {
    enum inject_call call;
    int errnum;   /**< Or INJECT_SHORT. */
    uint64_t at;  /**< The number of the call, from 1; 0: none. */
    bool forever; /**< All later calls, too. */
};

/** Installs the allocators; once, before the library has any objects. */
void inject_begin(void);

/** Restarts counting, and arms the fault. */
void inject_arm(const struct fault *fault);

/** Disarms the fault and stops counting. */
void inject_disarm(void);

/** Arms a disarmed fault again, with its counts. */
void inject_rearm(void);

/** Calls of a kind since the fault was armed. */
uint64_t inject_get_count(enum inject_call call);

/** The number of times the armed fault has happened. */
uint64_t inject_get_fired(void);

/** Resources in use: must be the same after a run as before. */
struct inject_held {
    uint64_t blocks;      /**< Of the allocator. */
    uint64_t bytes;       /**< Mapped by mmap(). */
    unsigned descriptors; /**< Open. */
};

void inject_read_held(struct inject_held *held);

#endif
