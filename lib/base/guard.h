/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Makes a note of it where a mapped page cannot be had, in place of SIGBUS.
 *
 * A page of a mapped file is gone when somebody has cut the file, or its sector cannot be read. Who
 * touches it gets SIGBUS. The handler here finds the address in a list of watched mappings, sets
 * the mark of that one, puts a page of zeros there, and returns: the load is done again, gives
 * zeros, and whoever did it looks at the mark when it is done.
 *
 * The other way is sigsetjmp() before each read, and a jump out of the handler. It was not taken.
 * The jump leaves whatever was under way as it is, be it a stream that is half decompressed or code
 * that is not ours. It needs a point to return to on each thread, and a call for that in front of
 * each read. And it can do nothing for views, which are read by code of the caller's.
 *
 * Nothing is installed before it is asked for.
 */
#ifndef LX_BASE_GUARD_H
#define LX_BASE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <loaderx/status.h>

/** A range of memory that is watched. */
typedef struct lx__watch lx__watch;

/**
 * Installs the handler of SIGBUS, if that was not done yet. It stays as long as the process. For an
 * address that is not watched it does what the one before would do.
 */
LX_API lx_status lx__guard_install(lx_error *error);

/** Watches [@p data, @p data + @p size), a mapping; a fault there sets @p cut, which must be there
 * until it is forgotten. NULL: out of memory. */
LX_API lx__watch *lx__guard_watch(const void *data, size_t size, atomic_bool *cut);

/** Ends a watch, before the range is unmapped; NULL is nothing. */
LX_API void lx__guard_forget(lx__watch *watch);

/** Whether a fault was noted: for who has just read from what @p cut is the mark of. */
static inline bool lx__guard_is_cut(const atomic_bool *cut)
{
    /* The zeros were read before. */
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(cut, memory_order_relaxed);
}

#endif
