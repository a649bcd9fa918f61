/* SPDX-License-Identifier: MIT */
#include "zrecord/write/writer.h"

#include <signal.h>
#include <sys/wait.h>

#include "../records.h"

/** Acts as the parent: opens three datasets, closes one, forks a child, reports its id, and waits
 * to be killed. */
static void fork_and_wait(int pipes)
{
    lx_writer *writers[3];
    const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++)
        if (lx_writer_open(names[i], NULL, &writers[i], NULL) != LX_OK)
            _exit(1);
    if (lx_writer_close(writers[1], NULL) != LX_OK)
        _exit(2);
    pid_t child = fork(), own = getpid();
    /* The child has released the locks by then. */
    if (child == -1 || (child == 0 && write(pipes, &own, sizeof own) != (ssize_t)sizeof own))
        _exit(3);
    for (;;)
        pause();
}

static void expect_free(const char *path)
{
    close_writer(records_reopen(path, NULL));
    expect_dataset(path, 0);
}

START_TEST(a_child_of_a_killed_writer_holds_no_lock)
{
    char *scratch = scratch_make();
    int pipes[2];
    pid_t child;
    for (const char *name = "abc"; *name != '\0'; name++)
        close_writer(records_create((char[]){*name, '\0'}, NULL));
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t parent = fork();
    if (parent == 0)
        fork_and_wait(pipes[1]);
    ck_assert_int_eq(read(pipes[0], &child, sizeof child), sizeof child);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    ck_assert_int_eq(kill(child, 0), 0);
    expect_free("a");
    expect_free("b");
    expect_free("c");
    kill(child, SIGKILL);
    close(pipes[0]);
    close(pipes[1]);
    scratch_remove(scratch);
}
END_TEST

/** In the child: a descriptor that reuses the number of the lock's stays open when the writer is
 * closed, and a new writer of the child has a valid lock. */
static void go_on(lx_writer *inherited)
{
    struct stat about;
    lx_writer *own;
    int taken = dup(STDIN_FILENO);
    if (lx_writer_close(inherited, NULL) != LX_ERR_FORKED)
        _exit(1);
    if (taken == -1 || fstat(taken, &about) == -1)
        _exit(2);
    if (lx_writer_open("b", NULL, &own, NULL) != LX_OK)
        _exit(3);
    if (record_append(own, 0, NULL) != LX_OK || lx_writer_close(own, NULL) != LX_OK)
        _exit(4);
    _exit(0);
}

START_TEST(a_child_can_write_elsewhere)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *other;
    close_writer(records_create("b", NULL));
    lx_writer *writer = records_create("a", NULL);
    records_append(writer, 3);
    if (unit_in_child())
        go_on(writer);
    expect_dataset("b", 1);
    unit_fails(lx_writer_open("a", NULL, &other, &error), LX_ERR_BUSY);
    records_append(writer, 2);
    close_writer(writer);
    expect_dataset("a", 5);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/atfork", a_child_of_a_killed_writer_holds_no_lock, a_child_can_write_elsewhere)
