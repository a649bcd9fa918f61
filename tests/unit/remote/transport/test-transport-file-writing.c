/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../scratch.h"
#include "../../unit.h"
#include "base/crc32c.h"
#include "remote/transport/transport-file.h"
#include "remote/transport/transport-writing.h"

static char *scratch;
static lx__transport *transport;
static const lx__transport_writing *writing;
static lx__connection *connection, *other;
static lx__answer answer;
static lx_error error;

static void set_up(void)
{
    scratch = scratch_make();
    unit_ok(lx__transport_file_open_for_writing("a/b//set/", &transport, &error));
    writing = transport->class->writing;
    unit_ok(transport->class->connect(transport, &connection, &error));
    unit_ok(transport->class->connect(transport, &other, &error));
    ck_assert_int_eq(access("a", F_OK), -1);
}

static void tear_down(void)
{
    transport->class->disconnect(connection);
    transport->class->disconnect(other);
    transport->class->close(transport);
    scratch_remove(scratch);
}

static lx_status put_if(const char *name, const char *text, lx__precondition precondition,
                        const char *etag)
{
    lx_error_clear(&error);
    return writing->put(connection, name, (const uint8_t *)text, strlen(text), precondition, etag,
                        &answer, &error);
}

static lx_status put(const char *name, const char *text)
{
    return put_if(name, text, LX__WRITE_ALWAYS, NULL);
}

static lx__remote_info stat_file(const char *name)
{
    lx__remote_info info;
    lx_error_clear(&error);
    unit_ok(writing->stat(connection, name, &info, &answer, &error));
    return info;
}

static void has_text(const char *path, const char *text)
{
    char found[100] = "";
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(found, 1, sizeof found - 1, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_str_eq(found, text);
}

static unsigned count_entries(const char *path)
{
    unsigned count = 0;
    DIR *list = opendir(path);
    for (const struct dirent *entry; (entry = readdir(list)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

START_TEST(files_are_written_with_their_folders)
{
    set_up();
    unit_ok(put("meta.json", "one"));
    ck_assert_uint_eq(answer.got, 3);
    unit_ok(put("part/x/chunk/0.zr", "two"));
    unit_ok(put("part/x/chunk/0.zr", "three"));
    unit_ok(put("empty", ""));
    has_text("a/b/set/meta.json", "one");
    has_text("a/b/set/part/x/chunk/0.zr", "three");
    ck_assert_uint_eq(count_entries("a/b/set"), 3);
    ck_assert_uint_eq(count_entries("a/b/set/part/x/chunk"), 1);
    lx__remote_info info = stat_file("part/x/chunk/0.zr");
    ck_assert_uint_eq(info.bytes, 5);
    ck_assert_uint_le((uint64_t)time(NULL) - info.modified, 1000);
    tear_down();
}
END_TEST

START_TEST(what_is_missing_is_told)
{
    lx__remote_info info;
    set_up();
    unit_fails(writing->stat(connection, "f", &info, &answer, &error), LX_ERR_NOT_FOUND);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    unit_ok(writing->remove(connection, "f", &answer, &error));
    ck_assert_int_eq(access("a", F_OK), -1); /* only writing makes folders */
    unit_ok(put("f", "x"));
    lx_error_clear(&error);
    unit_fails(writing->stat(connection, "g/f", &info, &answer, &error), LX_ERR_NOT_FOUND);
    unit_ok(writing->remove(connection, "g/f", &answer, &error));
    unit_ok(writing->remove(connection, "f", &answer, &error));
    unit_ok(writing->remove(connection, "f", &answer, &error));
    ck_assert_uint_eq(count_entries("a/b/set"), 0);
    tear_down();
}
END_TEST

START_TEST(preconditions_hold)
{
    set_up();
    unit_fails(put_if("f", "x", LX__WRITE_IF_MATCH, "\"1\""), LX_ERR_STATE);
    unit_ok(put_if("f", "one", LX__WRITE_IF_ABSENT, NULL));
    unit_fails(put_if("f", "two", LX__WRITE_IF_ABSENT, NULL), LX_ERR_STATE);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    has_text("a/b/set/f", "one");
    lx__remote_info before = stat_file("f");
    unit_ok(put_if("f", "six", LX__WRITE_IF_MATCH, before.etag));
    unit_fails(put_if("f", "ten", LX__WRITE_IF_MATCH, before.etag), LX_ERR_STATE);
    has_text("a/b/set/f", "six");
    ck_assert_uint_eq(count_entries("a/b/set"), 1);
    tear_down();
}
END_TEST

START_TEST(no_folder_is_made_in_a_file)
{
    set_up();
    FILE *file = fopen("a", "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(put("f", "x"), LX_ERR_IO);
    ck_assert_int_eq(error.errnum, ENOTDIR);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    tear_down();
}
END_TEST

static bool is_chunk(const void *user, const char *name)
{
    (void)user;
    return strcmp(name, "chunk/1.zr") == 0;
}

START_TEST(an_upload_has_a_name_of_its_own)
{
    char upload[LX__UPLOAD_SIZE], second[LX__UPLOAD_SIZE];
    lx__uploaded_part part;
    set_up();
    unit_ok(writing->begin(connection, "chunk/1.zr", 2, upload, &answer, &error));
    unit_ok(writing->put_part(connection, "chunk/1.zr", upload, 0, 0, (const uint8_t *)"x", 1,
                              &part, &answer, &error));
    /* Another push abandons it, and begins to send the same file: this one must not install it. */
    unit_ok(writing->abandon_all(connection, LX_NONE, is_chunk, NULL, &answer, &error));
    unit_ok(writing->begin(connection, "chunk/1.zr", 2, second, &answer, &error));
    ck_assert_str_ne(upload, second);
    unit_fails(writing->complete(connection, "chunk/1.zr", upload, &part, 1, LX__WRITE_IF_ABSENT,
                                 "", &answer, &error),
               LX_ERR_NOT_FOUND);
    unit_ok(writing->complete(connection, "chunk/1.zr", second, &part, 1, LX__WRITE_IF_ABSENT, "",
                              &answer, &error));
    tear_down();
}
END_TEST

START_TEST(an_upload_is_completed_if_the_precondition_is_true)
{
    char upload[LX__UPLOAD_SIZE];
    lx__uploaded_part part;
    lx__remote_info info;
    set_up();
    unit_ok(put("chunk/1.zr", "old"));
    unit_ok(writing->stat(connection, "chunk/1.zr", &info, &answer, &error));
    unit_ok(writing->begin(connection, "chunk/1.zr", 3, upload, &answer, &error));
    unit_ok(writing->put_part(connection, "chunk/1.zr", upload, 0, 0, (const uint8_t *)"new", 3,
                              &part, &answer, &error));
    unit_fails(writing->complete(connection, "chunk/1.zr", upload, &part, 1, LX__WRITE_IF_ABSENT,
                                 "", &answer, &error),
               LX_ERR_STATE);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    unit_fails(writing->complete(connection, "chunk/1.zr", upload, &part, 1, LX__WRITE_IF_MATCH,
                                 "\"x\"", &answer, &error),
               LX_ERR_STATE);
    has_text("a/b/set/chunk/1.zr", "old");
    unit_ok(writing->complete(connection, "chunk/1.zr", upload, &part, 1, LX__WRITE_IF_MATCH,
                              info.etag, &answer, &error));
    has_text("a/b/set/chunk/1.zr", "new");
    ck_assert_uint_eq(count_entries("a/b/set/chunk"), 1);
    tear_down();
}
END_TEST

START_TEST(a_folder_or_a_link_may_have_the_name)
{
    struct stat about;
    set_up();
    unit_ok(put("f", "x"));
    ck_assert_int_eq(mkdir("a/b/set/LOG", 0777), 0);
    unit_fails(put("LOG", "y"), LX_ERR_IO);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    ck_assert_int_eq(symlink("f", "a/b/set/link"), 0);
    unit_ok(put("link", "y"));
    has_text("a/b/set/f", "x");
    ck_assert_int_eq(lstat("a/b/set/link", &about), 0);
    ck_assert(S_ISREG(about.st_mode) && (about.st_mode & S_IWOTH) == 0);
    tear_down();
}
END_TEST

START_TEST(a_name_stays_below_the_folder)
{
    static const char *const names[] = {"", "/f", "../f", "x/../../f", "x//f", "x/", ".", "link/f"};
    set_up();
    unit_ok(put("f", "x"));
    ck_assert_int_eq(symlink("/tmp", "a/b/set/link"), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lx_status status = put(names[i], "y");
        ck_assert_msg(status == LX_ERR_ARGUMENT || status == LX_ERR_CORRUPT, "'%s': %d", names[i],
                      status);
        ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    }
    ck_assert_uint_eq(count_entries("a/b"), 1);
    tear_down();
}
END_TEST

START_TEST(parts_come_in_any_order_over_several_connections)
{
    enum { SIZE = 2500000, PART = 1000000 };
    static uint8_t data[SIZE], back[SIZE];
    lx__uploaded_part parts[3];
    char upload[LX__UPLOAD_SIZE];
    set_up();
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)(i * 31 >> 5);
    ck_assert_uint_eq(writing->get_part_size(transport, 1), (size_t)8 << 20);
    unit_ok(writing->begin(connection, "chunk/0.zr", SIZE, upload, &answer, &error));
    ck_assert_uint_eq(writing->stat(connection, "chunk/0.zr", &(lx__remote_info){0}, &answer, NULL),
                      LX_ERR_NOT_FOUND);
    for (uint32_t i = 3; i-- > 0;) {
        size_t offset = (size_t)i * PART, size = SIZE - offset < PART ? SIZE - offset : PART;
        unit_ok(writing->put_part(i % 2 ? connection : other, "chunk/0.zr", upload, i, offset,
                                  data + offset, size, &parts[i], &answer, &error));
        ck_assert_uint_eq(answer.got, size);
        ck_assert_uint_eq(parts[i].crc, lx__crc32c(0, data + offset, size));
    }
    unit_ok(writing->complete(other, "chunk/0.zr", upload, parts, 3, LX__WRITE_IF_ABSENT, "",
                              &answer, &error));
    unit_ok(transport->class->read(connection, "chunk/0.zr", 0, SIZE, back, &answer, &error));
    ck_assert_mem_eq(back, data, SIZE);
    ck_assert_uint_eq(count_entries("a/b/set/chunk"), 1);
    unit_fails(writing->complete(other, "chunk/0.zr", upload, parts, 3, LX__WRITE_IF_ABSENT, "",
                                 &answer, &error),
               LX_ERR_NOT_FOUND);
    tear_down();
}
END_TEST

static char listed[10][64];
static uint64_t listed_bytes;
static size_t listed_count;

static lx_status note(void *user, const char *name, const lx__remote_info *info, lx_error *failure)
{
    (void)failure;
    ck_assert_ptr_eq(user, &listed);
    snprintf(listed[listed_count++], sizeof listed[0], "%s", name);
    listed_bytes += info->bytes;
    return LX_OK;
}

/** Lists a folder, whose files must be these, separated by spaces. */
static void lists(const char *folder, const char *names)
{
    char all[640] = "";
    listed_count = listed_bytes = 0;
    unit_ok(writing->list(connection, folder, note, &listed, &answer, &error));
    qsort(listed, listed_count, sizeof listed[0], (int (*)(const void *, const void *))strcmp);
    for (size_t i = 0; i < listed_count; i++) {
        strcat(all, i > 0 ? " " : "");
        strcat(all, listed[i]);
    }
    ck_assert_str_eq(all, names);
}

static lx_status refuse(void *user, const char *name, const lx__remote_info *info,
                        lx_error *failure)
{
    (void)user, (void)name, (void)info;
    return lx_fail(failure, LX_ERR_NOT_FOUND, "refused");
}

START_TEST(lists_files_without_links_and_uploads)
{
    char upload[LX__UPLOAD_SIZE];
    set_up();
    lists("", "");
    unit_ok(put("meta.json", "12345"));
    unit_ok(put("meta.json.new", "1"));
    unit_ok(put("chunk/0.zr", "1"));
    unit_ok(put("part/x/chunk/0.zr", "1"));
    unit_ok(writing->begin(connection, "chunk/1.zr", 10, upload, &answer, &error));
    ck_assert_int_eq(symlink("/etc", "a/b/set/folder"), 0);
    ck_assert_int_eq(symlink("/etc/passwd", "a/b/set/file"), 0);
    ck_assert_int_eq(mkfifo("a/b/set/pipe", 0666), 0);
    lists("", "chunk/0.zr meta.json meta.json.new part/x/chunk/0.zr");
    ck_assert_uint_eq(listed_bytes, 8);
    lists("part", "part/x/chunk/0.zr");
    lists("part/x", "part/x/chunk/0.zr");
    lists("none/at/all", "");
    unit_fails(writing->list(connection, "", refuse, NULL, &answer, &error), LX_ERR_NOT_FOUND);
    tear_down();
}
END_TEST

START_TEST(uploads_are_abandoned_if_they_are_old_enough)
{
    char upload[LX__UPLOAD_SIZE];
    lx__uploaded_part part;
    set_up();
    unit_ok(writing->abandon_all(connection, LX_NONE, is_chunk, NULL, &answer, &error));
    unit_ok(put("f", "1"));
    unit_ok(put("meta.json.new", "1"));
    ck_assert_int_eq(mknod("a/b/set/notes.1.new", S_IFREG | 0644, 0), 0); /* of another program */
    unit_ok(writing->begin(connection, "chunk/1.zr", 10, upload, &answer, &error));
    unit_ok(writing->abandon_all(connection, (uint64_t)time(NULL) - 1000, is_chunk, NULL, &answer,
                                 &error));
    unit_ok(writing->put_part(connection, "chunk/1.zr", upload, 0, 0, (const uint8_t *)"x", 1,
                              &part, &answer, &error));
    unit_ok(writing->abandon_all(connection, (uint64_t)time(NULL) + 1000, is_chunk, NULL, &answer,
                                 &error));
    unit_fails(writing->put_part(connection, "chunk/1.zr", upload, 0, 0, (const uint8_t *)"x", 1,
                                 &part, &answer, &error),
               LX_ERR_NOT_FOUND);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    lists("", "f meta.json.new");
    ck_assert_uint_eq(count_entries("a/b/set/chunk"), 0);
    ck_assert_int_eq(access("a/b/set/notes.1.new", F_OK), 0);
    tear_down();
}
END_TEST

START_TEST(a_folder_too_deep_is_not_listed)
{
    char path[500] = "a/b/set";
    set_up();
    unit_ok(put("f", "1"));
    for (int i = 0; i < 70; i++) {
        strcat(path, "/d");
        ck_assert_int_eq(mkdir(path, 0777), 0);
    }
    unit_fails(writing->list(connection, "", note, &listed, &answer, &error), LX_ERR_LIMIT);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    tear_down();
}
END_TEST

START_TEST(an_interrupted_transport_writes_nothing)
{
    set_up();
    transport->class->interrupt(transport);
    unit_fails(put("f", "1"), LX_ERR_CANCELED);
    ck_assert_uint_eq(count_entries("a/b/set"), 0);
    tear_down();
}
END_TEST

START_TEST(what_cannot_be_written_is_not_tried_again)
{
    set_up();
    unit_ok(put("f", "1"));
    unit_fails(put("f/g", "1"), LX_ERR_CORRUPT);
    ck_assert_int_eq(answer.retry, LX__RETRY_NEVER);
    tear_down();
}
END_TEST

UNIT_MAIN("remote/transport/transport-file-writing", files_are_written_with_their_folders,
          what_is_missing_is_told, preconditions_hold, no_folder_is_made_in_a_file,
          a_name_stays_below_the_folder, an_upload_has_a_name_of_its_own,
          an_upload_is_completed_if_the_precondition_is_true, a_folder_or_a_link_may_have_the_name,
          parts_come_in_any_order_over_several_connections, lists_files_without_links_and_uploads,
          uploads_are_abandoned_if_they_are_old_enough, a_folder_too_deep_is_not_listed,
          an_interrupted_transport_writes_nothing, what_cannot_be_written_is_not_tried_again)
