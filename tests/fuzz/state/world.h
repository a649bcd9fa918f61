/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the fuzzer of states drives: a dataset, a writer, and readers and views next to it
 * that hold what they saw; with what each of them must show, in memory.
 */
#ifndef LX_TESTS_FUZZ_STATE_WORLD_H
#define LX_TESTS_FUZZ_STATE_WORLD_H

#include "../../faults/plain.h"
#include "../fuzz.h"

/* Records that there may be. */
#define RECORDS 300
#define READERS 3
#define INDICES 24

struct reader {
    lx_dataset *dataset;
    struct plain plain; /* what it sees */
    bool durable;
    lx_view *view; /* of blob, kept over whatever happens */
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
            fuzz_fail("%s: %s, not %s: %s", #call, lx_status_get_name(got),                        \
                      lx_status_get_name(expected), (world)->error.message);                       \
    } while (0)

/* ---- writing.c: steps of a writer, each of which takes what it needs of the input */

typedef void world_step(struct world *world);

extern world_step *const world_writer_steps[];
extern const size_t world_writer_step_count;

/** It must have as many records as the model. */
void world_expect_length(struct world *world);

/* ---- committing.c: opening and closing, and what ends what was asked for */

world_step world_open_writer, world_close_writer, world_commit, world_submit, world_sync,
    world_begin, world_end, world_rollback;

/** What was pending is committed, and if @p durable, durable too. */
void world_has_committed(struct world *world, bool durable);

/* ---- generations.c: what makes new files, each refused within a transaction */

world_step world_seal, world_fold, world_rebalance, world_add_field, world_drop_field,
    world_rename_field;

/* ---- reading.c */

typedef void reader_step(struct world *world, struct reader *reader);

reader_step reader_open, reader_close, reader_check_all, reader_release_view;
extern reader_step *const reader_steps[];
extern const size_t reader_step_count;

#endif
