/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The harness of the unit tests: one suite, each test in a child process with a time limit.
 *
 * A test program defines main() with UNIT_MAIN("layer/object", test_a, test_b, ...).
 */
#ifndef LX_TESTS_UNIT_H
#define LX_TESTS_UNIT_H

#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <loaderx/status.h>

#include "../sanitizer.h"

/** Check writes the location of each successful assertion to a file, so that it can report the last
 * one before a crash. This takes most of the time of a test that checks many bytes. So only the
 * first UNIT_MARKS assertions of a process are written, then each UNIT_MARKS_STEP-th: the reported
 * location may be that many assertions before the crash. */
#define UNIT_MARKS 1000
#define UNIT_MARKS_STEP 1000

static inline void unit_mark(const char *file, int line)
{
    static atomic_ulong count; /* shared by all threads */
    unsigned long before = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    if (before < UNIT_MARKS || before % UNIT_MARKS_STEP == 0)
        (_mark_point)(file, line);
}

#define _mark_point(file, line) unit_mark(file, line)

/** Longest time for one test, in seconds: sanitizers and a busy machine make each ten times slower.
 */
#define UNIT_TIMEOUT 300

static inline int unit_run(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, UNIT_TIMEOUT);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define UNIT_MAIN(name, ...)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        return unit_run(name, tests, sizeof tests / sizeof *tests);                                \
    }

/** Longest time for a child, in seconds: several must fit into #UNIT_TIMEOUT. */
#define UNIT_CHILD_TIMEOUT (SANITIZER_RETRIES ? 20 : 60)

/** Forks, and waits for the child, which must exit with 0 in time. Returns true only in the child,
 * in which Check's macros must not be used: they take locks that a thread of the parent may have
 * held. */
static inline bool unit_in_child(void)
{
    for (int left = SANITIZER_RETRIES;; left--) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            signal(SIGALRM, SIG_DFL); /* Check's own handler kills the test as well */
            alarm(UNIT_CHILD_TIMEOUT);
            return true;
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status)) {
            bool hangs = WTERMSIG(status) == SIGALRM;
            ck_assert_msg(hangs && left > 0, "the child was ended by signal %d", WTERMSIG(status));
            continue;
        }
        ck_assert_msg(WEXITSTATUS(status) == 0, "the child ended with %d", WEXITSTATUS(status));
        return false;
    }
}

/** The call must return LX_OK; otherwise the test fails with the details of the local `error`. */
#define unit_ok(call)                                                                              \
    do {                                                                                           \
        lx_status unit_status = (call);                                                            \
        char unit_text[2048];                                                                      \
        lx_error_describe(&error, unit_text, sizeof unit_text);                                    \
        ck_assert_msg(unit_status == LX_OK, "%s: %s: %s", #call, lx_status_get_name(unit_status),  \
                      unit_text);                                                                  \
    } while (0)

/** The call must fail with this status and fill `error`, which is cleared afterwards. */
#define unit_fails(call, expected)                                                                 \
    do {                                                                                           \
        lx_error_clear(&error);                                                                    \
        lx_status unit_status = (call);                                                            \
        ck_assert_msg(unit_status == (expected), "%s: %s instead of %s (%s)", #call,               \
                      lx_status_get_name(unit_status), lx_status_get_name(expected),               \
                      error.message);                                                              \
        ck_assert_int_eq(error.status, expected);                                                  \
        lx_error_clear(&error);                                                                    \
    } while (0)

/** The call must reject a NULL and name the argument. Uses the local `error`, which is cleared. */
#define unit_refuses_null(call, argument)                                                          \
    do {                                                                                           \
        lx_error_clear(&error);                                                                    \
        lx_status unit_status = (call);                                                            \
        ck_assert_msg(unit_status == LX_ERR_ARGUMENT, "%s: %s", #call,                             \
                      lx_status_get_name(unit_status));                                            \
        ck_assert_msg(strstr(error.message, argument) && strstr(error.message, "NULL"), "%s: %s",  \
                      #call, error.message);                                                       \
        lx_error_clear(&error);                                                                    \
    } while (0)

#endif
