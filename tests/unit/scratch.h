/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A separate directory for a test, which is removed with its content afterwards.
 */
#ifndef LX_TESTS_SCRATCH_H
#define LX_TESTS_SCRATCH_H

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline int scratch_remove_one(const char *path, const struct stat *about, int type,
                                     struct FTW *place)
{
    (void)about, (void)type, (void)place;
    return remove(path);
}

/** Makes a directory below TMPDIR and changes to it; the name is for scratch_remove(). */
static inline char *scratch_make(void)
{
    const char *parent = getenv("TMPDIR");
    char name[4096];
    snprintf(name, sizeof name, "%s/loaderx-test-XXXXXX", parent != NULL ? parent : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(name));
    ck_assert_int_eq(chdir(name), 0);
    return strdup(name);
}

static inline void scratch_remove(char *name)
{
    ck_assert_int_eq(chdir("/"), 0);
    nftw(name, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(name);
}

#endif
