/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <pthread.h>
#include <unistd.h>

/* Threads that commit concurrently, and the maximum number of operations of each. */
#define THREADS 3
#define ROUNDS 2000
/* Records of one call that fill several write buffers. */
#define BULK 6000

struct writing {
    const struct load *load;
    pthread_mutex_t mutex; /* operations are in the order of their marks */
    struct rng rng;
    uint64_t serial, commits;
    uint32_t flags; /* of the marks of operations */
    lx_writer *writer;
};

static _Noreturn void refuse(const char *what, const lx_error *error)
{
    char text[1024];
    lx_error_describe(error, text, sizeof text);
    fprintf(stderr, "killed process: %s: %s\n", what, text);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

static void expect(lx_status status, const char *what, const lx_error *error)
{
    if (status != LX_OK)
        refuse(what, error);
}

/* ---- operations */

/** Values of one field; the caller frees them. */
static lx_values join(const struct operation *operation, size_t field)
{
    size_t count = (size_t)operation->count, used = 0;
    uint64_t *offsets = need(malloc((count + 1) * sizeof *offsets));
    uint8_t *present = need(malloc(count)), *data = need(malloc(count * VALUES_SIZE));
    const lx_value zero = values_make(1, field, data); /* the size of a dense value */
    bool bytes = field == VALUES_FIELDS - 1;
    for (size_t i = 0; i < count; i++) {
        lx_value value = values_make((uint32_t)(operation->first + i), field, data + used);
        present[i] = value.size != LX_NONE;
        offsets[i] = used;
        used += present[i] ? (size_t)value.size : bytes ? 0 : (size_t)zero.size;
    }
    offsets[count] = used;
    if (!bytes) {
        free(offsets);
        offsets = NULL;
    }
    return (lx_values){data, offsets, present};
}

static void free_columns(lx_values *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)columns[i].data);
        free((void *)(uintptr_t)columns[i].offsets);
        free((void *)(uintptr_t)columns[i].present);
    }
}

static lx_status write_columns(const struct writing *writing, const struct operation *operation,
                               lx_error *error)
{
    lx_values columns[VALUES_FIELDS];
    size_t fields[VALUES_FIELDS], count = 0;
    bool appends = operation->kind == OPERATION_APPEND;
    lx_status status;
    for (size_t i = 0; i < VALUES_FIELDS; i++) {
        if (!appends && !(operation->fields >> i & 1))
            continue;
        fields[count] = i;
        columns[count++] = join(operation, i);
    }
    if (appends) {
        status = lx_writer_extend(writing->writer, operation->count, columns, count, NULL, error);
    } else {
        uint64_t *indices = need(malloc((size_t)operation->count * sizeof *indices));
        uint64_t length = lx_writer_get_length(writing->writer);
        for (uint64_t i = 0; i < operation->count; i++)
            indices[i] = operation_index(operation, i, length);
        status = lx_writer_modify_many(writing->writer, indices, operation->count, fields, columns,
                                       count, error);
        free(indices);
    }
    free_columns(columns, count);
    return status;
}

static lx_status write_one(const struct writing *writing, const struct operation *operation,
                           lx_error *error)
{
    uint8_t data[VALUES_FIELDS][VALUES_SIZE];
    lx_value values[VALUES_FIELDS];
    size_t fields[VALUES_FIELDS], count = 0;
    bool appends = operation->kind == OPERATION_APPEND;
    for (size_t i = 0; i < VALUES_FIELDS; i++) {
        if (!appends && !(operation->fields >> i & 1))
            continue;
        fields[count] = i;
        values[count] = values_make((uint32_t)operation->first, i, data[i]);
        count++;
    }
    return appends
               ? lx_writer_append(writing->writer, values, count, NULL, error)
               : lx_writer_modify(writing->writer, operation->index, fields, values, count, error);
}

/** Reports an operation, and requests it. The mutex is held. */
static void ask(struct writing *writing, const struct operation *operation)
{
    lx_error error = LX_ERROR_INIT;
    mark_ask(writing->flags, operation);
    writing->serial += operation->count;
    if (operation->kind == OPERATION_DELETE)
        expect(lx_writer_delete(writing->writer, operation->index, NULL, &error), "delete", &error);
    else if (operation->kind == OPERATION_TRUNCATE)
        expect(lx_writer_truncate(writing->writer, operation->index, &error), "truncate", &error);
    else
        expect((operation->count == 1 ? write_one : write_columns)(writing, operation, &error),
               "a change", &error);
}

static void request_some(struct writing *writing, uint64_t count)
{
    uint64_t most = writing->load->records;
    while (count-- != 0) {
        uint64_t length = lx_writer_get_length(writing->writer);
        struct operation operation = operation_choose(&writing->rng, length, VALUES_FIELDS,
                                                      writing->serial, 0);
        if (length > most)
            operation = (struct operation){.kind = OPERATION_TRUNCATE, .index = most / 2};
        ask(writing, &operation);
    }
}

/* ---- commits */

static uint64_t try(struct writing *writing)
{
    mark_say(MARK_TRYING, 0, ++writing->commits);
    return writing->commits;
}

static void commit_by(struct writing *writing, lx_status (*call)(lx_writer *, lx_error *))
{
    lx_error error = LX_ERROR_INIT;
    uint64_t number = try(writing);
    expect(call(writing->writer, &error), "a commit", &error);
    mark_say(MARK_COMMITTED, 0, number);
}

/** Submits a few commits: several flush tasks write them. */
static void submit_some(struct writing *writing)
{
    lx_ticket *tickets[4];
    uint64_t numbers[4];
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < 4; i++) {
        request_some(writing, 5);
        numbers[i] = try(writing);
        expect(lx_writer_submit_commit(writing->writer, &tickets[i], &error), "submit", &error);
    }
    for (size_t i = 0; i < 4; i++) {
        expect(lx_ticket_wait(tickets[i], &error), "a submitted commit", &error);
        lx_ticket_unref(tickets[i]);
        mark_say(MARK_COMMITTED, 0, numbers[i]);
    }
}

static void undo(struct writing *writing)
{
    lx_error error = LX_ERROR_INIT;
    expect(lx_writer_rollback(writing->writer, &error), "rollback", &error);
    mark_say(MARK_UNDONE, 0, 0);
}

static lx_status rebalance(lx_writer *writer, lx_error *error)
{
    return lx_writer_rebalance(writer, NULL, NULL, NULL, error);
}

static void step(struct writing *writing)
{
    switch (rng_below(&writing->rng, 14)) {
    case 0:
        commit_by(writing, lx_writer_sync);
        break;
    case 1:
        commit_by(writing, lx_writer_begin_transaction);
        request_some(writing, 30);
        if (rng_once_in(&writing->rng, 3))
            undo(writing);
        else
            commit_by(writing, lx_writer_end_transaction);
        break;
    case 2:
        request_some(writing, 10);
        undo(writing);
        break;
    case 3:
        submit_some(writing);
        break;
    case 4:
        ask(writing, &(struct operation){.kind = OPERATION_APPEND,
                                         .first = writing->serial,
                                         .count = rng_below(&writing->rng, BULK) + 1});
        break;
    case 5:
        commit_by(writing, lx_writer_checkpoint);
        break;
    case 6:
        commit_by(writing, rebalance);
        break;
    default:
        request_some(writing, 1 + rng_below(&writing->rng, 30));
        commit_by(writing, lx_writer_commit);
    }
}

/** The work of one of several threads. */
static void *share(void *user)
{
    struct writing *writing = user;
    for (unsigned i = 0; i < ROUNDS; i++) {
        lx_error error = LX_ERROR_INIT;
        pthread_mutex_lock(&writing->mutex);
        request_some(writing, 1 + rng_below(&writing->rng, 10));
        uint64_t number = try(writing);
        pthread_mutex_unlock(&writing->mutex);
        expect(lx_writer_commit(writing->writer, &error), "a shared commit", &error);
        mark_say(MARK_COMMITTED, 0, number);
    }
    return NULL;
}

static void share_all(struct writing *writing, size_t count)
{
    pthread_t threads[THREADS];
    writing->flags = MARK_SHARED;
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, share, writing) != 0)
            give_up("a thread");
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    writing->flags = 0;
}

/* ---- the process */

static lx_executor *make_executor(struct rng *rng)
{
    lx_executor *executor;
    lx_error error = LX_ERROR_INIT;
    lx_executor_options *options = need(lx_executor_options_new());
    uint32_t writers = 1 + (uint32_t)rng_below(rng, LX_MAX_WRITERS);
    expect(lx_executor_options_set_reader_count(options, 0, &error), "readers", &error);
    expect(lx_executor_options_set_writer_count(options, writers, &error), "writers", &error);
    expect(lx_executor_open(options, &executor, &error), "an executor", &error);
    lx_executor_options_free(options);
    return executor;
}

static lx_writer *open_writer(const struct load *load, struct rng *rng, lx_executor *executor)
{
    lx_writer *writer;
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = need(lx_writer_options_new());
    lx_durability durability = (lx_durability)rng_below(rng, 3);
    expect(lx_writer_options_set_durability(options, durability, &error), "durability", &error);
    expect(lx_writer_options_set_chunk_limits(options, 1 << 20, 1 << 20, &error), "chunks", &error);
    expect(lx_writer_options_set_executor(options, executor, &error), "the executor", &error);
    lx_status status = lx_writer_open(load->path, options, &writer, &error);
    if (status == LX_ERR_NOT_FOUND) {
        lx_schema *schema = values_schema();
        lx_error_clear(&error);
        status = lx_writer_create(load->path, schema, options, &writer, &error);
        lx_schema_free(schema);
    }
    expect(status, "open", &error);
    lx_writer_options_free(options);
    return writer;
}

void load_write(const struct load *load)
{
    lx_error error = LX_ERROR_INIT;
    struct writing writing = {.load = load, .rng = {load->seed}, .serial = load->serial};
    pthread_mutex_init(&writing.mutex, NULL);
    lx_executor *executor = make_executor(&writing.rng);
    writing.writer = open_writer(load, &writing.rng, executor);
    mark_say(MARK_OPENED, 0, 0);
    size_t threads = 1 + (size_t)rng_below(&writing.rng, THREADS);
    unsigned steps = rng_once_in(&writing.rng, 8) ? 20 : ROUNDS;
    if (threads > 1 && steps == ROUNDS)
        share_all(&writing, threads);
    while (steps-- != 0)
        step(&writing);
    uint64_t number = try(&writing);
    expect(lx_writer_close(writing.writer, &error), "close", &error);
    mark_say(MARK_COMMITTED, 0, number);
    lx_executor_unref(executor);
    _exit(EXIT_SUCCESS);
}

/* ---- a reader */

static lx_dataset *open_live(const struct load *load)
{
    lx_dataset *dataset = NULL;
    lx_error error = LX_ERROR_INIT;
    lx_dataset_options *options = need(lx_dataset_options_new());
    expect(lx_dataset_options_set_live(options, true, &error), "live", &error);
    while (lx_dataset_open(load->path, options, &dataset, &error) == LX_ERR_NOT_FOUND)
        lx_error_clear(&error); /* the writer has not created it yet */
    expect(error.status, "a reader opens", &error);
    lx_dataset_options_free(options);
    return dataset;
}

static uint64_t read_all(lx_dataset *dataset)
{
    char why[1024];
    uint64_t digest;
    uint32_t *found = values_read(dataset, &digest, why, sizeof why);
    if (found == NULL) {
        fprintf(stderr, "a concurrent reader: %s\n", why);
        _exit(EXIT_FAILURE);
    }
    free(found);
    return digest;
}

void load_read(const struct load *load)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *live = open_live(load), *pinned, *old = NULL;
    struct rng rng = {load->seed};
    uint64_t old_digest = 0;
    for (;;) {
        expect(lx_dataset_pin(live, &pinned, &error), "pin", &error);
        uint64_t digest = read_all(pinned);
        mark_say(MARK_SEEN, 0, digest);
        /* An earlier snapshot stays the same, whatever the writer does. */
        if (old != NULL && read_all(old) != old_digest) {
            fprintf(stderr, "a pinned reader sees something else than before\n");
            _exit(EXIT_FAILURE);
        }
        if (old == NULL || rng_once_in(&rng, 4)) {
            lx_dataset_close(old);
            old = pinned;
            old_digest = digest;
        } else {
            lx_dataset_close(pinned);
        }
    }
}
