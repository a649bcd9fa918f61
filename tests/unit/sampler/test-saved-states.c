/* SPDX-License-Identifier: MIT */
/* Saved states of samplers of version 1, which every release must read. */
#include "saved-states.h"
#include "orders.h"

static void expect_indices(lx_sampler *sampler, const struct saved_state *kept)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[KEPT_INDICES], taken;
    unit_ok(lx_sampler_take(sampler, KEPT_INDICES, indices, &taken, &error));
    ck_assert_msg(taken == KEPT_INDICES, "%s", kept->name);
    for (int i = 0; i < KEPT_INDICES; i++)
        ck_assert_msg(indices[i] == kept->indices[i], "%s: index %d", kept->name, i);
}

static void loads(const struct saved_state *kept)
{
    lx_error error = LX_ERROR_INIT;
    lx_sampler *sampler;
    lx_order *order = described_order(json_object_get(kept->file, "order"));
    unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
    lx_status status = lx_sampler_restore(sampler, kept->text, &error);
    ck_assert_msg(status == LX_OK, "%s: %s", kept->name, error.message);
    ck_assert_uint_eq(lx_sampler_tell(sampler),
                      number_of(json_object_get(kept->file, "state"), "position"));
    expect_indices(sampler, kept);
    lx_sampler_free(sampler);
    lx_order_unref(order);
}

START_TEST(loads_states_of_version_1)
{
    saved_states_each("samplers", 39, loads);
}
END_TEST

static void is_written(const struct saved_state *kept)
{
    lx_error error = LX_ERROR_INIT;
    lx_sampler *sampler;
    char text[LX_MAX_SAMPLER_STATE];
    const json_t *state = json_object_get(kept->file, "state");
    lx_order *order = described_order(json_object_get(kept->file, "order"));
    unit_ok(lx_sampler_new(order, number_of(state, "rank"), number_of(state, "world"), &sampler,
                           &error));
    unit_ok(lx_sampler_seek(sampler, number_of(state, "position"), &error));
    unit_ok(lx_sampler_save(sampler, text, sizeof text, NULL, &error));
    saved_state_is(kept, text);
    lx_sampler_free(sampler);
    lx_order_unref(order);
}

START_TEST(saves_the_states_of_version_1)
{
    saved_states_each("samplers", 39, is_written);
}
END_TEST

/** Every other order must reject the state. */
static void is_of_no_other(const struct saved_state *kept)
{
    lx_error error = LX_ERROR_INIT;
    lx_sampler *sampler;
    lx_order *order = make_order("shuffle", 1000, 43, 0);
    unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
    unit_fails(lx_sampler_restore(sampler, kept->text, &error), LX_ERR_MISMATCH);
    ck_assert_uint_eq(lx_sampler_tell(sampler), 0);
    lx_sampler_free(sampler);
    lx_order_unref(order);
}

START_TEST(other_orders_reject_the_states)
{
    saved_states_each("samplers", 39, is_of_no_other);
}
END_TEST

UNIT_MAIN("sampler/saved-states", loads_states_of_version_1, saves_the_states_of_version_1,
          other_orders_reject_the_states)
