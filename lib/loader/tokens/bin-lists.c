/* SPDX-License-Identifier: MIT */
#include "loader/tokens/bin-lists.h"

#include <string.h>

#include "base/alloc.h"

#define NONE LX__BIN_LISTS_NONE

bool lx__bin_lists_init(lx__bin_lists *self, uint32_t spaces, uint32_t bins)
{
    size_t words = spaces;
    *self = (lx__bin_lists){.spaces = spaces,
                            .heads = lx__alloc((size_t)spaces * sizeof *self->heads),
                            .next = lx__alloc((size_t)bins * sizeof *self->next)};
    bool made = self->heads != NULL && self->next != NULL;
    for (int level = 0; level < LX__BIN_LISTS_LEVELS; level++) {
        words = words / 64 + 1;
        self->bits[level] = lx__alloc_array(words, sizeof **self->bits);
        made = made && self->bits[level] != NULL;
    }
    if (made)
        memset(self->heads, 0xff, (size_t)spaces * sizeof *self->heads);
    else
        lx__bin_lists_free(self);
    return made;
}

void lx__bin_lists_free(lx__bin_lists *self)
{
    lx__free(self->heads);
    lx__free(self->next);
    for (int level = 0; level < LX__BIN_LISTS_LEVELS; level++)
        lx__free(self->bits[level]);
}

void lx__bin_lists_add(lx__bin_lists *self, uint32_t bin, uint32_t space)
{
    self->next[bin] = self->heads[space];
    self->heads[space] = bin;
    for (int level = 0; level < LX__BIN_LISTS_LEVELS; level++) {
        self->bits[level][space / 64] |= UINT64_C(1) << space % 64;
        space /= 64;
    }
}

uint32_t lx__bin_lists_take(lx__bin_lists *self, uint32_t space)
{
    uint32_t bin = self->heads[space];
    self->heads[space] = self->next[bin];
    bool empty = self->heads[space] == NONE;
    for (int level = 0; empty && level < LX__BIN_LISTS_LEVELS; level++) {
        self->bits[level][space / 64] &= ~(UINT64_C(1) << space % 64);
        empty = self->bits[level][space / 64] == 0;
        space /= 64;
    }
    return bin;
}

uint32_t lx__bin_lists_find(const lx__bin_lists *self, uint32_t least)
{
    uint64_t at = least, word = 0;
    int level = 0;
    if (least >= self->spaces)
        return NONE;
    for (;; level++) { /* goes up, until a word has a bit at this position or after it */
        if (level == LX__BIN_LISTS_LEVELS || (level > 0 && at > (self->spaces - 1) >> 6 * level))
            return NONE;
        word = self->bits[level][at / 64] >> at % 64;
        if (word != 0)
            break;
        at = at / 64 + 1;
    }
    at += (unsigned)__builtin_ctzll(word);
    while (level-- > 0) /* then goes down to the first such bit */
        at = at * 64 + (unsigned)__builtin_ctzll(self->bits[level][at]);
    return (uint32_t)at;
}
