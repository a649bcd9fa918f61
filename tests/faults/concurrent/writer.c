/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <unistd.h>

#include "ledger.h"

/* Maximum records of one call; above the floor there are up to a quarter more. */
#define MANY 256
/* The size of a full chunk: small, so that there are several, and full ones. */
#define CHUNK_BYTES (32u << 20)
/* The longest delay that the writer catches up with; a rebalance may take longer. */
#define BACKLOG_NS 200000000u

struct writing {
    struct share *share;
    const struct options *options;
    bool is_other; /* the dataset without readers */
    lx_writer *writer;
    struct ledger ledger;
    struct rng rng;
    uint64_t changed;
    uint64_t buckets[4]; /* changed by this commit, below the floor */
    enum change next_change;
};

static void expect(struct writing *writing, lx_status status, const lx_error *error,
                   const char *what)
{
    char text[512];
    if (status == LX_OK)
        return;
    lx_error_describe(error, text, sizeof text);
    struct part *part = &writing->share->writer.part;
    snprintf(part->why, sizeof part->why, "%s: %s", what, text);
    _exit(EXIT_FAILURE);
}

/* ---- changes */

static void append_one(struct writing *writing)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t data[FIELDS + 1][VALUE_SIZE];
    lx_value values[FIELDS + 1];
    const struct record *record = ledger_append(&writing->ledger);
    for (size_t i = 0; i <= FIELDS; i++)
        values[i] = record_value(record, i, data[i]);
    expect(writing,
           lx_writer_append(writing->writer, values,
                            lx_schema_get_field_count(lx_writer_get_schema(writing->writer)), NULL,
                            &error),
           &error, "append");
    writing->changed++;
}

/** A record of the bucket that the commit changes, or any above the floor. */
static uint64_t choose(struct writing *writing)
{
    const struct ledger *ledger = &writing->ledger;
    uint64_t bucket = writing->buckets[rng_below(&writing->rng, 4)];
    uint64_t index = bucket + BUCKETS * (2 + rng_below(&writing->rng, ledger->floor / BUCKETS));
    return index < ledger->length ? index : FIRST;
}

static unsigned choose_fields(struct rng *rng)
{
    static const unsigned sets[] = {1u << NUMBER,
                                    1u << BLOCK,
                                    1u << TEXT,
                                    1u << NUMBER | 1u << BLOCK,
                                    1u << BLOCK | 1u << TEXT,
                                    1u << NUMBER | 1u << BLOCK | 1u << TEXT};
    return sets[rng_below(rng, sizeof sets / sizeof *sets)];
}

static void modify(struct writing *writing, uint64_t index, const struct record *record,
                   unsigned fields)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t data[FIELDS][VALUE_SIZE];
    lx_value values[FIELDS];
    size_t positions[FIELDS], count = 0;
    for (size_t i = HEAD; i < FIELDS; i++) {
        if (i != HEAD && !(fields >> i & 1))
            continue;
        positions[count] = i;
        values[count] = record_value(record, i, data[i]);
        count++;
    }
    expect(writing, lx_writer_modify(writing->writer, index, positions, values, count, &error),
           &error, "modify");
    writing->changed++;
}

static void modify_one(struct writing *writing)
{
    uint64_t index = choose(writing);
    unsigned fields = choose_fields(&writing->rng);
    modify(writing, index, ledger_modify(&writing->ledger, index, fields), fields);
}

/** Changes heads, blocks and texts of many records with one call, some of them repeatedly. */
static void modify_many(struct writing *writing)
{
    static uint8_t heads[MANY * HEAD_SIZE], blocks[MANY * BLOCK_SIZE], texts[MANY * VALUE_SIZE];
    static const size_t fields[] = {HEAD, BLOCK, TEXT};
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[MANY], offsets[MANY + 1] = {0};
    uint8_t present[MANY];
    uint64_t count = 1 + rng_below(&writing->rng, MANY);
    for (uint64_t i = 0; i < count; i++) {
        indices[i] = i % 16 == 15 ? indices[i / 2] : choose(writing);
        const struct record *record = ledger_modify(&writing->ledger, indices[i],
                                                    1u << BLOCK | 1u << TEXT);
        record_value(record, HEAD, heads + i * HEAD_SIZE);
        uint8_t data[VALUE_SIZE];
        memcpy(blocks + i * BLOCK_SIZE, record_value(record, BLOCK, data).data, BLOCK_SIZE);
        lx_value text = record_value(record, TEXT, texts + offsets[i]);
        present[i] = text.size != LX_NONE;
        offsets[i + 1] = offsets[i] + (present[i] ? text.size : 0);
    }
    const lx_values columns[] = {
        {.data = heads}, {.data = blocks}, {.data = texts, .offsets = offsets, .present = present}};
    expect(writing,
           lx_writer_modify_many(writing->writer, indices, count, fields, columns, 3, &error),
           &error, "modify many");
    writing->changed += count;
}

static void delete_one(struct writing *writing)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t index = choose(writing);
    if (writing->ledger.length <= writing->ledger.floor)
        return;
    ledger_delete(&writing->ledger, index);
    expect(writing, lx_writer_delete(writing->writer, index, NULL, &error), &error, "delete");
    writing->changed++;
}

static void truncate_some(struct writing *writing)
{
    lx_error error = LX_ERROR_INIT;
    struct ledger *ledger = &writing->ledger;
    uint64_t length = ledger->length - rng_below(&writing->rng, 16);
    if (length < ledger->floor)
        length = ledger->floor;
    writing->changed += ledger->length - length;
    while (ledger->length > length)
        ledger_delete(ledger, ledger->length - 1);
    expect(writing, lx_writer_truncate(writing->writer, length, &error), &error, "truncate");
}

static void change_some(struct writing *writing, uint64_t count)
{
    uint64_t most = writing->ledger.floor + writing->ledger.floor / 4;
    uint64_t end = writing->changed + count;
    for (size_t i = 0; i < 4; i++)
        writing->buckets[i] = rng_below(&writing->rng, BUCKETS);
    while (writing->changed < end) {
        uint64_t roll = rng_below(&writing->rng, 100);
        if (roll < 12 && writing->ledger.length < most)
            append_one(writing);
        else if (roll < 20)
            delete_one(writing);
        else if (roll < 21)
            truncate_some(writing);
        else if (roll < 22 && end - writing->changed > MANY / 2)
            modify_many(writing);
        else
            modify_one(writing);
    }
}

/* ---- commits */

/** Writes the sums of all changes; the last changes of a commit. */
static void close_books(struct writing *writing)
{
    struct ledger *ledger = &writing->ledger;
    for (uint64_t i = 0; i < BUCKETS; i++)
        if (ledger->touched[i])
            modify(writing, ANCHOR(i), ledger_close_bucket(ledger, i), 0);
    modify(writing, ROOT, ledger_close(ledger), 0);
}

/** Commits in one of two ways. */
static void commit(struct writing *writing)
{
    lx_error error = LX_ERROR_INIT;
    lx_ticket *ticket;
    uint64_t start = clock_read(CLOCK_MONOTONIC);
    close_books(writing);
    if (rng_once_in(&writing->rng, 8)) {
        expect(writing, lx_writer_submit_commit(writing->writer, &ticket, &error), &error,
               "submit");
        expect(writing, lx_ticket_wait(ticket, &error), &error, "a submitted commit");
        lx_ticket_unref(ticket);
    } else {
        expect(writing, lx_writer_commit(writing->writer, &error), &error, "commit");
    }
    struct writer_part *part = &writing->share->writer;
    if (!writing->is_other)
        atomic_fetch_add(&part->part.progress, 1);
    if (atomic_load(&writing->share->phase) != CONCURRENT)
        return;
    note_most(&part->slowest, clock_read(CLOCK_MONOTONIC) - start);
    atomic_store(&part->changed, writing->changed);
    atomic_fetch_add(&part->commits, 1);
}

static uint64_t choose_count(struct rng *rng)
{
    static const uint64_t counts[] = {1, 4, 20, 100, 100, 400};
    return 1 + rng_below(rng, counts[rng_below(rng, sizeof counts / sizeof *counts)]);
}

/* ---- other files */

/** Writes values of the extra field, whose name changes sometimes. */
static void write_extra(struct writing *writing)
{
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < MANY; i++) {
        const size_t field = EXTRA;
        uint8_t data[VALUE_SIZE];
        uint64_t index = choose(writing);
        lx_value value = record_value(&writing->ledger.records[index], EXTRA, data);
        expect(writing, lx_writer_modify(writing->writer, index, &field, &value, 1, &error), &error,
               "modify");
        writing->changed++;
    }
}

static lx_status change_files(struct writing *writing, enum change change, lx_error *error)
{
    lx_writer *writer = writing->writer;
    lx_status status;
    switch (change) {
    case CHECKPOINT:
        return lx_writer_checkpoint(writer, error);
    case REBALANCE:
        return lx_writer_rebalance(writer, NULL, NULL, NULL, error);
    case ADD_FIELD:
        return lx_writer_add_field(writer, "extra", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, error);
    case RENAME_FIELD:
        status = lx_writer_rename_field(writer, "block", "brick", error);
        return status != LX_OK ? status : lx_writer_rename_field(writer, "extra", "more", error);
    default:
        status = lx_writer_rename_field(writer, "brick", "block", error);
        return status != LX_OK ? status : lx_writer_drop_field(writer, "more", error);
    }
}

/** The next kind in turn. */
static void change_next(struct writing *writing)
{
    lx_error error = LX_ERROR_INIT;
    enum change change = writing->next_change;
    expect(writing, change_files(writing, change, &error), &error, "a change of the files");
    if (change == ADD_FIELD)
        write_extra(writing);
    atomic_fetch_add(&writing->share->writer.done[change], 1);
    writing->next_change = (change + 1) % CHANGES;
}

/* ---- the process */

static void path_of(const struct writing *writing, char path[450])
{
    snprintf(path, 450, "%s%s", writing->options->path, writing->is_other ? "-other" : "");
}

static void open_writer(struct writing *writing)
{
    char path[450];
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = NULL;
    lx_schema *schema = record_schema();
    lx_writer_options *options = need(lx_writer_options_new());
    lx_executor_options *executor_options = need(lx_executor_options_new());
    lx_durability durability = writing->options->lasting ? LX_DURABILITY_PERIODIC
                                                         : LX_DURABILITY_NONE;
    lx_status status = lx_executor_options_set_writer_count(executor_options,
                                                            writing->options->workers, &error);
    if (status == LX_OK)
        status = lx_executor_open(executor_options, &executor, &error);
    expect(writing, status, &error, "an executor");
    status = lx_writer_options_set_executor(options, executor, &error);
    if (status == LX_OK)
        status = lx_writer_options_set_durability(options, durability, &error);
    if (status == LX_OK)
        status = lx_writer_options_set_chunk_limits(options, UINT32_MAX, CHUNK_BYTES, &error);
    path_of(writing, path);
    if (status == LX_OK)
        status = lx_writer_create(path, schema, options, &writing->writer, &error);
    expect(writing, status, &error, "create");
    lx_executor_unref(executor);
    lx_executor_options_free(executor_options);
    lx_writer_options_free(options);
    lx_schema_free(schema);
}

/** The root and the anchors are in the first commit, so every snapshot has them. */
static void fill(struct writing *writing)
{
    lx_error error = LX_ERROR_INIT;
    struct ledger *ledger = &writing->ledger;
    ledger_init(ledger, writing->options->floor);
    for (uint64_t i = 0; i < FIRST; i++) {
        uint8_t data[FIELDS][VALUE_SIZE];
        lx_value values[FIELDS];
        for (size_t k = 0; k < FIELDS; k++)
            values[k] = record_value(&ledger->records[i], k, data[k]);
        expect(writing, lx_writer_append(writing->writer, values, FIELDS, NULL, &error), &error,
               "append");
    }
    while (ledger->length < ledger->floor)
        append_one(writing);
    commit(writing);
}

/** Sleeps while ahead of the pace; returns the new origin of the pace. */
static uint64_t keep_pace(const struct writing *writing, uint64_t start)
{
    if (writing->options->rate == 0)
        return start;
    uint64_t due = start + writing->changed * 1000000000u / writing->options->rate;
    uint64_t time = clock_read(CLOCK_MONOTONIC);
    if (time < due)
        usleep((useconds_t)((due - time) / 1000));
    else if (time - due > BACKLOG_NS)
        return start + (time - due - BACKLOG_NS);
    return start;
}

/** Writes during that phase. */
static void write_during(struct writing *writing, enum phase phase)
{
    uint64_t start = clock_read(CLOCK_MONOTONIC);
    double each = phase == CONCURRENT ? writing->options->change_each : 0;
    uint64_t next = start + (uint64_t)(1e9 * each);
    writing->changed = 0;
    while (atomic_load(&writing->share->phase) == phase) {
        change_some(writing, choose_count(&writing->rng));
        commit(writing);
        start = keep_pace(writing, start);
        if (each != 0 && clock_read(CLOCK_MONOTONIC) >= next) {
            change_next(writing);
            next += (uint64_t)(1e9 * each);
        }
    }
}

static void begin(struct writing *writing, struct share *share, bool is_other)
{
    *writing = (struct writing){.share = share,
                                .options = &share->options,
                                .is_other = is_other,
                                .rng = {share->options.seed}};
    open_writer(writing);
    fill(writing);
}

static void end(struct writing *writing)
{
    char path[450];
    lx_error error = LX_ERROR_INIT;
    expect(writing, lx_writer_close(writing->writer, &error), &error, "close");
    ledger_free(&writing->ledger);
    path_of(writing, path);
    if (writing->is_other)
        expect(writing, lx_dataset_remove(path, &error), &error, "remove");
}

void writer_run(struct share *share)
{
    struct writing writing, other;
    begin(&writing, share, false);
    begin(&other, share, true);
    atomic_store(&share->writer.filled, true);
    for (enum phase phase = FRESH; phase < OVER; phase = atomic_load(&share->phase)) {
        if (phase == WARM_UP || phase == CONCURRENT)
            write_during(&writing, phase);
        else if (phase == ELSEWHERE)
            write_during(&other, phase);
        else
            usleep(1000);
    }
    end(&other);
    end(&writing);
    _exit(EXIT_SUCCESS);
}
