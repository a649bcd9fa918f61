/* SPDX-License-Identifier: MIT */
#include "executor/thread.h"

#include <signal.h>
#include <stddef.h>

int lx__thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    /* If these were blocked, a fault would kill the process without calling its handlers. */
    static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);

    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int errnum = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errnum;
}
