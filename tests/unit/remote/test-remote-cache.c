/* SPDX-License-Identifier: MIT */
/* lx_cache_list(), lx_cache_remove() and lx_cache_trim(). */
#include "cache/caches.h"

#include <loaderx/remote.h>

#define SIZE 100000

static lx_status describe(const lx_cache_dataset *dataset, void *user, lx_error *error)
{
    char *text = user;
    size_t used = strlen(text);
    (void)error;
    ck_assert_uint_ge(dataset->bytes, SIZE);
    snprintf(text + used, 500 - used, "%.8s %s %lld %d\n", dataset->uuid, dataset->url,
             (long long)dataset->last_use, dataset->in_use);
    return LX_OK;
}

static lx_status stop(const lx_cache_dataset *dataset, void *user, lx_error *error)
{
    (void)dataset;
    ++*(int *)user;
    return lx_fail(error, LX_ERR_CANCELED, "enough");
}

static lx_status finish(const lx_cache_dataset *dataset, void *user, lx_error *error)
{
    (void)dataset, (void)user, (void)error;
    return LX_END;
}

START_TEST(lists_removes_and_trims)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    char text[500] = "";
    make_dataset(1, SIZE, 3000);
    make_dataset(2, SIZE, 1000);
    make_dataset(3, SIZE, 2000);
    unit_ok(lx_cache_list("cache", describe, text, &error));
    ck_assert_str_eq(text, "00000002 " URL " 1000 0\n"
                           "00000003 " URL " 2000 0\n"
                           "00000001 " URL " 3000 0\n");
    lx__cache *cache = open_cache(LX_NONE);
    use_dataset(cache, 3);
    unit_fails(lx_cache_remove("cache", uuid_of(3), &error), LX_ERR_BUSY);
    unit_ok(lx_cache_remove("cache", uuid_of(1), &error));
    unit_ok(lx_cache_trim("cache", LX_NONE, &error));
    ck_assert(!has_dataset(1) && has_dataset(2) && has_dataset(3));
    unit_ok(lx_cache_trim("cache", 0, &error));
    ck_assert(!has_dataset(2) && has_dataset(3));
    lx__cache_close(cache);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_callback_ends_the_list)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    int calls = 0;
    make_dataset(1, SIZE, 1);
    make_dataset(2, SIZE, 2);
    unit_fails(lx_cache_list("cache", stop, &calls, &error), LX_ERR_CANCELED);
    ck_assert_int_eq(calls, 1);
    unit_fails(lx_cache_list("cache", finish, NULL, &error), LX_ERR_CALLBACK);
    scratch_remove(scratch);
}
END_TEST

START_TEST(makes_no_cache_and_refuses_others)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    char text[500] = "";
    unit_fails(lx_cache_list("cache", describe, text, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_cache_remove("cache", uuid_of(1), &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_cache_trim("cache", 0, &error), LX_ERR_NOT_FOUND);
    ck_assert_int_ne(access("cache", F_OK), 0);
    make_dataset(1, SIZE, 1);
    unit_fails(lx_cache_remove("cache", uuid_of(2), &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_cache_remove("cache", "..", &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(chmod("cache", 0777), 0);
    unit_fails(lx_cache_list("cache", describe, text, &error), LX_ERR_STATE);
    unit_fails(lx_cache_trim("cache", 0, &error), LX_ERR_STATE);
    ck_assert(has_dataset(1));
    unit_refuses_null(lx_cache_list(NULL, describe, text, &error), "path");
    unit_refuses_null(lx_cache_list("cache", NULL, NULL, &error), "visit");
    unit_refuses_null(lx_cache_remove(NULL, uuid_of(1), &error), "path");
    unit_refuses_null(lx_cache_remove("cache", NULL, &error), "uuid");
    unit_refuses_null(lx_cache_trim(NULL, 0, &error), "path");
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("remote/remote-cache", lists_removes_and_trims, a_callback_ends_the_list,
          makes_no_cache_and_refuses_others)
