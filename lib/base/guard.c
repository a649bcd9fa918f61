/* SPDX-License-Identifier: MIT */
#include "base/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

#define WATCHES 256

/* The handler may interrupt anything, so it takes no lock: what it reads is atomic, and a watch has
 * a version that is odd while it is changed. The one that it looks for is not: its mapping is in
 * use by the thread that was interrupted. */
struct lx__watch {
    atomic_bool taken;
    _Atomic uint32_t version;
    _Atomic uintptr_t start, end; /**< Both 0 while nothing is watched. */
    _Atomic(atomic_bool *) cut;
    struct block *block;
};

/** Never freed: the handler may be in it. */
typedef struct block {
    struct lx__watch watches[WATCHES];
    _Atomic uint32_t taken;
    _Atomic(struct block *) next;
} block;

static block first;
static uintptr_t page_size;
static struct sigaction previous;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int refused; /* errno of the installation */

/* ---- the list */

static lx__watch *take_of(block *from)
{
    for (size_t i = 0; i < WATCHES; i++) {
        bool taken = false;
        if (!atomic_compare_exchange_strong(&from->watches[i].taken, &taken, true))
            continue;
        from->watches[i].block = from;
        atomic_fetch_add(&from->taken, 1);
        return &from->watches[i];
    }
    return NULL;
}

/** The block behind @p last, made if there is none; NULL: out of memory. */
static block *block_behind(block *last)
{
    block *next = atomic_load(&last->next), *made;
    if (next != NULL || (made = lx__alloc_array(1, sizeof *made)) == NULL)
        return next;
    if (atomic_compare_exchange_strong(&last->next, &next, made))
        return made;
    lx__free(made);
    return next;
}

static lx__watch *take(void)
{
    lx__watch *watch = NULL;
    for (block *at = &first; watch == NULL && at != NULL; at = block_behind(at))
        if (atomic_load(&at->taken) < WATCHES && (watch = take_of(at)) != NULL)
            break;
    return watch;
}

static void set(lx__watch *watch, uintptr_t start, uintptr_t end, atomic_bool *cut)
{
    atomic_fetch_add(&watch->version, 1);
    atomic_store(&watch->start, start);
    atomic_store(&watch->end, end);
    atomic_store(&watch->cut, cut);
    atomic_fetch_add(&watch->version, 1);
}

lx__watch *lx__guard_watch(const void *data, size_t size, atomic_bool *cut)
{
    lx__watch *watch = take();
    if (watch != NULL)
        set(watch, (uintptr_t)data, (uintptr_t)data + size, cut);
    return watch;
}

void lx__guard_forget(lx__watch *watch)
{
    if (watch == NULL)
        return;
    set(watch, 0, 0, NULL);
    atomic_fetch_sub(&watch->block->taken, 1);
    atomic_store(&watch->taken, false);
}

/* ---- in the handler: system calls and atomics alone */

/** The mark of the watched range that has @p address, and its end; NULL: none has it. */
static atomic_bool *find(uintptr_t address, uintptr_t *end)
{
    for (block *at = &first; at != NULL; at = atomic_load(&at->next)) {
        for (size_t i = 0; i < WATCHES; i++) {
            lx__watch *watch = &at->watches[i];
            uint32_t version = atomic_load(&watch->version);
            uintptr_t start = atomic_load(&watch->start);
            *end = atomic_load(&watch->end);
            atomic_bool *cut = atomic_load(&watch->cut);
            if (address >= start && address < *end && version % 2 == 0 &&
                version == atomic_load(&watch->version))
                return cut;
        }
    }
    return NULL;
}

/* The bare system call: what a sanitizer puts around mmap() is not made for handlers, and takes a
 * mapping for a write, where other threads may read the page at will. */
#ifdef SYS_mmap2
#define SYSTEM_MMAP SYS_mmap2
#else
#define SYSTEM_MMAP SYS_mmap
#endif

static bool map_zeros(uintptr_t start, uintptr_t end)
{
    return syscall(SYSTEM_MMAP, start, end - start, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0L) != -1;
}

/** Has the faulting load go on with zeros; false: it is none of ours. */
static bool cover(uintptr_t address)
{
    uintptr_t end, page = address & ~(page_size - 1);
    atomic_bool *cut = find(address, &end);
    if (cut == NULL)
        return false;
    atomic_store(cut, true); /* before there are zeros to be seen */
    /* Each page splits a map in three. Where there are too many of them, all that follows goes. */
    return map_zeros(page, page + page_size) || map_zeros(page, end);
}

/** Does what would be done without this handler. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    bool fault = info->si_code > 0;
    if (!(previous.sa_flags & SA_SIGINFO) && previous.sa_handler == SIG_IGN && !fault)
        return;
    if (!(previous.sa_flags & SA_SIGINFO) &&
        (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
        /* The kernel heeds no SIG_IGN for a fault. The load that faults is done again, and ends the
         * process; what was sent by kill() has to be sent again. */
        struct sigaction fall = {.sa_handler = SIG_DFL};
        (void)sigaction(number, &fall, NULL);
        if (!fault)
            (void)raise(number);
        return;
    }
    sigset_t blocked = previous.sa_mask, own;
    if (!(previous.sa_flags & SA_NODEFER))
        sigaddset(&blocked, number);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &own);
    (void)pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(number, info, context);
    else
        previous.sa_handler(number);
    (void)pthread_sigmask(SIG_SETMASK, &own, NULL);
}

static void handle(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    /* What kill() sends has no address, but other things in its place. */
    if (info->si_code <= 0 || !cover((uintptr_t)info->si_addr))
        pass_on(number, info, context);
    errno = kept;
}

static void install(void)
{
    struct sigaction own = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&own.sa_mask);
    /* Known before the handler may need it. */
    if (sigaction(SIGBUS, NULL, &previous) == -1 || sigaction(SIGBUS, &own, NULL) == -1)
        refused = errno;
}

lx_status lx__guard_install(lx_error *error)
{
    (void)pthread_once(&once, install);
    return refused == 0 ? LX_OK
                        : lx__fail_errno(error, refused, NULL, "cannot handle SIGBUS");
}
