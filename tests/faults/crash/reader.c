/* SPDX-License-Identifier: MIT */
#include "content.h"
#include "life.h"

static lx_dataset *open_reader(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    if (lx_dataset_open(life->job->path, NULL, &dataset, &error) != LX_OK)
        life_refuse("a concurrent reader", &error);
    return dataset;
}

static uint64_t digest_of(lx_dataset *dataset)
{
    struct content content;
    lx_error error = LX_ERROR_INIT;
    char why[800];
    if (!content_read(&content, dataset, false, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        life_refuse("a concurrent reader reads", &error);
    }
    uint64_t digest = content_digest(&content);
    content_free(&content);
    return digest;
}

uint64_t life_look(struct life *life)
{
    lx_dataset *dataset = open_reader(life);
    uint64_t digest = digest_of(dataset);
    lx_dataset_close(dataset);
    return digest;
}

void life_pin(struct life *life)
{
    life_unpin(life);
    life->pinned = open_reader(life);
    /* Without a commit in progress, another reader sees the same. */
    life->pinned_digest = life->promised == 0 && rng_once_in(&life->rng, 2)
                              ? life_look(life)
                              : digest_of(life->pinned);
    mark_say(MARK_PINNED, 0, life->pinned_digest);
}

void life_check_pinned(struct life *life)
{
    lx_error error = LX_ERROR_INIT;
    if (life->pinned != NULL && digest_of(life->pinned) != life->pinned_digest)
        life_refuse("a pinned reader sees something else than before", &error);
}

void life_unpin(struct life *life)
{
    lx_dataset_close(life->pinned);
    life->pinned = NULL;
}
