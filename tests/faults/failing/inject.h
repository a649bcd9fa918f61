/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Makes the n-th allocation, or the n-th system call of a kind, fail: once, or from then on.
 *
 * The linker sends the library's calls here (--wrap, see the Makemodule.am); allocations come by
 * lx_set_allocator(), and those of jansson by its own hook. Nothing fails unless a fault is armed.
 */
#ifndef LX_TESTS_FAULTS_FAILING_INJECT_H
#define LX_TESTS_FAULTS_FAILING_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The system calls, and what stands for some (of the C library and of libdeflate), that the
 * library makes. Each has its wrapper in inject.c and its --wrap in the Makemodule.am. */
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

/** In place of an errno: the call moves half of what it was to move, and succeeds. */
#define INJECT_SHORT (-1)

struct fault {
    enum inject_call call;
    int errnum;   /**< Or INJECT_SHORT. */
    uint64_t at;  /**< Which call, counted from 1; 0: none. */
    bool forever; /**< Those after it, too. */
};

/** Takes the place of the allocators; once, before anything of the library is alive. */
void inject_begin(void);

/** Counts again from here on, and has the fault happen when its turn comes. */
void inject_arm(const struct fault *fault);

/** Nothing fails any more, and nothing is counted. */
void inject_disarm(void);

/** Takes a disarmed fault up again, with its counts. */
void inject_rearm(void);

/** Calls of a kind since the fault was armed. */
uint64_t inject_get_count(enum inject_call call);

/** How often the armed fault has happened. */
uint64_t inject_get_fired(void);

/** What is held now: it must be the same after a run as before. */
struct inject_held {
    uint64_t blocks;      /**< Of the allocator. */
    uint64_t bytes;       /**< Mapped by mmap(). */
    unsigned descriptors; /**< Open. */
};

void inject_read_held(struct inject_held *held);

#endif
