/* SPDX-License-Identifier: MIT */
#include "world.h"

static void check_view(struct reader *reader)
{
    uint8_t memory[PLAIN_VALUE];
    for (size_t i = 0; i < reader->count; i++) {
        lx_value right = plain_value(PLAIN_BLOB, reader->tokens[i], memory);
        const lx_slice *slice = &reader->slices[i];
        if (right.size == LX_NONE
                ? slice->data != NULL
                : slice->size != right.size ||
                      (right.size != 0 && memcmp(slice->data, memory, (size_t)right.size) != 0))
            fuzz_fail("what a view shows has changed");
    }
}

void reader_release_view(struct world *world, struct reader *reader)
{
    (void)world;
    if (reader->view == NULL)
        return;
    check_view(reader);
    lx_view_free(reader->view);
    reader->view = NULL;
    reader->count = 0;
}

void reader_close(struct world *world, struct reader *reader)
{
    (void)world;
    lx_dataset_close(reader->dataset);
    reader->dataset = NULL;
}

/** Copies the records of @p from to the columns of @p to, matched by name. Returns false, and
 * leaves @p to unchanged, if one of its columns was dropped. */
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

/** The snapshot that a reader sees now. With periodic durability, the timer may have made more
 * commits durable than requested. */
static const struct plain *shown(const struct world *world, const struct reader *reader)
{
    bool known = !reader->durable || world->durability != LX_DURABILITY_PERIODIC ||
                 world->writer == NULL;
    const struct plain *seen = reader->durable ? &world->durable : &world->committed;
    return known || lx_dataset_get_length(reader->dataset) == seen->count ? seen
                                                                          : &world->committed;
}

void reader_open(struct world *world, struct reader *reader)
{
    unsigned how = input_byte(&world->input);
    reader_close(world, reader);
    lx_dataset_options *options = need(lx_dataset_options_new());
    reader->durable = (how & 4) != 0;
    MUST(world, LX_OK,
         lx_dataset_options_set_verify_policy(options, (lx_verify_policy)(how % 3), &world->error));
    MUST(world, LX_OK, lx_dataset_options_set_durable(options, reader->durable, &world->error));
    lx_error_clear(&world->error);
    lx_status status = lx_dataset_open(world->path, options, &reader->dataset, &world->error);
    lx_dataset_options_free(options);
    if (status != (world->exists ? LX_OK : LX_ERR_NOT_FOUND))
        fuzz_fail("opening for reading: %s", world->error.message);
    if (status == LX_OK)
        plain_set(&reader->plain, shown(world, reader));
    else
        reader->dataset = NULL;
}

/** A handle with a dropped field keeps its snapshot. */
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
        fuzz_fail("refresh: %s: %s", lx_status_get_name(status), world->error.message);
}

/** Pins the snapshot of this handle in the slot of the next one. */
static void pin(struct world *world, struct reader *reader)
{
    struct reader *next = &world->readers[(size_t)(reader - world->readers + 1) % READERS];
    reader_close(world, next);
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

void reader_check_all(struct world *world, struct reader *reader)
{
    char why[512];
    lx_storage_stats totals;
    if (!plain_check(&reader->plain, reader->dataset, why, sizeof why))
        fuzz_fail("%s", why);
    /* Verification starts threads, which takes as long as twenty steps. */
    if (world->number % 8 == 0)
        MUST(world, LX_OK,
             lx_dataset_verify(reader->dataset, NULL, NULL, NULL, NULL, &world->error));
    MUST(world, LX_OK, lx_dataset_stat(reader->dataset, &totals, NULL, &world->error));
}

static void view(struct world *world, struct reader *reader)
{
    uint64_t indices[INDICES];
    reader_release_view(world, reader);
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

static void read_beyond(struct world *world, struct reader *reader)
{
    uint64_t index = reader->plain.count + input_byte(&world->input);
    uint8_t out[12];
    MUST(world, LX_ERR_RANGE,
         lx_dataset_gather(reader->dataset, PLAIN_IMAGE, &index, 1, out, 12, &world->error));
}

reader_step *const reader_steps[] = {
    refresh,     refresh,      check_some, check_some, reader_check_all, view, reader_release_view,
    read_beyond, reader_close, pin,
};

const size_t reader_step_count = sizeof reader_steps / sizeof *reader_steps;
