/* SPDX-License-Identifier: MIT */
/* The format "tar", with archives that are made here byte by byte. */
#include "imports.h"

#define BLOCK 512

/** An archive under construction. */
struct archive {
    uint8_t bytes[64 * BLOCK];
    size_t size;
};

static void set_checksum(uint8_t *header)
{
    unsigned sum = 0;
    memset(header + 148, ' ', 8);
    for (int i = 0; i < BLOCK; i++)
        sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
}

/** Adds a header and its content; returns the header. */
static uint8_t *add(struct archive *archive, char type, const char *name, const void *data,
                    size_t size)
{
    uint8_t *header = archive->bytes + archive->size;
    memset(header, 0, BLOCK);
    memcpy(header, name, strnlen(name, 100));
    snprintf((char *)header + 124, 12, "%011zo", size);
    header[156] = (uint8_t)type;
    memcpy(header + 257, "ustar", 6);
    memcpy(header + 263, "00", 2);
    set_checksum(header);
    if (size != 0)
        memcpy(header + BLOCK, data, size);
    archive->size += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
    return header;
}

static void add_text(struct archive *archive, const char *name, const char *text)
{
    add(archive, '0', name, text, strlen(text));
}

static void end(struct archive *archive)
{
    archive->size += 2 * BLOCK;
}

static void import_archive(const struct archive *archive)
{
    lx_error error = LX_ERROR_INIT;
    put_bytes("input", archive->bytes, archive->size);
    lx_importer *importer = importer_of("tar", "input");
    unit_ok(lx_importer_set_option(importer, "key", "key", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
}

START_TEST(members_of_one_key_are_a_record)
{
    char *scratch = scratch_make();
    struct archive archive = {.size = 0};
    add(&archive, '5', "train/", NULL, 0);
    add_text(&archive, "train/00.PNG", JPEG "image 0");
    add_text(&archive, "train/00.cls", " 7\n");
    add_text(&archive, "train/00.txt", "caf\xc3\xa9");
    add_text(&archive, "train/00.json", "{\"a\": 1}");
    add_text(&archive, "train/.hidden", "no record");
    add_text(&archive, "README", "no record");
    add_text(&archive, "train/01.png", JPEG);
    add_text(&archive, "train/._01.png", "no record");
    add_text(&archive, "train/01.cls", "-1");
    add_text(&archive, "other.d/01.png", JPEG "image 2");
    add_text(&archive, "../../etc/02.seg.png", JPEG "never a path");
    end(&archive);
    lx_error error = LX_ERROR_INIT;
    put_bytes("input", archive.bytes, archive.size);
    lx_importer *importer = importer_of("tar", "input");
    unit_ok(lx_importer_set_option(importer, "key", "__key__", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    expect_schema("d", "__key__:str png:image cls:int64 txt:str json:json seg.png:image");
    expect_length("d", 4);
    expect_text("d", 0, "__key__", "train/00");
    expect_text("d", 0, "png", JPEG "image 0");
    expect_int64("d", 0, "cls", 7);
    expect_text("d", 0, "txt", "caf\xc3\xa9");
    expect_text("d", 0, "json", "{\"a\": 1}");
    expect_text("d", 1, "__key__", "train/01");
    expect_text("d", 1, "png", JPEG);
    expect_int64("d", 1, "cls", -1);
    expect_bytes("d", 1, "txt", NULL, 0);
    expect_text("d", 2, "__key__", "other.d/01");
    expect_text("d", 3, "__key__", "../../etc/02");
    expect_text("d", 3, "seg.png", JPEG "never a path");
    scratch_remove(scratch);
}
END_TEST

START_TEST(long_names_of_all_kinds_are_read)
{
    char *scratch = scratch_make();
    struct archive archive = {.size = 0};
    char name[301], pax[400];
    /* ustar: a prefix. */
    uint8_t *header = add(&archive, '0', "b.txt", "one", 3);
    memcpy(header + 345, "prefix/a", 8);
    set_checksum(header);
    /* GNU: a long name. */
    memset(name, 'g', 300);
    memcpy(name + 290, ".txt", 5);
    add(&archive, 'L', "././@LongLink", name, strlen(name) + 1);
    add(&archive, '0', "short", "two", 3);
    /* pax: a path and a size; unknown keys are allowed. */
    int length = snprintf(pax, sizeof pax,
                          "19 comment=ignored\n21 path=pax/\xc3\xa9/p.txt\n"
                          "9 size=5\n");
    add(&archive, 'g', "global", "20 comment=anything\n", 20);
    add(&archive, 'x', "pax", pax, (size_t)length);
    header = add(&archive, '0', "short", "three", 5);
    memset(header + 124, '0', 11);
    set_checksum(header);
    end(&archive);
    import_archive(&archive);
    expect_length("d", 3);
    expect_text("d", 0, "key", "prefix/a/b");
    name[290] = '\0';
    expect_text("d", 1, "key", name);
    expect_text("d", 1, "txt", "two");
    expect_text("d", 2, "key", "pax/\xc3\xa9/p");
    expect_text("d", 2, "txt", "three");
    scratch_remove(scratch);
}
END_TEST

START_TEST(sizes_may_be_binary)
{
    char *scratch = scratch_make();
    struct archive archive = {.size = 0};
    uint8_t *header = add(&archive, '0', "a.txt", "hello", 5);
    memset(header + 124, 0, 12);
    header[124] = 0x80;
    header[135] = 5;
    set_checksum(header);
    end(&archive);
    import_archive(&archive);
    expect_text("d", 0, "txt", "hello");
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_truncated_archive_is_refused_at_every_length)
{
    char *scratch = scratch_make();
    struct archive archive = {.size = 0};
    add_text(&archive, "a.txt", "hello");
    add_text(&archive, "a.cls", "1");
    add_text(&archive, "b.txt", "world");
    end(&archive);
    for (size_t size = 0; size < archive.size - 2 * BLOCK + BLOCK; size += 37) {
        lx_error error = LX_ERROR_INIT;
        put_bytes("input", archive.bytes, size);
        lx_importer *importer = importer_of("tar", "input");
        unit_fails(lx_importer_run(importer, "cut", NULL, &error), LX_ERR_CORRUPT);
        unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
        lx_status status = lx_importer_run(importer, "cut", NULL, &error);
        ck_assert_int_eq(status, size >= 5 * BLOCK ? LX_OK : LX_ERR_CORRUPT); /* no record */
        lx_error_clear(&error);
        if (status == LX_OK)
            ck_assert_ptr_nonnull(lx_importer_get_bad(importer, 0));
        lx_importer_free(importer);
        lx_dataset_remove("cut", NULL);
    }
    scratch_remove(scratch);
}
END_TEST

/** Refuses the record 1 of an archive with good records around it, which are imported. */
static void refuse_member(char type, const char *name, const char *text, lx_status status,
                          const char *part)
{
    lx_error error = LX_ERROR_INIT;
    struct archive archive = {.size = 0};
    add_text(&archive, "a.txt", "first");
    add_text(&archive, "b.cls", "1");
    add(&archive, type, name, text, strlen(text));
    add_text(&archive, "b.txt", "rest of it");
    add_text(&archive, "c.txt", "last");
    end(&archive);
    refuse_bytes("tar", archive.bytes, archive.size, status, 1, 2 * BLOCK, part);
    put_bytes("input", archive.bytes, archive.size);
    lx_importer *importer = importer_of("tar", "input");
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 2);
    expect_text("d", 0, "txt", "first");
    expect_text("d", 1, "txt", "last");
    lx_importer_free(importer);
    unit_ok(lx_dataset_remove("d", &error));
}

START_TEST(bad_members_are_refused)
{
    char *scratch = scratch_make();
    refuse_member('1', "b.jpg", "", LX_ERR_UNSUPPORTED, "link");
    refuse_member('2', "b.jpg", "", LX_ERR_UNSUPPORTED, "link");
    refuse_member('3', "b.jpg", "", LX_ERR_UNSUPPORTED, "device");
    refuse_member('S', "b.jpg", "", LX_ERR_UNSUPPORTED, "sparse");
    refuse_member('0', "b.json", "{", LX_ERR_CORRUPT, "JSON");
    refuse_member('0', "b.text", "\xff", LX_ERR_CORRUPT, "UTF-8");
    refuse_member('0', "b.id", "x", LX_ERR_CORRUPT, "'x' is not a number");
    refuse_member('0', "b.cls", "2", LX_ERR_CORRUPT, "two values");
    scratch_remove(scratch);
}
END_TEST

/* What a member should be matters only if its field has no other type. */
START_TEST(the_type_of_a_field_decides_what_its_members_must_be)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct archive archive = {.size = 0};
    add_text(&archive, "a.cls", "cat");
    add_text(&archive, "a.json", "{");
    add_text(&archive, "a.txt", "\xff");
    add_text(&archive, "a.jsn", "[1");
    end(&archive);
    put_bytes("input", archive.bytes, archive.size);
    lx_importer *importer = importer_of("tar", "input");
    unit_ok(lx_importer_set_field(importer, "cls", "str", &error));
    unit_ok(lx_importer_set_field(importer, "json", "ignore", &error));
    unit_ok(lx_importer_set_field(importer, "txt", "bytes", &error));
    unit_ok(lx_importer_set_field(importer, "jsn", "bytes", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "cls:str txt:bytes jsn:bytes");
    expect_text("d", 0, "cls", "cat");
    expect_bytes("d", 0, "txt", "\xff", 1);
    expect_text("d", 0, "jsn", "[1");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/* The first records show numbers, and the bad one comes later. */
START_TEST(a_label_that_is_not_a_number_is_refused_wherever_it_is)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char zeros[2 * BLOCK];
    FILE *file = fopen("input", "w");
    for (int i = 0; i < 1100; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.cls", i);
        struct archive archive = {.size = 0};
        add_text(&archive, name, i == 1050 ? "x" : "1");
        fwrite(archive.bytes, archive.size, 1, file);
    }
    fwrite(zeros, sizeof zeros, 1, file);
    fclose(file);
    lx_importer *importer = importer_of("tar", "input");
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    ck_assert_uint_eq(error.record, 1050);
    ck_assert_str_eq(error.field, "cls");
    expect_schema("d", "cls:int64");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/** Imports two archives, which must be refused at an offset of the second place, as no failure of
 * one record; the message names the first one. */
static void refuse_split(const struct archive *a, const struct archive *b, const char *path,
                         uint64_t offset, const char *part)
{
    for (int skip = 0; skip < 2; skip++) {
        lx_error error = LX_ERROR_INIT;
        put_bytes("a", a->bytes, a->size);
        put_bytes("b", b->bytes, b->size);
        lx_importer *importer = importer_of("tar", "a");
        unit_ok(lx_importer_add_input(importer, "b", &error));
        unit_ok(lx_importer_set_option(importer, "key", "key", &error));
        unit_ok(lx_importer_set_bad_policy(importer, skip ? LX_BAD_SKIP : LX_BAD_STOP, &error));
        ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
        ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
        ck_assert_str_eq(error.path, path);
        ck_assert_uint_eq(error.record, LX_NONE);
        ck_assert_uint_eq(error.offset, offset);
        lx_importer_free(importer);
        lx_dataset_remove("d", NULL);
    }
}

START_TEST(members_of_a_record_in_two_places_are_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct archive a = {.size = 0}, b = {.size = 0};
    add_text(&a, "x.cls", "1");
    add_text(&a, "x.txt", "whole");
    add_text(&a, "y.txt", "half");
    add_text(&a, "z.txt", "half");
    add_text(&a, "z.cls", "1");
    end(&a);
    add_text(&b, "x.txt", "a record of its own");
    add_text(&b, "y.txt", "a record of its own");
    add_text(&b, "y.cls", "2");
    end(&b);
    put_bytes("a", a.bytes, a.size);
    put_bytes("b", b.bytes, b.size);
    lx_importer *importer = importer_of("tar", "a");
    unit_ok(lx_importer_add_input(importer, "b", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error)); /* keys of complete records return */
    expect_length("d", 5);
    lx_importer_free(importer);
    lx_dataset_remove("d", NULL);
    struct archive c = {.size = 0};
    add_text(&c, "x.txt", "a record of its own");
    add_text(&c, "y.cls", "2");
    end(&c);
    refuse_split(&a, &c, "b", 2 * BLOCK, "'y' are at byte 2048 of a:");
    a.size -= 2 * BLOCK;
    add_text(&a, "y.cls", "2");
    end(&a);
    refuse_split(&a, &b, "a", 10 * BLOCK, "'y' are at byte 2048 of a:");
    scratch_remove(scratch);
}
END_TEST

START_TEST(half_a_record_is_refused_if_the_other_half_is_bad)
{
    char *scratch = scratch_make();
    struct archive good = {.size = 0}, bad = {.size = 0};
    add_text(&good, "x.txt", "half");
    add_text(&good, "y.txt", "whole");
    add_text(&good, "y.json", "1");
    end(&good);
    add_text(&bad, "x.json", "bad");
    add_text(&bad, "y.txt", "whole");
    add_text(&bad, "y.json", "1");
    end(&bad);
    for (int order = 0; order < 2; order++) {
        lx_error error = LX_ERROR_INIT;
        put_bytes(order == 0 ? "a" : "b", bad.bytes, bad.size);
        put_bytes(order == 0 ? "b" : "a", good.bytes, good.size);
        lx_importer *importer = importer_of("tar", "a");
        unit_ok(lx_importer_add_input(importer, "b", &error));
        unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
        ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
        ck_assert_msg(strstr(error.message, "of the key 'x' are at byte") != NULL, "%s",
                      error.message);
        ck_assert_str_eq(error.path, "b");
        lx_importer_free(importer);
        lx_dataset_remove("d", NULL);
    }
    scratch_remove(scratch);
}
END_TEST

/* As of cat a.tar b.tar, whose blocks of zeros are of any number. */
START_TEST(archives_after_zeros_are_read)
{
    char *scratch = scratch_make();
    for (size_t zeros = 1; zeros < 8; zeros++) {
        struct archive archive = {.size = 0};
        add_text(&archive, "a.txt", "one");
        archive.size += zeros * BLOCK;
        add_text(&archive, "b.txt", "two");
        archive.size += zeros * BLOCK;
        add_text(&archive, "b.txt", "not of the record before");
        archive.size += zeros * BLOCK + zeros * 50;
        import_archive(&archive);
        expect_length("d", 3);
        expect_text("d", 2, "key", "b");
        lx_dataset_remove("d", NULL);
        memset(archive.bytes + archive.size, 'x', 2 * BLOCK);
        refuse_bytes("tar", archive.bytes, archive.size + BLOCK, LX_ERR_CORRUPT, 3,
                     (6 + 3 * zeros) * BLOCK, "checksum");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(names_that_are_not_utf8_are_refused)
{
    char *scratch = scratch_make();
    refuse_member('0', "b.\xc3", "x", LX_ERR_CORRUPT, "'b.\\xc3'");
    refuse_member('2', "b.\xe9t\xe9", "x", LX_ERR_CORRUPT, "'b.\\xe9t\\xe9'");
    struct archive archive = {.size = 0};
    add_text(&archive, "a.txt", "one");
    add_text(&archive, ".\xff", "passed over");
    end(&archive);
    import_archive(&archive);
    archive.size = 0;
    add_text(&archive, "caf\xc3\xa9\xe9/\xff.txt", "x");
    end(&archive);
    refuse_bytes("tar", archive.bytes, archive.size, LX_ERR_CORRUPT, 0, 0,
                 "'caf\xc3\xa9\\xe9/\\xff.txt'");
    scratch_remove(scratch);
}
END_TEST

START_TEST(damaged_headers_are_refused)
{
    char *scratch = scratch_make();
    struct archive archive = {.size = 0};
    uint8_t *header = add(&archive, '0', "a.txt", "hello", 5);
    end(&archive);
    header[0] = 'b';
    refuse_bytes("tar", archive.bytes, archive.size, LX_ERR_CORRUPT, 0, 0, "checksum");
    /* Sizes that are no numbers, that overflow, and that are more than the file has. */
    static const char sizes[][13] = {"0000000000x", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                                     "77777777777", "\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memcpy(header + 124, sizes[i], 12);
        set_checksum(header);
        refuse_bytes("tar", archive.bytes, archive.size, i == 2 ? LX_ERR_LIMIT : LX_ERR_CORRUPT, 0,
                     0, i == 2 ? "limit" : "size");
    }
    memcpy(header + 124, "00000100000", 12);
    set_checksum(header);
    refuse_bytes("tar", archive.bytes, archive.size, LX_ERR_CORRUPT, 0, 0, "truncated");
    static const char *const pax[] = {"x path=a\n", "99 path=a\n",
                                      "9 path=a.",  "11 size=1x\n",
                                      "0 \n",       "30 size=999999999999999999999\n"};
    for (size_t i = 0; i < sizeof pax / sizeof *pax; i++) {
        archive.size = 0;
        add(&archive, 'x', "pax", pax[i], strlen(pax[i]));
        add_text(&archive, "a.txt", "hello");
        end(&archive);
        refuse_bytes("tar", archive.bytes, archive.size, LX_ERR_CORRUPT, 0, 0, "extended header");
    }
    archive.size = 0;
    add(&archive, 'L', "long", "", 0);
    header = archive.bytes;
    snprintf((char *)header + 124, 12, "%011o", 1 << 30);
    set_checksum(header);
    end(&archive);
    refuse_bytes("tar", archive.bytes, archive.size, LX_ERR_CORRUPT, 0, 0, "too long");
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-tar", members_of_a_record_in_two_places_are_refused,
          half_a_record_is_refused_if_the_other_half_is_bad, archives_after_zeros_are_read,
          names_that_are_not_utf8_are_refused, members_of_one_key_are_a_record,
          long_names_of_all_kinds_are_read, sizes_may_be_binary,
          a_truncated_archive_is_refused_at_every_length, bad_members_are_refused,
          the_type_of_a_field_decides_what_its_members_must_be,
          a_label_that_is_not_a_number_is_refused_wherever_it_is, damaged_headers_are_refused)
