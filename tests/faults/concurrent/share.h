/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the processes of the test share: what each is to do, and what it has done. A process
 * writes its own part alone; another that is stopped or killed leaves nothing half done in it.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_SHARE_H
#define LX_TESTS_FAULTS_CONCURRENT_SHARE_H

#include <stdatomic.h>
#include <time.h>

#include "../support.h"

/** What the writer does while the readers read. */
enum phase {
    FRESH,      /**< Nothing: the dataset is as it was made. */
    WARM_UP,    /**< It writes. */
    IDLE,       /**< Nothing: many changes are in the log, and records lie anywhere. */
    ELSEWHERE,  /**< It writes another dataset, and has its share of the machine. */
    CONCURRENT, /**< It writes. */
    OVER,
    PHASES = OVER
};

/** How records are read. */
enum kind {
    LIVE_GATHER, /**< The heads, by one call on a live handle. */
    LIVE_VIEW,
    PIN_GATHER, /**< All fields, of a state that is pinned for it. */
    PIN_VIEW,
    REFRESH_GATHER, /**< All fields, by a handle that is refreshed before. */
    SCAN,           /**< All fields of all records, pinned. */
    OPEN,           /**< All fields, by a handle that is opened for it. */
    REFRESH,        /**< No record: what the others ask for first. */
    KINDS
};

/** Readers of which each has a fault, which must be found. */
enum fault {
    NO_FAULT,
    FAULT_FIELDS, /**< Asks a live handle for one field after another. */
    FAULT_BATCH,  /**< Asks a live handle for one half of a batch after the other. */
    FAULT_TORN,   /**< Takes half of a value from the state before. */
    FAULTS
};

/** Changes of the files that the writer makes when asked to. */
enum change { FOLD, REBALANCE, ADD_FIELD, RENAME_FIELD, DROP_FIELD, CHANGES };

struct options {
    char path[400];
    uint64_t rate;  /**< Changes a second; 0: as many as there can be. */
    uint64_t floor; /**< Records that are always there. */
    uint64_t seed;
    uint32_t lanes;     /**< 1 to 4. */
    bool lasting;       /**< Durability periodic, not none. */
    double change_each; /**< Seconds between changes of the files; 0: none is asked for. */
    double before;      /**< Seconds of each phase before the last. */
    double seconds;     /**< Of the last: with the writer. */
};

struct spent {
    atomic_uint_fast64_t batches, records;
    atomic_uint_fast64_t processor, time; /**< Nanoseconds within the library. */
    atomic_uint_fast64_t slowest;         /**< Of one batch. */
};

struct part {
    atomic_uint_fast64_t progress; /**< Batches, or commits; not 0: it is under way. */
    char why[600];                 /**< It failed. */
};

struct reader_part {
    struct part part;
    struct spent spent[KINDS][PHASES];
    atomic_uint_fast64_t states; /**< Times that a newer state was seen. */
    atomic_uint_fast64_t held;   /**< Views and states that were right after they were held. */
};

struct writer_part {
    struct part part;
    atomic_uint_fast64_t changed; /**< Records, in the last phase. */
    atomic_uint_fast64_t commits;
    atomic_uint_fast64_t slowest; /**< Commit, in nanoseconds. */
    atomic_uint_fast64_t done[CHANGES];
    atomic_bool filled;
};

/** Two readers that are measured, and one that is stopped and killed. */
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
