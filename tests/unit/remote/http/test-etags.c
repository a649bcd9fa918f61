/* SPDX-License-Identifier: MIT */
#include "remote/http/etags.h"

#include <pthread.h>

#include "../../unit.h"

START_TEST(keeps_the_first)
{
    lx__etags etags;
    char etag[16], name[16];
    lx__etags_open(&etags);
    lx__etags_get(&etags, "a", etag, sizeof etag);
    ck_assert_str_eq(etag, "");
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "chunk/%d", i);
        snprintf(etag, sizeof etag, "\"%d\"", i % 7);
        ck_assert(lx__etags_check(&etags, name, etag));
    }
    for (int i = 0; i < 1000; i++) {
        char expected[16];
        snprintf(name, sizeof name, "chunk/%d", i);
        snprintf(expected, sizeof expected, "\"%d\"", i % 7);
        lx__etags_get(&etags, name, etag, sizeof etag);
        ck_assert_str_eq(etag, expected);
        ck_assert(lx__etags_check(&etags, name, expected));
        ck_assert(!lx__etags_check(&etags, name, "\"x\""));
    }
    ck_assert_uint_eq(etags.used, 1000);
    lx__etags_close(&etags);
}
END_TEST

static void *check_all(void *user)
{
    char name[16], etag[16];
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "%d", i);
        lx__etags_get(user, name, etag, sizeof etag);
        if (!lx__etags_check(user, name, name))
            return user;
    }
    return NULL;
}

START_TEST(may_be_used_by_many_threads)
{
    lx__etags etags;
    pthread_t threads[4];
    lx__etags_open(&etags);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, check_all, &etags), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(etags.used, 2000);
    lx__etags_close(&etags);
}
END_TEST

UNIT_MAIN("remote/http/etags", keeps_the_first, may_be_used_by_many_threads)
