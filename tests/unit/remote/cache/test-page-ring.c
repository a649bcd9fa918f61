/* SPDX-License-Identifier: MIT */
#include "remote/cache/page-ring.h"

#include <pthread.h>
#include <sys/resource.h>

#include "../../unit.h"
#include "executor/clock.h"
#include "executor/thread.h"

#define PAGE ((size_t)LX__PAGE_BYTES)
#define SLAB_PAGES 1024

static uint64_t random_state = 1;

/** xorshift64 (Marsaglia 2003). */
static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static uint8_t byte_of(uint32_t file, uint64_t offset, unsigned version)
{
    uint64_t mixed = (offset + ((uint64_t)file << 40) + version) * 0x9e3779b97f4a7c15;
    return (uint8_t)(mixed >> 56);
}

static void fill(uint8_t *data, size_t size, uint32_t file, uint64_t offset, unsigned version)
{
    for (size_t i = 0; i < size; i++)
        data[i] = byte_of(file, offset + i, version);
}

static lx__page_ring *ring_new(uint64_t pages)
{
    lx_error error = LX_ERROR_INIT;
    lx__page_ring *ring;
    unit_ok(lx__page_ring_new(pages * PAGE, &ring, &error));
    return ring;
}

static void store(lx__page_ring *ring, uint32_t file, uint64_t first, uint64_t count)
{
    uint8_t *data = malloc(count * PAGE);
    fill(data, count * PAGE, file, first * PAGE, 0);
    lx__page_ring_store(ring, file, first, data, count * PAGE);
    free(data);
}

/** Whether the ring has the bytes from @p offset, and exactly @p wanted of them. */
static bool reads(lx__page_ring *ring, uint32_t file, uint64_t offset, size_t size, size_t wanted)
{
    uint8_t *data = malloc(size);
    bool right = lx__page_ring_read(ring, file, offset, data, size) == wanted;
    for (size_t i = 0; right && i < wanted; i++)
        right = data[i] == byte_of(file, offset + i, 0);
    free(data);
    return right;
}

START_TEST(reads_what_was_stored)
{
    lx__page_ring *ring = ring_new(100);
    store(ring, 7, 10, 3);
    ck_assert(reads(ring, 7, 10 * PAGE, 3 * PAGE, 3 * PAGE));
    ck_assert(reads(ring, 7, 11 * PAGE - 5, 10, 10));
    ck_assert(reads(ring, 7, 12 * PAGE + 100, 2 * PAGE, PAGE - 100));
    ck_assert(reads(ring, 7, 9 * PAGE, 2 * PAGE, 0));
    ck_assert(reads(ring, 8, 10 * PAGE, PAGE, 0));
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 7, (lx__pages){10, 100}), 3);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 7, (lx__pages){11, 1}), 1);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 7, (lx__pages){9, 2}), 0);
    lx__page_ring_free(ring);
    lx__page_ring_free(NULL);
}
END_TEST

START_TEST(reads_many_pages)
{
    lx__page_ring *ring = ring_new(700);
    store(ring, 1, 0, 700); /* more than are read at a time */
    ck_assert(reads(ring, 1, 100, 700 * PAGE, 700 * PAGE - 100));
    ck_assert(reads(ring, 1, 100, 512 * PAGE, 512 * PAGE));
    lx__page_ring_drop(ring, 1, (lx__pages){256, 1});
    ck_assert(reads(ring, 1, 0, 700 * PAGE, 256 * PAGE));
    lx__page_ring_free(ring);
}
END_TEST

START_TEST(the_last_page_of_a_file_may_be_short)
{
    lx__page_ring *ring = ring_new(100);
    uint8_t data[2 * PAGE], back[2 * PAGE];
    fill(data, sizeof data, 1, 0, 0);
    lx__page_ring_store(ring, 1, 0, data, PAGE + 10);
    ck_assert(reads(ring, 1, 0, 2 * PAGE, PAGE + 10));
    ck_assert(reads(ring, 1, PAGE + 10, 1, 0));
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 1, (lx__pages){0, 2}), 2);

    lx__page_ring_store(ring, 1, 1, data + PAGE, PAGE); /* the file has grown */
    ck_assert_uint_eq(lx__page_ring_read(ring, 1, 0, back, sizeof back), sizeof back);
    ck_assert_mem_eq(back, data, sizeof back);
    lx__page_ring_free(ring);
}
END_TEST

START_TEST(the_oldest_page_is_replaced)
{
    lx__page_ring *ring = ring_new(8);
    store(ring, 0, 0, 8);
    ck_assert(reads(ring, 0, 0, PAGE, PAGE)); /* reading does not keep a page */
    store(ring, 0, 100, 2);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 0, (lx__pages){0, 8}), 0);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 0, (lx__pages){2, 8}), 6);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 0, (lx__pages){100, 8}), 2);
    ck_assert_uint_eq(lx__page_ring_count_unread(ring), 1); /* page 1; page 0 was read */

    store(ring, 1, 0, 20); /* more than fits: the last ones stay */
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 1, (lx__pages){12, 20}), 8);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 1, (lx__pages){11, 1}), 0);
    ck_assert(reads(ring, 1, 12 * PAGE, 8 * PAGE, 8 * PAGE));
    lx__page_ring_free(ring);
}
END_TEST

/** Whether these pages are in a ring, and no others of the first 100. */
static bool has_only(lx__page_ring *ring, uint64_t first, uint64_t count)
{
    for (uint64_t page = 0; page < 100; page++)
        if ((lx__page_ring_count_present(ring, 0, (lx__pages){page, 1}) != 0) !=
            (page >= first && page < first + count))
            return false;
    return true;
}

START_TEST(renewed_pages_are_as_young_as_new_ones)
{
    lx__page_ring *ring = ring_new(40);
    store(ring, 0, 0, 40);
    ck_assert(reads(ring, 0, 0, 40 * PAGE, 40 * PAGE));
    lx__page_ring_renew(ring, 0, (lx__pages){0, 40}); /* no page was replaced: does nothing */
    store(ring, 0, 200, 1);
    ck_assert(has_only(ring, 1, 39));

    lx__page_ring_renew(ring, 0, (lx__pages){15, 20}); /* 20 are left to be replaced first */
    store(ring, 0, 201, 19);
    ck_assert(has_only(ring, 15, 20));
    ck_assert(reads(ring, 0, 15 * PAGE, 20 * PAGE, 20 * PAGE));
    ck_assert_uint_eq(lx__page_ring_count_unread(ring), 0);
    lx__page_ring_free(ring);
}
END_TEST

START_TEST(pages_that_were_not_read_are_not_renewed)
{
    lx__page_ring *ring = ring_new(10);
    store(ring, 0, 0, 10);
    ck_assert(reads(ring, 0, 4 * PAGE, 2 * PAGE, 2 * PAGE));
    store(ring, 0, 200, 1);
    lx__page_ring_renew(ring, 0, (lx__pages){0, 10});
    store(ring, 0, 201, 7);
    ck_assert(has_only(ring, 4, 2));
    lx__page_ring_free(ring);
}
END_TEST

START_TEST(pages_that_were_read_can_be_dropped)
{
    lx__page_ring *ring = ring_new(10);
    store(ring, 0, 0, 10);
    ck_assert(reads(ring, 0, 0, 5 * PAGE, 5 * PAGE));
    lx__page_ring_drop_read(ring, 0, (lx__pages){1, 9}); /* no page was replaced: does nothing */
    ck_assert(has_only(ring, 0, 10));
    store(ring, 0, 200, 1);
    lx__page_ring_drop_read(ring, 0, (lx__pages){0, 4});
    ck_assert(has_only(ring, 4, 6));
    lx__page_ring_drop_read(ring, 0, (lx__pages){0, 10});
    ck_assert(has_only(ring, 5, 5));
    lx__page_ring_free(ring);
}
END_TEST

START_TEST(dropped_pages_are_gone)
{
    lx__page_ring *ring = ring_new(8);
    store(ring, 0, 0, 8);
    lx__page_ring_drop(ring, 0, (lx__pages){2, 3});
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 0, (lx__pages){0, 8}), 2);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 0, (lx__pages){5, 8}), 3);
    ck_assert(reads(ring, 0, 0, 8 * PAGE, 2 * PAGE));
    lx__page_ring_drop(ring, 9, (lx__pages){0, 100});
    lx__page_ring_free(ring);
}
END_TEST

/* ---- any sequence of calls, against a model: a page is present if it was stored, was not dropped
 * since, and fewer than `capacity` pages were stored since */

enum { FILES = 3, PAGES = 60, CALLS = 4000 };

struct model_page {
    bool present, read;
    uint64_t serial;
    unsigned version;
    size_t length;
};

static struct model_page model[FILES][PAGES];

static void model_store(uint32_t file, uint64_t page, size_t length, unsigned version,
                        uint64_t serial, uint64_t capacity, uint64_t *unread)
{
    for (int f = 0; f < FILES; f++)
        for (int p = 0; p < PAGES; p++)
            if (model[f][p].present && model[f][p].serial + capacity == serial) {
                model[f][p].present = false;
                *unread += !model[f][p].read;
            }
    model[file][page] = (struct model_page){true, false, serial, version, length};
}

/** Compares a read with the model. */
static void check_read(lx__page_ring *ring, uint32_t file, uint64_t offset, size_t size)
{
    static uint8_t data[PAGES * PAGE];
    size_t got = lx__page_ring_read(ring, file, offset, data, size), i = 0;
    for (; i < size; i++) {
        uint64_t at = offset + i;
        struct model_page *page = &model[file][at / PAGE];
        if (at / PAGE >= PAGES || !page->present || at % PAGE >= page->length)
            break;
        page->read = true;
        if (i < got && data[i] != byte_of(file, at, page->version))
            break;
    }
    ck_assert_uint_eq(i, got);
}

/** If @p unique, never stores a page that is present: then the number of unread pages is exact. */
static void test_model(uint64_t capacity, bool unique)
{
    static uint8_t data[PAGES * PAGE];
    lx__page_ring *ring = ring_new(capacity);
    uint64_t serial = 1, unread = 0;
    memset(model, 0, sizeof model);
    for (unsigned call = 0; call < CALLS / SLOWER; call++) {
        uint32_t file = (uint32_t)random_below(FILES);
        uint64_t first = random_below(PAGES), count = 1 + random_below(PAGES - first);
        switch (random_below(8)) {
        case 0:
        case 1: {
            size_t size = count * PAGE - (random_below(4) == 0 ? random_below(PAGE) : 0);
            fill(data, size, file, first * PAGE, call);
            if (unique)
                lx__page_ring_drop(ring, file, (lx__pages){first, count});
            for (uint64_t i = 0; i < count; i++)
                model[file][first + i].present &= !unique;
            lx__page_ring_store(ring, file, first, data, size);
            for (uint64_t i = 0; i < count; i++)
                model_store(file, first + i, i + 1 < count ? PAGE : size - (count - 1) * PAGE, call,
                            serial++, capacity, &unread);
            break;
        }
        case 2:
            if (random_below(4) != 0)
                break;
            lx__page_ring_drop(ring, file, (lx__pages){first, count});
            for (uint64_t i = 0; i < count; i++)
                model[file][first + i].present = false;
            break;
        case 3: {
            uint64_t present = 0;
            while (present < count && model[file][first + present].present)
                present++;
            ck_assert_uint_eq(lx__page_ring_count_present(ring, file, (lx__pages){first, count}),
                              present);
            break;
        }
        default:
            check_read(ring, file, first * PAGE + random_below(PAGE),
                       1 + random_below((count - 1) * PAGE + 1));
        }
    }
    if (unique)
        ck_assert_uint_eq(lx__page_ring_count_unread(ring), unread);
    lx__page_ring_free(ring);
}

START_TEST(agrees_with_a_plain_model)
{
    static const uint64_t capacities[] = {1, 2, 17, 64, 100, 150, 1000};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++)
        for (int unique = 0; unique < 2; unique++)
            test_model(capacities[i], unique != 0);
}
END_TEST

/* ---- memory */

#if !SANITIZED /* sanitizers map memory of their own */
static size_t get_mapped_kib(void)
{
    size_t kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmSize: %zu", &kib) == 1)
            break;
    fclose(file);
    return kib;
}

START_TEST(grows_with_its_pages_up_to_its_bound)
{
    lx__page_ring *ring = ring_new(5 * SLAB_PAGES);
    size_t before = get_mapped_kib();
    for (uint64_t i = 1; i <= 8; i++) {
        store(ring, 0, i * SLAB_PAGES, SLAB_PAGES);
        size_t slabs = i < 5 ? i : 5;
        ck_assert_uint_ge(get_mapped_kib() - before, slabs * 4096);
        ck_assert_uint_le(get_mapped_kib() - before, slabs * 4096 + 8192);
    }
    lx__page_ring_free(ring);
}
END_TEST

START_TEST(without_memory_it_uses_what_it_has)
{
    lx__page_ring *ring = ring_new(5 * SLAB_PAGES);
    lx__page_ring *empty = ring_new(5 * SLAB_PAGES);
    uint8_t *data = calloc(SLAB_PAGES, PAGE);
    lx__page_ring_store(ring, 0, 0, data, SLAB_PAGES * PAGE);
    struct rlimit limit = {get_mapped_kib() * 1024 + 1000000, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    lx__page_ring_store(ring, 0, SLAB_PAGES, data, 10 * PAGE);
    lx__page_ring_store(empty, 0, 0, data, 10 * PAGE);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 0, (lx__pages){SLAB_PAGES, 10}), 10);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 0, (lx__pages){0, 1}), 0);
    ck_assert_uint_eq(lx__page_ring_count_present(ring, 0, (lx__pages){10, 1}), 1);
    ck_assert_uint_eq(lx__page_ring_count_present(empty, 0, (lx__pages){0, 10}), 0);
    lx__page_ring_free(ring);
    lx__page_ring_free(empty);
    free(data);
}
END_TEST
#endif

/* ---- threads */

struct shared {
    lx__page_ring *ring;
    atomic_bool stop;
    atomic_uint wrong, hits;
};

static void *read_until_stopped(void *user)
{
    struct shared *shared = user;
    uint64_t state = (uint64_t)(uintptr_t)&state | 1;
    while (!atomic_load(&shared->stop)) {
        static _Thread_local uint8_t data[8 * PAGE];
        state = state * 6364136223846793005 + 1442695040888963407;
        uint64_t offset = (state >> 33) % (2000 * PAGE);
        size_t got = lx__page_ring_read(shared->ring, 1, offset, data, sizeof data);
        for (size_t i = 0; i < got; i += 511)
            if (data[i] != byte_of(1, offset + i, 0))
                atomic_fetch_add(&shared->wrong, 1);
        atomic_fetch_add(&shared->hits, got != 0);
    }
    return NULL;
}

START_TEST(threads_read_and_store_at_the_same_time)
{
    struct shared shared = {.ring = ring_new(500)};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(lx__thread_start(&threads[i], read_until_stopped, &shared), 0);
    uint64_t end = lx__clock_after(500000000);
    while (lx__clock_now() < end || atomic_load(&shared.hits) < 100) {
        uint64_t first = random_below(1990);
        store(shared.ring, 1, first, 1 + random_below(10));
        if (random_below(16) == 0)
            lx__page_ring_drop(shared.ring, 1, (lx__pages){random_below(2000), 5});
    }
    atomic_store(&shared.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(shared.wrong, 0);
    lx__page_ring_free(shared.ring);
}
END_TEST

START_TEST(a_child_begins_with_an_empty_ring)
{
    struct shared shared = {.ring = ring_new(2 * SLAB_PAGES)};
    pthread_t thread;
    store(shared.ring, 1, 0, 1500);
    ck_assert_int_eq(lx__thread_start(&thread, read_until_stopped, &shared), 0);
    for (int i = 0; i < 5; i++)
        if (unit_in_child()) {
            lx__page_ring_take_over(shared.ring);
            bool right = lx__page_ring_count_present(shared.ring, 1, (lx__pages){0, 2000}) == 0;
            store(shared.ring, 1, 0, 1500);
            right &= reads(shared.ring, 1, 0, 1500 * PAGE, 1500 * PAGE);
            right &= lx__page_ring_count_unread(shared.ring) == 0;
            lx__page_ring_free(shared.ring);
            _exit(right ? 0 : 1);
        }
    atomic_store(&shared.stop, true);
    pthread_join(thread, NULL);
    ck_assert(reads(shared.ring, 1, 0, 1500 * PAGE, 1500 * PAGE));
    lx__page_ring_free(shared.ring);
}
END_TEST

UNIT_MAIN("remote/cache/page-ring", reads_what_was_stored, reads_many_pages,
          the_last_page_of_a_file_may_be_short, the_oldest_page_is_replaced,
          renewed_pages_are_as_young_as_new_ones, pages_that_were_not_read_are_not_renewed,
          pages_that_were_read_can_be_dropped, dropped_pages_are_gone, agrees_with_a_plain_model,
#if !SANITIZED
          grows_with_its_pages_up_to_its_bound, without_memory_it_uses_what_it_has,
#endif
          threads_read_and_store_at_the_same_time, a_child_begins_with_an_empty_ring)
