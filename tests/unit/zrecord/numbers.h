/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Datasets of one field, a number in each record, for tests of the order of writes.
 */
#ifndef LX_TESTS_NUMBERS_H
#define LX_TESTS_NUMBERS_H

#include <pthread.h>

#include "frames.h"
#include "records.h"
#include "zrecord/write/writer.h"

/** Creates one; @p options are freed; NULL: full durability. */
static inline lx_writer *numbers_create(const char *path, lx_writer_options *options)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    if (options == NULL)
        options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_schema_add_field(schema, "n", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

static inline lx_status number_append(lx_writer *writer, uint64_t number, uint64_t *index,
                                      lx_error *error)
{
    lx_value value = {&number, sizeof number};
    return lx_writer_append(writer, &value, 1, index, error);
}

static inline lx_status number_modify(lx_writer *writer, uint64_t index, uint64_t number,
                                      lx_error *error)
{
    static const size_t field = 0;
    lx_value value = {&number, sizeof number};
    return lx_writer_modify(writer, index, &field, &value, 1, error);
}

/** Appends the same number @p count times, as one call. */
static inline lx_status numbers_extend(lx_writer *writer, uint64_t count, uint64_t number,
                                       lx_error *error)
{
    uint64_t *numbers = malloc(count * sizeof *numbers + 1);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = number;
    lx_values column = {numbers, NULL, NULL};
    lx_status status = lx_writer_extend(writer, count, &column, 1, NULL, error);
    free(numbers);
    return status;
}

static inline uint64_t number_at(lx_dataset *dataset, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t number;
    unit_ok(lx_dataset_gather(dataset, 0, &index, 1, &number, sizeof number, &error));
    return number;
}

/** The dataset must hold exactly these numbers, all valid. */
static inline void expect_numbers(const char *path, const uint64_t *numbers, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), count);
    for (uint64_t i = 0; i < count; i++)
        ck_assert_uint_eq(number_at(dataset, i), numbers[i]);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
}

/** The numbers that readers see now. */
static inline uint64_t visible_length(const char *path)
{
    lx_dataset *dataset = open_dataset(path);
    uint64_t length = lx_dataset_get_length(dataset);
    lx_dataset_close(dataset);
    return length;
}

/** Counts the frames in the log. */
static inline unsigned frames_of(const char *path)
{
    size_t size;
    lx__frame frame;
    unsigned count = 0;
    uint8_t *bytes = log_bytes(in(path, "LOG"), &size);
    for (size_t at = 0; at < size; at += frame.bytes, count++)
        ck_assert(lx__frame_load(&frame, bytes + at));
    free(bytes);
    return count;
}

/** A thread that runs any function, and its result. */
struct actor {
    pthread_t thread;
    lx_writer *writer;
    lx_status (*act)(struct actor *self, lx_error *error);
    uint64_t number;
    lx_status status;
    lx_error error;
    atomic_bool ended;
};

static inline void *actor_run(void *user)
{
    struct actor *self = user;
    self->error = (lx_error)LX_ERROR_INIT;
    self->status = self->act(self, &self->error);
    atomic_store(&self->ended, true);
    return NULL;
}

static inline void actor_start(struct actor *self, lx_writer *writer, uint64_t number,
                               lx_status (*act)(struct actor *, lx_error *))
{
    self->writer = writer;
    self->number = number;
    self->act = act;
    atomic_init(&self->ended, false);
    ck_assert_int_eq(pthread_create(&self->thread, NULL, actor_run, self), 0);
}

/** Waits for the thread; returns its status. */
static inline lx_status actor_join(struct actor *self)
{
    pthread_join(self->thread, NULL);
    return self->status;
}

/** An executor with that many threads of the write queue. */
static inline lx_executor *executor_of(uint32_t writers)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    lx_executor_options *options = lx_executor_options_new();
    unit_ok(lx_executor_options_set_writer_count(options, writers, &error));
    unit_ok(lx_executor_open(options, &executor, &error));
    lx_executor_options_free(options);
    return executor;
}

/** Options with that durability, and with that executor. */
static inline lx_writer_options *options_on(lx_executor *executor, lx_durability durability)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(durability);
    unit_ok(lx_writer_options_set_executor(options, executor, &error));
    return options;
}

/** A task that keeps the only thread of an executor's write queue busy. */
struct blockade {
    atomic_bool begun, over;
    lx_ticket *ticket;
};

static inline lx_status blockade_stand(size_t part, void *user, lx_error *error)
{
    (void)part, (void)error;
    struct blockade *blockade = user;
    atomic_store(&blockade->begun, true);
    while (!atomic_load(&blockade->over))
        nap_ms(1);
    return LX_OK;
}

static inline void blockade_begin(struct blockade *blockade, lx_executor *executor)
{
    lx_error error = LX_ERROR_INIT;
    atomic_init(&blockade->begun, false);
    atomic_init(&blockade->over, false);
    unit_ok(lx_executor_submit(executor, LX_QUEUE_WRITE, blockade_stand, blockade, 1,
                               &blockade->ticket, &error));
    while (!atomic_load(&blockade->begun))
        nap_ms(1);
}

static inline void blockade_end(struct blockade *blockade)
{
    lx_error error = LX_ERROR_INIT;
    atomic_store(&blockade->over, true);
    unit_ok(lx_ticket_wait(blockade->ticket, &error));
    lx_ticket_unref(blockade->ticket);
}

/** Waits until the condition holds, or fails after 20 seconds. */
#define await(condition)                                                                           \
    do {                                                                                           \
        for (double await_start = now(); !(condition); nap_ms(1))                                  \
            ck_assert_msg(now() - await_start < 20, "in vain: %s", #condition);                    \
    } while (0)

#endif
