/* SPDX-License-Identifier: MIT */
/* The labels of classes: those of a dataset, and those of folders. */
#include <sys/stat.h>

#include "importer/class-labels.h"
#include "imports.h"

static void expect_label(const lx__class_labels *labels, const char *name, int64_t expected)
{
    int64_t label;
    ck_assert(lx__class_labels_find(labels, name, strlen(name), &label));
    ck_assert_msg(label == expected, "%s has the label %" PRId64, name, label);
}

/** Reads the classes of a dataset with these records. */
static lx_status read_classes(const char *lines, uint64_t length, lx__class_labels *labels,
                              lx_error *error)
{
    import_text("jsonl", lines);
    *labels = (lx__class_labels){0};
    lx_status status = lx__class_labels_read(labels, "d", length, error);
    lx_dataset_remove("d", NULL);
    return status;
}

START_TEST(folders_are_numbered_in_the_order_of_their_names)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    int64_t label;
    static const char *const names[] = {"a", "b", "a/dog", "a/cat-x", "a/.git", "b/cat", "b/dog"};
    lx__class_labels labels = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_int_eq(mkdir(names[i], 0777), 0);
    put_text("a/file", "text");
    ck_assert_int_eq(symlink("dog", "a/link"), 0);
    ck_assert_int_eq(symlink("none", "a/broken"), 0);
    ck_assert_int_eq(symlink("circle", "a/circle"), 0);
    unit_ok(lx__class_labels_add(&labels, "a", false, &error));
    unit_ok(lx__class_labels_add(&labels, "b", false, &error));
    unit_ok(lx__class_labels_number(&labels, &error));
    ck_assert_uint_eq(labels.count, 4);
    expect_label(&labels, "cat", 0);
    expect_label(&labels, "cat-x", 1); /* although "cat-x/1" is before "cat/1" */
    expect_label(&labels, "dog", 2);
    expect_label(&labels, "link", 3);
    ck_assert(!lx__class_labels_find(&labels, "ca", 2, &label));
    ck_assert(!lx__class_labels_find(&labels, "emu", 3, &label));
    ck_assert_int_eq(lx__class_labels_add(&labels, "absent", false, &error), LX_ERR_NOT_FOUND);
    ck_assert_str_eq(error.path, "absent");
    lx_error_clear(&error);
    lx__class_labels_free(&labels);
    unit_ok(lx__class_labels_add(&labels, "a", true, &error));
    unit_ok(lx__class_labels_number(&labels, &error));
    expect_label(&labels, ".git", 0);
    expect_label(&labels, "cat-x", 1);
    lx__class_labels_free(&labels);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_labels_of_a_dataset_are_kept)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__class_labels labels;
    ck_assert_int_eq(mkdir("a", 0777), 0);
    ck_assert_int_eq(mkdir("a/ant", 0777), 0);
    ck_assert_int_eq(mkdir("a/dog", 0777), 0);
    unit_ok(
        read_classes("{\"class\": \"dog\", \"label\": 4}\n{\"class\": \"cat\", \"label\": 0}\n"
                     "{\"class\": \"dog\", \"label\": 4}\n{\"class\": null, \"label\": 9}\n"
                     "{\"class\": \"emu\", \"label\": null}\n{\"class\": \"x\", \"label\": 7}\n",
                     5, &labels, &error));
    unit_ok(lx__class_labels_add(&labels, "a", false, &error));
    unit_ok(lx__class_labels_number(&labels, &error));
    ck_assert_uint_eq(labels.count, 3);
    expect_label(&labels, "ant", 5);
    expect_label(&labels, "cat", 0);
    expect_label(&labels, "dog", 4);
    lx__class_labels_free(&labels);
    scratch_remove(scratch);
}
END_TEST

START_TEST(labels_that_do_not_tell_the_classes_are_refused)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const struct {
        const char *lines, *part;
    } cases[] = {
        {"{\"class\": \"a\", \"label\": 0}\n{\"class\": \"a\", \"label\": 1}\n", "labels 0 and 1"},
        {"{\"class\": \"a\", \"label\": 3}\n{\"class\": \"b\", \"label\": 3}\n", "the label 3"},
        {"{\"label\": 0}\n{\"label\": 1}\n", "no text class"},
        {"{\"class\": 0, \"label\": 0}\n{\"class\": 1, \"label\": 1}\n", "no text class"},
        {"{\"class\": \"a\", \"label\": 0.5}\n{\"class\": \"a\", \"label\": 1}\n", "int64 label"},
    };
    lx__class_labels labels;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error_clear(&error);
        ck_assert_int_eq(read_classes(cases[i].lines, 2, &labels, &error), LX_ERR_MISMATCH);
        ck_assert_msg(strstr(error.message, cases[i].part) != NULL, "%s", error.message);
        ck_assert_str_eq(error.path, "d");
        lx__class_labels_free(&labels);
    }
    lx_error_clear(&error);
    unit_ok(read_classes("{\"text\": \"a\"}\n", 1, &labels, &error)); /* there are no labels */
    ck_assert_uint_eq(labels.count, 0);
    char line[600], name[301] = "";
    memset(name, 'x', 300);
    snprintf(line, sizeof line, "{\"class\": \"%s\", \"label\": 0}\n", name);
    unit_fails(read_classes(line, 1, &labels, &error), LX_ERR_MISMATCH);
    unit_ok(
        read_classes("{\"class\": \"a\", \"label\": 9223372036854775807}\n", 1, &labels, &error));
    ck_assert_int_eq(mkdir("a", 0777), 0);
    ck_assert_int_eq(mkdir("a/b", 0777), 0);
    unit_ok(lx__class_labels_add(&labels, "a", false, &error));
    unit_fails(lx__class_labels_number(&labels, &error), LX_ERR_LIMIT);
    lx__class_labels_free(&labels);
    scratch_remove(scratch);
}
END_TEST

/* Classes that do not follow one another, and more of them than are kept without merging. */
START_TEST(many_records_have_many_classes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    enum { RECORDS = 30000, CLASSES = 6000 };
    lx__class_labels labels = {0};
    FILE *file = fopen("input", "w");
    for (int i = 0; i < RECORDS; i++)
        fprintf(file, "{\"class\": \"c%d\", \"label\": %d}\n", i * 7 % CLASSES, i * 7 % CLASSES);
    fclose(file);
    lx_importer *importer = importer_of("jsonl", "input");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    unit_ok(lx__class_labels_read(&labels, "d", RECORDS, &error));
    unit_ok(lx__class_labels_number(&labels, &error));
    ck_assert_uint_eq(labels.count, CLASSES);
    for (int i = 0; i < CLASSES; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        expect_label(&labels, name, i);
    }
    lx__class_labels_free(&labels);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/class-labels", folders_are_numbered_in_the_order_of_their_names,
          the_labels_of_a_dataset_are_kept, labels_that_do_not_tell_the_classes_are_refused,
          many_records_have_many_classes)
