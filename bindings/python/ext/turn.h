/* SPDX-License-Identifier: MIT */
/* A lock that is held while the GIL is not: who waits for it can be interrupted by a signal, and a
 * child of fork() finds it open. All calls need the GIL. */
#ifndef LXPY_TURN_H
#define LXPY_TURN_H

#include "lxpy.h"

typedef struct lxpy_turn {
    PyThread_type_lock lock;
    unsigned forks; /* In which process it was made. */
} lxpy_turn;

/* How often this process is a child of fork(): differs from what a parent noted. */
unsigned lxpy_forks(void);

/* 0, or -1 with an exception set. A zeroed turn may be freed. */
int lxpy_turn_init(lxpy_turn *turn);
void lxpy_turn_free(lxpy_turn *turn);

/* Waits for the turn; -1 with an exception set where a signal's handler raised one. */
int lxpy_turn_take(lxpy_turn *turn);

/* Waits for it whatever happens. */
void lxpy_turn_insist(lxpy_turn *turn);

void lxpy_turn_give(lxpy_turn *turn);

#endif
