/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Resource usage of the processes and the dataset, second by second.
 */
#ifndef LX_TESTS_FAULTS_CONCURRENT_WATCH_H
#define LX_TESTS_FAULTS_CONCURRENT_WATCH_H

#include <sys/types.h>

#include "share.h"

/** The writer, and the measured readers. */
#define WATCHED (1 + MEASURED)

/** One measurement. Sizes are in bytes; those of processes are resident. */
enum quantity { PRIVATE, MAPPED, DESCRIPTORS, MAPS, QUANTITIES };
enum stored { LOGS, TABLES, CHUNKS, FILES, STORED };

extern const char *const watch_quantities[QUANTITIES];
extern const char *const watch_stored[STORED];

struct sample {
    double time;
    uint64_t of[WATCHED][QUANTITIES];
    uint64_t disk[STORED];
    uint64_t changed, states; /**< Of the writer, and of both readers together, so far. */
};

struct watch {
    struct sample *samples;
    size_t count, capacity;
    size_t warm; /**< Nothing should grow from here on. */
};

void watch_free(struct watch *watch);

void watch_look(struct watch *watch, double time, const struct share *share,
                const pid_t processes[WATCHED]);

/** Whether nothing grew in the last third of a long run after the warm-up. */
bool watch_is_flat(const struct watch *watch, char *why, size_t size);

#endif
