/* SPDX-License-Identifier: MIT */
#include "remote/queue/request-lists.h"

#include "executor/clock.h"

static lx__request *request_of(lx__link *link)
{
    return LX__CONTAINER_OF(link, lx__request, link);
}

void lx__request_lists_init(lx__request_lists *lists, unsigned limit)
{
    lx__list_init(&lists->urgent);
    lx__list_init(&lists->normal);
    lx__list_init(&lists->paused);
    lists->ready = lists->begun = 0;
    lists->limit = limit;
}

/** Inserts a request at the start or the end of its list. */
static void insert(lx__request_lists *lists, lx__request *request, bool first)
{
    lx__link *list = request->urgent ? &lists->urgent : &lists->normal;
    lx__list_insert(first ? list->next : list, &request->link);
    request->ready = true;
    lists->ready++;
}

void lx__request_lists_add(lx__request_lists *lists, lx__request *request)
{
    insert(lists, request, false);
}

void lx__request_lists_pause(lx__request_lists *lists, lx__request *request)
{
    lx__link *earlier = lists->paused.before;
    while (earlier != &lists->paused && request_of(earlier)->due > request->due)
        earlier = earlier->before;
    lx__list_insert(earlier->next, &request->link);
}

void lx__request_lists_end_pauses(lx__request_lists *lists, uint64_t now)
{
    while (lx__request_lists_get_due(lists) <= now) {
        lx__request *request = request_of(lists->paused.next);
        lx__list_remove(&request->link);
        insert(lists, request, true);
    }
}

uint64_t lx__request_lists_get_due(const lx__request_lists *lists)
{
    return lx__list_is_empty(&lists->paused) ? LX__NEVER : request_of(lists->paused.next)->due;
}

lx__request *lx__request_lists_get_next(const lx__request_lists *lists)
{
    if (!lx__list_is_empty(&lists->urgent))
        return request_of(lists->urgent.next);
    if (lx__list_is_empty(&lists->normal))
        return NULL;
    lx__request *request = request_of(lists->normal.next);
    return request->started != 0 || lists->begun < lists->limit ? request : NULL;
}

void lx__request_lists_remove(lx__request_lists *lists, lx__request *request)
{
    lx__list_remove(&request->link);
    request->ready = false;
    lists->ready--;
}

lx__request *lx__request_lists_pop(lx__request_lists *lists)
{
    lx__request_lists_end_pauses(lists, LX__NEVER - 1);
    lx__link *list = lx__list_is_empty(&lists->urgent) ? &lists->normal : &lists->urgent;
    if (lx__list_is_empty(list))
        return NULL;
    lx__request *request = request_of(list->next);
    lx__request_lists_remove(lists, request);
    return request;
}

void lx__request_lists_hurry(lx__request_lists *lists, lx__request *request)
{
    bool ready = request->ready;
    if (ready)
        lx__request_lists_remove(lists, request);
    request->urgent = true;
    if (ready)
        insert(lists, request, false);
}
