/* SPDX-License-Identifier: MIT */
/* Reads and changes the card of a dataset. See doc/zrecord-format.md, 4.2. */
#include "base/error.h"
#include "zrecord/format/card.h"
#include "zrecord/read/refresh.h"
#include "zrecord/write/install.h"

lx_status lx_dataset_read_card(lx_dataset *dataset, lx_card **card, lx_error *error)
{
    lx__snapshot *snapshot;
    LX__CLEAR(card);
    if (dataset == NULL || card == NULL)
        return lx__fail_null(error, dataset == NULL ? "dataset" : "card");
    lx_status status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    status = lx__card_copy(lx__meta_get_card(&snapshot->store->meta), card, error);
    lx__snapshot_unref(snapshot);
    return status;
}

typedef struct change {
    const lx_card_entry *entries;
    size_t count;
} change;

/** Changes the card of a meta, which must be one that is about to be installed. */
static lx_status change_card(lx__meta *meta, const change *wanted, lx_error *error)
{
    const json_t *now = lx__meta_get_card(meta);
    json_t *card = now != NULL ? json_deep_copy(now) : json_object();
    if (card == NULL)
        return lx__fail_memory(error, "a card");
    lx_status status = lx__card_change(card, wanted->entries, wanted->count, error);
    if (status == LX_OK)
        status = lx__meta_set_card(meta, card, error);
    json_decref(card);
    return status;
}

static lx_status set_card(lx_writer *writer, void *user, lx_error *error)
{
    lx__install next;
    lx_status status = lx__install_begin(&next, writer, error);
    if (status == LX_OK)
        status = change_card(&next.meta, user, error);
    if (status == LX_OK)
        status = lx__install_finish(&next, error);
    lx__install_end(&next);
    return status;
}

lx_status lx_writer_set_card(lx_writer *writer, const lx_card_entry *entries, size_t count,
                             lx_error *error)
{
    change wanted = {entries, count};
    return lx__install_call_within(writer, set_card, &wanted, error);
}
