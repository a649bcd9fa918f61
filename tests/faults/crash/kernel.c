/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static int boot_file = -1;
static bool makes_syncs;
static atomic_uint sync_fails_in;
static atomic_uint disk_full_in;
static atomic_uint disk_full_more; /* writes without space */
static unsigned disk_full_then;

void kernel_boot(uint64_t boot)
{
    char text[64];
    int size = snprintf(text, sizeof text, "%08x-%04x-%04x-0000-000000000000\n",
                        (unsigned)(boot >> 32), (unsigned)(boot >> 16) & 0xffff,
                        (unsigned)boot & 0xffff);
    if (boot_file == -1)
        boot_file = memfd_create("boot_id", MFD_CLOEXEC);
    if (boot_file == -1 || pwrite(boot_file, text, (size_t)size, 0) != size)
        give_up("the boot's id");
}

void kernel_make_syncs(void)
{
    makes_syncs = true;
}

void kernel_fail_sync(unsigned count)
{
    atomic_store(&sync_fails_in, count);
}

void kernel_fill_disk(unsigned count, unsigned more)
{
    atomic_store(&disk_full_more, 0);
    disk_full_then = more;
    atomic_store(&disk_full_in, count);
}

/** Counts down to 0; returns true at 0. */
static bool comes_to_an_end(atomic_uint *counter)
{
    unsigned left = atomic_load(counter);
    while (left != 0 && !atomic_compare_exchange_weak(counter, &left, left - 1))
        ;
    return left == 1;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    if (atomic_load(&disk_full_more) != 0) {
        (void)comes_to_an_end(&disk_full_more);
        errno = ENOSPC;
        return -1;
    }
    if (comes_to_an_end(&disk_full_in)) {
        atomic_store(&disk_full_more, disk_full_then);
        size = size / 2 + 1;
    }
    return (ssize_t)syscall(SYS_pwrite64, fd, data, size, offset);
}

int openat(int directory, const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list list;
        va_start(list, flags);
        mode = va_arg(list, mode_t);
        va_end(list);
    }
    if (boot_file != -1 && strcmp(path, BOOT_ID) == 0)
        return fcntl(boot_file, F_DUPFD_CLOEXEC, 0);
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

static int sync_file(long number, int fd)
{
    if (comes_to_an_end(&sync_fails_in)) {
        mark_say(MARK_SYNC_FAILED, 0, (uint64_t)fd);
        errno = EIO;
        return -1;
    }
    return makes_syncs ? (int)syscall(number, fd) : 0;
}

int fsync(int fd)
{
    return sync_file(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_file(SYS_fdatasync, fd);
}
