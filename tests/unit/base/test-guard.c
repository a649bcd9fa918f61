/* SPDX-License-Identifier: MIT */
/* A page that is gone is noted and reads as zeros; all other signals go where they went before. */
#include "base/guard.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit.h"
#include "base/mapping.h"

#define PAGES 4

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/** A file of ones, mapped, whose name is gone. */
static lx__mapping map_file(int *fd)
{
    lx_error error = LX_ERROR_INIT;
    lx__mapping mapping;
    char name[] = "/tmp/loaderx-guard-XXXXXX";
    *fd = mkstemp(name);
    ck_assert_int_ne(*fd, -1);
    unlink(name);
    size_t size = PAGES * page();
    uint8_t *bytes = malloc(size);
    memset(bytes, 1, size);
    ck_assert_int_eq(pwrite(*fd, bytes, size, 0), (ssize_t)size);
    free(bytes);
    lx__file file = {*fd, name};
    unit_ok(lx__mapping_open(&mapping, &file, size, LX__ACCESS_RANDOM, &error));
    return mapping;
}

static uint8_t look(const lx__mapping *mapping, size_t number)
{
    return ((const volatile uint8_t *)mapping->data)[number * page()];
}

START_TEST(a_page_that_is_gone_reads_as_zeros_and_is_noted)
{
    lx_error error = LX_ERROR_INIT;
    atomic_bool cut = false, other = false;
    int fd, second;
    lx__mapping mapping = map_file(&fd), beside = map_file(&second);
    unit_ok(lx__mapping_guard(&mapping, &cut, &error));
    unit_ok(lx__mapping_guard(&beside, &other, &error));
    ck_assert_uint_eq(look(&mapping, 3), 1);
    ck_assert_int_eq(ftruncate(fd, (off_t)page()), 0);
    ck_assert(!lx__guard_is_cut(&cut));
    ck_assert_uint_eq(look(&mapping, 0), 1);
    ck_assert_uint_eq(look(&mapping, 2), 0);
    ck_assert(lx__guard_is_cut(&cut));
    ck_assert_uint_eq(look(&mapping, 3), 0);
    ck_assert_uint_eq(look(&mapping, 0), 1);
    ck_assert_uint_eq(look(&beside, 3), 1);
    ck_assert(!lx__guard_is_cut(&other));
    lx__mapping_close(&mapping);
    lx__mapping_close(&beside);
    close(fd);
    close(second);
}
END_TEST

START_TEST(any_number_of_ranges_is_watched)
{
    enum { RANGES = 1000 };
    static lx__watch *watches[RANGES];
    lx_error error = LX_ERROR_INIT;
    atomic_bool cut = false, others = false;
    int fd;
    lx__mapping mapping = map_file(&fd);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < RANGES; i++)
            ck_assert_ptr_nonnull(watches[i] =
                                      lx__guard_watch((void *)(page() * (i + 1)), 1, &others));
        for (size_t i = 0; i < RANGES; i++)
            lx__guard_forget(watches[i]);
    }
    for (size_t i = 0; i < RANGES; i++)
        watches[i] = lx__guard_watch((void *)(page() * (i + 1)), 1, &others);
    unit_ok(lx__mapping_guard(&mapping, &cut, &error));
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert_uint_eq(look(&mapping, 1), 0);
    ck_assert(lx__guard_is_cut(&cut));
    ck_assert(!lx__guard_is_cut(&others));
    for (size_t i = 0; i < RANGES; i++)
        lx__guard_forget(watches[i]);
    lx__guard_forget(NULL);
    lx__mapping_close(&mapping);
    close(fd);
}
END_TEST

/* ---- what was there before */

static sigjmp_buf back;
static volatile sig_atomic_t told;

static void tell(int number)
{
    told = number;
    siglongjmp(back, 1);
}

static void tell_where(int number, siginfo_t *info, void *context)
{
    (void)context;
    told = info->si_addr != NULL ? number : 0;
    siglongjmp(back, 1);
}

static void expect_passed_on(struct sigaction action)
{
    lx_error error = LX_ERROR_INIT;
    int fd;
    lx__mapping mapping = map_file(&fd);
    sigset_t blocked;
    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGBUS, &action, NULL), 0);
    unit_ok(lx__guard_install(&error));
    unit_ok(lx__guard_install(&error));
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    for (int i = 0; i < 2; i++) {
        told = 0;
        if (sigsetjmp(back, 1) == 0)
            (void)look(&mapping, 1);
        ck_assert_int_eq(told, SIGBUS);
        sigprocmask(SIG_SETMASK, NULL, &blocked);
        ck_assert(!sigismember(&blocked, SIGBUS));
    }
    lx__mapping_close(&mapping);
    close(fd);
}

START_TEST(a_handler_of_before_gets_what_is_not_ours)
{
    expect_passed_on((struct sigaction){.sa_handler = tell});
}
END_TEST

START_TEST(so_does_one_that_is_told_the_address)
{
    expect_passed_on((struct sigaction){.sa_sigaction = tell_where, .sa_flags = SA_SIGINFO});
}
END_TEST

/** How a child ends that installs the guard over @p before, and then gets the signal. */
static int end_of_child(void (*before)(int), bool by_fault)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int fd;
        lx__mapping mapping = map_file(&fd);
        signal(SIGBUS, before);
        if (lx__guard_install(NULL) != LX_OK || ftruncate(fd, 0) != 0)
            _exit(2);
        if (by_fault)
            (void)look(&mapping, 1);
        else
            raise(SIGBUS);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

START_TEST(without_a_handler_the_process_ends_as_it_would)
{
    ck_assert_int_eq(end_of_child(SIG_DFL, true), SIGBUS);
    ck_assert_int_eq(end_of_child(SIG_DFL, false), SIGBUS);
    ck_assert_int_eq(end_of_child(SIG_IGN, true), SIGBUS);
    ck_assert_int_eq(end_of_child(SIG_IGN, false), 0);
}
END_TEST

START_TEST(a_child_is_guarded_as_well)
{
    lx_error error = LX_ERROR_INIT;
    atomic_bool cut = false;
    int fd;
    lx__mapping mapping = map_file(&fd);
    unit_ok(lx__mapping_guard(&mapping, &cut, &error));
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    if (unit_in_child())
        _exit(look(&mapping, 1) == 0 && lx__guard_is_cut(&cut) ? 0 : 1);
    ck_assert(!lx__guard_is_cut(&cut));
    lx__mapping_close(&mapping);
    close(fd);
}
END_TEST

UNIT_MAIN("base/guard", a_page_that_is_gone_reads_as_zeros_and_is_noted,
          any_number_of_ranges_is_watched, a_handler_of_before_gets_what_is_not_ours,
          so_does_one_that_is_told_the_address, without_a_handler_the_process_ends_as_it_would,
          a_child_is_guarded_as_well)
