/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <jansson.h>
#include <loaderx/hooks.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#if ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#endif

/* ---- buffers before an inaccessible page */

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        give_up("memory");
    return memory;
}

uint8_t *guarded_take(struct guarded *buffer, size_t capacity, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (buffer->end == NULL) {
        size_t bytes = (capacity + page - 1) / page * page;
        buffer->end = (uint8_t *)map(bytes + page) + bytes;
        buffer->capacity = capacity;
        if (mprotect(buffer->end, page, PROT_NONE) == -1)
            give_up("mprotect");
    }
    if (size > buffer->capacity)
        fuzz_fail("%zu bytes in a buffer of %zu", size, buffer->capacity);
    return buffer->end - size;
}

const uint8_t *guarded_copy(struct guarded *buffer, size_t capacity, const void *data, size_t size)
{
    uint8_t *copy = guarded_take(buffer, capacity, size);
    if (size != 0)
        memcpy(copy, data, size);
    return copy;
}

/* ---- large pieces that are reused */

#if ADDRESS_SANITIZED

/* A writer has a dozen; the oldest is freed if the list is full. */
#define KEPT 64
#define LARGE ((size_t)64 << 10)

static struct piece {
    void *memory;
    size_t size;
} pieces[KEPT];
static size_t piece_count;
static pthread_mutex_t piece_mutex = PTHREAD_MUTEX_INITIALIZER;

/** Removes and returns the oldest piece of that size; NULL if there is none. */
static void *take_piece(size_t size)
{
    void *memory = NULL;
    pthread_mutex_lock(&piece_mutex);
    for (size_t i = 0; memory == NULL && i < piece_count; i++) {
        if (pieces[i].size != size)
            continue;
        memory = pieces[i].memory;
        piece_count--;
        memmove(&pieces[i], &pieces[i + 1], (piece_count - i) * sizeof *pieces);
    }
    pthread_mutex_unlock(&piece_mutex);
    return memory;
}

static void *alloc_piece(size_t size, void *user)
{
    (void)user;
    void *memory = size >= LARGE ? take_piece(size) : NULL;
    if (memory == NULL)
        return malloc(size);
    ASAN_UNPOISON_MEMORY_REGION(memory, size);
    return memory;
}

static void release_piece(void *memory, void *user)
{
    struct piece old = {NULL, 0};
    (void)user;
    size_t size = memory != NULL ? malloc_usable_size(memory) : 0;
    if (size < LARGE) {
        free(memory);
        return;
    }
    ASAN_POISON_MEMORY_REGION(memory, size);
    pthread_mutex_lock(&piece_mutex);
    if (piece_count == KEPT) {
        old = pieces[0];
        memmove(&pieces[0], &pieces[1], --piece_count * sizeof *pieces);
    }
    pieces[piece_count++] = (struct piece){memory, size};
    pthread_mutex_unlock(&piece_mutex);
    ASAN_UNPOISON_MEMORY_REGION(old.memory, old.size);
    free(old.memory);
}

static void *resize_piece(void *memory, size_t size, void *user)
{
    (void)user;
    return realloc(memory, size);
}

void fuzz_keep_large(void)
{
    static const lx_allocator allocator = {alloc_piece, resize_piece, release_piece, NULL};
    if (lx_set_allocator(&allocator, NULL) != LX_OK)
        abort();
}

#else
void fuzz_keep_large(void)
{
}
#endif

/* ---- jansson's memory: no piece is reused within an input, so that freed memory stays poisoned */

#define ARENA ((size_t)64 << 20)
#define ALIGN 16
#define TAKEN UINT64_C(0x6a616e73736f6e21)
#define FREED UINT64_C(0x2165657264657266)

struct head {
    uint64_t mark;
    uint64_t size;
};

static uint8_t *arena;
static size_t used, kept;
static uint64_t taken, taken_before;
static pthread_mutex_t arena_mutex = PTHREAD_MUTEX_INITIALIZER; /* protects all of these */

static void *take(size_t size)
{
    size_t bytes = (size + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_lock(&arena_mutex);
    if (size > ARENA || ARENA - used < bytes + sizeof(struct head))
        fuzz_fail("jansson takes more than %zu bytes", ARENA);
    struct head *head = (struct head *)(void *)(arena + used);
    ASAN_UNPOISON_MEMORY_REGION(head, sizeof *head + size);
    *head = (struct head){TAKEN, size};
    ASAN_POISON_MEMORY_REGION(&head->mark, sizeof head->mark);
    used += bytes + sizeof *head;
    taken++;
    pthread_mutex_unlock(&arena_mutex);
    return head + 1;
}

static void give_back(void *memory)
{
    if (memory == NULL)
        return;
    struct head *head = (struct head *)memory - 1;
    pthread_mutex_lock(&arena_mutex);
    ASAN_UNPOISON_MEMORY_REGION(head, sizeof *head);
    if (head->mark != TAKEN)
        fuzz_fail(head->mark == FREED ? "jansson frees a piece of memory twice"
                                      : "jansson frees what it never had");
    head->mark = FREED;
    taken--;
    ASAN_POISON_MEMORY_REGION(head, sizeof *head + head->size);
    pthread_mutex_unlock(&arena_mutex);
}

void fuzz_json_begin(void)
{
    if (arena != NULL)
        return;
    arena = map(ARENA);
    ASAN_POISON_MEMORY_REGION(arena, ARENA);
    json_set_alloc_funcs(take, give_back);
}

void fuzz_json_keep(void)
{
    kept = used;
    taken_before = taken;
}

void fuzz_json_end(void)
{
    if (taken != taken_before)
        fuzz_fail("%llu pieces of memory were left to jansson",
                  (unsigned long long)(taken - taken_before));
    ASAN_POISON_MEMORY_REGION(arena + kept, used - kept);
    used = kept;
}
