/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Intrusive doubly linked lists: a list is a ring with one link as its head.
 */
#ifndef LX_EXECUTOR_LIST_H
#define LX_EXECUTOR_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lx__link lx__link;
struct lx__link {
    lx__link *next, *before;
};

/** The object of type @p type whose member @p member is @p link. */
#define LX__CONTAINER_OF(link, type, member)                                                       \
    ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void lx__list_init(lx__link *list)
{
    list->next = list->before = list;
}

static inline bool lx__list_is_empty(const lx__link *list)
{
    return list->next == list;
}

/** Inserts @p link before @p place; inserting it before the head appends it to the list. */
static inline void lx__list_insert(lx__link *place, lx__link *link)
{
    link->next = place;
    link->before = place->before;
    place->before->next = link;
    place->before = link;
}

static inline void lx__list_remove(lx__link *link)
{
    link->before->next = link->next;
    link->next->before = link->before;
}

#endif
