/* SPDX-License-Identifier: MIT */
#include "remote/http/etags.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define LEAST_CAPACITY 64

void lx__etags_open(lx__etags *self)
{
    *self = (lx__etags){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void lx__etags_close(lx__etags *self)
{
    for (size_t i = 0; i < self->capacity; i++)
        lx__free(self->entries[i]);
    lx__free(self->entries);
    pthread_mutex_destroy(&self->lock);
}

/** FNV-1a. */
static size_t hash(const char *name)
{
    uint32_t sum = 2166136261u;
    for (; *name != '\0'; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619u;
    return sum;
}

/** Finds the entry of @p name, or the free one where it belongs; the table has a free one. */
static char **find(char **entries, size_t capacity, const char *name)
{
    for (size_t i = hash(name);; i++) {
        char **entry = &entries[i & (capacity - 1)];
        if (*entry == NULL || strcmp(*entry, name) == 0)
            return entry;
    }
}

static const char *get_etag(const char *entry)
{
    return entry + strlen(entry) + 1;
}

/** Keeps a quarter of the table free. */
static bool grow(lx__etags *self)
{
    if (self->used < self->capacity / 4 * 3)
        return true;
    size_t capacity = self->capacity != 0 ? self->capacity * 2 : LEAST_CAPACITY;
    char **entries = lx__alloc_array(capacity, sizeof *entries);
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < self->capacity; i++)
        if (self->entries[i] != NULL)
            *find(entries, capacity, self->entries[i]) = self->entries[i];
    lx__free(self->entries);
    self->entries = entries;
    self->capacity = capacity;
    return true;
}

void lx__etags_get(lx__etags *self, const char *name, char *etag, size_t size)
{
    *etag = '\0';
    pthread_mutex_lock(&self->lock);
    if (self->used > 0) {
        const char *entry = *find(self->entries, self->capacity, name);
        if (entry != NULL)
            snprintf(etag, size, "%s", get_etag(entry));
    }
    pthread_mutex_unlock(&self->lock);
}

/** lx__etags_check() with the lock held. */
static bool check(lx__etags *self, const char *name, const char *etag)
{
    if (!grow(self))
        return true;
    char **entry = find(self->entries, self->capacity, name);
    if (*entry != NULL)
        return strcmp(get_etag(*entry), etag) == 0;
    size_t name_size = strlen(name) + 1, etag_size = strlen(etag) + 1;
    if ((*entry = lx__alloc(name_size + etag_size)) == NULL)
        return true;
    memcpy(*entry, name, name_size);
    memcpy(*entry + name_size, etag, etag_size);
    self->used++;
    return true;
}

bool lx__etags_check(lx__etags *self, const char *name, const char *etag)
{
    pthread_mutex_lock(&self->lock);
    bool same = check(self, name, etag);
    pthread_mutex_unlock(&self->lock);
    return same;
}
