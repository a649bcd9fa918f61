/* SPDX-License-Identifier: MIT */
#include "executor/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include "../unit.h"

static bool child_says_it_is_this(const lx__process *process)
{
    pid_t child = fork();
    if (child == 0)
        _exit(lx__process_is_this(process) ? 1 : 0);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status) != 0;
}

START_TEST(a_child_is_another_process)
{
    lx__process process;
    lx__process_note(&process);
    ck_assert(lx__process_is_this(&process));
    ck_assert(!child_says_it_is_this(&process));
    ck_assert(lx__process_is_this(&process));
    lx__process_forget(&process);
    lx__process_forget(&process);
}
END_TEST

START_TEST(without_a_page_the_id_tells)
{
    lx__process process = {NULL, getpid()};
    ck_assert(lx__process_is_this(&process));
    ck_assert(!child_says_it_is_this(&process));
    lx__process_forget(&process);
}
END_TEST

UNIT_MAIN("executor/process", a_child_is_another_process, without_a_page_the_id_tells)
