/* SPDX-License-Identifier: MIT */
/* The public interface, driven by the input's bytes, against a plain model in memory: a writer, and
 * readers and views beside it that hold what they saw. */
#include "fuzz.h"

#include "../faults/plain.h"

/* Steps of an input at most, and records that there may be. */
#define STEPS 80
#define RECORDS 300
#define READERS 3
#define INDICES 24

struct reader {
    lx_dataset *dataset;
    struct plain plain; /* what it sees */
    bool durable;
    lx_view *view;      /* of blob, kept over whatever happens */
    lx_slice slices[INDICES];
    uint32_t tokens[INDICES];
    size_t count;
};

struct world {
    struct input input;
    const char *path;
    lx_writer *writer;
    bool exists, sealed, transaction;
    bool synced; /* what is committed is durable, too */
    lx_durability durability;
    struct plain committed, durable, pending;
    struct reader readers[READERS];
    uint32_t number;
    lx_error error;
};

/** The call must answer so. */
#define MUST(world, expected, call)                                                                \
    do {                                                                                           \
        lx_error_clear(&(world)->error);                                                           \
        lx_status got = (call);                                                                    \
        if (got != (expected))                                                                     \
            fuzz_fail("%s: %s, not %s: %s", #call, lx_status_name(got), lx_status_name(expected),  \
                      (world)->error.message);                                                     \
    } while (0)

static void expect_length(struct world *world)
{
    uint64_t length = lx_writer_get_length(world->writer);
    if (length != world->pending.count)
        fuzz_fail("the writer has %llu records, not %llu", (unsigned long long)length,
                  (unsigned long long)world->pending.count);
}

/* ---- a writer's steps */

static struct plain_record make(struct world *world)
{
    return plain_make(&world->pending, ++world->number);
}

static void append(struct world *world)
{
    uint64_t index;
    if (world->pending.count >= RECORDS)
        return;
    struct plain_record record = make(world);
    MUST(world, LX_OK, lx_writer_append(world->writer, plain_values(&world->pending, &record),
                                        &index, &world->error));
    if (index != world->pending.count)
        fuzz_fail("append gave another index");
    plain_append(&world->pending, &record);
}

/** A value of a size that is none of its field's changes nothing. */
static void append_wrong(struct world *world)
{
    lx_value values[PLAIN_COLUMNS];
    struct plain_record record = make(world);
    memcpy(values, plain_values(&world->pending, &record), sizeof values);
    values[PLAIN_IMAGE].size = 11;
    MUST(world, LX_ERR_ARGUMENT, lx_writer_append(world->writer, values, NULL, &world->error));
}

static void extend(struct world *world)
{
    lx_values columns[PLAIN_COLUMNS];
    uint64_t count = input_byte(&world->input), first = world->pending.count, index;
    if (first + count > RECORDS)
        return;
    for (uint64_t i = 0; i < count; i++) {
        struct plain_record record = make(world);
        plain_append(&world->pending, &record);
    }
    plain_columns(&world->pending, first, count, columns);
    MUST(world, LX_OK,
         lx_writer_extend(world->writer, count, columns, &index, &world->error));
    plain_columns_free(&world->pending, columns);
}

static uint64_t any_index(struct world *world)
{
    return input_u16(&world->input) % (world->pending.count + 1);
}

static void modify(struct world *world)
{
    size_t fields[PLAIN_COLUMNS];
    lx_value values[PLAIN_COLUMNS];
    uint64_t index = any_index(world);
    unsigned chosen = input_byte(&world->input);
    size_t count = 0;
    struct plain_record record = make(world);
    const lx_value *all = plain_values(&world->pending, &record);
    for (size_t i = 0; i < world->pending.column_count; i++) {
        if (!(chosen >> i & 1))
            continue;
        fields[count] = i;
        values[count++] = all[i];
    }
    bool there = index < world->pending.count;
    MUST(world, there ? LX_OK : LX_ERR_RANGE,
         lx_writer_modify(world->writer, index, fields, values, count, &world->error));
    for (size_t i = 0; there && i < count; i++)
        world->pending.records[index].tokens[fields[i]] = record.tokens[fields[i]];
}

static void modify_many(struct world *world)
{
    uint64_t indices[INDICES], count = 1 + input_byte(&world->input) % INDICES;
    size_t field = input_byte(&world->input) % world->pending.column_count;
    lx_values columns[PLAIN_COLUMNS];
    struct plain fresh;
    if (world->pending.count == 0)
        return;
    plain_init(&fresh, 0);
    plain_set(&fresh, &world->pending);
    fresh.count = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct plain_record record = make(world);
        indices[i] = input_u16(&world->input) % world->pending.count;
        plain_append(&fresh, &record);
        world->pending.records[indices[i]].tokens[field] = record.tokens[field];
    }
    plain_columns(&fresh, 0, count, columns);
    MUST(world, LX_OK,
         lx_writer_modify_many(world->writer, indices, count, &field, &columns[field], 1,
                               &world->error));
    plain_columns_free(&fresh, columns);
    plain_free(&fresh);
}

static void delete_one(struct world *world)
{
    uint64_t index = any_index(world), moved;
    bool there = index < world->pending.count;
    MUST(world, there ? LX_OK : LX_ERR_RANGE,
         lx_writer_delete(world->writer, index, &moved, &world->error));
    if (there && moved != plain_delete(&world->pending, index))
        fuzz_fail("another record moved");
}

static void truncate_some(struct world *world)
{
    uint64_t length = any_index(world) + (input_byte(&world->input) == 255);
    bool there = length <= world->pending.count;
    MUST(world, there ? LX_OK : LX_ERR_RANGE,
         lx_writer_truncate(world->writer, length, &world->error));
    if (there)
        world->pending.count = length;
}

/** Where the column of that name is in another model; LX_NONE if it is not. */
static uint64_t find_name(const struct plain *plain, const char *name)
{
    for (size_t i = 0; i < plain->column_count; i++)
        if (strcmp(plain->columns[i].name, name) == 0)
            return i;
    return LX_NONE;
}

/** Fields belong together by their names, as the handle that is copied from shows them. */
static void copy(struct world *world)
{
    uint64_t indices[INDICES], places[PLAIN_COLUMNS], same = 0;
    uint64_t count = 1 + input_byte(&world->input) % INDICES;
    struct reader *from = &world->readers[input_byte(&world->input) % READERS];
    if (from->dataset == NULL || from->plain.count == 0 ||
        world->pending.count + count > RECORDS)
        return;
    for (uint64_t i = 0; i < count; i++)
        indices[i] = input_u16(&world->input) % from->plain.count;
    for (size_t i = 0; i < world->pending.column_count; i++) {
        places[i] = find_name(&from->plain, world->pending.columns[i].name);
        same += places[i] != LX_NONE;
    }
    MUST(world, same != 0 ? LX_OK : LX_ERR_MISMATCH,
         lx_writer_copy(world->writer, from->dataset, indices, count, NULL, &world->error));
    for (uint64_t i = 0; same != 0 && i < count; i++) {
        struct plain_record record = {{0}};
        for (size_t k = 0; k < world->pending.column_count; k++)
            if (places[k] != LX_NONE)
                record.tokens[k] = from->plain.records[indices[i]].tokens[places[k]];
        plain_append(&world->pending, &record);
    }
}

static void has_committed(struct world *world, bool durable)
{
    plain_set(&world->committed, &world->pending);
    if (durable || world->durability == LX_DURABILITY_FULL)
        plain_set(&world->durable, &world->committed);
}

static void commit(struct world *world)
{
    MUST(world, world->transaction ? LX_ERR_STATE : LX_OK,
         lx_writer_commit(world->writer, &world->error));
    if (!world->transaction)
        has_committed(world, false);
}

static void submit(struct world *world)
{
    lx_ticket *ticket;
    MUST(world, world->transaction ? LX_ERR_STATE : LX_OK,
         lx_writer_submit_commit(world->writer, &ticket, &world->error));
    if (world->transaction)
        return;
    MUST(world, LX_OK, lx_ticket_wait(ticket, &world->error));
    lx_ticket_unref(ticket);
    has_committed(world, false);
}

static void sync_all(struct world *world)
{
    MUST(world, LX_OK, lx_writer_sync(world->writer, &world->error));
    if (!world->transaction)
        plain_set(&world->committed, &world->pending);
    plain_set(&world->durable, &world->committed);
}

static void begin(struct world *world)
{
    MUST(world, world->transaction ? LX_ERR_STATE : LX_OK,
         lx_writer_begin(world->writer, &world->error));
    if (!world->transaction)
        has_committed(world, false);
    world->transaction = true;
}

static void end(struct world *world)
{
    MUST(world, world->transaction ? LX_OK : LX_ERR_STATE,
         lx_writer_end(world->writer, &world->error));
    if (world->transaction)
        has_committed(world, false);
    world->transaction = false;
}

static void rollback(struct world *world)
{
    MUST(world, LX_OK, lx_writer_rollback(world->writer, &world->error));
    plain_set(&world->pending, &world->committed);
    world->transaction = false;
}

/** A transaction that is open is undone. */
static void close_writer(struct world *world)
{
    MUST(world, LX_OK, lx_writer_close(world->writer, &world->error));
    if (world->transaction)
        plain_set(&world->pending, &world->committed);
    world->transaction = false;
    has_committed(world, true);
    world->writer = NULL;
}

static void seal(struct world *world)
{
    lx_error_clear(&world->error);
    lx_status status = lx_writer_seal(world->writer, &world->error);
    if (world->transaction) {
        if (status != LX_ERR_STATE)
            fuzz_fail("a seal within a transaction");
        return;
    }
    has_committed(world, true);
    if (status == LX_OK) {
        world->sealed = true;
        close_writer(world);
    } else if (status != LX_ERR_UNSUPPORTED) {
        fuzz_fail("seal: %s", world->error.message);
    }
}

/* ---- new generations: each commits what is pending first, and is refused in a transaction */

static lx_status reshaped(struct world *world)
{
    return world->transaction ? LX_ERR_STATE : LX_OK;
}

static void fold(struct world *world)
{
    MUST(world, reshaped(world), lx_writer_fold(world->writer, &world->error));
    if (!world->transaction)
        has_committed(world, true);
}

static void rebalance(struct world *world)
{
    MUST(world, reshaped(world),
         lx_writer_rebalance(world->writer, NULL, NULL, NULL, &world->error));
    if (!world->transaction)
        has_committed(world, true);
}

/** The four first columns stay where they are. */
static void add_field(struct world *world)
{
    static unsigned number;
    char name[32];
    enum plain_kind kind = (enum plain_kind)(input_byte(&world->input) % PLAIN_KINDS);
    const struct plain_form *form = &plain_forms[kind];
    if (world->pending.column_count == PLAIN_COLUMNS)
        return;
    snprintf(name, sizeof name, "more%u", number++ % 1000);
    MUST(world, reshaped(world),
         lx_writer_add_field(world->writer, name, form->dtype, plain_shape, form->ndim,
                             form->compression, &world->error));
    if (world->transaction)
        return;
    plain_add_column(&world->pending, name, kind);
    has_committed(world, true);
}

static void drop_field(struct world *world)
{
    size_t column = world->pending.column_count - 1;
    if (column < PLAIN_KINDS)
        return;
    MUST(world, reshaped(world),
         lx_writer_drop_field(world->writer, world->pending.columns[column].name,
                              &world->error));
    if (world->transaction)
        return;
    plain_drop_column(&world->pending, column);
    has_committed(world, true);
}

static void rename_field(struct world *world)
{
    char name[32];
    size_t column = input_byte(&world->input) % world->pending.column_count;
    snprintf(name, sizeof name, "name%u", world->number++);
    MUST(world, reshaped(world),
         lx_writer_rename_field(world->writer, world->pending.columns[column].name, name,
                                &world->error));
    if (world->transaction)
        return;
    plain_rename_column(&world->pending, column, name);
    has_committed(world, true);
}

static void (*const writer_steps[])(struct world *) = {
    append, append, append, extend,   append_wrong, modify,   modify, modify_many, delete_one,
    delete_one, truncate_some, copy,  commit,       commit,   submit, sync_all,    begin,
    end,    rollback, close_writer, seal, fold, rebalance, add_field, drop_field, rename_field,
};

/* ---- opening */

static lx_writer_options *make_options(struct world *world)
{
    lx_writer_options *options = need(lx_writer_options_new());
    unsigned choice = input_byte(&world->input);
    world->durability = (lx_durability)(choice % 3);
    MUST(world, LX_OK,
         lx_writer_options_set_durability(options, world->durability, &world->error));
    MUST(world, LX_OK,
         lx_writer_options_set_chunk(options, 8 + choice / 4 % 40, 4096 + choice / 8 * 100,
                                     &world->error));
    return options;
}

static void open_writer(struct world *world)
{
    lx_writer_options *options = make_options(world);
    if (world->sealed && input_byte(&world->input) % 2 != 0) {
        MUST(world, LX_OK, lx_dataset_unseal(world->path, &world->error));
        world->sealed = false;
    }
    if (!world->exists) {
        lx_schema *schema = need(plain_schema(&world->pending));
        MUST(world, LX_OK,
             lx_writer_create(world->path, schema, options, &world->writer, &world->error));
        lx_schema_free(schema);
        world->exists = true;
    } else {
        MUST(world, world->sealed ? LX_ERR_STATE : LX_OK,
             lx_writer_open(world->path, options, &world->writer, &world->error));
        if (world->sealed)
            world->writer = NULL;
    }
    lx_writer_options_free(options);
    plain_set(&world->pending, &world->committed);
    plain_set(&world->durable, &world->committed); /* opening makes it so */
    if (world->writer != NULL)
        expect_length(world);
}

/* ---- readers */

static void check_view(struct reader *reader)
{
    uint8_t memory[PLAIN_VALUE];
    for (size_t i = 0; i < reader->count; i++) {
        lx_value right = plain_value(PLAIN_BLOB, reader->tokens[i], memory);
        const lx_slice *slice = &reader->slices[i];
        if (right.size == LX_NONE ? slice->data != NULL
                                  : slice->size != right.size ||
                                        (right.size != 0 &&
                                         memcmp(slice->data, memory, (size_t)right.size) != 0))
            fuzz_fail("what a view shows has changed");
    }
}

static void release_view(struct reader *reader)
{
    if (reader->view == NULL)
        return;
    check_view(reader);
    lx_view_release(reader->view);
    reader->view = NULL;
    reader->count = 0;
}

static void close_reader(struct world *world, struct reader *reader)
{
    (void)world;
    lx_dataset_close(reader->dataset);
    reader->dataset = NULL;
}

/** The records of @p from in the columns of @p to, which keep their names. False if one of them was
 * dropped: then @p to stays. */
static bool project(struct plain *to, const struct plain *from)
{
    size_t places[PLAIN_COLUMNS];
    struct plain seen;
    for (size_t i = 0; i < to->column_count; i++) {
        for (places[i] = 0; places[i] < from->column_count; places[i]++)
            if (from->columns[places[i]].id == to->columns[i].id)
                break;
        if (places[i] == from->column_count)
            return false;
    }
    plain_init(&seen, 0);
    plain_set(&seen, from);
    memcpy(seen.columns, to->columns, sizeof seen.columns);
    seen.column_count = to->column_count;
    for (uint64_t i = 0; i < from->count; i++)
        for (size_t k = 0; k < to->column_count; k++)
            seen.records[i].tokens[k] = from->records[i].tokens[places[k]];
    plain_set(to, &seen);
    plain_free(&seen);
    return true;
}

/** What a reader sees now. With periodic durability, the clock may have made more durable than was
 * asked for. */
static const struct plain *shown(const struct world *world, const struct reader *reader)
{
    bool known = !reader->durable || world->durability != LX_DURABILITY_PERIODIC ||
                 world->writer == NULL;
    const struct plain *seen = reader->durable ? &world->durable : &world->committed;
    return known || lx_dataset_get_length(reader->dataset) == seen->count ? seen
                                                                          : &world->committed;
}

static void open_reader(struct world *world, struct reader *reader)
{
    unsigned how = input_byte(&world->input);
    close_reader(world, reader);
    lx_dataset_options *options = need(lx_dataset_options_new());
    reader->durable = (how & 4) != 0;
    MUST(world, LX_OK,
         lx_dataset_options_set_verify(options, (lx_verify)(how % 3), &world->error));
    MUST(world, LX_OK,
         lx_dataset_options_set_durable(options, reader->durable, &world->error));
    lx_error_clear(&world->error);
    lx_status status =
        lx_dataset_open(world->path, options, &reader->dataset, &world->error);
    lx_dataset_options_free(options);
    if (status != (world->exists ? LX_OK : LX_ERR_NOT_FOUND))
        fuzz_fail("opening for reading: %s", world->error.message);
    if (status == LX_OK)
        plain_set(&reader->plain, shown(world, reader));
    else
        reader->dataset = NULL;
}

/** A handle whose field was dropped stays where it is. */
static void refresh(struct world *world, struct reader *reader)
{
    bool changed;
    lx_error_clear(&world->error);
    lx_status status = lx_dataset_refresh(reader->dataset, &changed, &world->error);
    bool shows = status == LX_OK && project(&reader->plain, shown(world, reader));
    struct plain probe;
    plain_init(&probe, 0);
    plain_set(&probe, &reader->plain);
    bool dropped = !project(&probe, &world->committed);
    plain_free(&probe);
    if (status == LX_OK ? !shows : status != LX_ERR_STATE || !dropped)
        fuzz_fail("refresh: %s: %s", lx_status_name(status), world->error.message);
}

/** Another handle, in the place of the next, on what this one sees. */
static void pin(struct world *world, struct reader *reader)
{
    struct reader *next =
        &world->readers[(size_t)(reader - world->readers + 1) % READERS];
    close_reader(world, next);
    MUST(world, LX_OK, lx_dataset_pin(reader->dataset, &next->dataset, &world->error));
    plain_set(&next->plain, &reader->plain);
    next->durable = reader->durable;
}

static void check_some(struct world *world, struct reader *reader)
{
    uint64_t indices[INDICES], count = 1 + input_byte(&world->input) % INDICES;
    char why[512];
    lx_status status;
    if (reader->plain.count == 0)
        return;
    for (uint64_t i = 0; i < count; i++)
        indices[i] = input_u16(&world->input) % reader->plain.count;
    for (size_t i = 0; i < reader->plain.column_count; i++)
        if (!plain_check_values(&reader->plain, reader->dataset, i, indices, (size_t)count, &status,
                                why, sizeof why))
            fuzz_fail("%s", why);
}

static void check_all(struct world *world, struct reader *reader)
{
    char why[512];
    lx_statistics totals;
    if (!plain_check(&reader->plain, reader->dataset, why, sizeof why))
        fuzz_fail("%s", why);
    MUST(world, LX_OK,
         lx_dataset_verify(reader->dataset, NULL, NULL, NULL, NULL, &world->error));
    MUST(world, LX_OK, lx_dataset_stat(reader->dataset, &totals, NULL, &world->error));
}

static void view(struct world *world, struct reader *reader)
{
    uint64_t indices[INDICES];
    release_view(reader);
    if (reader->plain.count == 0)
        return;
    for (size_t i = 0; i < INDICES; i++) {
        indices[i] = input_byte(&world->input) % reader->plain.count;
        reader->tokens[i] = reader->plain.records[indices[i]].tokens[PLAIN_BLOB];
    }
    MUST(world, LX_OK,
         lx_dataset_view(reader->dataset, PLAIN_BLOB, indices, INDICES, reader->slices,
                         &reader->view, &world->error));
    reader->count = INDICES;
}

static void end_view(struct world *world, struct reader *reader)
{
    (void)world;
    release_view(reader);
}

static void read_beyond(struct world *world, struct reader *reader)
{
    uint64_t index = reader->plain.count + input_byte(&world->input);
    uint8_t out[12];
    MUST(world, LX_ERR_RANGE,
         lx_dataset_gather(reader->dataset, PLAIN_IMAGE, &index, 1, out, 12, &world->error));
}

static void (*const reader_steps[])(struct world *, struct reader *) = {
    refresh, refresh, check_some, check_some, check_all, view, end_view, read_beyond, close_reader,
    pin,
};

/* ---- a life */

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void step(struct world *world)
{
    unsigned choice = input_byte(&world->input);
    if (choice < 0xa0) {
        if (world->writer != NULL)
            writer_steps[choice % COUNT(writer_steps)](world);
        else
            open_writer(world);
        if (world->writer != NULL)
            expect_length(world);
        return;
    }
    struct reader *reader = &world->readers[choice % READERS];
    if (reader->dataset != NULL)
        reader_steps[choice / READERS % COUNT(reader_steps)](world, reader);
    else
        open_reader(world, reader);
}

static void end_world(struct world *world)
{
    if (world->writer != NULL)
        close_writer(world);
    for (size_t i = 0; i < READERS; i++) {
        struct reader *reader = &world->readers[i];
        if (reader->dataset != NULL)
            check_all(world, reader);
        close_reader(world, reader);
        release_view(reader);
    }
    if (world->exists) {
        open_reader(world, &world->readers[0]);
        check_all(world, &world->readers[0]);
        close_reader(world, &world->readers[0]);
        MUST(world, LX_OK, lx_dataset_remove(world->path, &world->error));
    }
    for (size_t i = 0; i < READERS; i++)
        plain_free(&world->readers[i].plain);
    plain_free(&world->committed);
    plain_free(&world->durable);
    plain_free(&world->pending);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {.input = {data, size},
                          .path = fuzz_path("state"),
                          .error = LX_ERROR_INIT};
    plain_init(&world.committed, PLAIN_KINDS);
    plain_init(&world.durable, PLAIN_KINDS);
    plain_init(&world.pending, PLAIN_KINDS);
    open_writer(&world);
    for (int i = 0; i < STEPS && world.input.size != 0; i++)
        step(&world);
    end_world(&world);
    return 0;
}
