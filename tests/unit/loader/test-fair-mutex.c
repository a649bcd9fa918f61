/* SPDX-License-Identifier: MIT */
#include "loader/fair-mutex.h"

#include "loaders.h"

struct shared {
    lx__fair_mutex mutex;
    unsigned inside, rounds;
    atomic_uint done;
};

static void *take_turns(void *user)
{
    struct shared *shared = user;
    for (int i = 0; i < 2000; i++) {
        ck_assert(lx__fair_mutex_lock(&shared->mutex, LX__NEVER));
        ck_assert_uint_eq(shared->inside++, 0);
        shared->rounds++;
        shared->inside--;
        lx__fair_mutex_unlock(&shared->mutex);
    }
    return NULL;
}

START_TEST(one_thread_at_a_time_holds_it)
{
    struct shared shared = {0};
    pthread_t threads[4];
    lx__fair_mutex_init(&shared.mutex);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, take_turns, &shared);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(shared.rounds, 8000);
    lx__fair_mutex_destroy(&shared.mutex);
}
END_TEST

START_TEST(a_wait_ends_at_its_deadline)
{
    lx__fair_mutex mutex;
    lx__fair_mutex_init(&mutex);
    ck_assert(lx__fair_mutex_lock(&mutex, LX__NEVER));
    uint64_t started = lx__clock_now();
    ck_assert(!lx__fair_mutex_lock(&mutex, lx__clock_after(20 * MILLISECOND)));
    ck_assert(!lx__fair_mutex_lock(&mutex, 0));
    ck_assert_uint_ge(lx__clock_now() - started, 20 * MILLISECOND);
    lx__fair_mutex_unlock(&mutex);
    ck_assert(lx__fair_mutex_lock(&mutex, 0)); /* free: time does not matter */
    lx__fair_mutex_unlock(&mutex);
    lx__fair_mutex_destroy(&mutex);
}
END_TEST

static void *take_once(void *user)
{
    struct shared *shared = user;
    ck_assert(lx__fair_mutex_lock(&shared->mutex, LX__NEVER));
    atomic_fetch_add(&shared->done, 1);
    lx__fair_mutex_unlock(&shared->mutex);
    return NULL;
}

START_TEST(destruction_waits_for_all_waiting_threads)
{
    for (int round = 0; round < 50; round++) {
        /* On the heap and freed, so that the sanitizers detect a use after the end. */
        struct shared *shared = calloc(1, sizeof *shared);
        pthread_t threads[3];
        lx__fair_mutex_init(&shared->mutex);
        ck_assert(lx__fair_mutex_lock(&shared->mutex, LX__NEVER));
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, take_once, shared);
        for (size_t users = 0; users < 4; nap(10000)) {
            pthread_mutex_lock(&shared->mutex.mutex);
            users = shared->mutex.users;
            pthread_mutex_unlock(&shared->mutex.mutex);
        }
        lx__fair_mutex_unlock(&shared->mutex);
        lx__fair_mutex_destroy(&shared->mutex);
        ck_assert_uint_eq(shared->done, 3);
        free(shared);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
}
END_TEST

UNIT_MAIN("loader/fair-mutex", one_thread_at_a_time_holds_it, a_wait_ends_at_its_deadline,
          destruction_waits_for_all_waiting_threads)
