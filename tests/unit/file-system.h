/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A fake network file system: fstatfs() of a test program, which replaces the C library's,
 * reports a type chosen by the test.
 */
#ifndef LX_TESTS_FILE_SYSTEM_H
#define LX_TESTS_FILE_SYSTEM_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/** statfs's f_type of every file; 0: the file system's own. */
static uint32_t file_system_type;

int fstatfs(int fd, struct statfs *about)
{
    if (file_system_type == 0)
        return (int)syscall(SYS_fstatfs, fd, about);
    *about = (struct statfs){.f_type = file_system_type};
    return 0;
}

#endif
