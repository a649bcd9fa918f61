/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/join-uuid.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/mix.h"

/** Two hashes of 64 bits. They only have to tell inputs apart that are random themselves, as the
 * UUIDs of the parts are. */
typedef struct hash {
    uint64_t words[2];
} hash;

static void add_word(hash *to, uint64_t word)
{
    to->words[0] = lx__mix(to->words[0] ^ word) + 0x9e3779b97f4a7c15u;
    to->words[1] = lx__mix(to->words[1] + word) ^ 0xd1b54a32d192ed03u;
}

static void add_text(hash *to, const char *text)
{
    uint8_t word[8];
    size_t size = strlen(text);
    add_word(to, size);
    for (size_t at = 0; at < size; at += sizeof word) {
        memset(word, 0, sizeof word);
        memcpy(word, text + at, size - at < sizeof word ? size - at : sizeof word);
        add_word(to, lx__load_le64(word));
    }
}

static lx_status add_part(hash *to, const lx__join_part *part, lx_error *error)
{
    char *text = lx__json_text(part->snapshot->store->meta.document, JSON_COMPACT | JSON_SORT_KEYS);
    if (text == NULL)
        return lx__fail_memory(error, "a join");
    add_text(to, text);
    add_text(to, part->path);
    add_word(to, part->snapshot->length);
    lx__free(text);
    return LX_OK;
}

lx_status lx__join_set_uuid(lx__join *self, lx_error *error)
{
    uint8_t uuid[LX__UUID_BYTES];
    hash sum = {{1, 2}};
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        status = add_part(&sum, &self->parts[i], error);
    if (status != LX_OK)
        return status;
    lx__store_le64(uuid, sum.words[0]);
    lx__store_le64(uuid + 8, sum.words[1]);
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80); /* version 8 of RFC 9562: a hash */
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
    return lx__meta_set_uuid(&self->meta, uuid, error);
}
