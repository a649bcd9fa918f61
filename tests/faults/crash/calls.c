/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum meaning {
    HARMLESS, /* changes no file */
    OPENS,    /* openat */
    WRITES,   /* pwrite64 */
    STREAMS,  /* write: only to marks, never to a file of the directory */
    RESIZES,  /* ftruncate */
    SYNCS,    /* fsync, fdatasync */
    MAPS,     /* mmap */
    MAKES,    /* mkdirat */
    RENAMES,  /* renameat, renameat2 */
    REMOVES,  /* unlinkat */
    FORBIDDEN /* writes without an event */
};

struct known {
    long number;
    enum meaning meaning;
    const char *name;
};

#define KNOWN(name, meaning)                                                                       \
    {                                                                                              \
        __NR_##name, meaning, #name                                                                \
    }

static const struct known table[] = {
#include "calls-table.h"
};

static const struct known *find(uint64_t number)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((uint64_t)table[i].number == number)
            return &table[i];
    return NULL;
}

bool call_concerns_files(const struct call *call)
{
    const struct known *known = find(call->number);
    return known == NULL || known->meaning != HARMLESS;
}

/* ---- memory and paths of the traced process */

static bool read_memory(const struct call *call, uint64_t address, void *data, size_t size)
{
    struct iovec here = {data, size};
    struct iovec there = {(void *)(uintptr_t)address, size};
    if (process_vm_readv(call->thread, &here, 1, &there, 1, 0) == (ssize_t)size)
        return true;
    /* Containers may forbid that call, but not this one. */
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)call->thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done = fd != -1 && pread(fd, data, size, (off_t)address) == (ssize_t)size;
    if (fd != -1)
        close(fd);
    return done;
}

/** Byte by byte: a string may end at the end of the memory. */
static bool read_string(const struct call *call, uint64_t address, char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!read_memory(call, address + i, &text[i], 1))
            return false;
        if (text[i] == '\0')
            return true;
    }
    return false;
}

static bool read_link(const char *link, char path[PATH_MAX])
{
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/** The path that descriptor @p fd has now. */
static bool path_of(const struct call *call, int fd, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, fd == AT_FDCWD ? "/proc/%d/cwd" : "/proc/%d/fd/%d",
             (int)call->process, fd);
    return read_link(link, path);
}

/** The path within @p root; NULL if it is elsewhere. A removed file has no path. */
static const char *within(const char *root, const char *path)
{
    size_t length = strlen(root), size = strlen(path);
    if (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    if (size > 10 && strcmp(path + size - 10, " (deleted)") == 0)
        return NULL;
    return path[length] == '/' ? path + length + 1 : path + length;
}

static const char *descriptor_within(const struct call *call, uint64_t fd, const char *root,
                                     char path[PATH_MAX])
{
    return path_of(call, (int)fd, path) ? within(root, path) : NULL;
}

/** The path of a name argument, relative to the descriptor before it. */
static const char *name_within(const struct call *call, size_t argument, const char *root,
                               char path[PATH_MAX])
{
    char name[PATH_MAX];
    if (!read_string(call, call->arguments[argument + 1], name, sizeof name))
        return NULL;
    if (name[0] == '/') {
        memcpy(path, name, strlen(name) + 1);
        return within(root, path);
    }
    if (!path_of(call, (int)call->arguments[argument], path))
        return NULL;
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "/%.*s", TRACE_PATH, name);
    return within(root, path);
}

/* ---- events */

static bool is_plain(const char *path)
{
    return path == NULL ||
           (strstr(path, "..") == NULL && strstr(path, "//") == NULL && strlen(path) < TRACE_PATH);
}

static bool record_write(const struct call *call, const char *path, struct trace *trace)
{
    size_t size = (size_t)call->result;
    struct event event = {.kind = TRACE_WRITE,
                          .path = (char *)(uintptr_t)path,
                          .offset = call->arguments[3],
                          .size = size,
                          .data = need(malloc(size + 1))};
    if (!read_memory(call, call->arguments[1], event.data, size)) {
        free(event.data);
        return false;
    }
    trace_add(trace, &event);
    return true;
}

static bool record_mark(const struct call *call, const char *root, struct trace *trace)
{
    char path[PATH_MAX];
    struct event event = {.kind = TRACE_MARK};
    if (call->arguments[2] != sizeof event.mark ||
        !read_memory(call, call->arguments[1], &event.mark, sizeof event.mark))
        return false;
    if (event.mark.kind == MARK_SYNC_FAILED) {
        const char *found = descriptor_within(call, event.mark.number, root, path);
        event.kind = TRACE_SYNC_FAILED;
        event.path = (char *)(uintptr_t)found;
        if (found == NULL)
            return true;
    }
    trace_add(trace, &event);
    return true;
}

static bool record_open(const struct call *call, const char *root, struct trace *trace)
{
    char path[PATH_MAX];
    uint64_t flags = call->arguments[2];
    if ((flags & (O_CREAT | O_TRUNC)) == 0)
        return true;
    const char *found = descriptor_within(call, (uint64_t)call->result, root, path);
    struct event event = {
        .kind = TRACE_OPEN, .path = (char *)(uintptr_t)found, .size = (flags & O_TRUNC) != 0};
    if (found != NULL)
        trace_add(trace, &event);
    return is_plain(found) && (flags & O_TMPFILE) != O_TMPFILE;
}

static bool record_name(const struct call *call, enum meaning meaning, const char *root,
                        struct trace *trace)
{
    char path[PATH_MAX], other[PATH_MAX];
    const char *found = name_within(call, 0, root, path), *to = NULL;
    struct event event = {.kind = meaning == MAKES ? TRACE_MAKE_DIRECTORY : TRACE_REMOVE};
    if (meaning == RENAMES) {
        to = name_within(call, 2, root, other);
        event.kind = TRACE_RENAME;
        if ((found == NULL) != (to == NULL))
            return false;
    }
    if (found == NULL)
        return true;
    event.path = (char *)(uintptr_t)found;
    event.to = (char *)(uintptr_t)to;
    trace_add(trace, &event);
    return is_plain(found) && is_plain(to);
}

static bool record_known(const struct call *call, const struct known *known, const char *root,
                         struct trace *trace)
{
    char path[PATH_MAX];
    bool maps_shared = (call->arguments[2] & PROT_WRITE) != 0 &&
                       (call->arguments[3] & MAP_TYPE) != MAP_PRIVATE &&
                       (call->arguments[3] & MAP_ANONYMOUS) == 0;
    if (known->meaning == HARMLESS || call->result < 0 || (known->meaning == MAPS && !maps_shared))
        return true;
    if (known->meaning == FORBIDDEN)
        return false;
    if (known->meaning == OPENS)
        return record_open(call, root, trace);
    if (known->meaning == MAKES || known->meaning == RENAMES || known->meaning == REMOVES)
        return record_name(call, known->meaning, root, trace);
    if (known->meaning == STREAMS && call->arguments[0] == TRACE_MARKS)
        return record_mark(call, root, trace);
    uint64_t fd = call->arguments[known->meaning == MAPS ? 4 : 0];
    const char *found = descriptor_within(call, fd, root, path);
    if (found == NULL)
        return true;
    struct event event = {.path = path + (found - path), .size = call->arguments[1]};
    if (known->meaning == WRITES)
        return record_write(call, found, trace);
    if (known->meaning != RESIZES && known->meaning != SYNCS)
        return false;
    event.kind = known->meaning == RESIZES ? TRACE_RESIZE : TRACE_SYNC;
    trace_add(trace, &event);
    return true;
}

bool call_record(const struct call *call, const char *root, struct trace *trace, char *why,
                 size_t size)
{
    const struct known *known = find(call->number);
    if (known == NULL) {
        snprintf(why, size, "unknown system call %llu: add its effect to calls-table.h",
                 (unsigned long long)call->number);
        return false;
    }
    if (record_known(call, known, root, trace))
        return true;
    snprintf(why, size, "a call of %s (%#llx, %#llx, %#llx) that has no event", known->name,
             (unsigned long long)call->arguments[0], (unsigned long long)call->arguments[1],
             (unsigned long long)call->arguments[2]);
    return false;
}
