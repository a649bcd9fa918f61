/* SPDX-License-Identifier: MIT */
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failure.h"
#include "interrupt.h"

#define INSTALL "install it, in Debian as gnuplot-nox"
/* What a shell, and some C libraries, answer where there is no such program. */
#define STATUS_NOT_FOUND 127

extern char **environ;

/** Starts it; the error number of the system, or 0. */
static int start(int from, int to, int said, pid_t *child)
{
    static char name[] = "gnuplot", defaults[] = "-d"; /* nobody's own settings */
    char *const arguments[] = {name, defaults, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed != 0)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed != 0) {
        posix_spawn_file_actions_destroy(&files);
        return failed;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    failed = posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO);
    if (failed == 0)
        failed = posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
    if (failed == 0)
        failed = posix_spawn_file_actions_adddup2(&files, said, STDERR_FILENO);
    if (failed == 0)
        failed = posix_spawnp(child, name, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/** Writes the script. One that stops reading says why itself. */
static void feed(int pipe, const char *script, size_t size)
{
    while (size != 0 && !interrupted()) {
        ssize_t written = write(pipe, script, size);
        if (written == -1 && errno != EINTR)
            return;
        if (written > 0) {
            script += written;
            size -= (size_t)written;
        }
    }
}

static int wait_for(pid_t child)
{
    int status;
    if (interrupted())
        kill(child, SIGTERM);
    while (waitpid(child, &status, 0) == -1)
        if (errno != EINTR)
            return -1;
        else if (interrupted())
            kill(child, SIGTERM);
    return status;
}

/** The first line that it said and that says something: others point at a place in the script. */
static void read_said(int said, char *line, size_t size)
{
    char text[4096];
    ssize_t length = pread(said, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    line[0] = '\0';
    for (char *rest, *at = strtok_r(text, "\n", &rest); at != NULL;
         at = strtok_r(NULL, "\n", &rest)) {
        at += strspn(at, " \t^");
        if (*at == '\0' || strncmp(at, "gnuplot>", 8) == 0)
            continue;
        strncat(line, at, size - 1);
        return;
    }
}

static lx_status judge(int status, int said, lx_error *error)
{
    char line[256];
    if (status == 0)
        return LX_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_FOUND)
        return fail(error, LX_ERR_NOT_FOUND, "gnuplot, which draws, is not there: " INSTALL);
    read_said(said, line, sizeof line);
    return fail(error, LX_ERR_UNSUPPORTED, "gnuplot failed%s%s; if it lacks something, " INSTALL,
                line[0] != '\0' ? ": " : "", line);
}

/** With the pipe, and the file for what it says. */
static lx_status run(const char *script, size_t size, int to, const int ends[2], int said,
                     lx_error *error)
{
    pid_t child;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int failed = start(ends[0], to, said, &child);
    close(ends[0]);
    if (failed == 0) {
        sigaction(SIGPIPE, &ignore, &before);
        feed(ends[1], script, size);
        sigaction(SIGPIPE, &before, NULL);
    }
    close(ends[1]);
    if (failed == ENOENT || failed == ENOTDIR)
        return fail(error, LX_ERR_NOT_FOUND, "gnuplot, which draws, is not there: " INSTALL);
    if (failed != 0)
        return fail_errno(error, failed, "gnuplot", "cannot run it");
    int status = wait_for(child);
    return interrupted() ? interrupt_check(error) : judge(status, said, error);
}

lx_status gnuplot_run(const char *script, size_t size, int to, lx_error *error)
{
    int ends[2], said = memfd_create("gnuplot", MFD_CLOEXEC);
    if (said == -1)
        return fail_errno(error, errno, NULL, "cannot make a file in memory");
    if (pipe2(ends, O_CLOEXEC) == -1) {
        lx_status status = fail_errno(error, errno, NULL, "cannot make a pipe");
        close(said);
        return status;
    }
    lx_status status = run(script, size, to, ends, said, error);
    close(said);
    return status;
}
