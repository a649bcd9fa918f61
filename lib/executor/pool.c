/* SPDX-License-Identifier: MIT */
#include "executor/pool.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pages.h"
#include "executor/executor.h"
#include "executor/lifetime.h"

/* Size classes: eight between a power of two and the next, so that at most an eighth of a block is
 * unused. The first size is chosen such that these steps are pages. */
#define LEAST_BITS 15
#define MOST_BITS 46
#define STEP_BITS 3
#define CLASSES (((size_t)(MOST_BITS - LEAST_BITS) << STEP_BITS) + 1)
/* A kept block also serves requests down to half its size, which is this many classes. */
#define REACH ((size_t)1 << STEP_BITS)

struct lx__pool {
    lx_executor *executor; /* counted by a hold */
    uint64_t keep_bytes;
    atomic_uint references; /* the owner's, and one for each mapped block */

    pthread_mutex_t lock; /* protects all that follows */
    bool closed;
    lx__pool_stats stats;
    lx__link ages;             /* kept blocks, least recently used first */
    lx__link classes[CLASSES]; /* the same for each class */
};

/** The class of @p size, 1 to LX__BLOCK_MAX, and the capacity of its blocks. */
static size_t class_of(uint64_t size, uint64_t *capacity)
{
    if (size <= (uint64_t)1 << LEAST_BITS) {
        *capacity = (uint64_t)1 << LEAST_BITS;
        return 0;
    }
    int bits = 63 - __builtin_clzll(size - 1); /* 2^bits < size <= 2^(bits+1) */
    int step = bits - STEP_BITS;
    *capacity = lx__align_up(size, (uint64_t)1 << step);
    return ((size_t)(bits - LEAST_BITS) << STEP_BITS) + (size_t)(*capacity >> step) -
           ((size_t)1 << STEP_BITS);
}

uint64_t lx__pool_capacity(uint64_t size)
{
    uint64_t capacity;
    (void)class_of(size, &capacity);
    return capacity;
}

lx_status lx__pool_new(lx_executor *executor, uint64_t keep_bytes, lx__pool **pool, lx_error *error)
{
    lx__pool *made = lx__alloc_array(1, sizeof *made);
    *pool = made;
    if (made == NULL)
        return lx__fail_memory(error, "a pool");
    lx__executor_hold(executor);
    made->executor = executor;
    made->keep_bytes = keep_bytes;
    atomic_init(&made->references, 1);
    pthread_mutex_init(&made->lock, NULL);
    lx__list_init(&made->ages);
    for (size_t i = 0; i < CLASSES; i++)
        lx__list_init(&made->classes[i]);
    return LX_OK;
}

static void pool_unref(lx__pool *pool)
{
    if (atomic_fetch_sub_explicit(&pool->references, 1, memory_order_acq_rel) != 1)
        return;
    assert(pool->stats.bytes_mapped == 0);
    pthread_mutex_destroy(&pool->lock);
    lx__executor_release(pool->executor);
    lx__free(pool);
}

/** Unmaps a block that is no longer used. */
static void destroy(lx__block *block)
{
    lx__pool *pool = block->pool;
    lx__pages_free(block->data, block->capacity);
    pthread_mutex_lock(&pool->lock);
    pool->stats.bytes_mapped -= block->capacity;
    pthread_mutex_unlock(&pool->lock);
    lx__free(block);
    pool_unref(pool);
}

static void run_destroy(lx__task *task, size_t part)
{
    (void)task, (void)part; /* the task is in the memory to unmap: finish_destroy() does it */
}

static void finish_destroy(lx__task *task, bool canceled)
{
    (void)canceled; /* the thread that closed the executor unmaps the waiting blocks */
    destroy(LX__CONTAINER_OF(task, lx__block, task));
}

static lx__block *block_new(lx__pool *pool, size_t size_class, uint64_t capacity)
{
    lx__block *block = lx__alloc(sizeof *block);
    uint8_t *data = block != NULL ? lx__pages_alloc((size_t)capacity) : NULL;
    if (data == NULL) {
        lx__free(block);
        return NULL;
    }
    *block = (lx__block){
        .data = data, .capacity = (size_t)capacity, .pool = pool, .size_class = size_class};
    lx__task_init(&block->task, run_destroy, finish_destroy, 1);
    atomic_fetch_add_explicit(&pool->references, 1, memory_order_relaxed);
    return block;
}

/** Removes a kept block from its lists; the caller holds the lock. */
static void forget(lx__pool *pool, lx__block *block)
{
    lx__list_remove(&block->age_link);
    lx__list_remove(&block->class_link);
    pool->stats.bytes_kept -= block->capacity;
}

/** Moves kept blocks, least recently used first, to @p list until at most @p bytes are kept. */
static void evict(lx__pool *pool, uint64_t bytes, lx__link *list)
{
    while (pool->stats.bytes_kept > bytes) {
        lx__block *oldest = LX__CONTAINER_OF(pool->ages.next, lx__block, age_link);
        forget(pool, oldest);
        lx__list_insert(list, &oldest->age_link);
    }
}

/** Unmaps the blocks of @p list, on a cleaner or on this thread; true if there were any. */
static bool discard(lx_executor *executor, lx__link *list, bool here)
{
    bool any = !lx__list_is_empty(list);
    while (!lx__list_is_empty(list)) {
        lx__block *block = LX__CONTAINER_OF(list->next, lx__block, age_link);
        lx__list_remove(&block->age_link);
        if (here || lx__executor_submit(executor, LX_QUEUE_GC, &block->task, NULL) != LX_OK)
            destroy(block);
    }
    return any;
}

void lx__pool_free(lx__pool *pool)
{
    if (pool == NULL || lx__executor_check(pool->executor, NULL) != LX_OK)
        return;
    lx__link evicted;
    lx__list_init(&evicted);
    pthread_mutex_lock(&pool->lock);
    pool->closed = true;
    evict(pool, 0, &evicted);
    pthread_mutex_unlock(&pool->lock);
    discard(pool->executor, &evicted, false);
    pool_unref(pool);
}

/** The most recently used of the kept blocks that fit best, or NULL; the caller holds the lock. */
static lx__block *find(lx__pool *pool, size_t size_class)
{
    for (size_t i = size_class; i <= size_class + REACH && i < CLASSES; i++)
        if (!lx__list_is_empty(&pool->classes[i]))
            return LX__CONTAINER_OF(pool->classes[i].before, lx__block, class_link);
    return NULL;
}

/** Counts @p block as taken; the caller holds the lock. */
static void count_out(lx__pool *pool, const lx__block *block)
{
    pool->stats.blocks_out++;
    pool->stats.bytes_out += block->capacity;
}

/** Maps a block; if that fails, unmaps all kept blocks and retries. */
static lx__block *make(lx__pool *pool, size_t size_class, uint64_t capacity)
{
    lx__block *block = block_new(pool, size_class, capacity);
    if (block == NULL) {
        lx__link evicted;
        lx__list_init(&evicted);
        pthread_mutex_lock(&pool->lock);
        evict(pool, 0, &evicted);
        pthread_mutex_unlock(&pool->lock);
        if (discard(pool->executor, &evicted, true))
            block = block_new(pool, size_class, capacity);
    }
    if (block == NULL)
        return NULL;
    pthread_mutex_lock(&pool->lock);
    pool->stats.blocks_made++;
    pool->stats.bytes_mapped += block->capacity;
    count_out(pool, block);
    pthread_mutex_unlock(&pool->lock);
    return block;
}

lx_status lx__pool_take(lx__pool *pool, uint64_t size, lx__block **block, lx_error *error)
{
    *block = NULL;
    lx_status status = lx__executor_check(pool->executor, error);
    if (status != LX_OK)
        return status;
    if (size == 0 || size > LX__BLOCK_MAX || size > SIZE_MAX / 4)
        return lx__fail(error, LX_ERR_LIMIT, "a batch of %" PRIu64 " bytes is not possible", size);

    uint64_t capacity;
    size_t size_class = class_of(size, &capacity);
    pthread_mutex_lock(&pool->lock);
    lx__block *found = find(pool, size_class);
    if (found != NULL) {
        forget(pool, found);
        count_out(pool, found);
    }
    pthread_mutex_unlock(&pool->lock);
    if (found == NULL)
        found = make(pool, size_class, capacity);
    if (found == NULL)
        return lx__fail(error, LX_ERR_NOMEM,
                        "no memory for a batch of %" PRIu64 " bytes: release batches, or make "
                        "them smaller or fewer at a time",
                        size);
    *block = found;
    return LX_OK;
}

void lx__block_release(lx__block *block)
{
    /* In a child, a thread that does not exist there may hold the pool's lock. */
    if (block == NULL || lx__executor_check(block->pool->executor, NULL) != LX_OK)
        return;
    lx__pool *pool = block->pool;
    lx_executor *executor = pool->executor;
    lx__link evicted;
    lx__list_init(&evicted);

    pthread_mutex_lock(&pool->lock);
    pool->stats.blocks_out--;
    pool->stats.bytes_out -= block->capacity;
    lx__list_insert(&pool->ages, &block->age_link);
    lx__list_insert(&pool->classes[block->size_class], &block->class_link);
    pool->stats.bytes_kept += block->capacity;
    evict(pool, pool->closed ? 0 : pool->keep_bytes, &evicted);
    pthread_mutex_unlock(&pool->lock);
    /* From here on the pool may be gone, unless blocks were evicted, which keep it. */
    discard(executor, &evicted, false);
}

void lx__pool_read_stats(lx__pool *pool, lx__pool_stats *stats)
{
    pthread_mutex_lock(&pool->lock);
    *stats = pool->stats;
    pthread_mutex_unlock(&pool->lock);
}
