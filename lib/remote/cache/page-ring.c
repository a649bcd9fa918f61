/* SPDX-License-Identifier: MIT */
#include "remote/cache/page-ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/pages.h"

/* The ring grows by this much. Slots are as large as pages. */
#define SLAB_BYTES ((uint64_t)4 << 20)
#define SLAB_SLOTS (SLAB_BYTES / LX__PAGE_BYTES)

/* Pages that a thread stores or reads with one hold of the lock: so others wait only for a short
 * time, and a range of 1 MiB takes the lock only twice. */
#define STEP 256
#define STEP_BYTES (STEP * (size_t)LX__PAGE_BYTES)

/* Pages that are renewed together, by way of the stack. */
#define RENEWED 8

/** What a slot contains. */
typedef struct page_slot {
    uint64_t page;
    uint32_t file;
    uint32_t next;    /* the next slot of the bucket, plus 1; 0: none */
    uint16_t length;  /* of the page in bytes; 0: the slot is empty */
    atomic_bool read; /* set by readers, which only share the lock */
} page_slot;

/* The most slots: their numbers have 32 bits, and the size of their array has those of size_t. */
#define MAX_SLOTS (SIZE_MAX / 64 < (uint64_t)1 << 31 ? (uint64_t)SIZE_MAX / 64 : (uint64_t)1 << 31)

/* The pages are in slabs. A slot is found through its bucket of a hash table. */
struct lx__page_ring {
    pthread_mutex_t storing; /* held by the thread that stores, and protects next and slab_count */
    uint64_t next;           /* the slot to fill next */
    uint64_t slab_count;
    atomic_bool replaces; /* all slots were filled, so that pages replace each other */

    pthread_rwlock_t lock; /* protects the members that follow, and the slots that have a page */
    uint8_t **slabs;       /* slab_limit pointers; NULL: not allocated yet */
    page_slot *slots;      /* slot_limit */
    uint32_t *buckets;     /* bucket_mask + 1: the first slot, plus 1; 0: the bucket is empty */
    uint64_t unread;

    uint64_t slot_limit, slab_limit, bucket_mask; /* constant */
};

static uint64_t get_bucket_count(uint64_t slots)
{
    uint64_t count = 1;
    while (count < slots)
        count *= 2;
    return count;
}

/** Initializes the locks. Writers come before new readers, because readers that overlap all the
 * time would keep them from ever storing. */
static void init_locks(lx__page_ring *ring)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&ring->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    pthread_mutex_init(&ring->storing, NULL);
}

lx_status lx__page_ring_new(uint64_t bytes, lx__page_ring **ring, lx_error *error)
{
    *ring = NULL;
    uint64_t slots = bytes / LX__PAGE_BYTES;
    slots = slots < 1 ? 1 : slots < MAX_SLOTS ? slots : MAX_SLOTS;
    lx__page_ring *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "the pages of a remote dataset");
    made->slot_limit = slots;
    made->slab_limit = (slots - 1) / SLAB_SLOTS + 1;
    made->bucket_mask = get_bucket_count(slots) - 1;
    init_locks(made);
    made->slabs = lx__alloc_array((size_t)made->slab_limit, sizeof *made->slabs);
    /* These are zero, and use memory only where they were touched. */
    made->slots = lx__pages_alloc((size_t)slots * sizeof *made->slots);
    made->buckets = lx__pages_alloc((size_t)(made->bucket_mask + 1) * sizeof *made->buckets);
    if (made->slabs == NULL || made->slots == NULL || made->buckets == NULL) {
        lx__page_ring_free(made);
        return lx__fail_memory(error, "the pages of a remote dataset");
    }
    *ring = made;
    return LX_OK;
}

static void free_slabs(lx__page_ring *ring)
{
    for (uint64_t i = 0; ring->slabs != NULL && i < ring->slab_limit; i++) {
        lx__pages_free(ring->slabs[i], SLAB_BYTES);
        ring->slabs[i] = NULL;
    }
}

void lx__page_ring_free(lx__page_ring *ring)
{
    if (ring == NULL)
        return;
    free_slabs(ring);
    lx__free(ring->slabs);
    lx__pages_free(ring->slots, (size_t)ring->slot_limit * sizeof *ring->slots);
    lx__pages_free(ring->buckets, (size_t)(ring->bucket_mask + 1) * sizeof *ring->buckets);
    pthread_rwlock_destroy(&ring->lock);
    pthread_mutex_destroy(&ring->storing);
    lx__free(ring);
}

/* ---- the hash table; the caller holds the lock */

/** Returns the bucket of a page. Pages that follow each other have buckets that do, which the
 * processor loads together; groups of 64 pages are spread by Fibonacci hashing. */
static uint32_t *get_bucket(const lx__page_ring *ring, uint32_t file, uint64_t page)
{
    uint64_t group = (page / 64 ^ (uint64_t)file << 32) * 0x9e3779b97f4a7c15;
    return &ring->buckets[((group >> 32) * 64 + page % 64) & ring->bucket_mask];
}

static bool contains(const page_slot *slot, uint32_t file, uint64_t page)
{
    return slot->length != 0 && slot->page == page && slot->file == file;
}

/** Returns the slot of a page, or NULL. Pages that were stored together are in neighboring slots,
 * so the slot after @p before, if that is not NULL, is tried first. */
static page_slot *find(const lx__page_ring *ring, uint32_t file, uint64_t page, page_slot *before)
{
    if (before != NULL && before + 1 < ring->slots + ring->slot_limit &&
        contains(before + 1, file, page))
        return before + 1;
    uint32_t at = *get_bucket(ring, file, page);
    while (at != 0 && !contains(&ring->slots[at - 1], file, page))
        at = ring->slots[at - 1].next;
    return at != 0 ? &ring->slots[at - 1] : NULL;
}

static void link_slot(lx__page_ring *ring, page_slot *slot, uint32_t file, uint64_t page,
                      size_t length)
{
    uint32_t *bucket = get_bucket(ring, file, page);
    slot->file = file;
    slot->page = page;
    slot->length = (uint16_t)length;
    slot->next = *bucket;
    atomic_store_explicit(&slot->read, false, memory_order_relaxed);
    *bucket = (uint32_t)(slot - ring->slots) + 1;
}

/** Removes the page of a slot, if it has one. */
static void unlink_slot(lx__page_ring *ring, page_slot *slot)
{
    if (slot->length == 0)
        return;
    uint32_t *link = get_bucket(ring, slot->file, slot->page);
    while (*link != (uint32_t)(slot - ring->slots) + 1)
        link = &ring->slots[*link - 1].next;
    *link = slot->next;
    slot->length = 0;
}

static uint8_t *get_bytes(const lx__page_ring *ring, const page_slot *slot)
{
    uint64_t index = (uint64_t)(slot - ring->slots);
    return ring->slabs[index / SLAB_SLOTS] + index % SLAB_SLOTS * LX__PAGE_BYTES;
}

/* ---- storing */

/** Makes sure that there is memory for the next slot. Returns false if there is none at all. */
static bool prepare_next(lx__page_ring *ring)
{
    uint64_t slots = ring->slab_count * SLAB_SLOTS;
    slots = slots < ring->slot_limit ? slots : ring->slot_limit;
    if (ring->next < slots)
        return true;
    if (ring->slab_count < ring->slab_limit) {
        uint8_t *slab = lx__pages_alloc(SLAB_BYTES);
        if (slab != NULL) {
            pthread_rwlock_wrlock(&ring->lock);
            ring->slabs[ring->slab_count++] = slab;
            pthread_rwlock_unlock(&ring->lock);
            return true;
        }
    }
    ring->next = 0;
    atomic_store_explicit(&ring->replaces, true, memory_order_relaxed);
    return slots != 0;
}

/** Takes up to @p wanted slots that follow each other in a slab, which become empty. */
static uint64_t take_slots(lx__page_ring *ring, uint64_t wanted)
{
    uint64_t end = (ring->next / SLAB_SLOTS + 1) * SLAB_SLOTS, count = 0;
    end = end < ring->slot_limit ? end : ring->slot_limit;
    pthread_rwlock_wrlock(&ring->lock);
    for (; count < wanted && count < STEP && ring->next < end; count++) {
        page_slot *slot = &ring->slots[ring->next++];
        ring->unread += slot->length != 0 &&
                        !atomic_load_explicit(&slot->read, memory_order_relaxed);
        unlink_slot(ring, slot);
    }
    pthread_rwlock_unlock(&ring->lock);
    return count;
}

void lx__page_ring_store(lx__page_ring *ring, uint32_t file, uint64_t first, const uint8_t *data,
                         size_t size)
{
    pthread_mutex_lock(&ring->storing);
    while (size != 0 && prepare_next(ring)) {
        uint64_t count = take_slots(ring, (size - 1) / LX__PAGE_BYTES + 1);
        page_slot *slots = &ring->slots[ring->next - count];
        size_t step = size < count * LX__PAGE_BYTES ? size : (size_t)(count * LX__PAGE_BYTES);
        memcpy(get_bytes(ring, slots), data, step); /* nobody else uses empty slots */

        pthread_rwlock_wrlock(&ring->lock);
        for (uint64_t i = 0; i < count; i++) {
            size_t left = step - (size_t)(i * LX__PAGE_BYTES);
            page_slot *older = find(ring, file, first + i, NULL);
            if (older != NULL)
                unlink_slot(ring, older);
            link_slot(ring, &slots[i], file, first + i,
                      left < LX__PAGE_BYTES ? left : LX__PAGE_BYTES);
        }
        pthread_rwlock_unlock(&ring->lock);
        first += count;
        data += step;
        size -= step;
    }
    pthread_mutex_unlock(&ring->storing);
}

/* ---- pages that are needed again */

static bool replaces(lx__page_ring *ring)
{
    return atomic_load_explicit(&ring->replaces, memory_order_relaxed);
}

static bool was_read(page_slot *slot)
{
    return atomic_load_explicit(&slot->read, memory_order_relaxed);
}

/** Copies pages that were read, up to the first that was not, and returns their bytes. */
static size_t copy_read(lx__page_ring *ring, uint32_t file, lx__pages pages, uint8_t *data)
{
    size_t size = 0;
    pthread_rwlock_rdlock(&ring->lock);
    page_slot *at = NULL;
    /* Only the last page of a file is shorter. */
    for (uint64_t i = 0; i < pages.count && size == i * LX__PAGE_BYTES; i++) {
        at = find(ring, file, pages.first + i, at);
        if (at == NULL || !was_read(at))
            break;
        memcpy(data + size, get_bytes(ring, at), at->length);
        size += at->length;
    }
    pthread_rwlock_unlock(&ring->lock);
    return size;
}

void lx__page_ring_renew(lx__page_ring *ring, uint32_t file, lx__pages pages)
{
    uint8_t data[RENEWED * LX__PAGE_BYTES];
    if (!replaces(ring))
        return;
    for (uint64_t done = 0, count; done < pages.count; done += count) {
        count = pages.count - done < RENEWED ? pages.count - done : RENEWED;
        size_t size = copy_read(ring, file, (lx__pages){pages.first + done, count}, data);
        lx__page_ring_store(ring, file, pages.first + done, data, size);
        count = size != 0 ? (size - 1) / LX__PAGE_BYTES + 1 : 1;
    }
}

void lx__page_ring_drop_read(lx__page_ring *ring, uint32_t file, lx__pages pages)
{
    if (!replaces(ring))
        return;
    pthread_rwlock_wrlock(&ring->lock);
    for (uint64_t i = 0; i < pages.count; i++) {
        page_slot *found = find(ring, file, pages.first + i, NULL);
        if (found != NULL && was_read(found))
            unlink_slot(ring, found);
    }
    pthread_rwlock_unlock(&ring->lock);
}

/* ---- the other functions */

uint64_t lx__page_ring_count_present(lx__page_ring *ring, uint32_t file, lx__pages pages)
{
    uint64_t count = 0;
    pthread_rwlock_rdlock(&ring->lock);
    for (page_slot *at = NULL; count < pages.count; count++) {
        at = find(ring, file, pages.first + count, at);
        if (at == NULL)
            break;
    }
    pthread_rwlock_unlock(&ring->lock);
    return count;
}

static size_t read_some(lx__page_ring *ring, uint32_t file, uint64_t offset, uint8_t *data,
                        size_t size)
{
    size_t done = 0;
    pthread_rwlock_rdlock(&ring->lock);
    for (page_slot *at = NULL; done < size;) {
        uint64_t skip = (offset + done) % LX__PAGE_BYTES;
        at = find(ring, file, (offset + done) / LX__PAGE_BYTES, at);
        if (at == NULL || at->length <= skip)
            break;
        size_t step = (size_t)(at->length - skip);
        step = step < size - done ? step : size - done;
        memcpy(data + done, get_bytes(ring, at) + skip, step);
        done += step;
        /* Most pages are read once: do not write where nothing changes. */
        if (!atomic_load_explicit(&at->read, memory_order_relaxed))
            atomic_store_explicit(&at->read, true, memory_order_relaxed);
    }
    pthread_rwlock_unlock(&ring->lock);
    return done;
}

size_t lx__page_ring_read(lx__page_ring *ring, uint32_t file, uint64_t offset, void *data,
                          size_t size)
{
    size_t done = 0, step, got;
    do {
        step = size - done < STEP_BYTES ? size - done : STEP_BYTES;
        got = read_some(ring, file, offset + done, (uint8_t *)data + done, step);
        done += got;
    } while (got == step && done < size);
    return done;
}

void lx__page_ring_drop(lx__page_ring *ring, uint32_t file, lx__pages pages)
{
    pthread_rwlock_wrlock(&ring->lock);
    for (uint64_t i = 0; i < pages.count; i++) {
        page_slot *found = find(ring, file, pages.first + i, NULL);
        if (found != NULL)
            unlink_slot(ring, found);
    }
    pthread_rwlock_unlock(&ring->lock);
}

uint64_t lx__page_ring_count_unread(lx__page_ring *ring)
{
    pthread_rwlock_rdlock(&ring->lock);
    uint64_t unread = ring->unread;
    pthread_rwlock_unlock(&ring->lock);
    return unread;
}

void lx__page_ring_take_over(lx__page_ring *ring)
{
    /* A thread of the parent may have held the locks, and been in the middle of any change. */
    init_locks(ring);
    for (uint64_t i = 0; i < ring->slot_limit; i++)
        if (ring->slabs[i / SLAB_SLOTS] != NULL)
            ring->slots[i].length = 0;
    free_slabs(ring);
    ring->slab_count = ring->next = ring->unread = 0;
    atomic_store_explicit(&ring->replaces, false, memory_order_relaxed);
    memset(ring->buckets, 0, (size_t)(ring->bucket_mask + 1) * sizeof *ring->buckets);
}
