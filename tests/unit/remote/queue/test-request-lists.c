/* SPDX-License-Identifier: MIT */
#include "remote/queue/request-lists.h"

#include "../../unit.h"

static lx__request_lists lists;
static lx__request requests[6];

static void set_up(unsigned limit)
{
    lx__request_lists_init(&lists, limit);
    memset(requests, 0, sizeof requests);
}

/** Takes the next request; returns its number, or -1. */
static int take(void)
{
    lx__request *request = lx__request_lists_get_next(&lists);
    if (request == NULL)
        return -1;
    lx__request_lists_remove(&lists, request);
    lists.begun += request->started == 0;
    request->started = 1;
    return (int)(request - requests);
}

START_TEST(urgent_then_begun_then_as_they_came)
{
    set_up(10);
    requests[2].urgent = requests[4].urgent = true;
    for (int i = 0; i < 5; i++)
        lx__request_lists_add(&lists, &requests[i]);
    requests[5].started = 1;
    requests[5].due = 7;
    lx__request_lists_pause(&lists, &requests[5]);
    lx__request_lists_hurry(&lists, &requests[3]);
    ck_assert_uint_eq(lists.ready, 5);
    lx__request_lists_end_pauses(&lists, 6);
    ck_assert_uint_eq(lists.ready, 5);
    lx__request_lists_end_pauses(&lists, 7);
    ck_assert_uint_eq(lists.ready, 6);
    static const int order[] = {2, 4, 3, 5, 0, 1, -1};
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(take(), order[i]);
    ck_assert_uint_eq(lists.ready, 0);
}
END_TEST

START_TEST(pauses_end_by_time_and_a_paused_request_can_be_hurried)
{
    set_up(10);
    static const uint64_t due[] = {30, 10, 20};
    ck_assert_uint_eq(lx__request_lists_get_due(&lists), UINT64_MAX);
    for (int i = 0; i < 3; i++) {
        requests[i].due = due[i];
        lx__request_lists_pause(&lists, &requests[i]);
    }
    lx__request_lists_add(&lists, &requests[3]);
    lx__request_lists_hurry(&lists, &requests[0]);
    ck_assert_uint_eq(lx__request_lists_get_due(&lists), 10);
    lx__request_lists_end_pauses(&lists, 15);
    ck_assert_uint_eq(lx__request_lists_get_due(&lists), 20);
    ck_assert_int_eq(take(), 1);
    lx__request_lists_end_pauses(&lists, 30);
    ck_assert_int_eq(take(), 0);
    ck_assert_int_eq(take(), 2);
    ck_assert_int_eq(take(), 3);
}
END_TEST

START_TEST(only_urgent_requests_exceed_the_limit)
{
    set_up(2);
    for (int i = 0; i < 4; i++)
        lx__request_lists_add(&lists, &requests[i]);
    ck_assert_int_eq(take(), 0);
    ck_assert_int_eq(take(), 1);
    ck_assert_int_eq(take(), -1);
    lx__request_lists_hurry(&lists, &requests[3]);
    ck_assert_int_eq(take(), 3);
    ck_assert_int_eq(take(), -1);
    lx__request_lists_pause(&lists, &requests[0]); /* repeating is no new request */
    lx__request_lists_end_pauses(&lists, 0);
    ck_assert_int_eq(take(), 0);
    ck_assert_int_eq(take(), -1);
    lists.begun = 1;
    ck_assert_int_eq(take(), 2);
}
END_TEST

START_TEST(pop_empties_all_lists)
{
    set_up(0);
    requests[1].urgent = true;
    lx__request_lists_add(&lists, &requests[0]);
    lx__request_lists_add(&lists, &requests[1]);
    requests[2].due = UINT64_MAX - 1;
    lx__request_lists_pause(&lists, &requests[2]);
    bool popped[3] = {false};
    for (int i = 0; i < 3; i++)
        popped[lx__request_lists_pop(&lists) - requests] = true;
    ck_assert(popped[0] && popped[1] && popped[2]);
    ck_assert_ptr_null(lx__request_lists_pop(&lists));
    ck_assert_uint_eq(lists.ready, 0);
}
END_TEST

UNIT_MAIN("remote/queue/request-lists", urgent_then_begun_then_as_they_came,
          pauses_end_by_time_and_a_paused_request_can_be_hurried,
          only_urgent_requests_exceed_the_limit, pop_empties_all_lists)
