/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies of the datasets of tests/data/zrecord, for tests that read or damage them.
 */
#ifndef LX_TESTS_GOLDENS_H
#define LX_TESTS_GOLDENS_H

#include <errno.h>

#include "../../tar.h"
#include "../data.h"
#include "files.h"

/** Visits the files of all goldens: those of a dataset NAME as NAME/FILE, its contents as
 * NAME.txt. */
static inline void goldens_visit(void (*visit)(void *context, const struct tar_member *file),
                                 void *context)
{
    static const char *const families[] = {"changed", "composed", "written"};
    const char *top = getenv("top_srcdir");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char path[512];
        size_t size, at = 0;
        struct tar_member file;
        snprintf(path, sizeof path, "%s/tests/data/zrecord/%s.tar", top != NULL ? top : ".",
                 families[i]);
        ck_assert_msg(file_exists(path), "%s is missing: run by make check", path);
        uint8_t *bytes = file_bytes(path, &size);
        while (tar_next(bytes, size, &at, &file))
            visit(context, &file);
        free(bytes);
    }
}

static inline void golden_put(void *context, const struct tar_member *file)
{
    const char *name = context;
    size_t length = strlen(name);
    if (strncmp(file->name, name, length) != 0 || file->name[length] != '/')
        return;
    char path[sizeof file->name];
    strcpy(path, file->name);
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = '\0';
        ck_assert(mkdir(path, 0777) == 0 || errno == EEXIST);
    }
    file_put(path, file->data, file->size);
}

/** Unpacks a golden in the present directory. */
static inline void golden_copy(const char *name)
{
    ck_assert(mkdir(name, 0777) == 0 || errno == EEXIST);
    ck_assert(mkdir(in(name, "chunk"), 0777) == 0 || errno == EEXIST);
    goldens_visit(golden_put, (void *)(uintptr_t)name);
    ck_assert_msg(file_exists(in(name, "meta.json")), "%s is no golden", name);
}

#endif
