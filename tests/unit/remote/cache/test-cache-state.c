/* SPDX-License-Identifier: MIT */
/* The state of a cache: its bytes, damage, locks that are held for too long, racing processes. */
#include "remote/cache/cache-state.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "executor/clock.h"

#include "../../scratch.h"
#include "../../unit.h"

static lx__file directory;

static char *begin(void)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    unit_ok(lx__directory_open(&directory, LX__CWD, ".", &error));
    return scratch;
}

static void end(char *scratch)
{
    lx__file_close(&directory);
    scratch_remove(scratch);
}

static const lx__cache_content example = {
    .boot_id = 0x1122334455667788, .reserved = 0x0102030405060708, .boot = 0xabcd};

static void set_content(lx__cache_state *state, const lx__cache_content *content)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__cache_state_lock(state, &error));
    unit_ok(lx__cache_state_write(state, content, &error));
    lx__cache_state_unlock(state);
}

static uint64_t get_reserved(lx__cache_state *state)
{
    lx_error error = LX_ERROR_INIT;
    lx__cache_content content;
    unit_ok(lx__cache_state_read(state, &content, &error));
    return content.reserved;
}

START_TEST(the_file_has_the_layout_of_the_header)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_state state;
    lx__cache_content content;
    static const uint8_t expected[28] = {'L',  'X',  'C',  'S',  1,    0,    0, 0, 0x88, 0x77,
                                         0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 8, 7, 6,    5,
                                         4,    3,    2,    1,    0xcd, 0xab, 0, 0};
    uint8_t bytes[33];
    unit_ok(lx__cache_state_open(&state, &directory, &error));
    unit_fails(lx__cache_state_read(&state, &content, &error), LX_ERR_NOT_FOUND);
    set_content(&state, &example);
    unit_ok(lx__cache_state_read(&state, &content, &error));
    ck_assert_uint_eq(content.boot_id, example.boot_id);
    ck_assert_uint_eq(content.reserved, example.reserved);
    ck_assert_uint_eq(content.boot, example.boot);
    FILE *file = fopen("state", "r");
    ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, file), 32);
    fclose(file);
    ck_assert_mem_eq(bytes, expected, sizeof expected);
    ck_assert_uint_eq(lx__load_le32(bytes + 28), lx__crc32c(0, bytes, 28));
    lx__cache_state_close(&state);
    end(scratch);
}
END_TEST

START_TEST(damage_of_any_byte_is_noticed)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_state state;
    lx__cache_content content;
    unit_ok(lx__cache_state_open(&state, &directory, &error));
    for (uint64_t byte = 0; byte < 32; byte++) {
        uint8_t value;
        set_content(&state, &example);
        unit_ok(lx__file_read(&state.file, &value, 1, byte, &error));
        value ^= 0x40;
        unit_ok(lx__file_write(&state.file, &value, 1, byte, &error));
        unit_fails(lx__cache_state_read(&state, &content, &error), byte < 4   ? LX_ERR_NOT_FOUND
                                                                   : byte < 8 ? LX_ERR_UNSUPPORTED
                                                                              : LX_ERR_CORRUPT);
        ck_assert(!lx__cache_state_add(&state, 1, LX_NONE));
        lx__cache_state_subtract(&state, 1);
    }
    for (uint64_t length = 0; length < 32; length++) {
        set_content(&state, &example);
        unit_ok(lx__file_truncate(&state.file, length, &error));
        unit_fails(lx__cache_state_read(&state, &content, &error),
                   length < 8 ? LX_ERR_NOT_FOUND : LX_ERR_CORRUPT);
    }
    lx__cache_state_close(&state);
    end(scratch);
}
END_TEST

START_TEST(adds_no_more_than_the_limit)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_state state;
    unit_ok(lx__cache_state_open(&state, &directory, &error));
    ck_assert(!lx__cache_state_add(&state, 1, LX_NONE)); /* the file is empty */
    set_content(&state, &(lx__cache_content){.reserved = 5, .boot = 1});
    ck_assert(lx__cache_state_add(&state, 10, 15));
    ck_assert(!lx__cache_state_add(&state, 1, 15));
    ck_assert(lx__cache_state_add(&state, 0, 15));
    ck_assert(!lx__cache_state_add(&state, UINT64_MAX, LX_NONE));
    ck_assert_uint_eq(get_reserved(&state), 15);
    lx__cache_state_subtract(&state, 4);
    ck_assert_uint_eq(get_reserved(&state), 11);
    lx__cache_state_subtract(&state, 12); /* what is not there */
    ck_assert_uint_eq(get_reserved(&state), 0);
    lx__cache_state_close(&state);
    end(scratch);
}
END_TEST

START_TEST(a_stopped_process_does_not_hang_others)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_state state, other;
    unit_ok(lx__cache_state_open(&state, &directory, &error));
    set_content(&state, &(lx__cache_content){.boot = 1});
    unit_ok(lx__cache_state_open(&other, &directory, &error));
    unit_ok(lx__cache_state_lock(&other, &error));
    state.patience_ns = 100000000;
    uint64_t start = lx__clock_now();
    ck_assert(!lx__cache_state_add(&state, 1, LX_NONE));
    ck_assert_uint_ge(lx__clock_now() - start, state.patience_ns);
    /* The next calls do not wait at all: otherwise they would take 200 s. */
    for (int i = 0; i < 2000; i++)
        ck_assert(!lx__cache_state_add(&state, 1, LX_NONE));
    unit_fails(lx__cache_state_lock(&state, &error), LX_ERR_BUSY);
    lx__cache_state_unlock(&other);
    ck_assert(lx__cache_state_add(&state, 1, LX_NONE));
    lx__cache_state_close(&other);
    lx__cache_state_close(&state);
    end(scratch);
}
END_TEST

#define PROCESSES 4
#define ROUNDS 500

START_TEST(processes_that_race_never_exceed_the_limit)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_state state;
    pid_t children[PROCESSES];
    const uint64_t limit = 1000;
    unit_ok(lx__cache_state_open(&state, &directory, &error));
    set_content(&state, &(lx__cache_content){.boot = 1});
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            uint8_t added = 0; /* at most 250 */
            alarm(UNIT_CHILD_TIMEOUT);
            lx__cache_state_take_over(&state, &directory);
            state.patience_ns = UINT64_MAX / 2; /* others may be slow */
            for (int round = 0; round < ROUNDS; round++) {
                bool is_added = lx__cache_state_add(&state, 7, limit);
                lx__cache_content content;
                if (lx__cache_state_lock(&state, NULL) != LX_OK ||
                    lx__cache_state_read(&state, &content, NULL) != LX_OK ||
                    content.reserved > limit)
                    _exit(255);
                lx__cache_state_unlock(&state);
                if (is_added && added < 30 && round % 4 == 0)
                    added++;
                else if (is_added)
                    lx__cache_state_subtract(&state, 7);
            }
            _exit(added);
        }
    uint64_t sum = 0;
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status));
        ck_assert_int_ne(WEXITSTATUS(status), 255);
        sum += 7 * (uint64_t)WEXITSTATUS(status);
    }
    ck_assert_uint_gt(sum, 0);
    ck_assert_uint_eq(get_reserved(&state), sum);
    lx__cache_state_close(&state);
    end(scratch);
}
END_TEST

#define THREADS 4

static void *add_and_subtract(void *user)
{
    for (int i = 0; i < ROUNDS; i++)
        if (lx__cache_state_add(user, 3, 9))
            lx__cache_state_subtract(user, 3);
    return NULL;
}

START_TEST(threads_that_race_lose_no_change)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_state state;
    pthread_t threads[THREADS];
    unit_ok(lx__cache_state_open(&state, &directory, &error));
    set_content(&state, &(lx__cache_content){.reserved = 2, .boot = 1});
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_and_subtract, &state), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(get_reserved(&state), 2);
    lx__cache_state_close(&state);
    end(scratch);
}
END_TEST

START_TEST(a_child_holds_its_own_locks)
{
    char *scratch = begin();
    lx_error error = LX_ERROR_INIT;
    lx__cache_state state, other;
    unit_ok(lx__cache_state_open(&state, &directory, &error));
    unit_ok(lx__cache_state_open(&other, &directory, &error));
    unit_ok(lx__file_lock(&state.file, false, LX__CACHE_PRESENT, 1, &error));
    /* Another thread holds the mutex and the lock at the time of the fork. */
    unit_ok(lx__cache_state_lock(&state, &error));
    if (unit_in_child()) {
        state.patience_ns = 1000000;
        lx__cache_state_take_over(&state, &directory);
        _exit(lx__cache_state_lock(&state, NULL) == LX_ERR_BUSY ? 0 : 1);
    }
    lx__cache_state_unlock(&state);
    if (unit_in_child()) {
        lx__cache_state_take_over(&state, &directory);
        if (lx__cache_state_lock(&state, NULL) != LX_OK)
            _exit(1);
        lx__cache_state_unlock(&state);
        lx__cache_state_close(&state);
        _exit(0);
    }
    /* The child has not ended the parent's lock. */
    unit_fails(lx__file_lock(&other.file, true, LX__CACHE_PRESENT, 1, &error), LX_ERR_BUSY);
    ck_assert_int_eq(unlink("state"), 0);
    if (unit_in_child()) {
        lx__cache_state_take_over(&state, &directory);
        lx__cache_state_take_over(&state, &directory); /* as a child of the child does */
        lx__cache_state_subtract(&state, 1);
        _exit(lx__cache_state_add(&state, 1, LX_NONE) ? 1 : 0);
    }
    lx__cache_state_close(&other);
    lx__cache_state_close(&state);
    end(scratch);
}
END_TEST

UNIT_MAIN("remote/cache/cache-state", the_file_has_the_layout_of_the_header,
          damage_of_any_byte_is_noticed, adds_no_more_than_the_limit,
          a_stopped_process_does_not_hang_others, processes_that_race_never_exceed_the_limit,
          threads_that_race_lose_no_change, a_child_holds_its_own_locks)
