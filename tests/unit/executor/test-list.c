/* SPDX-License-Identifier: MIT */
#include "executor/list.h"

#include "../unit.h"

typedef struct item {
    int value;
    lx__link link;
} item;

START_TEST(links_keep_their_order)
{
    lx__link list;
    lx__list_init(&list);
    ck_assert(lx__list_is_empty(&list));

    item items[4] = {{.value = 0}, {.value = 1}, {.value = 2}, {.value = 3}};
    lx__list_insert(&list, &items[0].link);
    lx__list_insert(&list, &items[2].link);
    lx__list_insert(&items[2].link, &items[1].link);
    lx__list_insert(&list, &items[3].link);
    ck_assert(!lx__list_is_empty(&list));
    int expected = 0;
    for (lx__link *at = list.next; at != &list; at = at->next)
        ck_assert_int_eq(LX__CONTAINER_OF(at, item, link)->value, expected++);
    ck_assert_int_eq(expected, 4);

    lx__list_remove(&items[0].link);
    lx__list_remove(&items[2].link);
    ck_assert_ptr_eq(list.next, &items[1].link);
    ck_assert_ptr_eq(list.before, &items[3].link);
    ck_assert_ptr_eq(items[3].link.before, &items[1].link);
    lx__list_remove(&items[1].link);
    lx__list_remove(&items[3].link);
    ck_assert(lx__list_is_empty(&list));
}
END_TEST

UNIT_MAIN("executor/list", links_keep_their_order)
