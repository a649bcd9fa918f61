/* SPDX-License-Identifier: MIT */
/* One handle of a dataset in several threads, and in children of fork. */
#include <pthread.h>
#include <sched.h>

#include "../records.h"
#include "zrecord/read/dataset.h"

struct refresher {
    lx_dataset *dataset;
    atomic_bool stop;
};

static void *refresh_for_ever(void *user)
{
    struct refresher *self = user;
    lx_error error = LX_ERROR_INIT;
    uint64_t last = 0;
    while (!atomic_load(&self->stop)) {
        unit_ok(lx_dataset_refresh(self->dataset, NULL, &error));
        uint64_t length = lx_dataset_get_length(self->dataset);
        ck_assert_uint_ge(length, last);
        last = length;
        for (int i = 0; i < 5 && length != 0; i++)
            expect_value(self->dataset, BLOB, mix(length + (uint64_t)i) % length);
    }
    return NULL;
}

START_TEST(threads_refresh_and_read_one_handle)
{
    char *scratch = scratch_make();
    pthread_t threads[3];
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    struct refresher shared = {.dataset = open_dataset("d")};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, refresh_for_ever, &shared), 0);
    for (int i = 0; i < 60; i++) {
        records_append(writer, i % 20 == 0 ? 4000 : 10);
        commit(writer);
    }
    atomic_store(&shared.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    lx_dataset_close(shared.dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

static void *read_for_ever(void *user)
{
    struct refresher *self = user;
    uint64_t index = 3;
    uint8_t wave[64];
    while (!atomic_load(&self->stop)) {
        lx_dataset_gather(self->dataset, WAVE, &index, 1, wave, 64, NULL);
        lx_dataset_refresh(self->dataset, NULL, NULL);
    }
    return NULL;
}

/** Reads and refreshes in a child, without Check's macros: they take locks of the parent. */
static void read_in_child(lx_dataset *dataset)
{
    for (uint64_t index = 0; index < 50; index++) {
        for (size_t field = 0; field < FIELDS; field++) {
            uint8_t got[VALUE_MAX], right[VALUE_MAX];
            uint64_t size;
            bool there;
            uint64_t wanted = record_value((int)field, index, right);
            if (read_value(dataset, field, index, got, &size, &there, NULL) != LX_OK)
                _exit(1);
            if (there != (wanted != LX_NONE) || (there && memcmp(got, right, wanted) != 0))
                _exit(2);
        }
    }
    if (lx_dataset_refresh(dataset, NULL, NULL) != LX_OK || lx_dataset_get_length(dataset) != 50)
        _exit(3);
    lx_dataset_close(dataset);
    _exit(0);
}

START_TEST(a_child_continues_reading)
{
    char *scratch = scratch_make();
    pthread_t threads[3];
    records_make("d", 48, 2);
    struct refresher shared = {.dataset = open_dataset("d")};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_for_ever, &shared), 0);
    for (int i = 0; i < (SANITIZED ? 10 : 60); i++) {
        nap_ms((unsigned)i % 3);
        if (unit_in_child())
            read_in_child(shared.dataset);
    }
    atomic_store(&shared.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    expect_records(shared.dataset, 50);
    lx_dataset_close(shared.dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/dataset-shared", threads_refresh_and_read_one_handle, a_child_continues_reading)
