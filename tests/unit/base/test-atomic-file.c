/* SPDX-License-Identifier: MIT */
#include "base/atomic-file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/error.h"

static void begin(lx__atomic_file *to, const lx__file *directory, const char *name,
                  const char *temporary, const char *text)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__atomic_file_begin(to, directory, name, temporary, &error));
    unit_ok(lx__file_write(&to->file, text, strlen(text), 0, &error));
}

static void expect(const char *name, const char *text)
{
    char back[16] = "";
    size_t got;
    lx__file file;
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__file_open(&file, LX__CWD, name, O_RDONLY, &error));
    unit_ok(lx__file_read_some(&file, back, sizeof back - 1, 0, &got, &error));
    ck_assert_str_eq(back, text);
    lx__file_close(&file);
}

static bool exists(const char *name)
{
    return access(name, F_OK) == 0;
}

START_TEST(replaces_a_file_when_finished)
{
    lx__atomic_file to;
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    ck_assert_int_eq(mkdir("d", 0777), 0);
    for (int i = 0; i < 2; i++) {
        begin(&to, LX__CWD, "d/f", NULL, i == 0 ? "first" : "second");
        ck_assert(exists("d/f.0.new"));
        unit_ok(lx__atomic_file_finish(&to, &error));
        lx__atomic_file_end(&to);
        expect("d/f", i == 0 ? "first" : "second");
        ck_assert(!exists("d/f.0.new"));
    }
    begin(&to, LX__CWD, "g", NULL, "here");
    unit_ok(lx__atomic_file_finish(&to, &error));
    lx__atomic_file_end(&to);
    expect("g", "here");
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_the_permissions_of_an_existing_file)
{
    lx__atomic_file to;
    struct stat about;
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    for (int i = 0; i < 2; i++) {
        begin(&to, LX__CWD, "f", NULL, "text");
        unit_ok(lx__atomic_file_finish(&to, &error));
        lx__atomic_file_end(&to);
        ck_assert_int_eq(stat("f", &about), 0);
        ck_assert(i == 0 || (about.st_mode & 07777) == 0640);
        ck_assert_int_eq(chmod("f", 0640), 0);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_the_old_file_unless_finished)
{
    lx__atomic_file to;
    lx__file directory;
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    ck_assert_int_eq(mkdir("d", 0777), 0);
    unit_ok(lx__directory_open(&directory, LX__CWD, "d", &error));
    begin(&to, &directory, "f", NULL, "old");
    unit_ok(lx__atomic_file_finish(&to, &error));
    lx__atomic_file_end(&to);

    begin(&to, &directory, "f", NULL, "new");
    lx__atomic_file_end(&to);
    expect("d/f", "old");
    ck_assert(!exists("d/f.0.new"));

    ck_assert_int_eq(mkdir("d/g", 0777), 0); /* cannot be replaced by a file */
    begin(&to, &directory, "g", NULL, "new");
    unit_fails(lx__atomic_file_finish(&to, &error), LX_ERR_IO);
    lx__atomic_file_end(&to);
    ck_assert(!exists("d/g.0.new"));
    unit_fails(lx__atomic_file_begin(&to, LX__CWD, "no/f", NULL, &error), LX_ERR_NOT_FOUND);
    lx__atomic_file_end(&to);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

START_TEST(writers_of_one_name_do_not_share_a_temporary_file)
{
    lx__atomic_file one, two;
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    begin(&one, LX__CWD, "f", NULL, "one");
    begin(&two, LX__CWD, "f", NULL, "two");
    ck_assert(exists("f.1.new"));
    unit_ok(lx__atomic_file_finish(&two, &error));
    lx__atomic_file_end(&two);
    unit_ok(lx__atomic_file_finish(&one, &error));
    lx__atomic_file_end(&one);
    expect("f", "one");
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_named_temporary_file_replaces_the_one_of_an_interrupted_attempt)
{
    lx__atomic_file to;
    lx__file left;
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    unit_ok(lx__file_open(&left, LX__CWD, "f.new", O_WRONLY | O_CREAT | O_EXCL, &error));
    unit_ok(lx__file_write(&left, "left behind", 11, 0, &error));
    lx__file_close(&left);
    begin(&to, LX__CWD, "f", "f.new", "new");
    unit_ok(lx__file_sync(&to.file, &error));
    unit_ok(lx__atomic_file_install(&to, &error));
    lx__atomic_file_end(&to);
    expect("f", "new");
    ck_assert(!exists("f.new"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(finds_only_regular_files)
{
    char *scratch = scratch_make(), *place;
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__atomic_file_find("new", &place, &error));
    ck_assert_str_eq(place, "new");
    lx__free(place);
    lx__atomic_file to;
    begin(&to, LX__CWD, "f", NULL, "text");
    unit_ok(lx__atomic_file_finish(&to, &error));
    lx__atomic_file_end(&to);
    ck_assert_int_eq(symlink("f", "link"), 0);
    unit_ok(lx__atomic_file_find("link", &place, &error));
    ck_assert_ptr_nonnull(strstr(place, "/f"));
    lx__free(place);
    ck_assert_int_eq(symlink("nowhere", "dangling"), 0);
    ck_assert_int_eq(symlink("/dev/null", "device"), 0);
    static const char *const others[] = {".", "/dev/null", "device", "dangling"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        unit_fails(lx__atomic_file_find(others[i], &place, &error), LX_ERR_EXISTS);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_new_file_replaces_none)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__atomic_file first, second;
    begin(&first, LX__CWD, "f", NULL, "first");
    begin(&second, LX__CWD, "f", NULL, "second");
    unit_ok(lx__atomic_file_finish_new(&first, &error));
    unit_fails(lx__atomic_file_finish_new(&second, &error), LX_ERR_EXISTS);
    lx__atomic_file_end(&first);
    lx__atomic_file_end(&second);
    expect("f", "first");
    ck_assert(!exists("f.0.new") && !exists("f.1.new"));
    unit_ok(lx__path_sync_parent("f", &error));
    unit_fails(lx__path_sync_parent("none/f", &error), LX_ERR_NOT_FOUND);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("base/atomic-file", finds_only_regular_files, replaces_a_file_when_finished,
          keeps_the_permissions_of_an_existing_file, keeps_the_old_file_unless_finished,
          writers_of_one_name_do_not_share_a_temporary_file,
          a_named_temporary_file_replaces_the_one_of_an_interrupted_attempt,
          a_new_file_replaces_none)
