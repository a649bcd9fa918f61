/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

/* The result of PTRACE_GET_SYSCALL_INFO (Linux 5.3), the same on every architecture. Each C library
 * names it differently. */
#define GET_SYSCALL_INFO 0x420e
#define AT_ENTRY 1
#define AT_EXIT 2
struct stop_info {
    uint8_t at;
    uint8_t pad[3];
    uint32_t architecture;
    uint64_t instruction;
    uint64_t stack;
    union {
        struct {
            uint64_t number;
            uint64_t arguments[6];
        } entry;
        struct {
            int64_t result;
            uint8_t is_error;
        } exit;
    } as;
};

/* A writer has a few threads. */
#define THREADS 64

struct thread {
    struct call call;
    bool inside; /* a call that was entered */
    bool held;   /* stopped at the entry, until the call of another thread is complete */
};

struct tracer {
    pid_t child;
    const char *root;
    struct trace *trace;
    struct thread threads[THREADS];
    size_t count;
    pid_t busy; /* the thread with a running call on files; 0: none */
    char *why;
    size_t size;
    bool refused, failed;
};

static struct thread *thread_of(struct tracer *tracer, pid_t id)
{
    for (size_t i = 0; i < tracer->count; i++)
        if (tracer->threads[i].call.thread == id)
            return &tracer->threads[i];
    if (tracer->count == THREADS)
        return NULL;
    struct thread *thread = &tracer->threads[tracer->count++];
    *thread = (struct thread){.call = {.process = tracer->child, .thread = id}};
    return thread;
}

static void fail(struct tracer *tracer, const char *what)
{
    if (!tracer->failed)
        snprintf(tracer->why, tracer->size, "%s", what);
    tracer->failed = true;
}

static void go_on(pid_t id, int signal)
{
    (void)ptrace(PTRACE_SYSCALL, id, NULL, (void *)(intptr_t)signal);
}

/** The call on files is complete, or its thread has ended: the next waiting one may run. */
static void hand_on(struct tracer *tracer)
{
    tracer->busy = 0;
    for (size_t i = 0; i < tracer->count; i++) {
        struct thread *thread = &tracer->threads[i];
        if (!thread->held)
            continue;
        thread->held = false;
        tracer->busy = thread->call.thread;
        go_on(thread->call.thread, 0);
        return;
    }
}

static void forget_thread(struct tracer *tracer, pid_t id)
{
    for (size_t i = 0; i < tracer->count; i++)
        if (tracer->threads[i].call.thread == id)
            tracer->threads[i--] = tracer->threads[--tracer->count];
    if (tracer->busy == id)
        hand_on(tracer);
}

static void at_entry(struct tracer *tracer, struct thread *thread, const struct stop_info *info)
{
    thread->inside = true;
    thread->call.number = info->as.entry.number;
    memcpy(thread->call.arguments, info->as.entry.arguments, sizeof thread->call.arguments);
    if (!call_concerns_files(&thread->call)) {
        go_on(thread->call.thread, 0);
    } else if (tracer->busy != 0) {
        thread->held = true;
    } else {
        tracer->busy = thread->call.thread;
        go_on(thread->call.thread, 0);
    }
}

static void at_exit(struct tracer *tracer, struct thread *thread, const struct stop_info *info)
{
    thread->inside = false;
    thread->call.result = info->as.exit.result;
    char why[256];
    if (!call_record(&thread->call, tracer->root, tracer->trace, why, sizeof why))
        fail(tracer, why);
    go_on(thread->call.thread, 0);
    if (tracer->busy == thread->call.thread)
        hand_on(tracer);
}

static void at_call(struct tracer *tracer, pid_t id)
{
    struct stop_info info = {0};
    struct thread *thread = thread_of(tracer, id);
    if (thread == NULL) {
        fail(tracer, "the job has more threads than the recorder has room for");
    } else if (ptrace(GET_SYSCALL_INFO, id, (void *)sizeof info, &info) <= 0) {
        fail(tracer, "the kernel does not report system calls to a tracer (needs Linux 5.3)");
        tracer->refused = true;
    } else if (info.at == AT_ENTRY) {
        at_entry(tracer, thread, &info);
        return;
    } else if (info.at == AT_EXIT && thread->inside) {
        at_exit(tracer, thread, &info);
        return;
    }
    go_on(id, 0);
}

/** Handles one stop of one thread. Returns false at the end of the child. */
static bool follow(struct tracer *tracer, pid_t id, int status)
{
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (id != tracer->child) {
            forget_thread(tracer, id);
            return true;
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            char why[64];
            snprintf(why, sizeof why, "the job ended with %s %d",
                     WIFEXITED(status) ? "status" : "signal",
                     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
            fail(tracer, why);
        }
        return false;
    }
    if (WSTOPSIG(status) == (SIGTRAP | 0x80))
        at_call(tracer, id);
    else if (status >> 16 != 0)
        go_on(id, 0); /* a new thread, an interruption, an exit */
    else
        go_on(id, WSTOPSIG(status));
    return true;
}

/** Attaches to the child, which waits at the other end of @p gate. */
static bool seize(struct tracer *tracer, int gate)
{
    int status;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, tracer->child, NULL, (void *)options) == -1 ||
        ptrace(PTRACE_INTERRUPT, tracer->child, NULL, NULL) == -1 ||
        waitpid(tracer->child, &status, __WALL) != tracer->child) {
        snprintf(tracer->why, tracer->size, "ptrace is not permitted here: %s", strerror(errno));
        return false;
    }
    go_on(tracer->child, 0);
    return write(gate, "", 1) == 1;
}

static _Noreturn void be_child(int gate, int (*job)(void *), void *user)
{
    char byte;
    alarm(SUPPORT_TIMEOUT);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (read(gate, &byte, 1) != 1 || dup2(null, TRACE_MARKS) == -1)
        _exit(99);
    _exit(job(user));
}

enum recording record(const char *root, int (*job)(void *), void *user, struct trace *trace,
                      char *why, size_t size)
{
    int gate[2], status;
    struct tracer tracer = {.root = root, .trace = trace, .why = why, .size = size};
    if (pipe(gate) == -1)
        give_up("pipe");
    fflush(NULL);
    tracer.child = fork();
    if (tracer.child == -1)
        give_up("fork");
    if (tracer.child == 0) {
        close(gate[1]);
        be_child(gate[0], job, user);
    }
    close(gate[0]);
    bool seized = seize(&tracer, gate[1]);
    close(gate[1]);
    if (!seized) {
        kill(tracer.child, SIGKILL);
        waitpid(tracer.child, &status, __WALL);
        return RECORDING_REFUSED;
    }
    pid_t id;
    while (!tracer.failed && (id = waitpid(-1, &status, __WALL)) > 0 && follow(&tracer, id, status))
        ;
    if (tracer.failed) {
        kill(tracer.child, SIGKILL);
        while (waitpid(-1, &status, __WALL) > 0)
            ;
    }
    return tracer.refused ? RECORDING_REFUSED : tracer.failed ? RECORDING_FAILED : RECORDED;
}
