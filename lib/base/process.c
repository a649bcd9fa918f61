/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number of this process, in a page that reads as zero in a child; NULL before the first use,
 * &none if the system does not support such pages. */
static _Atomic(_Atomic uint64_t *) page;
static _Atomic uint64_t none;
/* The highest number that this process and its ancestors have used. */
static _Atomic uint64_t used;

/** In a child, wipes the page of an emulator: qemu-user accepts the advice, but ignores it. */
static void wipe_page(void)
{
    atomic_store_explicit(atomic_load(&page), 0, memory_order_relaxed);
}

static _Atomic uint64_t *make_page(void)
{
    _Atomic uint64_t *made = &none, *first = NULL;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
#ifdef MADV_WIPEONFORK
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED && madvise(pages, size, MADV_WIPEONFORK) == 0)
        made = pages;
    else if (pages != MAP_FAILED)
        munmap(pages, size);
#endif
    if (atomic_compare_exchange_strong(&page, &first, made)) {
        if (made != &none)
            (void)pthread_atfork(NULL, NULL, wipe_page); /* without memory, only the kernel wipes */
        return made;
    }
    if (made != &none)
        munmap((void *)made, size); /* another thread has set the page first */
    return first;
}

/** Assigns a number on the first call in a process. */
static uint64_t assign_number(_Atomic uint64_t *mark)
{
    uint64_t there = 0, id = atomic_fetch_add(&used, 1) + 1;
    return atomic_compare_exchange_strong(mark, &there, id) ? id : there;
}

uint64_t lx__process_id(void)
{
    _Atomic uint64_t *mark = atomic_load_explicit(&page, memory_order_acquire);
    if (mark == NULL)
        mark = make_page();
    if (mark == &none)
        return (uint64_t)getpid();
    uint64_t id = atomic_load_explicit(mark, memory_order_relaxed);
    return id != 0 ? id : assign_number(mark);
}

void lx__process_record(lx__process *process)
{
    uint64_t id = lx__process_id();
    atomic_init(&process->id, id);
    atomic_init(&process->successor, id);
}

bool lx__process_is_this(const lx__process *process)
{
    return atomic_load_explicit(&process->id, memory_order_acquire) == lx__process_id();
}

bool lx__process_take_over(lx__process *process)
{
    uint64_t id = lx__process_id();
    if (lx__process_is_this(process))
        return false;
    if (atomic_exchange(&process->successor, id) != id)
        return true;
    while (!lx__process_is_this(process))
        sched_yield();
    return false;
}

void lx__process_adopt(lx__process *process)
{
    atomic_store_explicit(&process->id, lx__process_id(), memory_order_release);
}

uint64_t lx__process_major_faults(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_majflt : 0;
}
