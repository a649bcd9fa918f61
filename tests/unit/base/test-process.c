/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit.h"

#define THREADS 4

/* Each test runs in its own process, so these affect its first call. */
static bool no_wiping, ignored_wiping;

int madvise(void *memory, size_t size, int advice)
{
    if (no_wiping || ignored_wiping)
        return no_wiping ? -1 : 0;
    return (int)syscall(SYS_madvise, memory, size, advice);
}

/** Calls @p check in a child; it must return true there. */
static void in_child(bool (*check)(void *user), void *user)
{
    pid_t child = fork();
    if (child == 0)
        _exit(check(user) ? 0 : 1);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static bool is_another(void *user)
{
    return !lx__process_is_this(user);
}

static void expect_detection(void)
{
    lx__process process;
    lx__process_record(&process);
    ck_assert(lx__process_is_this(&process));
    in_child(is_another, &process);
    ck_assert(lx__process_is_this(&process));
}

START_TEST(a_child_is_another_process)
{
    expect_detection();
}
END_TEST

START_TEST(wipes_a_page_that_the_system_does_not_wipe)
{
    ignored_wiping = true;
    expect_detection();
}
END_TEST

START_TEST(compares_process_ids_without_a_wiped_page)
{
    no_wiping = true;
    expect_detection();
    ck_assert_uint_eq(lx__process_id(), (uint64_t)getpid());
}
END_TEST

static bool differs_in_its_child_too(void *user)
{
    lx__process own;
    lx__process_record(&own);
    in_child(is_another, &own);
    in_child(is_another, user);
    return lx__process_is_this(&own) && is_another(user);
}

START_TEST(a_child_of_a_child_is_another_process)
{
    lx__process process;
    lx__process_record(&process);
    in_child(differs_in_its_child_too, &process);
}
END_TEST

/** An object, and how many times a child adopted it. */
struct object {
    lx__process process;
    atomic_int taken;
};

static void *take_over(void *user)
{
    struct object *object = user;
    if (lx__process_take_over(&object->process)) {
        atomic_fetch_add(&object->taken, 1);
        lx__process_adopt(&object->process);
    }
    return lx__process_is_this(&object->process) && object->taken == 1 ? object : NULL;
}

static bool is_taken_over_once(void *user)
{
    struct object *object = user;
    pthread_t threads[THREADS];
    bool right = true;
    void *result;
    for (int i = 0; i < THREADS; i++)
        right = pthread_create(&threads[i], NULL, take_over, object) == 0 && right;
    for (int i = 0; right && i < THREADS; i++)
        right = pthread_join(threads[i], &result) == 0 && result == object;
    return right;
}

START_TEST(one_thread_of_a_child_adopts_an_object)
{
    struct object object = {.taken = 0};
    lx__process_record(&object.process);
    ck_assert(!lx__process_take_over(&object.process));
    for (int i = 0; i < 20; i++)
        in_child(is_taken_over_once, &object);
    ck_assert(lx__process_is_this(&object.process));
}
END_TEST

UNIT_MAIN("base/process", a_child_is_another_process, wipes_a_page_that_the_system_does_not_wipe,
          compares_process_ids_without_a_wiped_page, a_child_of_a_child_is_another_process,
          one_thread_of_a_child_adopts_an_object)
