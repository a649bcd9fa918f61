/* SPDX-License-Identifier: MIT */
#include "inject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <loaderx/hooks.h>

/* Written only while no other thread makes calls. */
static struct fault armed;
static atomic_bool arming;
static atomic_ullong counts[INJECT_COUNT];
static atomic_ullong fired;

static atomic_llong blocks;
static atomic_llong mapped;

void inject_arm(const struct fault *fault)
{
    armed = *fault;
    for (size_t i = 0; i < INJECT_COUNT; i++)
        atomic_store(&counts[i], 0);
    atomic_store(&fired, 0);
    atomic_store(&arming, true);
}

void inject_disarm(void)
{
    atomic_store(&arming, false);
}

void inject_rearm(void)
{
    atomic_store(&arming, true);
}

uint64_t inject_get_count(enum inject_call call)
{
    return atomic_load(&counts[call]);
}

uint64_t inject_get_fired(void)
{
    return atomic_load(&fired);
}

/** Counts a call; returns true if the fault applies to it. */
static bool happens(enum inject_call call)
{
    if (!atomic_load(&arming))
        return false;
    uint64_t number = atomic_fetch_add(&counts[call], 1) + 1;
    if (call != armed.call || armed.at == 0 ||
        (armed.forever ? number < armed.at : number != armed.at))
        return false;
    atomic_fetch_add(&fired, 1);
    return true;
}

/** Returns true, and sets errno, if the call must fail. */
static bool fails(enum inject_call call)
{
    if (!happens(call))
        return false;
    errno = armed.errnum;
    return true;
}

/** As fails(); a short call continues with half of its size. */
static bool fails_to_move(enum inject_call call, size_t *size)
{
    if (!happens(call))
        return false;
    if (armed.errnum == INJECT_SHORT) {
        *size = *size / 2 + *size % 2;
        return false;
    }
    errno = armed.errnum;
    return true;
}

/* ---- memory */

static void *take(size_t size, void *user)
{
    (void)user;
    void *memory = fails(INJECT_alloc) ? NULL : malloc(size);
    if (memory != NULL)
        atomic_fetch_add(&blocks, 1);
    return memory;
}

static void *resize(void *memory, size_t size, void *user)
{
    (void)user;
    return fails(INJECT_alloc) ? NULL : realloc(memory, size);
}

static void release(void *memory, void *user)
{
    (void)user;
    if (memory != NULL)
        atomic_fetch_sub(&blocks, 1);
    free(memory);
}

static void *json_take(size_t size)
{
    return take(size, NULL);
}

static void json_release(void *memory)
{
    release(memory, NULL);
}

void inject_begin(void)
{
    static const lx_allocator allocator = {take, resize, release, NULL};
    json_set_alloc_funcs(json_take, json_release);
    if (lx_set_allocator(&allocator, NULL) != LX_OK)
        abort();
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    DIR *list = opendir("/proc/self/fd");
    if (list == NULL)
        return 0;
    while (readdir(list) != NULL)
        count++;
    closedir(list);
    return count - 3; /* the dots, and the list itself */
}

void inject_read_held(struct inject_held *held)
{
    *held = (struct inject_held){(uint64_t)atomic_load(&blocks), (uint64_t)atomic_load(&mapped),
                                 count_descriptors()};
}

/* ---- calls */

/** A wrapper, declared to satisfy the compiler. */
#define WRAP(result, name, parameters)                                                             \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters

/** A wrapper that only fails if required. */
#define WRAP_PLAIN(name, parameters, arguments)                                                    \
    WRAP(int, name, parameters)                                                                    \
    {                                                                                              \
        return fails(INJECT_##name) ? -1 : __real_##name arguments;                                \
    }

WRAP_PLAIN(fstat, (int fd, struct stat *about), (fd, about))
WRAP_PLAIN(fstatat, (int fd, const char *path, struct stat *about, int flags),
           (fd, path, about, flags))
WRAP_PLAIN(fstatvfs, (int fd, struct statvfs *about), (fd, about))
WRAP_PLAIN(stat, (const char *path, struct stat *about), (path, about))
WRAP_PLAIN(ftruncate, (int fd, off_t size), (fd, size))
WRAP_PLAIN(madvise, (void *data, size_t size, int advice), (data, size, advice))
WRAP_PLAIN(mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
WRAP_PLAIN(renameat, (int from, const char *old, int to, const char *new), (from, old, to, new))
WRAP_PLAIN(sched_getaffinity, (pid_t process, size_t size, cpu_set_t *set), (process, size, set))
WRAP_PLAIN(sync_file_range, (int fd, off_t offset, off_t size, unsigned flags),
           (fd, offset, size, flags))
WRAP_PLAIN(linkat, (int from, const char *old, int to, const char *new, int flags),
           (from, old, to, new, flags))
WRAP_PLAIN(posix_fadvise, (int fd, off_t offset, off_t size, int advice),
           (fd, offset, size, advice))
WRAP_PLAIN(unlinkat, (int fd, const char *path, int flags), (fd, path, flags))

/* Syncs are not performed: the crash test is for power losses. */
WRAP(int, fsync, (int fd))
{
    (void)fd;
    return fails(INJECT_fsync) ? -1 : 0;
}

WRAP(int, fdatasync, (int fd))
{
    (void)fd;
    return fails(INJECT_fdatasync) ? -1 : 0;
}

WRAP(int, openat, (int directory, const char *path, int flags, ...))
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list list;
        va_start(list, flags);
        mode = va_arg(list, mode_t);
        va_end(list);
    }
    return fails(INJECT_openat) ? -1 : __real_openat(directory, path, flags, mode);
}

/* Only locks. */
WRAP(int, fcntl, (int fd, int command, ...))
{
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if ((command == F_OFD_SETLK || command == F_OFD_GETLK) && fails(INJECT_fcntl))
        return -1;
    return __real_fcntl(fd, command, argument);
}

WRAP(ssize_t, pread, (int fd, void *data, size_t size, off_t offset))
{
    return fails_to_move(INJECT_pread, &size) ? -1 : __real_pread(fd, data, size, offset);
}

WRAP(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t offset))
{
    return fails_to_move(INJECT_pwrite, &size) ? -1 : __real_pwrite(fd, data, size, offset);
}

WRAP(ssize_t, copy_file_range,
     (int from, off_t *source, int to, off_t *target, size_t size, unsigned flags))
{
    return fails_to_move(INJECT_copy_file_range, &size)
               ? -1
               : __real_copy_file_range(from, source, to, target, size, flags);
}

WRAP(ssize_t, getrandom, (void *data, size_t size, unsigned flags))
{
    return fails(INJECT_getrandom) ? -1 : __real_getrandom(data, size, flags);
}

WRAP(DIR *, fdopendir, (int fd))
{
    return fails(INJECT_fdopendir) ? NULL : __real_fdopendir(fd);
}

WRAP(struct dirent *, readdir, (DIR * list))
{
    return fails(INJECT_readdir) ? NULL : __real_readdir(list);
}

WRAP(char *, realpath, (const char *path, char *resolved))
{
    return fails(INJECT_realpath) ? NULL : __real_realpath(path, resolved);
}

WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user))
{
    return fails(INJECT_pthread_create) ? armed.errnum
                                        : __real_pthread_create(thread, attributes, run, user);
}

static size_t whole_pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

WRAP(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset))
{
    void *memory = fails(INJECT_mmap) ? MAP_FAILED
                                      : __real_mmap(at, size, protection, flags, fd, offset);
    if (memory != MAP_FAILED)
        atomic_fetch_add(&mapped, (long long)whole_pages(size));
    return memory;
}

WRAP(int, munmap, (void *memory, size_t size))
{
    int result = __real_munmap(memory, size);
    if (result == 0)
        atomic_fetch_sub(&mapped, (long long)whole_pages(size));
    return result;
}
