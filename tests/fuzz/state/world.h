/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The objects of the state fuzzer: a dataset, a writer, and concurrent readers and views
 * that keep their snapshots, each with its expected content in memory.
 */
#ifndef LX_TESTS_FUZZ_STATE_WORLD_H
#define LX_TESTS_FUZZ_STATE_WORLD_H

#include "../../faults/plain.h"
#include "../fuzz.h"

/* Maximum number of records. */
#define RECORDS 300
#define READERS 3
#define INDICES 24

struct reader {
    lx_dataset *dataset;
    struct plain plain; /* the content of its snapshot */
    bool durable;
    lx_view *view; /* of blob, held across all steps */
    lx_slice slices[INDICES];
    uint32_t tokens[INDICES];
    size_t count;
};

struct world {
    struct input input;
    const char *path;
    lx_writer *writer;
    bool exists, sealed, transaction;
    bool synced; /* commits are durable when they return */
    lx_durability durability;
    struct plain committed, durable, pending;
    struct reader readers[READERS];
    uint32_t number;
    lx_error error;
};

/** The call must return that status. */
#define MUST(world, expected, call)                                                                \
    do {                                                                                           \
        lx_error_clear(&(world)->error);                                                           \
        lx_status got = (call);                                                                    \
        if (got != (expected))                                                                     \
            fuzz_fail("%s: %s, not %s: %s", #call, lx_status_get_name(got),                        \
                      lx_status_get_name(expected), (world)->error.message);                       \
    } while (0)

/* ---- writing.c: steps of a writer, with parameters from the input */

typedef void world_step(struct world *world);

extern world_step *const world_writer_steps[];
extern const size_t world_writer_step_count;

/** The writer must have as many records as the model. */
void world_expect_length(struct world *world);

/* ---- committing.c: opening, closing, commits and rollbacks */

world_step world_open_writer, world_close_writer, world_commit, world_submit, world_sync,
    world_begin, world_end, world_rollback;

/** Updates the model after a commit of all pending operations, which is durable if @p durable. */
void world_has_committed(struct world *world, bool durable);

/* ---- generations.c: steps that make new generations, rejected within a transaction */

world_step world_seal, world_checkpoint, world_rebalance, world_add_field, world_drop_field,
    world_rename_field;

/* ---- reading.c */

typedef void reader_step(struct world *world, struct reader *reader);

reader_step reader_open, reader_close, reader_check_all, reader_release_view;
extern reader_step *const reader_steps[];
extern const size_t reader_step_count;

#endif
