/* SPDX-License-Identifier: MIT */
/* Every function that returns an object through a pointer leaves NULL there when it fails. */
#include <loaderx/loaderx.h>
#include <loaderx/parity.h>

#include "../scratch.h"
#include "../unit.h"

/** The call must fail, and set @c made to NULL, which is not NULL before. */
#define FAILS(type, call)                                                                          \
    do {                                                                                           \
        static char stale;                                                                         \
        type *made = (type *)&stale;                                                               \
        ck_assert_msg((call) < LX_OK, "%s succeeds", #call);                                       \
        ck_assert_msg(made == NULL, "%s leaves a pointer", #call);                                 \
    } while (0)

START_TEST(orders)
{
    FAILS(lx_order, lx_order_new_blocks(1, 0, 0, &made, NULL));
    FAILS(lx_order, lx_order_new_lanes(1, 0, 1, 0, &made, NULL));
    FAILS(lx_order, lx_order_new_slice(NULL, 0, 0, &made, NULL));
    FAILS(lx_order, lx_order_new_padded(NULL, 1, &made, NULL));
    FAILS(lx_order, lx_order_new_repeat(NULL, 1, &made, NULL));
    FAILS(lx_order, lx_order_new_concat(NULL, NULL, 0, &made, NULL));
    FAILS(lx_order, lx_order_new_subset(NULL, NULL, 0, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_weighted(NULL, 1, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_weighted_shuffle(NULL, 1, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_balanced(NULL, 1, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_bucketed(NULL, 1, 1, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_budgeted(NULL, NULL, 1, 1, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_blend(NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_greedy(NULL, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_nanoset(NULL, NULL, 1, true, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_torch_random(0, false, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_torch_subset(NULL, 1, NULL, &made, NULL));
    FAILS(lx_order, lx_order_new_torch_distributed(1, 0, 0, NULL, &made, NULL));
    FAILS(lx_sampler, lx_sampler_new(NULL, 0, 1, &made, NULL));
}
END_TEST

START_TEST(sources)
{
    FAILS(lx_source, lx_source_open("absent", NULL, &made, NULL));
    FAILS(lx_source, lx_source_open_files("absent", NULL, 0, NULL, &made, NULL));
    FAILS(lx_source, lx_source_open_flat("absent", NULL, 0, &made, NULL));
    FAILS(lx_source, lx_source_new_dataset(NULL, &made, NULL));
    FAILS(lx_source, lx_source_new(1, NULL, 0, NULL, &made, NULL));
    FAILS(lx_source, lx_source_new_zip(NULL, NULL, 0, &made, NULL));
    FAILS(lx_source, lx_source_new_concat(NULL, 0, &made, NULL));
    FAILS(lx_source, lx_source_new_subset(NULL, NULL, 0, &made, NULL));
    FAILS(lx_source, lx_source_new_null(NULL, &made, NULL));
    FAILS(lx_source, lx_source_new_tokens(NULL, 1, NULL, &made, NULL));
    FAILS(lx_source, lx_source_new_token_blocks(NULL, 1, NULL, &made, NULL));
    FAILS(lx_source, lx_source_new_packed_tokens(NULL, 1, NULL, &made, NULL));
    FAILS(lx_source, lx_source_new_joined_tokens(NULL, 1, NULL, &made, NULL));
    FAILS(lx_source, lx_source_new_megatron(NULL, NULL, &made, NULL));
    FAILS(lx_tokens, lx_tokens_open("absent.npy", LX_BYTES, &made, NULL));
    FAILS(lx_tokens, lx_tokens_open_raw("absent", LX_UINT16, &made, NULL));
    FAILS(lx_tokens, lx_tokens_new_field(NULL, 0, LX_BYTES, &made, NULL));
    FAILS(lx_tokens, lx_tokens_new_concat(NULL, 0, &made, NULL));
    FAILS(lx_loader, lx_loader_open(NULL, NULL, &made, NULL));
    FAILS(lx_batch, lx_loader_next(NULL, &made, NULL));
    FAILS(lx_batch, lx_loader_next_timed(NULL, 0, &made, NULL));
}
END_TEST

START_TEST(datasets_and_executors)
{
    lx_slice slice;
    char *scratch = scratch_make();
    FAILS(lx_dataset, lx_dataset_open("absent", NULL, &made, NULL));
    FAILS(lx_dataset, lx_dataset_pin(NULL, &made, NULL));
    FAILS(lx_view, lx_dataset_view(NULL, 0, NULL, 0, &slice, &made, NULL));
    FAILS(lx_writer, lx_writer_create("d", NULL, NULL, &made, NULL));
    FAILS(lx_writer, lx_writer_open("absent", NULL, &made, NULL));
    FAILS(lx_ticket, lx_writer_submit_commit(NULL, &made, NULL));
    FAILS(lx_ticket, lx_executor_submit(NULL, LX_QUEUE_READ, NULL, NULL, 1, &made, NULL));
    ck_assert_int_eq(lx_executor_open(NULL, NULL, NULL), LX_ERR_ARGUMENT);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("parity/null-on-failure", orders, sources, datasets_and_executors)
