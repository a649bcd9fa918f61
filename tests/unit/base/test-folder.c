/* SPDX-License-Identifier: MIT */
#include "base/folder.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "../unit.h"

/** Opens the directory d, which is new. */
static lx__file make(char **scratch)
{
    lx_error error = LX_ERROR_INIT;
    lx__file directory;
    *scratch = scratch_make();
    unit_ok(lx__directory_make(LX__CWD, "d", &error));
    unit_ok(lx__directory_open(&directory, LX__CWD, "d", &error));
    return directory;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

START_TEST(makes_opens_and_removes_folders)
{
    char *scratch, path[] = "part/a/chunk/0.zr";
    lx_error error = LX_ERROR_INIT;
    lx__file directory = make(&scratch), folder, file;
    const char *name;
    unit_fails(lx__folder_open_file(&file, &directory, path, O_RDWR | O_CREAT, &error),
               LX_ERR_NOT_FOUND);
    unit_ok(lx__folder_make(&directory, path, &error));
    unit_ok(lx__folder_make(&directory, path, &error)); /* they exist */
    ck_assert(!is_there("d/part/a/chunk/0.zr"));
    unit_ok(lx__folder_open_file(&file, &directory, path, O_RDWR | O_CREAT, &error));
    ck_assert_str_eq(file.path, "d/part/a/chunk/0.zr");
    lx__file_close(&file);
    unit_ok(lx__folder_sync(&directory, path, &error));
    unit_ok(lx__folder_open(&folder, &directory, path, &name, &error));
    ck_assert_str_eq(folder.path, "d/part/a/chunk");
    ck_assert_str_eq(name, "0.zr");
    unit_ok(lx__file_open(&file, &folder, name, O_RDONLY, &error));
    lx__file_close(&file);
    lx__file_close(&folder);
    unit_ok(lx__directory_make(&directory, "part/b", &error));
    lx__folder_remove(&directory, path); /* the file is there */
    ck_assert(is_there("d/part/a/chunk/0.zr"));
    ck_assert_int_eq(remove("d/part/a/chunk/0.zr"), 0);
    strcpy(path, "part/a/chunk/0.zr");
    lx__folder_remove(&directory, path);
    ck_assert(!is_there("d/part/a") && is_there("d/part/b"));
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_path_without_a_folder_is_a_name)
{
    char *scratch;
    lx_error error = LX_ERROR_INIT;
    lx__file directory = make(&scratch), folder;
    const char *name;
    unit_ok(lx__folder_make(&directory, "LOG", &error));
    ck_assert(!is_there("d/LOG"));
    unit_ok(lx__folder_open(&folder, &directory, "LOG", &name, &error));
    ck_assert(!lx__file_is_open(&folder));
    ck_assert_str_eq(name, "LOG");
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(leads_nowhere_else)
{
    static const char *const outside[] = {"..",      "../x",    "part/../../x", "/x",  "part/",
                                          "part//x", "part/..", "part/./x",     "./x", "part/.",
                                          "",        "/"};
    char *scratch, long_name[300] = {0};
    lx_error error = LX_ERROR_INIT;
    lx__file directory = make(&scratch), file;
    ck_assert_int_eq(mkdir("d/part", 0777), 0);
    ck_assert_int_eq(mkdir("outside", 0777), 0);
    memset(long_name, 'x', 256);
    strcpy(long_name + 256, "/y");
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        unit_fails(lx__folder_make(&directory, outside[i], &error), LX_ERR_ARGUMENT);
    unit_fails(lx__folder_make(&directory, long_name, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(symlink("../outside", "d/link"), 0);
    ck_assert_int_eq(mknod("d/file", S_IFREG | 0666, 0), 0);
    unit_fails(lx__folder_make(&directory, "link/a/x", &error), LX_ERR_CORRUPT);
    unit_fails(lx__folder_sync(&directory, "link/x", &error), LX_ERR_CORRUPT);
    unit_fails(lx__folder_open_file(&file, &directory, "link/x", O_RDWR | O_CREAT, &error),
               LX_ERR_CORRUPT);
    unit_fails(lx__folder_open_file(&file, &directory, "file/x", O_RDONLY, &error), LX_ERR_CORRUPT);
    ck_assert(!is_there("outside/a") && !is_there("outside/x"));
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(tells_whether_files_share_a_folder)
{
    ck_assert(lx__folder_is_shared("a", "b"));
    ck_assert(lx__folder_is_shared("part/a", "part/b"));
    ck_assert(!lx__folder_is_shared("part/a", "b"));
    ck_assert(!lx__folder_is_shared("a", "part/b"));
    ck_assert(!lx__folder_is_shared("part/a", "part/b/c"));
    ck_assert(!lx__folder_is_shared("part/b/c", "part/a"));
    ck_assert(!lx__folder_is_shared("part/a", "parts/a"));
}
END_TEST

UNIT_MAIN("base/folder", makes_opens_and_removes_folders, a_path_without_a_folder_is_a_name,
          leads_nowhere_else, tells_whether_files_share_a_folder)
