/* SPDX-License-Identifier: MIT */
/* The examples of doc/zrecord-format.md, which another program writes. */
#include "../records.h"
#include "zrecord/read/dataset.h"

/** Runs tests/format/make_example.py to make its dataset at @p path; false without Python. */
static bool make_example(const char *option, const char *path)
{
    const char *python = getenv("PYTHON"), *source = getenv("top_srcdir");
    char command[2048];
    if (python == NULL || source == NULL || strcmp(python, ":") == 0) {
        fprintf(stderr, "make_example: skipped: 'make check' sets PYTHON\n");
        return false;
    }
    snprintf(command, sizeof command, "'%s' '%s/tests/format/make_example.py' %s '%s'", python,
             source, option, path);
    ck_assert_int_eq(system(command), 0);
    return true;
}

static void expect_example(lx_dataset *dataset)
{
    static const uint64_t indices[] = {2, 0, 1};
    static const int64_t labels[] = {300, 7, -1};
    lx_error error = LX_ERROR_INIT;
    uint8_t images[3][12], present[3], captions[16];
    int64_t got[3];
    uint64_t offsets[4];
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 3);
    unit_ok(lx_dataset_gather(dataset, 0, indices, 3, images, 12, &error));
    unit_ok(lx_dataset_gather(dataset, 1, indices, 3, got, 8, &error));
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(got[i], labels[i]);
        for (size_t k = 0; k < 12; k++)
            ck_assert_uint_eq(images[i][k], indices[i] * 16 + k);
    }
    unit_ok(lx_dataset_get_sizes(dataset, 2, indices, 3, offsets, present, &error));
    ck_assert(present[0] && present[1] && !present[2]);
    ck_assert(offsets[1] == 0 && offsets[2] == 15 && offsets[3] == 15);
    unit_ok(lx_dataset_gather_bytes(dataset, 2, indices, 3, offsets, captions, &error));
    ck_assert_mem_eq(captions, "go, go, go, go!", 15);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
}

/** Makes it and reads it; false without Python. */
static bool read_example(const char *option, lx_dataset_identity *identity)
{
    if (!make_example(option, "d"))
        return false;
    lx_dataset *dataset = open_dataset("d");
    expect_example(dataset);
    lx_dataset_get_identity(dataset, identity);
    lx_dataset_close(dataset);
    return true;
}

START_TEST(reads_the_example_of_the_document)
{
    char *scratch = scratch_make();
    lx_dataset_identity identity;
    if (read_example("--write", &identity)) {
        ck_assert_str_eq(identity.uuid, "00112233-4455-6677-8899-aabbccddeeff");
        ck_assert_uint_eq(identity.sequence, 2);
        ck_assert_uint_eq(identity.checksum, 0x3bfac4dc);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_the_sealed_example_of_the_document)
{
    char *scratch = scratch_make();
    lx_dataset_identity identity;
    if (read_example("--write-sealed", &identity)) {
        ck_assert_uint_eq(identity.sealed, 1);
        ck_assert_uint_eq(identity.checksum, 0x349c760f);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_to_the_example_of_the_document)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    if (make_example("--write", "d")) {
        lx_writer *writer = records_reopen("d", NULL);
        int64_t label = 9;
        lx_value values[] = {{"twelve bytes", 12}, {&label, 8}, {NULL, LX_NONE}};
        unit_ok(lx_writer_append(writer, values, sizeof values / sizeof *values, NULL, &error));
        unit_ok(lx_writer_seal(writer, &error));
        close_writer(writer);
        lx_dataset *dataset = open_dataset("d");
        uint64_t index = 3;
        char image[13] = "";
        ck_assert_uint_eq(lx_dataset_get_length(dataset), 4);
        unit_ok(lx_dataset_gather(dataset, 0, &index, 1, image, 12, &error));
        ck_assert_str_eq(image, "twelve bytes");
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/dataset-example", reads_the_example_of_the_document,
          reads_the_sealed_example_of_the_document, appends_to_the_example_of_the_document)
