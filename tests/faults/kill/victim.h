/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A process that is started to be killed, and the marks that it sends.
 */
#ifndef LX_TESTS_FAULTS_KILL_VICTIM_H
#define LX_TESTS_FAULTS_KILL_VICTIM_H

#include <sys/types.h>

#include "load.h"

struct victim {
    pid_t process; /**< 0: none. */
    int marks;     /**< The end of its pipe. */
    struct mark part;
    size_t part_size; /**< Bytes of a mark that has not come in full. */
};

/** Told of each mark. */
typedef void (*victim_hear)(void *user, const struct mark *mark);

/** Starts @p run in a child. */
void victim_start(struct victim *victim, void (*run)(const struct load *), const struct load *load);

/** Takes what has come; without anything, waits for it so long. False at the end of the pipe. */
bool victim_listen(struct victim *victim, int milliseconds, victim_hear hear, void *user);

/** Kills it, takes what it had sent, and waits for its end. False if it had ended by itself with a
 * failure. */
bool victim_kill(struct victim *victim, victim_hear hear, void *user);

#endif
