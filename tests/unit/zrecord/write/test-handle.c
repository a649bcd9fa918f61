/* SPDX-License-Identifier: MIT */
#include "zrecord/write/writer.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sched.h>

#include "../records.h"

/** Calls every function in a child; each must return LX_ERR_FORKED, and none may hang. Check's
 * macros are not used: they take locks that another thread of the parent may have held. */
static void use_in_child(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    lx_values columns[FIELDS] = {{0}};
    if (record_append(writer, 0, &error) != LX_ERR_FORKED || error.status != LX_ERR_FORKED)
        _exit(1);
    if (lx_writer_extend(writer, 1, columns, FIELDS, NULL, NULL) != LX_ERR_FORKED)
        _exit(2);
    if (lx_writer_commit(writer, NULL) != LX_ERR_FORKED)
        _exit(3);
    if (lx_writer_sync(writer, NULL) != LX_ERR_FORKED)
        _exit(4);
    if (lx_writer_begin_transaction(writer, NULL) != LX_ERR_FORKED)
        _exit(5);
    if (lx_writer_end_transaction(writer, NULL) != LX_ERR_FORKED)
        _exit(6);
    if (lx_writer_rollback(writer, NULL) != LX_ERR_FORKED)
        _exit(7);
    if (lx_writer_seal(writer, NULL) != LX_ERR_FORKED)
        _exit(8);
    (void)lx_writer_get_length(writer);
    _exit(lx_writer_close(writer, NULL) != LX_ERR_FORKED ? 9 : 0);
}

START_TEST(reports_use_in_a_child)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC)), *other;
    records_append(writer, 5000);
    commit(writer);
    records_append(writer, 5);
    if (unit_in_child())
        use_in_child(writer);
    /* The lock is still the parent's, and so is the dataset. */
    unit_fails(lx_writer_open("d", NULL, &other, &error), LX_ERR_BUSY);
    records_append(writer, 5);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 5010);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

struct busy {
    lx_writer *writer;
    atomic_bool stop;
    pthread_t threads[2];
};

static void *append_for_ever(void *user)
{
    struct busy *busy = user;
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; !atomic_load(&busy->stop); i++) {
        unit_ok(record_append(busy->writer, i, &error));
        if (i % 50 == 0)
            unit_ok(lx_writer_commit(busy->writer, &error));
    }
    return NULL;
}

START_TEST(a_child_of_a_busy_writer_does_not_hang)
{
    char *scratch = scratch_make();
    struct busy busy = {.writer = records_create("d", writer_options(LX_DURABILITY_PERIODIC))};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&busy.threads[i], NULL, append_for_ever, &busy), 0);
    for (int i = 0; i < (SANITIZED ? 10 : 60); i++) {
        nap_ms(1 + (unsigned)i % 7);
        if (unit_in_child())
            use_in_child(busy.writer);
    }
    atomic_store(&busy.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(busy.threads[i], NULL);
    close_writer(busy.writer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/handle", reports_use_in_a_child, a_child_of_a_busy_writer_does_not_hang)
