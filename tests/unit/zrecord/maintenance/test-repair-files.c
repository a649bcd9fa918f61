/* SPDX-License-Identifier: MIT */
/* What a repair says of files that are no part of the dataset, and what the next writer does. */
#include "repaired.h"

/** What was said of a file; NULL: nothing. */
static const lx_finding *find(const struct told *told, const char *name)
{
    ck_assert_uint_le(told->count, sizeof told->findings / sizeof *told->findings);
    for (size_t i = 0; i < told->count; i++)
        if (strcmp(told->findings[i].damage.path, name) == 0)
            return &told->findings[i];
    return NULL;
}

/** A file with something in it, or empty. */
struct file {
    const char *name;
    bool empty, goes, goes_when_dropped;
};

static const struct file files[] = {
    {"d/notes.txt", false, false, false},
    {"d/README.offset.2", true, true, true},
    {"d/empty.offset", true, true, true},
    {"d/empty.check", true, true, true},
    {"d/notes.offset", false, false, true},
    {"d/my.check.7", false, false, true},
    {"d/z.dict", false, false, true},
    {"d/z~x.offset", false, false, false},
    {"d/image.dict", false, true, true},
    {"d/image.offset.3", false, true, true},
    {"d/LOG.7", false, true, true},
    {"d/LOG.07", false, false, false},
    {"d/meta.json.new", false, true, true},
    {"d/chunk/99.zr", false, true, true},
    {"d/chunk/x", false, false, false},
};
#define FILES (sizeof files / sizeof *files)

/** Looks and then writes, and holds what was said against what is left. */
static void expect_agreement(bool was_dropped)
{
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    for (size_t i = 0; i < FILES; i++)
        file_put(files[i].name, "x", !files[i].empty);
    ck_assert_int_eq(mkdir("d/LOG.9", 0777), 0);
    ck_assert_int_eq(mkdir("d/chunk/98.zr", 0777), 0);
    unit_ok(repair(LX_REPAIR_REPORT, &told, &result, &error));
    ck_assert_uint_eq(result.foreign, FILES + 2);
    ck_assert_uint_eq(result.damages, 0);
    ck_assert_int_eq(find(&told, "d/LOG.9")->remedy, LX_REMEDY_NONE);
    ck_assert_int_eq(find(&told, "d/chunk/98.zr")->remedy, LX_REMEDY_NONE);
    for (size_t i = 0; i < FILES; i++) {
        bool goes = was_dropped ? files[i].goes_when_dropped : files[i].goes;
        const lx_finding *finding = find(&told, files[i].name);
        ck_assert_msg(finding != NULL && file_exists(files[i].name), "%s", files[i].name);
        ck_assert_int_eq(finding->damage.status, LX_ERR_EXISTS);
        ck_assert_msg((finding->remedy == LX_REMEDY_LEFTOVER) == goes, "%s: %s", files[i].name,
                      finding->damage.message);
        ck_assert((strstr(finding->damage.message, "next writer removes it") != NULL) == goes);
    }
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 1);
    unit_ok(lx_writer_checkpoint(writer, &error));
    close_writer(writer);
    for (size_t i = 0; i < FILES; i++)
        ck_assert_msg(file_exists(files[i].name) ==
                          !(was_dropped ? files[i].goes_when_dropped : files[i].goes),
                      "%s", files[i].name);
    ck_assert(file_exists("d/LOG.9") && file_exists("d/chunk/98.zr"));
}

START_TEST(what_is_said_is_what_the_next_writer_does)
{
    char *scratch = scratch_make();
    records_make("d", 10, 5);
    expect_agreement(false);
    scratch_remove(scratch);
}
END_TEST

START_TEST(also_where_a_field_was_dropped)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 10);
    unit_ok(lx_writer_add_field(writer, "extra", LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_drop_field(writer, "extra", &error));
    close_writer(writer);
    expect_agreement(true);
    scratch_remove(scratch);
}
END_TEST

START_TEST(chunks_of_lost_commits_are_told_as_such)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct told told;
    lx_repair_result result;
    make_lost_commits(0);
    file_put("d/chunk/x", "x", 1);
    unit_fails(repair(LX_REPAIR_REPORT, &told, &result, &error), LX_ERR_CORRUPT);
    const lx_finding *finding = find(&told, "d/chunk/0.zr");
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->remedy, LX_REMEDY_FORGET);
    ck_assert_ptr_nonnull(strstr(finding->damage.message, "aside"));
    ck_assert_int_eq(find(&told, "d/chunk/x")->damage.status, LX_ERR_EXISTS);
    ck_assert_uint_eq(result.foreign, 1);
    size_t damages = result.damages;
    unit_ok(repair(LX_REPAIR_VALUES, &told, &result, &error));
    ck_assert_uint_eq(result.damages, damages);
    for (size_t i = 0; i < damages - 1; i++) { /* each chunk that was told of, and no other file */
        char name[64];
        snprintf(name, sizeof name, "d.damaged-1/%zu.zr", i);
        ck_assert_msg(file_exists(name), "%s", name);
    }
    ck_assert(!file_exists("d.damaged-1/x") && file_exists("d/chunk/x"));
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/repair-files", what_is_said_is_what_the_next_writer_does,
          also_where_a_field_was_dropped, chunks_of_lost_commits_are_told_as_such)
