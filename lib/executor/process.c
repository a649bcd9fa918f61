/* SPDX-License-Identifier: MIT */
#include "executor/process.h"

#include <sys/mman.h>
#include <unistd.h>

void lx__process_note(lx__process *process)
{
    *process = (lx__process){NULL, getpid()};
#ifdef MADV_WIPEONFORK
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, size, MADV_WIPEONFORK) != 0) {
        munmap(page, size);
        return;
    }
    process->mark = page;
    atomic_store_explicit(process->mark, 1, memory_order_relaxed);
#endif
}

void lx__process_forget(lx__process *process)
{
    if (process->mark != NULL)
        munmap(process->mark, (size_t)sysconf(_SC_PAGESIZE));
    process->mark = NULL;
}

bool lx__process_is_this(const lx__process *process)
{
    if (process->mark != NULL)
        return atomic_load_explicit(process->mark, memory_order_acquire) != 0;
    return getpid() == process->id;
}

void lx__process_adopt(lx__process *process)
{
    process->id = getpid();
    if (process->mark != NULL)
        atomic_store_explicit(process->mark, 1, memory_order_release);
}
