/* SPDX-License-Identifier: MIT */
#include "executor/thread.h"

#include "../unit.h"

static void *look_at_mask(void *blocked)
{
    pthread_sigmask(SIG_SETMASK, NULL, blocked);
    return blocked;
}

START_TEST(a_thread_handles_only_its_own_faults)
{
    pthread_t thread;
    sigset_t blocked;
    void *result;
    ck_assert_int_eq(lx__thread_start(&thread, look_at_mask, &blocked), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, &blocked);
    ck_assert_int_eq(sigismember(&blocked, SIGINT), 1);
    ck_assert_int_eq(sigismember(&blocked, SIGCHLD), 1);
    ck_assert_int_eq(sigismember(&blocked, SIGBUS), 0);
    ck_assert_int_eq(sigismember(&blocked, SIGSEGV), 0);
}
END_TEST

START_TEST(the_mask_of_the_caller_stays)
{
    pthread_t thread;
    sigset_t wanted, blocked;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    ck_assert_int_eq(lx__thread_start(&thread, look_at_mask, &blocked), 0);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ck_assert_int_eq(sigismember(&blocked, SIGUSR1), 1);
    ck_assert_int_eq(sigismember(&blocked, SIGINT), 0);
}
END_TEST

UNIT_MAIN("executor/thread", a_thread_handles_only_its_own_faults, the_mask_of_the_caller_stays)
