/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "failure.h"

/* Lock-free, so that the signal handler may write it; any thread may read it. */
static atomic_int noted;

static void note(int number)
{
    atomic_store(&noted, number);
}

void interrupt_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_RESETHAND; /* without SA_RESTART, waiting system calls return, and the
                                       caller checks for the signal */
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        /* An ignored signal, for example under nohup, stays ignored. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

int interrupted(void)
{
    return atomic_load(&noted);
}

lx_status interrupt_check(lx_error *error)
{
    int number = interrupted();
    if (number == 0)
        return LX_OK;
    return lx_fail(error, LX_ERR_CANCELED, "stopped by signal: %s", strsignal(number));
}
