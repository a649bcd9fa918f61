/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies of the datasets of tests/data/zrecord, to be read and harmed.
 */
#ifndef LX_TESTS_GOLDENS_H
#define LX_TESTS_GOLDENS_H

#include <errno.h>

#include "../data.h"
#include "files.h"

/** The folder they lie in. */
static inline const char *goldens_folder(void)
{
    static char folder[256];
    const char *top = getenv("top_srcdir");
    int size = snprintf(folder, sizeof folder, "%s/tests/data/zrecord", top != NULL ? top : ".");
    ck_assert_int_lt(size, (int)sizeof folder);
    return folder;
}

/** Copies one into the present directory: what is in the source folder is not for writing, and git
 * keeps no empty directory, so that some lack `chunk`. */
static inline void golden_copy(const char *name)
{
    const char *path = in(goldens_folder(), name);
    ck_assert_msg(file_exists(path), "%s is not there: run by make check", path);
    directory_copy(path, name);
    ck_assert(mkdir(in(name, "chunk"), 0777) == 0 || errno == EEXIST);
}

/** Its contents, as they were written down when it was made, for free(). */
static inline char *golden_contents(const char *name)
{
    char text[512];
    snprintf(text, sizeof text, "zrecord/%s.txt", name);
    return data_read(text);
}

#endif
