/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture-weights.h"

#include <limits.h>
#include <locale.h>

#include "../../scarce.h"
#include "base/alloc.h"
#include "mixtures.h"

/** The weights of a state, as text. */
static void expect_text(const lx_mixture *mixture, const char *expected)
{
    lx_error error = LX_ERROR_INIT;
    lx__saved_weights_list weightings;
    unit_ok(lx__saved_weights_list_new(mixture, &weightings, &error));
    json_t *json = lx__saved_weights_list_to_json(&weightings);
    char *text = lx__json_text(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    ck_assert_str_eq(text, expected);
    lx__free(text);
    json_decref(json);
    lx__saved_weights_list_free(&weightings);
}

START_TEST(writes_weights_in_any_locale)
{
    /* The point of the second is two bytes long. */
    static const char *const locales[] = {"C", "de_DE.UTF-8", "ps_AF.UTF-8"};
    static const uint64_t lengths[] = {10, 10, 10, 10};
    static const double weights[] = {0.1, 2, 1e300, 5e-324}, later[] = {-0.0, 0.5, 1e-7, 0};
    lx_error error = LX_ERROR_INIT;
    struct setup setup = make_setup(4, lengths, weights);
    unit_ok(lx_mixture_add_phase(setup.mixture, 1ull << 63, later, 4, &error));
    for (int i = 0; i < 3; i++) {
        if (setlocale(LC_ALL, locales[i]) == NULL)
            continue; /* not on this machine */
        expect_text(setup.mixture, "[{\"begin\":0,\"weights\":[\"0.10000000000000001\",\"2\","
                                   "\"1.0000000000000001e+300\",\"4.9406564584124654e-324\"]},"
                                   "{\"begin\":\"9223372036854775808\",\"weights\":[\"0\",\"0.5\","
                                   "\"9.9999999999999995e-08\",\"0\"]}]");
    }
    free_setup(&setup);
}
END_TEST

START_TEST(states_replace_many_weights_by_a_checksum)
{
    uint64_t lengths[SETS_MAX];
    double weights[SETS_MAX];
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < SETS_MAX; i++) {
        lengths[i] = 10;
        weights[i] = (double)i + 0.1;
    }
    struct setup setup = make_setup(SETS_MAX, lengths, weights);
    expect_text(setup.mixture, "[{\"begin\":0,\"weights\":\"68d4ba8f\"}]");
    for (uint64_t begin = 1; begin < 20; begin++)
        unit_ok(lx_mixture_add_phase(setup.mixture, begin, weights, SETS_MAX, &error));
    expect_text(setup.mixture, "\"3c77803a\"");
    free_setup(&setup);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    static const uint64_t lengths[] = {10, 10};
    static const double weights[] = {1, 2};
    lx_error error = LX_ERROR_INIT;
    struct setup setup = make_setup(2, lengths, weights);
    lx_status status = LX_ERR_NOMEM;
    unit_ok(lx_mixture_add_phase(setup.mixture, 5, weights, 2, &error));
    for (int left = 0; status != LX_OK; left++) {
        lx__saved_weights_list weightings;
        scarce_begin(left);
        status = lx__saved_weights_list_new(setup.mixture, &weightings, &error);
        scarce_left = INT_MAX;
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        if (status == LX_OK)
            lx__saved_weights_list_free(&weightings);
        lx_error_clear(&error);
    }
    free_setup(&setup);
}
END_TEST

UNIT_MAIN("sampler/mixture-weights", writes_weights_in_any_locale,
          states_replace_many_weights_by_a_checksum, reports_failed_allocations)
