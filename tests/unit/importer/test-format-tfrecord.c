/* SPDX-License-Identifier: MIT */
/* The format "tfrecord". */
#include "base/bytes.h"
#include "base/crc32c.h"

#include "imports.h"
#include "importer/example.h"

/** Bytes of a file or message. */
struct text {
    uint8_t data[4096];
    size_t size;
};

static void add(struct text *self, const void *data, size_t size)
{
    ck_assert_uint_le(self->size + size, sizeof self->data);
    if (size != 0)
        memcpy(self->data + self->size, data, size);
    self->size += size;
}

static void add_crc(struct text *self, const void *data, size_t size)
{
    uint8_t stored[4];
    uint32_t crc = lx__crc32c(0, data, size);
    lx__store_le32(stored, (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8));
    add(self, stored, sizeof stored);
}

static void add_record(struct text *self, const void *data, size_t size)
{
    uint64_t length = LX__LE64((uint64_t)size);
    add(self, &length, sizeof length);
    add_crc(self, &length, sizeof length);
    add(self, data, size);
    add_crc(self, data, size);
}

/** Adds a tag, a length of one byte, and so many bytes. */
static void add_part(struct text *self, uint8_t tag, const void *data, size_t size)
{
    uint8_t head[] = {tag, (uint8_t)size};
    ck_assert_uint_lt(size, 128);
    add(self, head, sizeof head);
    add(self, data, size);
}

/** Adds a feature with one list, of field @p list, to an example. */
static void add_feature(struct text *example, const char *name, int list, const void *items,
                        size_t size)
{
    struct text feature = {.size = 0}, entry = {.size = 0}, features = {.size = 0};
    if (list != 0)
        add_part(&feature, (uint8_t)(list << 3 | 2), items, size);
    add_part(&entry, 0x0a, name, strlen(name));
    add_part(&entry, 0x12, feature.data, feature.size);
    add_part(&features, 0x0a, entry.data, entry.size);
    add_part(example, 0x0a, features.data, features.size);
}

static void import_with(const struct text *file, const char *option, const char *value)
{
    lx_error error = LX_ERROR_INIT;
    put_bytes("input", file->data, file->size);
    lx_importer *importer = importer_of("tfrecord", "input");
    if (option != NULL)
        unit_ok(lx_importer_set_option(importer, option, value, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
}

START_TEST(a_file_of_the_tfrecord_package_is_read)
{
    /* Written by tfrecord 1.14.6: {"label": 300}. */
    static const uint8_t bytes[] = {0x13, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c,
                                    0x91, 0x32, 0x1b, 0x0a, 0x11, 0x0a, 0x0f, 0x0a, 0x05,
                                    0x6c, 0x61, 0x62, 0x65, 0x6c, 0x12, 0x06, 0x1a, 0x04,
                                    0x0a, 0x02, 0xac, 0x02, 0x9e, 0x22, 0xed, 0x85};
    struct text file = {.size = 0};
    char *scratch = scratch_make();
    add(&file, bytes, sizeof bytes);
    import_with(&file, NULL, NULL);
    expect_schema("d", "label:int64");
    expect_int64("d", 0, "label", 300);
    scratch_remove(scratch);
}
END_TEST

START_TEST(features_are_fields)
{
    char *scratch = scratch_make();
    struct text one = {.size = 0}, two = {.size = 0}, file = {.size = 0};
    const float box[] = {0.5f, -1, 2}, box2[] = {1, 2, 3};
    add_feature(&one, "image", 1, "\x0a\x03\xff\xd8\x00", 5);
    add_feature(&one, "label", 3, "\x0a\x01\x07", 3);
    struct text packed = {.size = 0};
    add_part(&packed, 0x0a, box, sizeof box);
    add_feature(&one, "box", 2, packed.data, packed.size);
    add_feature(&one, "ids", 3, "\x0a\x03\x01\x96\x01", 5);
    add_feature(&one, "some", 2, "\x0d\x00\x00\x80\x3f", 5);
    add_feature(&two, "image", 1, "\x0a\x00", 2);
    /* not packed, and negative */
    add_feature(&two, "label", 3, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    struct text loose = {.size = 0};
    for (int i = 0; i < 3; i++) {
        add(&loose, "\x0d", 1);
        add(&loose, &box2[i], sizeof *box2);
    }
    add_feature(&two, "box", 2, loose.data, loose.size);
    add_feature(&two, "ids", 3, "\x0a\x01\x05\x08\x06\x0a\x01\x07", 8);
    add_feature(&two, "some", 0, NULL, 0);
    add_feature(&two, "none", 2, NULL, 0);
    add_feature(&one, "tags", 3, "\x0a\x01\x09", 3);
    add_feature(&two, "tags", 3, "\x0a\x02\x03\x04", 4);
    add_record(&file, one.data, one.size);
    add_record(&file, two.data, two.size);
    import_with(&file, NULL, NULL);
    expect_schema("d", "image:bytes label:int64 box:float32[3] ids:int64[?] some:float32 "
                       "tags:int64[?] none:json");
    expect_length("d", 2);
    expect_bytes("d", 0, "image", "\xff\xd8\x00", 3);
    expect_text("d", 1, "image", "");
    expect_int64("d", 0, "label", 7);
    expect_int64("d", 1, "label", -1);
    expect_bytes("d", 0, "box", box, sizeof box);
    expect_bytes("d", 1, "box", box2, sizeof box2);
    const int64_t ids[] = {1, 150}, ids2[] = {5, 6, 7};
    expect_bytes("d", 0, "ids", ids, sizeof ids);
    expect_bytes("d", 1, "ids", ids2, sizeof ids2);
    const float some = 1;
    expect_bytes("d", 0, "some", &some, sizeof some);
    expect_bytes("d", 1, "some", NULL, 0);
    expect_bytes("d", 1, "none", NULL, 0);
    const int64_t tag = 9;
    expect_bytes("d", 0, "tags", &tag, sizeof tag);
    scratch_remove(scratch);
}
END_TEST

/* Messages of newer definitions: a field of each wire type, at each level. */
START_TEST(unknown_fields_are_passed_over)
{
    char *scratch = scratch_make();
    static const struct {
        const char *data;
        size_t size;
    } unknown[] = {{"\x78\x96\x01", 3},
                   {"\x79"
                    "12345678",
                    9},
                   {"\x7a\x02zz", 4},
                   {"\x7d"
                    "1234",
                    5},
                   {"\x82\x7d\x00", 3}};
    struct text file = {.size = 0};
    for (size_t i = 0; i < 2 * sizeof unknown / sizeof *unknown; i++) {
        const char *more = unknown[i / 2].data;
        size_t size = unknown[i / 2].size;
        struct text list = {.size = 0}, feature = {.size = 0}, entry = {.size = 0};
        struct text features = {.size = 0}, example = {.size = 0};
        bool bytes = i % 2 != 0;
        add(&list, more, size);
        add(&list, bytes ? "\x0a\x02hi" : "\x0a\x01\x07", bytes ? 4 : 3);
        add(&list, more, size);
        add(&feature, more, size);
        add_part(&feature, bytes ? 0x0a : 0x1a, list.data, list.size);
        add(&feature, more, size);
        add(&entry, more, size);
        add_part(&entry, 0x0a, bytes ? "b" : "n", 1);
        add_part(&entry, 0x12, feature.data, feature.size);
        add(&features, more, size);
        add_part(&features, 0x0a, entry.data, entry.size);
        add(&example, more, size);
        add_part(&example, 0x0a, features.data, features.size);
        add(&example, more, size);
        add_record(&file, example.data, example.size);
    }
    import_with(&file, NULL, NULL);
    expect_schema("d", "n:int64 b:bytes");
    for (uint64_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        expect_int64("d", 2 * i, "n", 7);
        expect_text("d", 2 * i + 1, "b", "hi");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(payloads_are_imported_as_they_are)
{
    char *scratch = scratch_make();
    struct text file = {.size = 0};
    add_record(&file, "not an example", 14);
    add_record(&file, NULL, 0);
    import_with(&file, "raw", "payload");
    expect_schema("d", "payload:bytes");
    expect_text("d", 0, "payload", "not an example");
    expect_text("d", 1, "payload", "");
    scratch_remove(scratch);
}
END_TEST

START_TEST(lists_of_texts_become_json)
{
    char *scratch = scratch_make();
    struct text example = {.size = 0}, file = {.size = 0};
    add_feature(&example, "tags", 1, "\x0a\x03\"\\\n\x0a\x02\xc3\xa9\x0a\x00", 11);
    add_record(&file, example.data, example.size);
    example.size = 0;
    add_feature(&example, "tags", 1, NULL, 0);
    add_record(&file, example.data, example.size);
    example.size = 0;
    add_feature(&example, "tags", 1, "\x2a\x01z\x0a\x01x", 6); /* after an unknown field */
    add_record(&file, example.data, example.size);
    import_with(&file, "lists", "other,tags");
    expect_text("d", 0, "tags", "[\"\\\"\\\\\\u000a\",\"\xc3\xa9\",\"\"]");
    expect_text("d", 1, "tags", "[]");
    expect_text("d", 2, "tags", "[\"x\"]");
    scratch_remove(scratch);
}
END_TEST

/* Several byte strings, and in the option lists bytes that are not UTF-8. */
START_TEST(features_that_no_field_can_store_can_be_ignored)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct text example = {.size = 0}, file = {.size = 0};
    add_feature(&example, "parts", 1, "\x0a\x01\xff\x0a\x01y", 6);
    add_feature(&example, "tags", 1, "\x0a\x01x\x0a\x01\xff", 6);
    add_feature(&example, "names", 1, "\x0a\x01x\x0a\x01y", 6);
    add_record(&file, example.data, example.size);
    put_bytes("input", file.data, file.size);
    lx_importer *importer = importer_of("tfrecord", "input");
    unit_ok(lx_importer_set_option(importer, "lists", "tags,names", &error));
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_UNSUPPORTED);
    ck_assert_str_eq(error.field, "parts");
    lx_error_clear(&error);
    unit_ok(lx_importer_set_field(importer, "parts", "ignore", &error));
    ck_assert_int_eq(lx_importer_run(importer, "d", NULL, &error), LX_ERR_UNSUPPORTED);
    ck_assert_str_eq(error.field, "tags");
    lx_error_clear(&error);
    unit_ok(lx_importer_set_field(importer, "tags", "ignore", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "names:json");
    expect_text("d", 0, "names", "[\"x\",\"y\"]");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

/** A file with one good example, at the end of which something bad is expected. */
static size_t begin(struct text *file)
{
    struct text example = {.size = 0};
    file->size = 0;
    add_feature(&example, "a", 3, "\x08\x01", 2);
    add_record(file, example.data, example.size);
    return file->size;
}

START_TEST(damage_is_refused_with_its_place)
{
    char *scratch = scratch_make();
    struct text file;
    size_t at = begin(&file);
    for (size_t cut = 1; cut < at; cut++) {
        file.size = at + cut;
        memcpy(file.data + at, file.data, at);
        refuse_bytes("tfrecord", file.data, file.size, LX_ERR_CORRUPT, 1, at, "rest of the file");
    }
    for (size_t i = 0; i < at; i++) {
        file.size = 2 * at;
        memcpy(file.data + at, file.data, at);
        file.data[at + i] ^= 0x10;
        refuse_bytes("tfrecord", file.data, file.size, LX_ERR_CORRUPT, 1, at, "CRC");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(records_after_a_damaged_one_are_found)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct text file = {.size = 0};
    add_record(&file, "one", 3);
    size_t second = file.size;
    add_record(&file, "two", 3);
    file.data[second + 12] ^= 1;
    add_record(&file, "longer than ten bytes", 21);
    add_record(&file, "three", 5);
    put_bytes("input", file.data, file.size);
    lx_importer *importer = importer_of("tfrecord", "input");
    unit_ok(lx_importer_set_option(importer, "raw", "x", &error));
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_set_record_limit(importer, 10, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", 2);
    expect_text("d", 1, "x", "three");
    ck_assert_int_eq(lx_importer_get_bad(importer, 0)->status, LX_ERR_CORRUPT);
    ck_assert_uint_eq(lx_importer_get_bad(importer, 0)->offset, second);
    ck_assert_int_eq(lx_importer_get_bad(importer, 1)->status, LX_ERR_LIMIT);
    ck_assert_ptr_null(lx_importer_get_bad(importer, 2));
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(lengths_that_overflow_are_refused)
{
    char *scratch = scratch_make();
    static const uint64_t lengths[] = {UINT64_MAX,        UINT64_MAX - 3,    UINT64_MAX - 15,
                                       (uint64_t)1 << 63, (uint64_t)1 << 32, 100000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct text file;
        size_t at = begin(&file);
        uint64_t length = LX__LE64(lengths[i]);
        add(&file, &length, sizeof length);
        add_crc(&file, &length, sizeof length);
        add(&file, "x", 1);
        refuse_bytes("tfrecord", file.data, file.size, LX_ERR_CORRUPT, 1, at, "within a record");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(messages_that_are_not_examples_are_refused)
{
    char *scratch = scratch_make();
    static const struct {
        const char *data;
        size_t size;
        lx_status status;
        const char *part;
    } bad[] = {
        {"\x0a", 1, LX_ERR_CORRUPT, "not a tf.Example"},
        {"\x0a\x05", 2, LX_ERR_CORRUPT, "not a tf.Example"},
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, LX_ERR_CORRUPT, "not a tf.Example"},
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, LX_ERR_CORRUPT, "not a tf.Example"},
        {"\x08\x01", 2, LX_ERR_CORRUPT, "not a tf.Example"},
        {"\x12\x00", 2, LX_ERR_UNSUPPORTED, "SequenceExample"},
        {"\x0a\x02\x12\x00", 4, LX_ERR_CORRUPT, "not a tf.Example"},
        {"\x0a\x02\x0a\x00", 4, LX_ERR_CORRUPT, "no name"},
        {"\x0a\x04\x0a\x02\x0a\x00", 6, LX_ERR_CORRUPT, "no name"},
        {"\x0a\x08\x0a\x06\x0a\x01z\x0a\x01z", 10, LX_ERR_CORRUPT, "not a tf.Example"},
        /* unknown fields alone, a group, a number that is too short */
        {"\x78\x01\x7a\x01z", 5, LX_ERR_CORRUPT, "not a tf.Example"},
        {"\x0a\x00\x7b\x7c", 4, LX_ERR_CORRUPT, "not a tf.Example"},
        {"\x0a\x00\x7d\x01", 4, LX_ERR_CORRUPT, "not a tf.Example"},
        /* lists: of an unknown kind, two of them, cut */
        {"\x0a\x09\x0a\x07\x0a\x01z\x12\x02\x22\x00", 11, LX_ERR_CORRUPT, "'z'"},
        {"\x0a\x0b\x0a\x09\x0a\x01z\x12\x04\x1a\x00\x1a\x00", 13, LX_ERR_CORRUPT, "'z'"},
        {"\x0a\x09\x0a\x07\x0a\x01z\x12\x02\x1a\x01", 11, LX_ERR_CORRUPT, "'z'"},
        /* numbers: a varint that does not end, 3 bytes of a float, a wrong wire type */
        {"\x0a\x0b\x0a\x09\x0a\x01z\x12\x04\x1a\x02\x08\x80", 13, LX_ERR_CORRUPT, "'z'"},
        {"\x0a\x0e\x0a\x0c\x0a\x01z\x12\x07\x12\x05\x0a\x03xyz", 16, LX_ERR_CORRUPT, "'z'"},
        {"\x0a\x0d\x0a\x0b\x0a\x01z\x12\x06\x12\x04\x0dxyz", 15, LX_ERR_CORRUPT, "'z'"},
        {"\x0a\x0b\x0a\x09\x0a\x01z\x12\x04\x1a\x02\x0d\x01", 13, LX_ERR_CORRUPT, "'z'"},
        /* packed numbers that are longer than the list, or have no length */
        {"\x0a\x0d\x0a\x0b\x0a\x01z\x12\x06\x1a\x04\x0a\x7f\x08\x05", 15, LX_ERR_CORRUPT, "'z'"},
        {"\x0a\x0a\x0a\x08\x0a\x01z\x12\x03\x1a\x01\x0a", 12, LX_ERR_CORRUPT, "'z'"},
        {"\x0a\x0a\x0a\x08\x0a\x01z\x12\x03\x12\x01\x0a", 12, LX_ERR_CORRUPT, "'z'"},
        /* byte strings: a wrong wire type, several of them */
        {"\x0a\x0b\x0a\x09\x0a\x01z\x12\x04\x0a\x02\x08\x01", 13, LX_ERR_CORRUPT, "'z'"},
        {"\x0a\x0d\x0a\x0b\x0a\x01z\x12\x06\x0a\x04\x0a\x00\x0a\x00", 15, LX_ERR_UNSUPPORTED,
         "several byte strings"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct text file;
        size_t at = begin(&file);
        add_record(&file, bad[i].data, bad[i].size);
        refuse_bytes("tfrecord", file.data, file.size, bad[i].status, 1, at, bad[i].part);
    }
    scratch_remove(scratch);
}
END_TEST

/* The byte after the message would make it a tf.SequenceExample. */
START_TEST(no_byte_after_a_message_is_read)
{
    static const uint8_t bytes[] = {0x0a, 0x12};
    lx_error error = LX_ERROR_INIT;
    lx__example example = {.limit = 100};
    unit_fails(lx__example_read(&example, bytes, 1, &error), LX_ERR_CORRUPT);
    lx__example_free(&example);
}
END_TEST

START_TEST(numbers_that_grow_beyond_the_limit_are_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct text example = {.size = 0}, file = {.size = 0};
    uint8_t ones[100];
    memset(ones, 1, sizeof ones);
    struct text packed = {.size = 0};
    add_part(&packed, 0x0a, ones, 100);
    add_feature(&example, "a", 3, packed.data, packed.size);
    add_record(&file, example.data, example.size);
    put_bytes("input", file.data, file.size);
    lx_importer *importer = importer_of("tfrecord", "input");
    unit_ok(lx_importer_set_record_limit(importer, 799, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_LIMIT);
    unit_ok(lx_importer_set_record_limit(importer, 800, &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_schema("d", "a:int64[100]");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/format-tfrecord", unknown_fields_are_passed_over,
          a_file_of_the_tfrecord_package_is_read, features_are_fields,
          payloads_are_imported_as_they_are, lists_of_texts_become_json,
          features_that_no_field_can_store_can_be_ignored, damage_is_refused_with_its_place,
          records_after_a_damaged_one_are_found, lengths_that_overflow_are_refused,
          messages_that_are_not_examples_are_refused, no_byte_after_a_message_is_read,
          numbers_that_grow_beyond_the_limit_are_refused)
