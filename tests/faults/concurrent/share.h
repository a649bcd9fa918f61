/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Memory that the processes share: their parameters and their progress.
 *
 * A process writes only its own part, so a stopped or killed process leaves nothing inconsistent.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_SHARE_H
#define LX_TESTS_FAULTS_CONCURRENT_SHARE_H

#include <stdatomic.h>
#include <time.h>

#include "../support.h"

/** The phases of the writer while the readers read. */
enum phase {
    FRESH,      /**< No writes: the dataset is as it was created. */
    WARM_UP,    /**< It writes. */
    IDLE,       /**< No writes: many changes are in the log, and records are scattered. */
    ELSEWHERE,  /**< It writes another dataset, to use its share of the machine. */
    CONCURRENT, /**< It writes. */
    OVER,
    PHASES = OVER
};

/** The ways of reading records. */
enum kind {
    LIVE_GATHER, /**< The heads, with one call on a live handle. */
    LIVE_VIEW,
    PIN_GATHER, /**< All fields, of a snapshot that is pinned for the batch. */
    PIN_VIEW,
    REFRESH_GATHER, /**< All fields, with a handle that is refreshed first. */
    SCAN,           /**< All fields of all records, pinned. */
    OPEN,           /**< All fields, with a handle that is opened for the batch. */
    REFRESH,        /**< No records: the refreshes before the other reads. */
    KINDS
};

/** Faulty readers, which must be detected. */
enum fault {
    NO_FAULT,
    FAULT_FIELDS, /**< Reads one field after another from a live handle. */
    FAULT_BATCH,  /**< Reads the two halves of a batch separately from a live handle. */
    FAULT_TORN,   /**< Takes half of a value from the previous snapshot. */
    FAULTS
};

/** Changes of the files that the writer makes on request. */
enum change { CHECKPOINT, REBALANCE, ADD_FIELD, RENAME_FIELD, DROP_FIELD, CHANGES };

struct options {
    char path[400];
    uint64_t rate;  /**< Changes per second; 0: as many as possible. */
    uint64_t floor; /**< The minimum length of the dataset. */
    uint64_t seed;
    uint32_t workers;   /**< 1 to 4. */
    bool lasting;       /**< Durability periodic, not none. */
    double change_each; /**< Seconds between changes of the files; 0: no requests. */
    double before;      /**< Seconds of each phase except the last. */
    double seconds;     /**< Seconds of the last phase: with the writer. */
};

struct spent {
    atomic_uint_fast64_t batches, records;
    atomic_uint_fast64_t processor, time; /**< Nanoseconds within the library. */
    atomic_uint_fast64_t slowest;         /**< Of one batch. */
};

struct part {
    atomic_uint_fast64_t progress; /**< Batches, or commits; not 0 once it runs. */
    char why[600];                 /**< It failed. */
};

struct reader_part {
    struct part part;
    struct spent spent[KINDS][PHASES];
    atomic_uint_fast64_t states; /**< Number of new snapshots that were seen. */
    atomic_uint_fast64_t held;   /**< Held views and snapshots that were still right at release. */
};

struct writer_part {
    struct part part;
    atomic_uint_fast64_t changed; /**< Records, in the last phase. */
    atomic_uint_fast64_t commits;
    atomic_uint_fast64_t slowest; /**< Durations of commits, in nanoseconds. */
    atomic_uint_fast64_t done[CHANGES];
    atomic_bool filled;
};

/** Two measured readers, and one that is stopped and killed. */
#define MEASURED 2
#define VICTIM MEASURED
#define READERS (MEASURED + 1)

struct share {
    struct options options;
    _Atomic(enum phase) phase;
    struct writer_part writer;
    struct reader_part readers[READERS];
};

static inline uint64_t clock_read(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void note_most(atomic_uint_fast64_t *most, uint64_t value)
{
    if (atomic_load(most) < value)
        atomic_store(most, value);
}

#endif
