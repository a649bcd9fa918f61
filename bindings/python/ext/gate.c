/* SPDX-License-Identifier: MIT */
#include "gate.h"

#include "turn.h"

#include <time.h>

/* How long a wait goes on until signals are looked at. */
#define SLICE_NS 50000000L

/** Makes what threads meet at; also anew in a child of fork(), as nobody has left it locked. */
static int make(lxpy_gate *gate)
{
    pthread_condattr_t clock;
    gate->inside = gate->wanting = gate->waiting = 0;
    gate->alone = false;
    gate->forks = lxpy_forks();
    int failed = pthread_mutex_init(&gate->mutex, NULL) != 0 || pthread_condattr_init(&clock) != 0;
    if (failed == 0) {
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        failed = pthread_cond_init(&gate->changed, &clock) != 0;
        pthread_condattr_destroy(&clock);
    }
    if (failed == 0)
        return 0;
    PyErr_NoMemory();
    return -1;
}

int lxpy_gate_init(lxpy_gate *gate)
{
    if (make(gate) < 0)
        return -1;
    gate->made = true;
    return 0;
}

void lxpy_gate_free(lxpy_gate *gate)
{
    if (!gate->made || gate->forks != lxpy_forks())
        return;
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
    gate->made = false;
}

static struct timespec in_a_slice(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += SLICE_NS;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/** Waits until something has changed since @p seen, or for a slice; without the GIL. */
static void wait_for_event(lxpy_gate *gate, unsigned seen)
{
    struct timespec until = in_a_slice();
    pthread_mutex_lock(&gate->mutex);
    int result = 0;
    while (gate->events == seen && result == 0)
        result = pthread_cond_timedwait(&gate->changed, &gate->mutex, &until);
    pthread_mutex_unlock(&gate->mutex);
}

/** Gives the GIL up until something may have changed. -1 with an exception raised by a handler. */
static int wait_a_slice(lxpy_gate *gate)
{
    unsigned seen = gate->events; /* is changed with the GIL held, too */
    gate->waiting++;
    LXPY_WITHOUT_GIL(wait_for_event(gate, seen));
    gate->waiting--;
    return PyErr_CheckSignals();
}

static void tell(lxpy_gate *gate)
{
    if (gate->waiting == 0)
        return;
    pthread_mutex_lock(&gate->mutex);
    gate->events++;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

/** In a child of fork() the threads that were within are gone. */
static int renew(lxpy_gate *gate)
{
    return gate->forks == lxpy_forks() ? 0 : make(gate);
}

int lxpy_gate_enter(lxpy_gate *gate)
{
    if (renew(gate) < 0)
        return -1;
    while (gate->alone || gate->wanting != 0)
        if (wait_a_slice(gate) < 0)
            return -1;
    gate->inside++;
    return 0;
}

void lxpy_gate_leave(lxpy_gate *gate)
{
    if (gate->forks == lxpy_forks() && --gate->inside == 0)
        tell(gate);
}

int lxpy_gate_enter_alone(lxpy_gate *gate)
{
    int result = renew(gate);
    if (result < 0)
        return -1;
    gate->wanting++;
    while (result == 0 && (gate->alone || gate->inside != 0))
        result = wait_a_slice(gate);
    gate->wanting--;
    if (result == 0)
        gate->alone = true;
    else
        tell(gate); /* others may go in again */
    return result;
}

void lxpy_gate_leave_alone(lxpy_gate *gate)
{
    if (gate->forks != lxpy_forks())
        return;
    gate->alone = false;
    tell(gate);
}
