/* SPDX-License-Identifier: MIT */
#include "remote/queue/pace.h"

#include "../../unit.h"

#define SECOND ((uint64_t)1000000000)
#define MILLISECOND ((uint64_t)1000000)

START_TEST(there_is_no_limit_at_first)
{
    lx__pace pace = {0};
    for (uint64_t now = SECOND; now < SECOND + 1000; now++) {
        ck_assert_uint_le(pace.next, now);
        lx__pace_begin(&pace, now);
        lx__pace_succeed(&pace, now);
    }
}
END_TEST

START_TEST(a_server_that_names_a_time_is_left_alone_for_at_most_20_s)
{
    lx__pace pace = {0};
    lx__pace_slow_down(&pace, SECOND, 2 * SECOND, 1, 3 * SECOND);
    ck_assert_uint_eq(pace.next, 5 * SECOND);
    lx__pace_slow_down(&pace, SECOND, 2 * SECOND, 1, UINT64_MAX);
    ck_assert_uint_eq(pace.next, 22 * SECOND);
}
END_TEST

START_TEST(the_rate_is_lowered_once_for_attempts_that_began_together)
{
    lx__pace pace = {0};
    for (int i = 0; i < 100; i++) /* 100 under way for 1 s, none of them served */
        lx__pace_slow_down(&pace, SECOND, 2 * SECOND, 100, 0);
    ck_assert(pace.rate > 49.9 && pace.rate < 50.1);
    lx__pace_slow_down(&pace, 2 * SECOND, 3 * SECOND, 100, 0);
    ck_assert(pace.rate > 24.9 && pace.rate < 25.1);
}
END_TEST

START_TEST(the_rate_has_a_lower_limit)
{
    lx__pace pace = {0};
    for (uint64_t s = 1; s < 100; s++)
        lx__pace_slow_down(&pace, s * SECOND, (s + 1) * SECOND, 1, 0);
    lx__pace_begin(&pace, 100 * SECOND);
    ck_assert_uint_le(pace.next, 106 * SECOND);
}
END_TEST

START_TEST(an_attempt_that_is_taken_back_costs_nothing)
{
    lx__pace pace = {0};
    lx__pace_slow_down(&pace, SECOND, 2 * SECOND, 10, 0);
    lx__pace_begin(&pace, 2 * SECOND);
    uint64_t next = pace.next;
    lx__pace_begin(&pace, next);
    ck_assert_uint_gt(pace.next, next);
    lx__pace_take_back(&pace);
    ck_assert_uint_eq(pace.next, next);
}
END_TEST

/** A server that serves @c rate requests a second, and saves up a tenth of a second of that. */
struct server {
    double rate, saved;
    uint64_t then, round_trip;
};

static bool serve(struct server *server, uint64_t now)
{
    double most = server->rate / 10 > 2 ? server->rate / 10 : 2;
    server->saved += (double)(now - server->then) * server->rate / SECOND;
    server->saved = server->saved < most ? server->saved : most;
    server->then = now;
    if (server->saved < 1)
        return false;
    server->saved -= 1;
    return true;
}

#define CONNECTIONS 64

/** Simulates a minute. @p served and @p attempts receive what happened in its last 50 seconds. */
static void simulate(struct server *server, unsigned *served, unsigned *attempts)
{
    lx__pace pace = {0};
    uint64_t began[CONNECTIONS] = {0}; /* 0: nothing is under way */
    bool is_served[CONNECTIONS] = {false};
    *served = *attempts = 0;
    for (uint64_t now = SECOND; now < 61 * SECOND; now += MILLISECOND / 4) {
        unsigned under_way = 0;
        for (int i = 0; i < CONNECTIONS; i++)
            under_way += began[i] != 0;
        for (int i = 0; i < CONNECTIONS; i++) {
            if (began[i] != 0 && began[i] + server->round_trip <= now) {
                if (is_served[i])
                    lx__pace_succeed(&pace, now);
                else
                    lx__pace_slow_down(&pace, began[i], now, under_way, 0);
                began[i] = 0;
            }
            if (began[i] == 0 && pace.next <= now) {
                lx__pace_begin(&pace, now);
                began[i] = now;
                is_served[i] = serve(server, now);
                *attempts += now >= 11 * SECOND;
                *served += is_served[i] && now >= 11 * SECOND;
            }
        }
    }
}

START_TEST(finds_the_rate_of_any_server)
{
    static const double rates[] = {2, 10, 60, 500};
    static const uint64_t round_trips[] = {1, 20, 100};
    for (int r = 0; r < 4; r++)
        for (int t = 0; t < 3; t++) {
            struct server server = {rates[r], 2, 0, round_trips[t] * MILLISECOND};
            unsigned served, attempts;
            simulate(&server, &served, &attempts);
            ck_assert_msg(served >= 0.9 * 50 * rates[r] && attempts <= 1.3 * served,
                          "%g/s, %d ms: %u served, %u attempts", rates[r], (int)round_trips[t],
                          served, attempts);
        }
}
END_TEST

UNIT_MAIN("remote/queue/pace", there_is_no_limit_at_first,
          a_server_that_names_a_time_is_left_alone_for_at_most_20_s,
          the_rate_is_lowered_once_for_attempts_that_began_together, the_rate_has_a_lower_limit,
          an_attempt_that_is_taken_back_costs_nothing, finds_the_rate_of_any_server)
