/* SPDX-License-Identifier: MIT */
/* The names of classes in the card. */
#include <sys/stat.h>

#include <loaderx/hooks.h>

#include "base/alloc.h"
#include "importer/class-names.h"
#include "imports.h"

static lx_error error = LX_ERROR_INIT;
static char logged[1024];

static void keep_message(lx_log_level level, const char *message, void *user)
{
    (void)level;
    (void)user;
    snprintf(logged, sizeof logged, "%s", message);
}

/** Makes the folder @p input with a file in each of some folders, whose names end with a slash; of
 * an empty folder, they end with two. */
static void put_classes(const char *input, const char *const *names)
{
    char path[400];
    (void)mkdir(input, 0777);
    for (; *names != NULL; names++) {
        size_t size = strcspn(*names, "/");
        snprintf(path, sizeof path, "%s/%.*s", input, (int)size, *names);
        ck_assert_int_eq(mkdir(path, 0777), 0);
        strcat(path, "/1.jpg");
        if (strcmp(*names + size, "//") != 0)
            put_text(path, JPEG);
    }
}

/** Imports a folder into "d", with a card of one entry if @p given is not NULL; it must log @p log,
 * or nothing. */
static void import_folder(const char *input, bool append, const char *given, const char *log)
{
    const lx_card_entry entry = {"classes", given};
    lx_importer *importer = importer_of("folder", input);
    lx_writer_options *options = lx_writer_options_new();
    logged[0] = '\0';
    lx_set_log_hook(keep_message, NULL);
    unit_ok(lx_importer_set_append(importer, append, &error));
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    if (given != NULL)
        unit_ok(lx_writer_options_set_card(options, &entry, 1, &error));
    unit_ok(lx_importer_run(importer, "d", options, &error));
    lx_set_log_hook(NULL, NULL);
    ck_assert_msg(log != NULL ? strstr(logged, log) != NULL : logged[0] == '\0', "%s", logged);
    lx_writer_options_free(options);
    lx_importer_free(importer);
}

/** The entry must be @p expected; NULL: there is none. */
static void expect_names(const char *expected)
{
    lx_card *card;
    lx_dataset *dataset = open_imported("d");
    unit_ok(lx_dataset_read_card(dataset, &card, &error));
    const char *text = lx_card_get_text(card, "classes");
    ck_assert_msg((text == NULL) == (expected == NULL), "%s", text != NULL ? text : "no entry");
    if (expected != NULL)
        ck_assert_str_eq(text, expected);
    ck_assert_ptr_null(lx_card_get_text(card, LX_CARD_IMPORT));
    lx_card_free(card);
    lx_dataset_close(dataset);
}

static void set_names(const char *text)
{
    lx_writer *writer;
    unit_ok(lx_writer_open("d", NULL, &writer, &error));
    unit_ok(lx_writer_set_card(writer, &(lx_card_entry){"classes", text}, 1, &error));
    unit_ok(lx_writer_close(writer, &error));
}

static const char *const first[] = {"dog/", "b\xc3\xa4r/", "cat//", ".git/", NULL};
static const char *const second[] = {"ant/", "dog/", "\"/", NULL};

START_TEST(an_import_names_its_classes)
{
    char *scratch = scratch_make();
    put_classes("in", first);
    import_folder("in", false, NULL, "left out of the inputs: 1");
    expect_names("[\"b\xc3\xa4r\",\"cat\",\"dog\"]");
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_the_user_gave_stays)
{
    char *scratch = scratch_make();
    put_classes("in", first);
    put_classes("more", second);
    import_folder("in", false, "[\"bear\", \"feline\", \"canine\"]", "left out");
    expect_names("[\"bear\", \"feline\", \"canine\"]");
    import_folder("more", true, NULL, "stays as it is");
    expect_names("[\"bear\", \"feline\", \"canine\"]");
    expect_int64("d", 2, "label", 3); /* '"' */
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_import_without_labels_names_nothing)
{
    char *scratch = scratch_make();
    put_classes("in", first);
    lx_importer *importer = importer_of("folder", "in");
    unit_ok(lx_importer_set_field(importer, "label", "ignore", &error));
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    expect_names(NULL);
    lx_dataset_remove("d", NULL);
    import_folder("in/dog", false, NULL, NULL);
    expect_names(NULL);
    scratch_remove(scratch);
}
END_TEST

/* A class without records keeps its label, although no record says so. */
START_TEST(an_import_that_appends_continues_the_names)
{
    char *scratch = scratch_make();
    put_classes("in", (const char *const[]){"a/", "b//", NULL});
    put_classes("more", second);
    import_folder("in", false, NULL, NULL);
    import_folder("more", true, NULL, NULL);
    expect_names("[\"a\",\"b\",\"\\\"\",\"ant\",\"dog\"]");
    expect_int64("d", 1, "label", 2);
    expect_text("d", 3, "class", "dog");
    expect_int64("d", 3, "label", 4);
    set_names("[\"a\", \"b\", \"\\u0022\", \"ant\", \"dog\", \"emu\"]"); /* by hand */
    import_folder("in", true, NULL, NULL);
    expect_int64("d", 4, "label", 0);
    expect_names("[\"a\", \"b\", \"\\u0022\", \"ant\", \"dog\", \"emu\"]"); /* nothing new */
    ck_assert_int_eq(mkdir("in/cow", 0777), 0);
    import_folder("in", true, NULL, NULL);
    expect_names("[\"a\",\"b\",\"\\\"\",\"ant\",\"dog\",\"emu\",\"cow\"]");
    scratch_remove(scratch);
}
END_TEST

START_TEST(entries_that_are_not_of_an_import_stay)
{
    static const char *const texts[] = {"",
                                        "a, b",
                                        "[",
                                        "{\"a\": 0}",
                                        "\"a\"",
                                        "[]",
                                        "[\"b\", \"a\"]",
                                        "[\"a\", 1]",
                                        "[\"a\", null]",
                                        "[\"a\", \"\\u0000\"]",
                                        "[[[[[[[[[[[[[[[[[[[[[[[["};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *scratch = scratch_make();
        put_classes("in", (const char *const[]){"a/", NULL});
        put_classes("more", second);
        import_folder("in", false, NULL, NULL);
        set_names(texts[i]);
        import_folder("more", true, NULL, "stays as it is");
        expect_names(texts[i]);
        expect_int64("d", 1, "label", 1);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_name_with_two_labels_is_refused)
{
    char *scratch = scratch_make();
    put_classes("in", (const char *const[]){"a/", NULL});
    import_folder("in", false, NULL, NULL);
    set_names("[\"a\", \"b\", \"b\"]");
    lx_importer *importer = importer_of("folder", "in");
    unit_ok(lx_importer_set_append(importer, true, &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_MISMATCH);
    lx_importer_free(importer);
    expect_length("d", 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_dataset_without_names_gets_them)
{
    char *scratch = scratch_make();
    put_classes("in", (const char *const[]){"a/", NULL});
    put_classes("more", second);
    import_folder("in", false, NULL, NULL);
    set_names(NULL);
    import_folder("more", true, NULL, NULL);
    expect_names("[\"a\",\"\\\"\",\"ant\",\"dog\"]");
    scratch_remove(scratch);
}
END_TEST

START_TEST(names_that_cannot_be_stored_are_left_out)
{
    char *scratch = scratch_make();
    put_classes("in", (const char *const[]){"a/", "b\xff/", "c/", NULL});
    import_folder("in", false, NULL,
                  "the 3 classes are not stored in the card, because one is not");
    expect_names(NULL);
    expect_length("d", 2); /* the other record is bad */
    expect_int64("d", 1, "label", 2);
    put_classes("more", second);
    import_folder("more", true, NULL, "because one is not valid UTF-8, or a label has none");
    expect_names(NULL);
    expect_int64("d", 2, "label", 3);
    scratch_remove(scratch);
}
END_TEST

/* Others fill a card to all but some bytes; an import must also have room for its own entry. */
START_TEST(names_fit_beside_what_the_card_has)
{
    char *scratch = scratch_make();
    static char other[LX_MAX_CARD_BYTES];
    char *text;
    json_t *card = json_object();
    lx__class_labels labels = {0};
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx__class_labels_put(&labels, "cat", 3, NULL, &error));
    unit_ok(lx__class_labels_number(&labels, &error));
    size_t room = 0;
    for (size_t size = 64000; size < 65536; size++) {
        memset(other, 'x', size);
        json_object_set_new(card, "o", json_string(other));
        unit_ok(lx__class_names_print(&labels, schema, card, &text, &error));
        if (text == NULL)
            break;
        ck_assert_str_eq(text, "[\"cat\"]");
        lx__free(text);
        room = LX_MAX_CARD_BYTES - size;
    }
    ck_assert_uint_eq(room, 1024 + 1 + strlen("classes[\"cat\"]"));
    json_decref(card);
    lx_schema_free(schema);
    lx__class_labels_free(&labels);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_hundred_thousand_classes_have_labels_but_no_names)
{
    char *scratch = scratch_make(), name[16];
    lx__class_labels labels = {0};
    lx_schema *schema = lx_schema_new();
    char *text;
    unit_ok(lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    for (int i = 0; i < 100000; i++)
        unit_ok(
            lx__class_labels_put(&labels, name, (size_t)sprintf(name, "n%08d", i), NULL, &error));
    unit_ok(lx__class_labels_number(&labels, &error));
    lx_set_log_hook(keep_message, NULL);
    unit_ok(lx__class_names_print(&labels, schema, NULL, &text, &error));
    lx_set_log_hook(NULL, NULL);
    ck_assert_ptr_null(text);
    ck_assert_str_eq(logged, "the names of the 100000 classes are not stored in the card, because "
                             "they do not fit");
    lx_schema_free(schema);
    lx__class_labels_free(&labels);
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_append_that_was_interrupted_continues_with_its_names)
{
    char *scratch = scratch_make();
    put_classes("in", (const char *const[]){"a/", "b//", NULL});
    put_classes("more", second);
    for (int i = 0; i < 3; i++) {
        lx_importer *importer = importer_of("folder", i == 0 ? "in" : "more");
        put_text(i == 0 ? "in/a/1.jpg" : "more/\"/1.jpg", "1");
        put_text("more/ant/1.jpg", "2");
        put_text("more/dog/1.jpg", i == 1 ? "not JSON" : "3");
        unit_ok(lx_importer_set_field(importer, "data", "json", &error));
        unit_ok(lx_importer_set_append(importer, i != 0, &error));
        unit_ok(lx_importer_set_resume(importer, i == 2, &error));
        lx_status status = lx_importer_run(importer, "d", NULL, &error);
        ck_assert_int_eq(status, i == 1 ? LX_ERR_CORRUPT : LX_OK);
        lx_error_clear(&error);
        lx_importer_free(importer);
    }
    expect_names("[\"a\",\"b\",\"\\\"\",\"ant\",\"dog\"]");
    expect_length("d", 4);
    expect_text("d", 3, "class", "dog");
    expect_int64("d", 3, "label", 4);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/class-names", an_import_names_its_classes, what_the_user_gave_stays,
          an_import_without_labels_names_nothing, an_import_that_appends_continues_the_names,
          entries_that_are_not_of_an_import_stay, a_name_with_two_labels_is_refused,
          a_dataset_without_names_gets_them, names_that_cannot_be_stored_are_left_out,
          names_fit_beside_what_the_card_has, a_hundred_thousand_classes_have_labels_but_no_names,
          an_append_that_was_interrupted_continues_with_its_names)
