/* SPDX-License-Identifier: MIT */
/* Concurrent commits are grouped, and calls are never split. */
#include "../numbers.h"

static lx_status append_and_commit(struct actor *self, lx_error *error)
{
    lx_status status = number_append(self->writer, self->number, NULL, error);
    return status == LX_OK ? lx_writer_commit(self->writer, error) : status;
}

/** Appends a record and commits it, and blocks in the sync. */
static void begin_commit(struct actor *self, lx_writer *writer)
{
    unsigned before = atomic_load(&syncs_begun);
    atomic_store(&sync_waits, true);
    actor_start(self, writer, 1000, append_and_commit);
    await(atomic_load(&syncs_begun) > before);
}

START_TEST(waiting_callers_share_one_commit)
{
    char *scratch = scratch_make();
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC};
    for (size_t d = 0; d < 2; d++) {
        lx_error error = LX_ERROR_INIT;
        char path[] = {(char)('a' + d), '\0'};
        struct actor first, others[5];
        lx_writer *writer = numbers_create(path, writer_options(all[d]));
        if (all[d] == LX_DURABILITY_PERIODIC) {
            /* Its commits do not wait for the disk; a large one, which takes rows, does. */
            unit_ok(numbers_extend(writer, 20000, 7, &error));
        }
        uint64_t before = lx_writer_get_length(writer);
        begin_commit(&first, writer);
        for (uint64_t i = 0; i < 5; i++)
            actor_start(&others[i], writer, i, append_and_commit);
        await(lx_writer_get_length(writer) == before + 6);
        ck_assert_uint_le(visible_length(path), before + 1);
        for (int i = 0; i < 5; i++)
            ck_assert(!atomic_load(&others[i].ended));
        atomic_store(&sync_waits, false);
        ck_assert_int_eq(actor_join(&first), LX_OK);
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(actor_join(&others[i]), LX_OK);
        ck_assert_uint_eq(frames_of(path), 3); /* the first, that of the first thread, and one */
        ck_assert_uint_eq(visible_length(path), before + 6);
        close_writer(writer);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(appends_continue_during_a_sync)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct actor first;
    lx_writer *writer = numbers_create("d", NULL);
    begin_commit(&first, writer);
    for (uint64_t i = 0; i < 2000; i++)
        unit_ok(number_append(writer, i, NULL, &error));
    unit_ok(number_modify(writer, 0, 5, &error)); /* including that of the commit in progress */
    ck_assert(!atomic_load(&first.ended));
    ck_assert_uint_eq(lx_writer_get_length(writer), 2001);
    atomic_store(&sync_waits, false);
    ck_assert_int_eq(actor_join(&first), LX_OK);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 1); /* later operations are not in it */
    ck_assert_uint_eq(number_at(dataset, 0), 1000);
    commit(writer);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 2001);
    ck_assert_uint_eq(number_at(dataset, 0), 5);
    ck_assert_uint_eq(number_at(dataset, 2000), 1999);
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

static lx_status extend_much(struct actor *self, lx_error *error)
{
    return numbers_extend(self->writer, 400000, self->number, error); /* more than all buffers */
}

/** A call that exceeds the buffers waits for the commit, and all others wait for it. */
START_TEST(a_waiting_call_is_not_split)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct actor first, large, others[3];
    lx_writer *writer = numbers_create("d", NULL);
    begin_commit(&first, writer);
    actor_start(&large, writer, 8, extend_much);
    nap_ms(50);
    for (uint64_t i = 0; i < 3; i++)
        actor_start(&others[i], writer, i, append_and_commit);
    nap_ms(20);
    ck_assert(!atomic_load(&large.ended));
    atomic_store(&sync_waits, false);
    ck_assert_int_eq(actor_join(&first), LX_OK);
    ck_assert_int_eq(actor_join(&large), LX_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(actor_join(&others[i]), LX_OK);
    unit_ok(lx_writer_commit(writer, &error));
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 400004);
    uint64_t at = 1;
    while (number_at(dataset, at) != 8)
        at++;
    ck_assert_uint_le(at, 4);
    for (uint64_t i = 0; i < 400000; i += i < 100 ? 1 : 3777)
        ck_assert_uint_eq(number_at(dataset, at + i), 8); /* one piece */
    ck_assert_uint_eq(number_at(dataset, at + 399999), 8);
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* ---- many threads, all at once */

#define AT_ONCE 6
#define ROUNDS (SANITIZED ? 15u : 40u)

/** Repeatedly gives its record a higher number; each process that opens the dataset after a commit
 * has returned must see it. */
static lx_status count_up(struct actor *self, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t i = 1; status == LX_OK && i <= ROUNDS; i++) {
        status = number_modify(self->writer, self->number, i, error);
        if (status == LX_OK)
            status = number_append(self->writer, self->number << 32 | i, NULL, error);
        if (status == LX_OK)
            status = lx_writer_commit(self->writer, error);
        if (status != LX_OK || i % 5 != 0)
            continue;
        lx_dataset *dataset = open_dataset("d");
        ck_assert_uint_eq(number_at(dataset, self->number), i);
        lx_dataset_close(dataset);
    }
    return status;
}

START_TEST(any_caller_commits_for_all)
{
    char *scratch = scratch_make();
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_PERIODIC,
                                        LX_DURABILITY_NONE};
    for (size_t d = 0; d < 3; d++) {
        lx_error error = LX_ERROR_INIT;
        struct actor actors[AT_ONCE];
        uint64_t seen[AT_ONCE] = {0};
        lx_writer *writer = numbers_create("d", writer_options(all[d]));
        unit_ok(numbers_extend(writer, AT_ONCE, 0, &error));
        commit(writer);
        atomic_store(&sync_takes, 300);
        for (uint64_t i = 0; i < AT_ONCE; i++)
            actor_start(&actors[i], writer, i, count_up);
        for (int i = 0; i < AT_ONCE; i++)
            ck_assert_int_eq(actor_join(&actors[i]), LX_OK);
        atomic_store(&sync_takes, 0);
        close_writer(writer);
        /* The records of each thread are in the order of its appends. */
        lx_dataset *dataset = open_dataset("d");
        ck_assert_uint_eq(lx_dataset_get_length(dataset), AT_ONCE * (ROUNDS + 1));
        for (uint64_t i = AT_ONCE; i < AT_ONCE * (ROUNDS + 1); i++) {
            uint64_t number = number_at(dataset, i);
            ck_assert_uint_eq((uint32_t)number, ++seen[number >> 32]);
        }
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        lx_dataset_close(dataset);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

static lx_status commit_often(struct actor *self, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t i = 0; status == LX_OK && i < 20; i++) {
        status = number_append(self->writer, self->number, NULL, error);
        if (status == LX_OK)
            status = lx_writer_commit(self->writer, error);
    }
    return status;
}

START_TEST(many_callers_need_few_syncs)
{
    char *scratch = scratch_make();
    struct actor actors[8];
    lx_writer *writer = numbers_create("d", NULL);
    unsigned before = atomic_load(&syncs);
    atomic_store(&sync_takes, 3000);
    for (uint64_t i = 0; i < 8; i++)
        actor_start(&actors[i], writer, i, commit_often);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(actor_join(&actors[i]), LX_OK);
    atomic_store(&sync_takes, 0);
    ck_assert_uint_eq(visible_length("d"), 160);
    ck_assert_uint_le(frames_of("d"), 1 + 80);           /* about 40; 160 if none were shared */
    ck_assert_uint_le(atomic_load(&syncs) - before, 80); /* one for each frame, since there is no
                                                          * chunk */
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

#define MANY 10000u

static atomic_bool stop;

static lx_status extend_by_many(struct actor *self, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t i = 0; status == LX_OK && i < (SANITIZED ? 10 : 40); i++) {
        status = numbers_extend(self->writer, MANY, i, error);
        if (status == LX_OK && i % 4 == 3)
            status = lx_writer_commit(self->writer, error);
    }
    atomic_store(&stop, true);
    return status;
}

/** One call gives all of the first records another number. */
static lx_status modify_many(struct actor *self, lx_error *error)
{
    static const size_t field = 0;
    static uint64_t indices[MANY], numbers[MANY];
    lx_status status = LX_OK;
    for (uint64_t turn = 1; status == LX_OK && !atomic_load(&stop); turn++) {
        for (uint64_t i = 0; i < MANY; i++) {
            indices[i] = i;
            numbers[i] = turn;
        }
        lx_values column = {numbers, NULL, NULL};
        status = lx_writer_modify_many(self->writer, indices, MANY, &field, &column, 1, error);
    }
    return status;
}

static lx_status commit_for_ever(struct actor *self, lx_error *error)
{
    lx_status status = LX_OK;
    while (status == LX_OK && !atomic_load(&stop))
        status = lx_writer_commit(self->writer, error);
    return status;
}

static void expect_whole_calls(lx_dataset *dataset)
{
    lx_error error = LX_ERROR_INIT;
    static uint64_t indices[MANY], numbers[MANY];
    uint64_t length = lx_dataset_get_length(dataset);
    ck_assert_uint_eq(length % MANY, 0);
    for (uint64_t block = 0; block < length / MANY; block += block == 0 ? 1 : 7) {
        for (uint64_t i = 0; i < MANY; i++)
            indices[i] = block * MANY + i;
        unit_ok(lx_dataset_gather(dataset, 0, indices, MANY, numbers, 8, &error));
        for (uint64_t i = 1; i < MANY; i++)
            if (numbers[i] != numbers[0])
                ck_abort_msg("a part of a call is visible");
        if (block != 0)
            ck_assert_uint_eq(numbers[0], block - 1);
    }
}

START_TEST(readers_never_see_part_of_a_call)
{
    char *scratch = scratch_make();
    static const lx_durability all[] = {LX_DURABILITY_FULL, LX_DURABILITY_NONE};
    for (size_t d = 0; d < 2; d++) {
        lx_error error = LX_ERROR_INIT;
        struct actor actors[4];
        unsigned looks = 0;
        char path[] = {(char)('a' + d), '\0'};
        lx_writer *writer = numbers_create(path, writer_options(all[d]));
        atomic_store(&stop, false);
        atomic_store(&sync_takes, 200);
        unit_ok(numbers_extend(writer, MANY, 0, &error));
        commit(writer);
        actor_start(&actors[0], writer, 0, extend_by_many);
        actor_start(&actors[1], writer, 0, modify_many);
        actor_start(&actors[2], writer, 0, commit_for_ever);
        actor_start(&actors[3], writer, 0, commit_for_ever);
        lx_dataset *dataset = open_dataset(path);
        while (!atomic_load(&stop) || looks++ < 2) {
            unit_ok(lx_dataset_refresh(dataset, NULL, &error));
            expect_whole_calls(dataset);
        }
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(actor_join(&actors[i]), LX_OK);
        atomic_store(&sync_takes, 0);
        close_writer(writer);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        expect_whole_calls(dataset);
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- failures */

START_TEST(all_waiting_callers_get_a_failed_sync)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct actor first, others[3];
    lx_writer *writer = numbers_create("d", NULL);
    begin_commit(&first, writer);
    for (uint64_t i = 0; i < 3; i++)
        actor_start(&others[i], writer, i, append_and_commit);
    await(lx_writer_get_length(writer) == 4);
    atomic_store(&sync_fails_at, 1);
    atomic_store(&sync_waits, false);
    ck_assert_int_eq(actor_join(&first), LX_ERR_POISONED);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(actor_join(&others[i]), LX_ERR_POISONED);
    atomic_store(&sync_fails_at, 0);
    unit_fails(lx_writer_close(writer, &error), LX_ERR_POISONED);
    ck_assert_uint_eq(frames_of("d"), 2);
    scratch_remove(scratch);
}
END_TEST

static lx_status roll_back(struct actor *self, lx_error *error)
{
    return lx_writer_rollback(self->writer, error);
}

START_TEST(a_rollback_undoes_only_operations_after_the_running_commit)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    int rounds = SANITIZED ? 10 : 40, late = 0;
    for (int round = 0; round < rounds; round++) {
        struct actor first, other, third;
        lx_writer *writer = numbers_create("d", NULL);
        begin_commit(&first, writer);
        actor_start(&other, writer, 5, append_and_commit);
        await(lx_writer_get_length(writer) == 2);
        actor_start(&third, writer, 0, roll_back);
        nap_ms(2);
        atomic_store(&sync_waits, false);
        ck_assert_int_eq(actor_join(&first), LX_OK);
        ck_assert_int_eq(actor_join(&third), LX_OK);
        lx_status status = actor_join(&other);
        uint64_t length = lx_writer_get_length(writer);
        ck_assert(status == LX_OK ? length == 2 || length == 1
                                  : status == LX_ERR_STATE && length == 1);
        late += status == LX_OK && length == 1;
        ck_assert_uint_eq(visible_length("d"), length);
        unit_ok(number_append(writer, 6, NULL, &error));
        close_writer(writer);
        ck_assert_uint_eq(visible_length("d"), length + 1);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    /* On a busy machine, a commit can begin after the rollback, with nothing to do. */
    ck_assert_int_lt(late, rounds);
    scratch_remove(scratch);
}
END_TEST

static lx_status begin(struct actor *self, lx_error *error)
{
    return lx_writer_begin_transaction(self->writer, error);
}

/** A commit that waits for another one commits no part of a transaction that began meanwhile. */
START_TEST(a_transaction_begun_during_a_commit_is_whole)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    for (int round = 0; round < (SANITIZED ? 10 : 40); round++) {
        struct actor first, second, other;
        lx_writer *writer = numbers_create("d", NULL);
        begin_commit(&first, writer);
        actor_start(&second, writer, 0, begin);
        nap_ms(round % 2);
        actor_start(&other, writer, 5, append_and_commit);
        await(lx_writer_get_length(writer) == 2);
        atomic_store(&sync_waits, false);
        ck_assert_int_eq(actor_join(&second), LX_OK);
        for (uint64_t i = 0; i < 100; i++)
            unit_ok(number_append(writer, 7, NULL, &error));
        ck_assert_int_eq(actor_join(&first), LX_OK);
        lx_status status = actor_join(&other); /* the other commit may have ended before */
        ck_assert(status == LX_OK || status == LX_ERR_STATE);
        ck_assert_uint_le(visible_length("d"), 2);
        if (status == LX_OK)
            ck_assert_uint_eq(visible_length("d"), 2);
        unit_ok(lx_writer_end_transaction(writer, &error));
        ck_assert_uint_eq(visible_length("d"), 102);
        close_writer(writer);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- random calls */

static lx_status random_call(lx_writer *writer, uint64_t random, lx_error *error)
{
    lx_ticket *ticket;
    lx_status status;
    uint64_t length = lx_writer_get_length(writer), index = random / 64 % (length + 1);
    switch (random % 16) {
    case 0:
        return numbers_extend(writer, random / 64 % 5000, random, error);
    case 1:
        return lx_writer_truncate(writer, length / 2, error);
    case 2:
    case 3:
        return lx_writer_delete(writer, index, NULL, error);
    case 4:
    case 5:
        return number_modify(writer, index, random, error);
    case 6:
    case 7:
        return lx_writer_commit(writer, error);
    case 8:
        return lx_writer_begin_transaction(writer, error);
    case 9:
        return lx_writer_end_transaction(writer, error);
    case 10:
        return lx_writer_rollback(writer, error);
    case 11:
        return lx_writer_sync(writer, error);
    case 12:
    case 13:
        status = lx_writer_submit_commit(writer, &ticket, error);
        if (status != LX_OK)
            return status;
        if (random & 64)
            status = lx_ticket_wait(ticket, error);
        else if (random & 128)
            lx_ticket_cancel(ticket);
        lx_ticket_unref(ticket);
        return status;
    default:
        return number_append(writer, random, NULL, error);
    }
}

/** The possible results of a call while other threads change the length, begin and roll back. */
static bool is_fine(lx_status status)
{
    return status == LX_OK || status == LX_ERR_RANGE || status == LX_ERR_STATE;
}

static lx_status call_at_random(struct actor *self, lx_error *error)
{
    for (uint64_t i = 0; i < (SANITIZED ? 150 : 600); i++) {
        lx_error_clear(error);
        lx_status status = random_call(self->writer, mix(self->number << 32 | i), error);
        if (!is_fine(status))
            return status;
    }
    return LX_OK;
}

START_TEST(concurrent_calls_return_and_are_atomic)
{
    char *scratch = scratch_make();
    static const lx_durability all[] = {LX_DURABILITY_PERIODIC, LX_DURABILITY_FULL,
                                        LX_DURABILITY_NONE};
    for (uint64_t round = 0; round < 9; round++) {
        lx_error error = LX_ERROR_INIT;
        struct actor actors[4];
        bool fails = round % 3 == 2; /* then a sync fails during the calls */
        lx_executor *executor = executor_of(1 + (uint32_t)round % 4);
        lx_writer *writer = numbers_create("d", options_on(executor, all[round / 3]));
        unit_ok(numbers_extend(writer, 1000, 1, &error));
        commit(writer);
        atomic_store(&sync_takes, 100);
        if (fails)
            atomic_store(&sync_fails_at, atomic_load(&syncs) + 20);
        for (uint64_t i = 0; i < 4; i++)
            actor_start(&actors[i], writer, round << 8 | i, call_at_random);
        for (int i = 0; i < 4; i++) {
            lx_status status = actor_join(&actors[i]);
            ck_assert_msg(status == LX_OK || (fails && status == LX_ERR_POISONED), "%s",
                          lx_status_get_name(status));
        }
        lx_status closed = lx_writer_close(writer, &error);
        atomic_store(&sync_fails_at, 0);
        atomic_store(&sync_takes, 0);
        ck_assert(closed == LX_OK || (fails && closed == LX_ERR_POISONED));
        lx_error_clear(&error);
        lx_dataset *dataset = open_dataset("d");
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        uint64_t length = lx_dataset_get_length(dataset);
        lx_dataset_close(dataset);
        writer = records_reopen("d", NULL);
        ck_assert_uint_eq(lx_writer_get_length(writer), length);
        close_writer(writer);
        lx_executor_close(executor);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/group-commit", waiting_callers_share_one_commit, appends_continue_during_a_sync,
          a_waiting_call_is_not_split, any_caller_commits_for_all, many_callers_need_few_syncs,
          readers_never_see_part_of_a_call, all_waiting_callers_get_a_failed_sync,
          a_rollback_undoes_only_operations_after_the_running_commit,
          a_transaction_begun_during_a_commit_is_whole, concurrent_calls_return_and_are_atomic)
