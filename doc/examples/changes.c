/* SPDX-License-Identifier: MIT */
/*
 * Changing records while they are read: modify, delete, grouped commits of several threads, a live
 * reader and one that keeps its snapshot, a new field, and released space.
 *
 *     cc changes.c $(pkg-config --cflags --libs loaderx-zrecord) -pthread
 */
#include <loaderx/zrecord.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS = 1000, POINTS = 16, ROUNDS = 50 };
enum { POINT_FIELD, SUM_FIELD, FIELDS }; /* in the order of the schema */

static int complain(const lx_error *error)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "changes: %s\n", line);
    return EXIT_FAILURE;
}

/* All of a record's points are the same number; the other field is their sum. */
static void fill(int32_t points[POINTS], int64_t *sum, int32_t number)
{
    for (int i = 0; i < POINTS; i++)
        points[i] = number;
    *sum = (int64_t)POINTS * number;
}

static lx_status create(const char *path, lx_writer **writer, lx_error *error)
{
    const uint64_t shape[] = {POINTS};
    lx_schema *schema = lx_schema_new();
    lx_status status = schema != NULL ? LX_OK : LX_ERR_NOMEM;
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "point", LX_INT32, shape, 1, LX_COMPRESSION_RAW,
                                     error);
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "sum", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, error);
    if (status == LX_OK)
        status = lx_writer_create(path, schema, NULL, writer, error);
    lx_schema_free(schema);
    for (int32_t i = 0; status == LX_OK && i < RECORDS; i++) {
        int32_t points[POINTS];
        int64_t sum;
        fill(points, &sum, i);
        const lx_value values[FIELDS] = {{points, sizeof points}, {&sum, sizeof sum}};
        status = lx_writer_append(*writer, values, FIELDS, NULL, error);
    }
    return status == LX_OK ? lx_writer_commit(*writer, error) : status;
}

/* ---- concurrent readers */

static atomic_bool done;

/* A live dataset reads the newest commit at each call. Two calls may see two commits, so read
 * related values through a pin, which keeps its snapshot. */
static void *read_along(void *user)
{
    const uint64_t index = 7;
    lx_dataset *live = user, *pinned = NULL;
    lx_error error = LX_ERROR_INIT;
    size_t mixed = 0;
    while (!atomic_load(&done) && lx_dataset_pin(live, &pinned, &error) == LX_OK) {
        int32_t points[POINTS];
        int64_t sum;
        if (lx_dataset_gather(pinned, POINT_FIELD, &index, 1, points, sizeof points, &error) ==
                LX_OK &&
            lx_dataset_gather(pinned, SUM_FIELD, &index, 1, &sum, sizeof sum, &error) == LX_OK)
            mixed += sum != (int64_t)POINTS * points[0];
        lx_dataset_close(pinned);
    }
    return error.status == LX_OK && mixed == 0 ? NULL : user;
}

/* ---- changes */

/* Some fields of a record get new values; views and snapshots of the old ones stay readable. */
static lx_status modify(lx_writer *writer, uint64_t index, int32_t number, lx_error *error)
{
    const size_t fields[] = {POINT_FIELD, SUM_FIELD};
    int32_t points[POINTS];
    int64_t sum;
    fill(points, &sum, number);
    const lx_value values[] = {{points, sizeof points}, {&sum, sizeof sum}};
    return lx_writer_modify(writer, index, fields, values, 2, error);
}

/* Each round submits a commit, and waits only at the end. Several submitted commits may become
 * one. */
static lx_status modify_often(lx_writer *writer, lx_error *error)
{
    lx_ticket *tickets[ROUNDS] = {NULL};
    lx_status status = LX_OK;
    for (int round = 0; status == LX_OK && round < ROUNDS; round++) {
        status = modify(writer, 7, 1000 + round, error);
        if (status == LX_OK)
            status = lx_writer_submit_commit(writer, &tickets[round], error);
    }
    for (int round = 0; round < ROUNDS && tickets[round] != NULL; round++) {
        lx_status waited = lx_ticket_wait(tickets[round], error);
        lx_ticket_unref(tickets[round]);
        status = status == LX_OK ? waited : status;
    }
    return status;
}

/* A transaction is committed completely or not at all. */
static lx_status try_transaction(lx_writer *writer, lx_error *error)
{
    lx_status status = lx_writer_begin_transaction(writer, error);
    if (status == LX_OK)
        status = modify(writer, 0, -1, error);
    if (status == LX_OK)
        status = lx_writer_truncate(writer, 1, error);
    return status == LX_OK ? lx_writer_rollback(writer, error) : status; /* undo all */
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = NULL;
    lx_dataset *before = NULL, *live = NULL;
    lx_dataset_options *options = lx_dataset_options_new();
    if (options == NULL || create("changed", &writer, &error) != LX_OK ||
        lx_dataset_options_set_live(options, true, &error) != LX_OK ||
        lx_dataset_open("changed", options, &live, &error) != LX_OK ||
        lx_dataset_open("changed", NULL, &before, &error) != LX_OK)
        return complain(&error);
    lx_dataset_options_free(options);

    /* A writer changes a record while another thread reads it: the reader only sees complete
     * commits. */
    pthread_t thread;
    void *mixed = NULL;
    if (pthread_create(&thread, NULL, read_along, live) != 0)
        return EXIT_FAILURE;
    lx_status status = modify_often(writer, &error);
    atomic_store(&done, true);
    pthread_join(thread, &mixed);
    if (status != LX_OK || mixed != NULL || try_transaction(writer, &error) != LX_OK)
        return complain(&error);

    /* The last record takes the place of a deleted one. The call returns the index that moved. */
    uint64_t moved = LX_NONE;
    if (lx_writer_delete(writer, 3, &moved, &error) != LX_OK ||
        lx_writer_commit(writer, &error) != LX_OK)
        return complain(&error);
    printf("record %" PRIu64 " is record 3 now\n", moved);

    /* A dataset that was not refreshed still shows its snapshot. */
    const uint64_t indices[] = {3, 7};
    int64_t old[2], new[2];
    if (lx_dataset_gather(before, SUM_FIELD, indices, 2, old, sizeof *old, &error) != LX_OK ||
        lx_dataset_gather(live, SUM_FIELD, indices, 2, new, sizeof *new, &error) != LX_OK)
        return complain(&error);
    printf("sums: %" PRId64 " and %" PRId64 " before, %" PRId64 " and %" PRId64 " now\n", old[0],
           old[1], new[0], new[1]);

    /* A new field is missing in all records until it is written. */
    lx_rebalance_result result;
    if (lx_writer_add_field(writer, "note", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, &error) !=
            LX_OK ||
        lx_writer_checkpoint(writer, &error) != LX_OK || /* moves the changes from the log to new
                                                          * tables */
        lx_writer_rebalance(writer, NULL, NULL, &result, &error) != LX_OK)
        return complain(&error);
    printf("live bytes: %.0f%% of the chunks before the rebalance, %.0f%% after it\n",
           100 * result.live_ratio_before, 100 * result.live_ratio_after);

    lx_dataset_close(before);
    lx_dataset_close(live);
    if (lx_writer_close(writer, &error) != LX_OK)
        return complain(&error);
    return moved == RECORDS - 1 && old[0] == 3 * POINTS &&
                   new[0] == (RECORDS - 1) * POINTS &&new[1] ==
                       (1000 + ROUNDS - 1) * POINTS &&result.live_ratio_after == 1
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}
