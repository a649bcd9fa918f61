/* SPDX-License-Identifier: MIT */
#include "sampler/core/epoch-tables.h"

#include <pthread.h>

#include "../../scarce.h"
#include "../../unit.h"

enum { LENGTH = 100 };

static int describe(const lx_order *order, json_t *object)
{
    (void)order;
    return json_object_set_new(object, "seed", json_integer(5));
}

static const lx__order_class some_class = {.kind = "some", .describe = describe};
static lx_order some_order = {.class = &some_class, .length = LENGTH, .bound = 1000000};
static atomic_int made;
static atomic_bool refuses;

static lx_status fill(const lx_order *order, uint64_t epoch, uint32_t *indices, size_t count,
                      lx_error *error)
{
    ck_assert_ptr_eq(order, &some_order);
    if (refuses) {
        lx_error_clear(error);
        return LX_ERR_NOMEM;
    }
    made++;
    for (size_t i = 0; i < count; i++)
        indices[i] = (uint32_t)(epoch * 1000 + i);
    return LX_OK;
}

static lx__epoch_tables *make_epochs(const char *tables)
{
    lx_error error = LX_ERROR_INIT;
    lx__epoch_tables *epochs;
    unit_ok(lx__epoch_tables_new(fill, LENGTH, tables, &epochs, &error));
    return epochs;
}

static void expect_held(const lx__epoch_table *held, uint64_t number)
{
    ck_assert_ptr_nonnull(held);
    ck_assert_uint_eq(held->number, number);
    ck_assert_uint_eq(held->table.narrow[LENGTH - 1], number * 1000 + LENGTH - 1);
}

START_TEST(keeps_the_last_two_tables)
{
    lx_error error = LX_ERROR_INIT;
    lx__epoch_tables *epochs = make_epochs(NULL);
    lx__epoch_table *one = NULL, *other = NULL;
    const uint64_t numbers[] = {0, 1, 0, 1, 2, 1, 2, 2, 1};
    for (size_t i = 0; i < 9; i++) {
        unit_ok(lx__epoch_tables_get(epochs, &some_order, numbers[i], &one, &error));
        expect_held(one, numbers[i]);
        ck_assert_int_eq(made, numbers[i] == 2 || i > 4 ? 3 : i == 0 ? 1 : 2);
    }
    /* A table stays as long as it is referenced, however far other readers advance. */
    for (uint64_t number = 3; number < 10; number++)
        unit_ok(lx__epoch_tables_get(epochs, &some_order, number, &other, &error));
    expect_held(one, 1);
    lx__epoch_table_clear_scratch(&one);
    lx__epoch_table_clear_scratch(&one);
    lx__epoch_table_clear_scratch(&other);
    lx__epoch_tables_free(epochs);
    lx__epoch_tables_free(NULL);
}
END_TEST

START_TEST(drops_a_table_that_failed)
{
    lx_error error = LX_ERROR_INIT;
    lx__epoch_tables *epochs = make_epochs(NULL);
    lx__epoch_table *held = NULL;
    unit_ok(lx__epoch_tables_get(epochs, &some_order, 5, &held, &error));
    refuses = true;
    ck_assert_int_eq(lx__epoch_tables_get(epochs, &some_order, 6, &held, &error), LX_ERR_NOMEM);
    ck_assert_ptr_null(held);
    refuses = false;
    scarce_begin(0);
    unit_fails(lx__epoch_tables_get(epochs, &some_order, 6, &held, &error), LX_ERR_NOMEM);
    unit_ok(lx__epoch_tables_get(epochs, &some_order, 5, &held, &error)); /* which is still in
                                                                           * the cache */
    scarce_begin(2);
    unit_ok(lx__epoch_tables_get(epochs, &some_order, 6, &held, &error));
    lx__epoch_table_clear_scratch(&held);
    lx__epoch_tables_free(epochs);
    scarce_begin(0);
    lx_error_clear(&error);
    unit_fails(lx__epoch_tables_new(fill, LENGTH, NULL, &epochs, &error), LX_ERR_NOMEM);
}
END_TEST

START_TEST(reads_positions_of_several_epochs)
{
    lx_error error = LX_ERROR_INIT;
    lx__epoch_tables *epochs = make_epochs(NULL);
    lx__epoch_table *scratch = NULL;
    uint64_t places[] = {0, 99, 100, 199, 250, 150, 50, 51};
    const uint64_t right[] = {0, 99, 1000, 1099, 2050, 1050, 50, 51};
    unit_ok(lx__epoch_tables_read(epochs, &some_order, &scratch, places, 8, &error));
    ck_assert_mem_eq(places, right, sizeof right);
    lx__epoch_table_clear_scratch(&scratch);
    lx__epoch_tables_free(epochs);
}
END_TEST

struct walk {
    lx__epoch_tables *epochs;
    uint64_t wrong;
};

static void *read_epochs(void *memory)
{
    struct walk *walk = memory;
    lx__epoch_table *scratch = NULL;
    for (uint64_t epoch = 0; epoch < 200; epoch++) {
        uint64_t places[] = {epoch * LENGTH + 3, (epoch + 1) * LENGTH + 4};
        lx_status status = lx__epoch_tables_read(walk->epochs, &some_order, &scratch, places, 2,
                                                 NULL);
        walk->wrong += status != LX_OK || places[0] != epoch * 1000 + 3 ||
                       places[1] != (epoch + 1) * 1000 + 4;
    }
    lx__epoch_table_clear_scratch(&scratch);
    return NULL;
}

START_TEST(threads_share_tables)
{
    struct walk walks[4];
    pthread_t threads[4];
    lx__epoch_tables *epochs = make_epochs(NULL);
    for (int i = 0; i < 4; i++) {
        walks[i] = (struct walk){epochs, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_epochs, &walks[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_uint_eq(walks[i].wrong, 0);
    }
    lx__epoch_tables_free(epochs);
}
END_TEST

UNIT_MAIN("sampler/epoch-tables", keeps_the_last_two_tables, drops_a_table_that_failed,
          reads_positions_of_several_epochs, threads_share_tables)
