/* SPDX-License-Identifier: MIT */
/* Saved states of loaders: lib/loader/loader-state.c. */
#include "../data.h"
#include "../sampler/orders.h"
#include "../scratch.h"
#include "loader/loader-private.h"
#include "loaders.h"
#include "npy-file.h"

/** The state as text, for free(). */
static char *save(lx_loader *loader)
{
    lx_error error = LX_ERROR_INIT;
    size_t length = 0;
    unit_ok(lx_loader_save(loader, NULL, 0, &length, &error));
    ck_assert_uint_lt(length, 4096);
    char *text = malloc(length + 1);
    memset(text, 'x', length + 1);
    unit_fails(lx_loader_save(loader, text, length, NULL, &error), LX_ERR_LIMIT);
    unit_ok(lx_loader_save(loader, text, length + 1, &length, &error));
    ck_assert_uint_eq(strlen(text), length);
    return text;
}

/** A digest of the next @p count batches, across the ends of epochs. */
static uint64_t digest_of_next(lx_loader *loader, int count)
{
    uint64_t digest = 14695981039346656037u;
    while (count > 0) {
        lx_batch *batch = next_batch(loader);
        if (batch == NULL) {
            lx_loader_next_epoch(loader);
            continue;
        }
        digest = add_digest(digest, batch);
        lx_batch_unref(batch);
        count--;
    }
    return digest;
}

START_TEST(a_restored_run_continues_exactly)
{
    struct numbers numbers = {.length = 100, .width = 9000, .identity = "v1"};
    lx_source *source = numbers_source(&numbers);
    lx_order *order = make_order("shuffle", 100, 5, 0);
    for (uint32_t threads = 0; threads <= 2; threads++) {
        struct setup setup = {.batch_size = 16, .order = order, .epochs = 2, .threads = threads};
        lx_loader *loader = open_loader(source, setup);
        setup.threads = 2 - threads;
        lx_loader *other = open_loader(source, setup);
        for (int batch = 0; batch < 20; batch++) {
            lx_error error = LX_ERROR_INIT;
            char *text = save(loader);
            uint64_t position = lx_loader_tell(loader);
            unit_ok(lx_loader_restore(other, text, &error));
            ck_assert_uint_eq(lx_loader_tell(other), position);
            uint64_t digest = digest_of_next(other, 10);
            ck_assert_uint_eq(digest_of_next(loader, 10), digest);
            unit_ok(lx_loader_restore(loader, text, &error)); /* returns to the saved position */
            free(text);
            digest_of_next(loader, 1);
        }
        lx_loader_close(loader);
        lx_loader_close(other);
    }
    lx_order_unref(order);
    lx_source_unref(source);
}
END_TEST

START_TEST(continues_with_another_batch_size)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 100, .width = 3};
    lx_source *source = numbers_source(&numbers);
    lx_order *order = make_order("shuffle", 100, 5, 0);
    uint64_t expected[100];
    read_order(order, 0, 1, 100, expected);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 7, .order = order});
    for (uint64_t batches = 0; batches < 14; batches++) {
        char *text = save(loader);
        lx_loader *other = open_loader(source, (struct setup){.batch_size = 1 + batches,
                                                              .order = order,
                                                              .drop_last = false,
                                                              .threads = 1,
                                                              .epochs = 1});
        unit_ok(lx_loader_restore(other, text, &error));
        uint64_t at = batches * 7;
        for (lx_batch *batch; (batch = next_batch(other)) != NULL; lx_batch_unref(batch))
            for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++)
                ck_assert_uint_eq(lx_batch_get_indices(batch)[i], expected[at++]);
        ck_assert_uint_eq(at, 100);
        lx_loader_close(other);
        free(text);
        lx_batch_unref(next_batch(loader));
    }
    lx_loader_close(loader);
    lx_order_unref(order);
    lx_source_unref(source);
}
END_TEST

START_TEST(the_state_excludes_prefetched_batches)
{
    struct numbers numbers = {.length = 1000, .width = 9000};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 16, .threads = 2});
    lx_batch_unref(next_batch(loader));
    char *text = save(loader);
    ck_assert_ptr_nonnull(strstr(text, "\"position\":16,"));
    free(text);
    lx_loader_close(loader);
}
END_TEST

/** A state can be saved for the position of an earlier batch. */
START_TEST(saves_the_state_of_another_position)
{
    struct numbers numbers = {.length = 1000, .width = 9000};
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 16, .threads = 2});
    lx_batch_unref(next_batch(loader));
    char *text = save(loader), other[4096];
    for (int i = 0; i < 3; i++)
        lx_batch_unref(next_batch(loader));
    unit_ok(lx_loader_save_at(loader, 16, other, sizeof other, NULL, &error));
    ck_assert_str_eq(other, text);
    ck_assert_uint_eq(lx_loader_tell(loader), 64); /* the loader stays where it is */
    free(text);
    lx_loader_close(loader);
}
END_TEST

/** The loader from which tests/data/states/loader-1.json was saved, at position 0. */
static lx_loader *golden_loader(struct numbers *numbers, uint64_t batch_size)
{
    *numbers = (struct numbers){.length = 60000, .width = 784, .identity = "golden 1"};
    lx_order *order = make_order("shuffle", 60000, 42, 0);
    lx_loader *loader = open_numbers(
        numbers, (struct setup){.batch_size = batch_size, .order = order, .epochs = 10});
    lx_order_unref(order);
    return loader;
}

START_TEST(loads_the_state_of_version_1)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers;
    char *text = data_read("states/loader-1.json");
    lx_loader *loader = golden_loader(&numbers, 3);
    unit_ok(lx_loader_restore(loader, text, &error));
    ck_assert_uint_eq(lx_loader_tell(loader), 75360);
    lx_batch *batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_indices(batch)[0], 29324); /* as of sampler-1.json */
    lx_batch_unref(batch);
    lx_loader_close(loader);
    free(text);
}
END_TEST

START_TEST(saves_the_golden_state)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers;
    char *golden = data_read("states/loader-1.json");
    lx_loader *loader = golden_loader(&numbers, 64);
    unit_ok(lx_loader_seek(loader, 75360, &error));
    char *text = save(loader);
    json_t *ours, *theirs;
    unit_ok(lx__json_parse(text, strlen(text), &ours, &error));
    unit_ok(lx__json_parse(golden, strlen(golden), &theirs, &error));
    ck_assert_msg(json_equal(ours, theirs), "%s", text);
    json_decref(ours);
    json_decref(theirs);
    lx_loader_close(loader);
    free(text);
    free(golden);
}
END_TEST

/** Restoring @p text must fail with that status and @p part in the message, and keep the
 * position. */
static void expect_refusal(lx_loader *loader, const char *text, lx_status status, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t position = lx_loader_tell(loader);
    ck_assert_msg(lx_loader_restore(loader, text, &error) == status, "%s: %s", text, error.message);
    ck_assert_int_eq(error.status, status);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    ck_assert_uint_eq(lx_loader_tell(loader), position);
}

/** A loader over 20 records of 3 bytes, version 1, with seed 1, must reject the state of a loader
 * over @p numbers with a shuffle of that length and seed. */
static void expect_mismatch(struct numbers numbers, uint64_t seed, const char *part)
{
    struct numbers ours = {.length = 20, .width = 3, .identity = "v1"};
    lx_order *order = make_order("shuffle", 20, 1, 0);
    lx_order *other = make_order("shuffle", numbers.length, seed, 0);
    lx_loader *loader = open_numbers(&ours, (struct setup){.order = order});
    lx_loader *from = open_numbers(&numbers, (struct setup){.order = other});
    lx_batch_unref(next_batch(loader));
    char *text = save(from);
    expect_refusal(loader, text, LX_ERR_MISMATCH, part);
    free(text);
    lx_loader_close(from);
    lx_loader_close(loader);
    lx_order_unref(order);
    lx_order_unref(other);
}

START_TEST(names_another_order_or_source)
{
    struct numbers numbers = {.length = 20, .width = 3, .identity = "v1"};
    expect_mismatch(numbers, 2, "\"order.seed\" is 2 in the state, but 1 here");
    numbers.identity = "v2";
    expect_mismatch(numbers, 1, "source.identity");
    numbers.identity = NULL;
    expect_mismatch(numbers, 1, "source.identity");
    numbers.identity = "v1";
    numbers.width = 4;
    expect_mismatch(numbers, 1, "source.columns[1].shape[0]\" is 4 in the state, but 3 here");
    numbers.width = 3;
    numbers.length = 21;
    expect_mismatch(
        numbers, 1,
        "source.length\" is 21 in the state, but 20 here: use the value from the state, "
        "or start without the state");
    numbers.length = 19;
    expect_mismatch(
        numbers, 1,
        "source.length\" is 19 in the state, but 20 here: to continue with the first 19 "
        "records, pass only those, such as array[:19] in Python or a file that ends after "
        "them, or start without the state");
}
END_TEST

START_TEST(compares_the_lengths_of_source_and_order)
{
    struct numbers ours = {.length = 20, .width = 3}, theirs = {.length = 21, .width = 3};
    lx_order *order = make_order("shuffle", 20, 1, 0);
    lx_loader *loader = open_numbers(&ours, (struct setup){.order = order});
    lx_loader *from = open_numbers(&theirs, (struct setup){.order = order});
    char *text = save(from);
    expect_refusal(loader, text, LX_ERR_MISMATCH,
                   "source.length\" is 21 in the state, but 20 here");
    free(text);
    lx_loader_close(from);
    lx_loader_close(loader);
    lx_order_unref(order);
}
END_TEST

START_TEST(names_another_kind_or_dtype_of_source)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (4, 2)}"};
    lx_loader *loaders[3];
    for (int i = 0; i < 2; i++) {
        lx_source *source;
        write_npy("a.npy", 1, headers[i], 32);
        unit_ok(lx_source_open("a.npy", NULL, &source, &error));
        loaders[i] = open_loader(source, (struct setup){0});
        lx_source_unref(source);
    }
    struct numbers numbers = {.length = 4, .width = 3};
    loaders[2] = open_numbers(&numbers, (struct setup){0});
    char *text = save(loaders[0]);
    expect_refusal(loaders[1], text, LX_ERR_MISMATCH,
                   "source.columns[0].dtype\" is \"float32\" in the state, but \"int32\" here");
    expect_refusal(loaders[2], text, LX_ERR_MISMATCH, "source.kind");
    free(text);
    for (int i = 0; i < 3; i++)
        lx_loader_close(loaders[i]);
    scratch_remove(scratch);
}
END_TEST

/** A dataset of one field of @p length numbers at @p path, as a source. */
static lx_source *dataset_source(const char *path, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    lx_source *source;
    unit_ok(lx_schema_add_field(schema, "label", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    if (access(path, F_OK) != 0)
        unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    else
        unit_ok(lx_writer_open(path, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = lx_writer_get_length(writer); i < length; i++)
        unit_ok(lx_writer_append(writer, &(lx_value){&i, 8}, 1, NULL, &error));
    unit_ok(lx_writer_close(writer, &error));
    unit_ok(lx_source_open(path, NULL, &source, &error));
    return source;
}

START_TEST(distinguishes_datasets_by_uuid)
{
    char *scratch = scratch_make();
    lx_source *sources[2] = {dataset_source("a", 10), dataset_source("b", 10)};
    lx_loader *loader = open_loader(sources[0], (struct setup){.batch_size = 3});
    lx_loader *other = open_loader(sources[1], (struct setup){.batch_size = 3});
    lx_batch_unref(next_batch(loader));
    char *text = save(loader);
    ck_assert_ptr_nonnull(strstr(text, "\"datasets\":[{\"uuid\":"));
    expect_refusal(other, text, LX_ERR_MISMATCH, "source.uuid");
    lx_loader_close(other);
    lx_error error = LX_ERROR_INIT;
    other = open_loader(sources[0], (struct setup){.batch_size = 2, .threads = 1});
    unit_ok(lx_loader_restore(other, text, &error));
    ck_assert_uint_eq(lx_loader_tell(other), 3);
    lx_loader_close(other);
    lx_loader_close(loader);
    for (int i = 0; i < 2; i++)
        lx_source_unref(sources[i]);
    free(text);
    scratch_remove(scratch);
}
END_TEST

/** A source of the first @p length records of a dataset. */
static lx_source *first_records(const char *path, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_length(options, length, &error));
    unit_ok(lx_source_open(path, options, &source, &error));
    lx_dataset_options_free(options);
    return source;
}

/** Opens a loader of the first @p length records, in a given order. */
static lx_loader *open_first(const char *path, uint64_t length, const char *order_kind)
{
    lx_source *source = first_records(path, length);
    lx_order *order = make_order(order_kind, length, 5, 0);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 3, .order = order});
    lx_order_unref(order);
    lx_source_unref(source);
    return loader;
}

START_TEST(a_grown_dataset_continues_with_its_old_length)
{
    char *scratch = scratch_make();
    lx_source_unref(dataset_source("a", 10));
    lx_loader *loader = open_first("a", 10, "shuffle");
    lx_batch_unref(next_batch(loader));
    char *text = save(loader);
    uint64_t expected = digest_of_next(loader, 5);
    lx_loader_close(loader);

    lx_source_unref(dataset_source("a", 12));
    loader = open_first("a", 12, "shuffle");
    expect_refusal(loader, text, LX_ERR_MISMATCH,
                   "has 12 records, but had 10 when the state was saved: to continue with those, "
                   "open the dataset with length=10");
    lx_loader_close(loader);
    loader = open_first("a", 9, "shuffle");
    expect_refusal(loader, text, LX_ERR_MISMATCH,
                   "was opened with length=9, but had 10 records when the state was saved: open it "
                   "with length=10");
    lx_loader_close(loader);
    loader = open_first("a", 10, "sequential");
    expect_refusal(loader, text, LX_ERR_MISMATCH, "order.kind");
    lx_loader_close(loader);

    lx_error error = LX_ERROR_INIT;
    loader = open_first("a", 10, "shuffle");
    unit_ok(lx_loader_restore(loader, text, &error));
    ck_assert_uint_eq(digest_of_next(loader, 5), expected);
    lx_loader_close(loader);
    free(text);
    scratch_remove(scratch);
}
END_TEST

/** Checks that the state is refused also if records may have changed. */
static void expect_refusal_of_changes(lx_loader *loader, const char *text, const char *words)
{
    lx_error error = LX_ERROR_INIT;
    expect_refusal(loader, text, LX_ERR_MISMATCH, words);
    ck_assert_int_eq(lx_loader_restore_changed(loader, text, &error), LX_ERR_MISMATCH);
    ck_assert_msg(strstr(error.message, words) != NULL, "%s", error.message);
    ck_assert_str_eq(error.path, "a");
}

START_TEST(a_shorter_dataset_does_not_continue)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    char *scratch = scratch_make();
    lx_source_unref(dataset_source("a", 10));
    lx_loader *loader = open_first("a", 10, "shuffle");
    lx_batch_unref(next_batch(loader));
    char *text = save(loader);
    lx_loader_close(loader);
    unit_ok(lx_writer_open("a", NULL, &writer, &error));
    unit_ok(lx_writer_delete(writer, 4, NULL, &error));
    unit_ok(lx_writer_delete(writer, 2, NULL, &error));
    unit_ok(lx_writer_close(writer, &error));

    lx_source *source;
    unit_ok(lx_source_open("a", NULL, &source, &error));
    lx_order *order = make_order("shuffle", 8, 5, 0);
    loader = open_loader(source, (struct setup){.batch_size = 3, .order = order});
    lx_order_unref(order);
    lx_source_unref(source);
    expect_refusal_of_changes(loader, text,
                              "has only 8 records, but had 10 when the state was saved");
    expect_refusal_of_changes(loader, text, "even if changed records are allowed");
    expect_refusal_of_changes(loader, text, "append records until there are 10 again");
    lx_loader_close(loader);

    lx_source_unref(dataset_source("a", 10));
    loader = open_first("a", 10, "shuffle");
    expect_refusal(loader, text, LX_ERR_MISMATCH, "records changed");
    unit_ok(lx_loader_restore_changed(loader, text, &error));
    ck_assert_uint_eq(lx_loader_tell(loader), 3);
    lx_loader_close(loader);
    free(text);
    scratch_remove(scratch);
}
END_TEST

/** Deletes record 4, and appends a record. */
static void replace_a_record(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    uint64_t moved, value = 99;
    unit_ok(lx_writer_open(path, NULL, &writer, &error));
    unit_ok(lx_writer_delete(writer, 4, &moved, &error));
    unit_ok(lx_writer_append(writer, &(lx_value){&value, 8}, 1, NULL, &error));
    unit_ok(lx_writer_close(writer, &error));
}

START_TEST(reports_changed_records)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source_unref(dataset_source("a", 10));
    lx_loader *loader = open_first("a", 10, "sequential");
    lx_batch_unref(next_batch(loader));
    char *text = save(loader);
    replace_a_record("a");
    unit_ok(lx_loader_restore(loader, text, &error)); /* still reads the old snapshot */
    lx_loader_close(loader);

    loader = open_first("a", 10, "sequential");
    expect_refusal(loader, text, LX_ERR_MISMATCH, "records changed after the state was saved");
    unit_ok(lx_loader_restore_changed(loader, text, &error));
    ck_assert_uint_eq(lx_loader_tell(loader), 3);
    unit_fails(lx_loader_restore_changed(NULL, text, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_loader_restore_changed(loader, "{}", &error), LX_ERR_CORRUPT);
    free(text);
    text = save(loader);
    unit_ok(lx_loader_restore(loader, text, &error));
    lx_loader_close(loader);
    free(text);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_other_states)
{
    struct numbers numbers;
    lx_loader *loader = golden_loader(&numbers, 3);
    lx_batch_unref(next_batch(loader));
    expect_refusal(loader, "", LX_ERR_CORRUPT, "");
    expect_refusal(loader, "hello", LX_ERR_CORRUPT, "");
    expect_refusal(loader, "[]", LX_ERR_CORRUPT, "");
    expect_refusal(loader, "{}", LX_ERR_CORRUPT, "\"state\"");
    expect_refusal(loader, "{\"state\": \"loader\"}", LX_ERR_CORRUPT, "\"version\"");
    expect_refusal(loader, "{\"state\": \"loader\", \"version\": 2}", LX_ERR_UNSUPPORTED,
                   "version 2");
    expect_refusal(loader, "{\"state\": \"loader\", \"version\": 1}", LX_ERR_MISMATCH, "source");
    expect_refusal(loader, NULL, LX_ERR_ARGUMENT, "NULL");
    char *sampler = data_read("states/sampler-1.json");
    expect_refusal(loader, sampler, LX_ERR_MISMATCH, "state of a sampler, not of a loader");
    free(sampler);
    lx_loader_close(loader);
}
END_TEST

START_TEST(detects_any_edited_byte)
{
    struct numbers numbers;
    lx_loader *loader = golden_loader(&numbers, 3);
    lx_batch_unref(next_batch(loader));
    char *text = data_read("states/loader-1.json");
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        static const char with[] = "07aZ\"{}[],: ";
        char kept = text[i];
        for (size_t k = 0; k < sizeof with; k++) { /* including the NUL: a truncated text */
            lx_error error = LX_ERROR_INIT;
            text[i] = with[k];
            bool blank = with[k] == kept || (strchr(" \n", kept) != NULL && with[k] == ' ') ||
                         (with[k] == '\0' && i + 2 > length);
            lx_status status = lx_loader_restore(loader, text, &error);
            ck_assert_msg(blank || status == LX_ERR_CORRUPT || status == LX_ERR_MISMATCH ||
                              status == LX_ERR_UNSUPPORTED,
                          "%s: %s", lx_status_get_name(status), text);
            if (status != LX_OK)
                ck_assert_uint_eq(lx_loader_tell(loader), 3);
            else
                ck_assert(lx_loader_seek(loader, 3, NULL) == LX_OK);
        }
        text[i] = kept;
    }
    free(text);
    lx_loader_close(loader);
}
END_TEST

START_TEST(rejects_an_edited_position)
{
    struct numbers numbers;
    lx_loader *loader = golden_loader(&numbers, 3);
    char *text = data_read("states/loader-1.json"), *at = strstr(text, "75360");
    ck_assert_ptr_nonnull(at);
    at[4] = '1';
    expect_refusal(loader, text, LX_ERR_CORRUPT, "changed after it was written");
    free(text);
    lx_loader_close(loader);
}
END_TEST

START_TEST(restores_positions_beyond_2_to_the_63)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = 3};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 3, .endless = true});
    static const uint64_t positions[] = {INT64_MAX, 1ull << 63, UINT64_MAX - 5, UINT64_MAX};
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        unit_ok(lx_loader_seek(loader, positions[i], &error));
        char *text = save(loader);
        unit_ok(lx_loader_seek(loader, 0, &error));
        unit_ok(lx_loader_restore(loader, text, &error));
        ck_assert_uint_eq(lx_loader_tell(loader), positions[i]);
        free(text);
    }
    lx_loader_close(loader);
}
END_TEST

UNIT_MAIN("loader/loader-state", a_restored_run_continues_exactly,
          continues_with_another_batch_size, the_state_excludes_prefetched_batches,
          saves_the_state_of_another_position, loads_the_state_of_version_1, saves_the_golden_state,
          names_another_order_or_source, compares_the_lengths_of_source_and_order,
          names_another_kind_or_dtype_of_source, distinguishes_datasets_by_uuid,
          a_grown_dataset_continues_with_its_old_length, a_shorter_dataset_does_not_continue,
          reports_changed_records, rejects_other_states, detects_any_edited_byte,
          rejects_an_edited_position, restores_positions_beyond_2_to_the_63)
