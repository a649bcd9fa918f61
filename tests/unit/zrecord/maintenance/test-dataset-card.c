/* SPDX-License-Identifier: MIT */
/* The card of a dataset survives whatever happens to the dataset. */
#include "../change.h"

static const lx_card_entry about[] = {{"source", "made by a test"}, {"license", "MIT"}};

/** The card of the dataset at @p path must have these entries and no others. */
static void expect_card(const char *path, const lx_card_entry *entries, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_card *card;
    lx_dataset *dataset = open_dataset(path);
    unit_ok(lx_dataset_read_card(dataset, &card, &error));
    lx_dataset_close(dataset);
    ck_assert_uint_eq(lx_card_get_count(card), count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(lx_card_get_entry(card, i)->key, entries[i].key);
        ck_assert_str_eq(lx_card_get_entry(card, i)->text, entries[i].text);
    }
    lx_card_free(card);
}

static lx_writer *create_described(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_card(options, about, 2, &error));
    return records_create(path, options);
}

START_TEST(stays_with_the_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = create_described("d");
    expect_card("d", about, 2);
    records_append(writer, 20);
    unit_ok(lx_writer_add_field(writer, "new", LX_INT8, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_rename_field(writer, "new", "old", &error));
    unit_ok(lx_writer_drop_field(writer, "old", &error));
    unit_ok(lx_writer_delete(writer, 3, NULL, &error));
    unit_ok(lx_writer_checkpoint(writer, &error));
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    expect_card("d", about, 2);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    expect_card("d", about, 2);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_backup(dataset, "backup", NULL, NULL, &error));
    lx_dataset_close(dataset);
    expect_card("backup", about, 2);
    unit_ok(lx_dataset_unseal("d", &error));
    unit_ok(lx_dataset_recover("d", "recovered", NULL, NULL, &error));
    expect_card("d", about, 2);
    expect_card("recovered", about, 2);
    writer = records_reopen("d", NULL);
    unit_ok(lx_writer_set_card(writer, &(lx_card_entry){"source", "elsewhere"}, 1, &error));
    records_append(writer, 1);
    close_writer(writer);
    expect_card("d", (lx_card_entry[]){{"source", "elsewhere"}, {"license", "MIT"}}, 2);
    scratch_remove(scratch);
}
END_TEST

START_TEST(readers_see_a_change_after_a_refresh)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_card *card;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 10);
    commit(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_writer_set_card(writer, about, 2, &error));
    unit_ok(lx_dataset_read_card(dataset, &card, &error));
    ck_assert_uint_eq(lx_card_get_count(card), 0);
    lx_card_free(card);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    unit_ok(lx_dataset_read_card(dataset, &card, &error));
    ck_assert_str_eq(lx_card_get_text(card, "license"), "MIT");
    expect_records(dataset, 10);
    lx_dataset_close(dataset);
    ck_assert_str_eq(lx_card_get_text(card, "source"), "made by a test"); /* a copy */
    lx_card_free(card);
    records_append(writer, 5); /* the writer goes on in the same log */
    close_writer(writer);
    expect_dataset("d", 15);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_change_commits_what_is_pending)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 10);
    unit_ok(lx_writer_set_card(writer, about, 2, &error));
    expect_dataset("d", 10);
    unit_ok(lx_writer_set_card(writer, (lx_card_entry[]){{"source", NULL}, {"license", NULL}}, 2,
                               &error));
    expect_card("d", NULL, 0);
    size_t size;
    char *meta = (char *)file_bytes("d/meta.json", &size);
    meta[size - 1] = '\0';
    ck_assert_ptr_null(strstr(meta, "card"));
    free(meta);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/** The transaction is neither committed nor ended, and a rollback leaves the card. */
START_TEST(a_change_within_a_transaction_is_made_at_once)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 10);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    records_append(writer, 10000); /* so that something is in chunks */
    unit_ok(lx_writer_set_card(writer, about, 2, &error));
    expect_card("d", about, 2);
    expect_dataset("d", 10);
    unit_ok(lx_writer_end_transaction(writer, &error));
    expect_dataset("d", 10010);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    records_append(writer, 5);
    unit_ok(lx_writer_set_card(writer, &(lx_card_entry){"source", NULL}, 1, &error));
    unit_ok(lx_writer_rollback(writer, &error));
    expect_card("d", about + 1, 1);
    close_writer(writer);
    expect_dataset("d", 10010);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_refused_change_changes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_card *card;
    lx_writer *writer = create_described("d");
    records_append(writer, 3);
    const lx_card_entry bad[] = {{"license", "other"}, {"no key", "x"}};
    unit_fails(lx_writer_set_card(writer, bad, 2, &error), LX_ERR_ARGUMENT);
    expect_card("d", about, 2);
    unit_refuses_null(lx_writer_set_card(NULL, about, 1, &error), "writer");
    unit_refuses_null(lx_writer_set_card(writer, NULL, 1, &error), "entries");
    unit_refuses_null(lx_writer_options_set_card(NULL, about, 1, &error), "options");
    unit_refuses_null(lx_dataset_read_card(NULL, &card, &error), "dataset");
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_refuses_null(lx_dataset_read_card(dataset, NULL, &error), "card");
    lx_dataset_close(dataset);
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_card(options, about, 1, &error));
    unit_fails(lx_writer_options_set_card(options, bad, 2, &error), LX_ERR_ARGUMENT);
    close_writer(records_create("e", options)); /* with the card that was set first */
    expect_card("e", about, 1);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/maintenance/dataset-card", stays_with_the_dataset,
          readers_see_a_change_after_a_refresh, a_change_commits_what_is_pending,
          a_change_within_a_transaction_is_made_at_once, a_refused_change_changes_nothing)
