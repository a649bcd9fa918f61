/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A process that is started to be killed, and its marks.
 */
#ifndef LX_TESTS_FAULTS_KILL_VICTIM_H
#define LX_TESTS_FAULTS_KILL_VICTIM_H

#include <sys/types.h>

#include "load.h"

struct victim {
    pid_t process; /**< 0: none. */
    int marks;     /**< The end of its pipe. */
    struct mark part;
    size_t part_size; /**< Bytes of an incomplete mark. */
};

/** Called for each mark. */
typedef void (*victim_hear)(void *user, const struct mark *mark);

/** Starts @p run in a child. */
void victim_start(struct victim *victim, void (*run)(const struct load *), const struct load *load);

/** Receives marks, and waits for them for that time. Returns false at the end of the pipe. */
bool victim_listen(struct victim *victim, int milliseconds, victim_hear hear, void *user);

/** Kills it, receives its remaining marks, and waits for its end. Returns false if it had ended by
 * itself with a failure. */
bool victim_kill(struct victim *victim, victim_hear hear, void *user);

#endif
