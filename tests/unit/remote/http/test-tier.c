/* SPDX-License-Identifier: MIT */
#include "remote/http/tier.h"

#include <pthread.h>

#include <loaderx/hooks.h>

#include "../../unit.h"

#define SECOND ((uint64_t)1000000000)
#define NODES 10
#define SEGMENTS 10000

static const char *const urls[NODES] = {
    "http://n0:8080", "http://n1:8080", "http://n2:8080", "http://n3:8080", "http://n4:8080",
    "http://n5:8080", "http://n6:8080", "http://n7:8080", "http://n8:8080", "http://n9:8080"};

static uint64_t get_key(uint64_t segment)
{
    return lx__tier_get_key("https://host/train", "chunk/7.zr", segment * LX__TIER_SEGMENT + 5);
}

/** Returns the name of the node that has a segment. */
static const char *find(lx__tier *tier, uint64_t segment)
{
    return lx__tier_choose(tier, get_key(segment), NULL, 0)->target;
}

START_TEST(gives_each_node_its_share)
{
    lx_error error = LX_ERROR_INIT;
    lx__tier tier;
    unsigned counts[NODES] = {0};
    unit_ok(lx__tier_open(&tier, urls, NODES, &error));
    for (uint64_t i = 0; i < SEGMENTS; i++)
        counts[lx__tier_choose(&tier, get_key(i), NULL, 0) - tier.nodes]++;
    for (int i = 0; i < NODES; i++) /* 6 standard deviations */
        ck_assert(counts[i] > 1000 - 180 && counts[i] < 1000 + 180);
    lx__tier_close(&tier);
}
END_TEST

START_TEST(moves_only_what_a_new_node_takes)
{
    lx_error error = LX_ERROR_INIT;
    lx__tier before, after;
    unsigned moved = 0;
    unit_ok(lx__tier_open(&before, urls, NODES - 1, &error));
    unit_ok(lx__tier_open(&after, urls, NODES, &error));
    for (uint64_t i = 0; i < SEGMENTS; i++)
        if (strcmp(find(&before, i), find(&after, i)) != 0) {
            ck_assert_str_eq(find(&after, i), "::n9:8080");
            moved++;
        }
    ck_assert(moved > 1000 - 180 && moved < 1000 + 180);
    lx__tier_close(&before);
    lx__tier_close(&after);
}
END_TEST

/* All hosts of a job must choose alike, also if they have different versions of the library. */
START_TEST(never_chooses_differently)
{
    static const char *const turned[] = {"http://N2:8080/", "http://n1:8080", "http://n0:8080"};
    static const char expected[] = "1210221011012222";
    lx_error error = LX_ERROR_INIT;
    lx__tier a, b;
    unit_ok(lx__tier_open(&a, urls, 3, &error));
    unit_ok(lx__tier_open(&b, turned, 3, &error));
    for (uint64_t i = 0; i < sizeof expected - 1; i++) {
        ck_assert_str_eq(find(&a, i), find(&b, i));
        ck_assert_int_eq(find(&a, i)[3], expected[i]);
    }
    ck_assert_uint_eq(lx__tier_get_key("a", "b", 0),
                      lx__tier_get_key("a", "b", LX__TIER_SEGMENT - 1));
    ck_assert_uint_ne(lx__tier_get_key("a", "b", 0), lx__tier_get_key("a", "b", LX__TIER_SEGMENT));
    ck_assert_uint_ne(lx__tier_get_key("a", "b", 0), lx__tier_get_key("a", "c", 0));
    ck_assert_uint_ne(lx__tier_get_key("a", "b", 0), lx__tier_get_key("c", "b", 0));
    lx__tier_close(&a);
    lx__tier_close(&b);
}
END_TEST

static unsigned messages;

static void count_message(lx_log_level level, const char *message, void *user)
{
    (void)user;
    ck_assert_int_eq(level, LX_LOG_WARNING);
    ck_assert_ptr_nonnull(strstr(message, "http://n"));
    ck_assert_ptr_nonnull(strstr(message, "it failed"));
    messages++;
}

START_TEST(passes_over_nodes_that_failed)
{
    lx_error error = LX_ERROR_INIT, why = LX_ERROR_INIT;
    lx__tier tier;
    uint64_t key = get_key(3), now = SECOND;
    lx_fail(&why, LX_ERR_IO, "it failed");
    lx_set_log_hook(count_message, NULL);
    unit_ok(lx__tier_open(&tier, urls, 2, &error));
    lx__tier_node *first = lx__tier_choose(&tier, key, NULL, now);
    lx__tier_node *second = lx__tier_choose(&tier, key, first, now);
    ck_assert(second != NULL && second != first);

    lx__tier_pass_over(first, &why, now);
    lx__tier_pass_over(first, &why, now);
    ck_assert_uint_eq(messages, 1);
    ck_assert_ptr_eq(lx__tier_choose(&tier, key, NULL, now), second);
    lx__tier_pass_over(second, &why, now + SECOND);
    ck_assert_ptr_null(lx__tier_choose(&tier, key, NULL, now + 30 * SECOND - 1));

    now += 30 * SECOND; /* one thread may try the node again */
    ck_assert_ptr_eq(lx__tier_choose(&tier, key, NULL, now), first);
    ck_assert_ptr_null(lx__tier_choose(&tier, key, NULL, now));
    lx__tier_pass_over(first, &why, now);
    ck_assert_uint_eq(messages, 2);

    now += 30 * SECOND;
    ck_assert_ptr_eq(lx__tier_choose(&tier, key, NULL, now), first);
    lx__tier_use(first);
    ck_assert_ptr_eq(lx__tier_choose(&tier, key, NULL, now), first);
    lx__tier_pass_over(first, &why, now);
    ck_assert_uint_eq(messages, 3);
    lx_set_log_hook(NULL, NULL);
    lx__tier_close(&tier);
}
END_TEST

#define THREADS 4

static void *choose_one(void *user)
{
    return lx__tier_choose(user, get_key(0), NULL, 60 * SECOND);
}

START_TEST(lets_one_thread_try_again)
{
    lx_error error = LX_ERROR_INIT, why = LX_ERROR_INIT;
    lx__tier tier;
    pthread_t threads[THREADS];
    unsigned chosen = 0;
    lx_fail(&why, LX_ERR_IO, "it failed");
    unit_ok(lx__tier_open(&tier, urls, 1, &error));
    lx__tier_pass_over(&tier.nodes[0], &why, 1);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, choose_one, &tier), 0);
    for (int i = 0; i < THREADS; i++) {
        void *node;
        pthread_join(threads[i], &node);
        chosen += node != NULL;
    }
    ck_assert_uint_eq(chosen, 1);
    lx__tier_close(&tier);
}
END_TEST

static void check(const char *url, const char *target)
{
    lx_error error = LX_ERROR_INIT;
    lx__tier tier, copy;
    unit_ok(lx__tier_open(&tier, &url, 1, &error));
    ck_assert_str_eq(tier.nodes[0].target, target);
    unit_ok(lx__tier_copy(&copy, &tier, &error));
    ck_assert_str_eq(copy.nodes[0].target, target);
    ck_assert_uint_eq(copy.nodes[0].hash, tier.nodes[0].hash);
    lx__tier_close(&tier);
    lx__tier_close(&copy);
}

START_TEST(parses_urls)
{
    static const char *const bad[] = {
        "",           "n1:8080",       "https://n1",      "http://",        "http://:80",
        "http://a:",  "http://a:0",    "http://a:65536",  "http://a:8x",    "http://a/b",
        "http://a?b", "http://u@a:80", "http://[::1:80",  "http://[]:80",   "http://a b",
        "HTTP://a",   "http://a//",    "http://a:000080", "http://a:80:80", "http://a\n"};
    lx_error error = LX_ERROR_INIT;
    lx__tier tier;
    check("http://Node-1.job_2:8080", "::node-1.job_2:8080");
    check("http://10.0.0.1/", "::10.0.0.1:80");
    check("http://[FE80::1]:65535", "::[fe80::1]:65535");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *two[] = {"http://a", bad[i]};
        unit_fails(lx__tier_open(&tier, two, 2, &error), LX_ERR_ARGUMENT);
        ck_assert_ptr_null(tier.nodes);
    }
    unit_ok(lx__tier_open(&tier, NULL, 0, &error));
    ck_assert_ptr_null(lx__tier_choose(&tier, 1, NULL, 0));
    unit_ok(lx__tier_copy(&tier, &(lx__tier){0}, &error));
    lx__tier_close(&tier);
}
END_TEST

UNIT_MAIN("remote/http/tier", gives_each_node_its_share, moves_only_what_a_new_node_takes,
          never_chooses_differently, passes_over_nodes_that_failed, lets_one_thread_try_again,
          parses_urls)
