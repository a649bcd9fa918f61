/* SPDX-License-Identifier: MIT */
#include "victim.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void victim_start(struct victim *victim, void (*run)(const struct load *), const struct load *load)
{
    int ends[2];
    if (pipe(ends) == -1)
        give_up("pipe");
    fflush(NULL);
    pid_t process = fork();
    if (process == -1)
        give_up("fork");
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(SUPPORT_TIMEOUT);
        close(ends[0]);
        if (dup2(ends[1], TRACE_MARKS) == -1)
            give_up("dup2");
        close(ends[1]);
        run(load);
        _exit(EXIT_FAILURE);
    }
    close(ends[1]);
    *victim = (struct victim){.process = process, .marks = ends[0]};
}

bool victim_listen(struct victim *victim, int milliseconds, victim_hear hear, void *user)
{
    struct mark marks[256];
    struct pollfd poll_for = {.fd = victim->marks, .events = POLLIN};
    if (poll(&poll_for, 1, milliseconds) <= 0)
        return true;
    memcpy(marks, &victim->part, victim->part_size);
    ssize_t got = read(victim->marks, (char *)marks + victim->part_size,
                       sizeof marks - victim->part_size);
    if (got <= 0)
        return got == -1 && errno == EINTR;
    size_t size = victim->part_size + (size_t)got, count = size / sizeof *marks;
    for (size_t i = 0; i < count; i++)
        hear(user, &marks[i]);
    victim->part_size = size % sizeof *marks;
    memcpy(&victim->part, &marks[count], victim->part_size);
    return true;
}

bool victim_kill(struct victim *victim, victim_hear hear, void *user)
{
    int status;
    kill(victim->process, SIGKILL);
    while (victim_listen(victim, -1, hear, user))
        ;
    if (waitpid(victim->process, &status, 0) != victim->process)
        give_up("waitpid");
    close(victim->marks);
    victim->process = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0;
}
