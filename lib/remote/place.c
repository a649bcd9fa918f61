/* SPDX-License-Identifier: MIT */
#include "remote/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "remote/remote-file.h"

/* Idle files keep at most one of so many of the descriptors that a process may have. */
#define IDLE_SHARE 4

static size_t find_idle_max(void)
{
    struct rlimit most;
    return getrlimit(RLIMIT_NOFILE, &most) == 0 ? (size_t)most.rlim_cur / IDLE_SHARE : 0;
}

lx_status lx__place_new(lx__transport *transport, const lx__request_limits *limits,
                        uint64_t memory_bytes, lx__place **place, lx_error *error)
{
    lx_status status;
    lx__place *made = lx__alloc_array(1, sizeof *made);
    if (made != NULL) {
        atomic_init(&made->references, 1);
        made->network = transport->class->network;
        made->segment = transport->segment;
        made->url = lx__strdup(transport->url);
        pthread_mutex_init(&made->mutex, NULL);
        lx__process_record(&made->process);
        lx__list_init(&made->idle);
        made->idle_max = find_idle_max();
    }
    if (made == NULL || made->url == NULL) {
        transport->class->close(transport);
        status = lx__fail_memory(error, "a remote dataset");
    } else {
        status = lx__request_queue_open(transport, limits, &made->queue, error);
    }
    if (status == LX_OK)
        status = lx__page_ring_new(memory_bytes, &made->ring, error);
    if (status == LX_OK)
        *place = made;
    else
        lx__place_unref(made);
    return status;
}

void lx__place_set_cache(lx__place *place, lx__cache *cache, uint32_t meta_crc)
{
    place->cache = cache;
    snprintf(place->tables, sizeof place->tables, "tables.%08" PRIx32, meta_crc);
}

lx__place *lx__place_ref(lx__place *place)
{
    atomic_fetch_add_explicit(&place->references, 1, memory_order_relaxed);
    return place;
}

void lx__place_unref(lx__place *place)
{
    if (place == NULL ||
        atomic_fetch_sub_explicit(&place->references, 1, memory_order_acq_rel) != 1)
        return;
    lx__place_check_process(place);
    lx__request_queue_close(place->queue); /* first: its requests use everything else */
    for (size_t i = 0; i < LX__PLACE_LISTS; i++)
        for (lx__remote_file *file = place->files[i], *next; file != NULL; file = next) {
            next = file->next;
            lx__remote_file_free(file);
        }
    lx__page_ring_free(place->ring);
    lx__cache_close(place->cache);
    pthread_mutex_destroy(&place->mutex);
    lx__free(place->url);
    lx__free(place);
}

void lx__place_check_process(lx__place *place)
{
    if (!lx__process_take_over(&place->process))
        return;
    pthread_mutex_init(&place->mutex, NULL);
    lx__request_queue_take_over(place->queue);
    lx__page_ring_take_over(place->ring);
    if (place->cache != NULL)
        lx__cache_take_over(place->cache);
    lx__list_init(&place->idle);
    place->idle_count = 0;
    for (size_t i = 0; i < LX__PLACE_LISTS; i++)
        for (lx__remote_file *file = place->files[i]; file != NULL; file = file->next)
            lx__remote_file_take_over(file);
    lx__process_adopt(&place->process);
}

lx_status lx__place_find_file(lx__place *place, const char *name, lx__remote_file **file,
                              lx_error *error)
{
    lx_status status = LX_OK;
    lx__remote_file **list = &place->files[lx__crc32c(0, name, strlen(name)) % LX__PLACE_LISTS];
    pthread_mutex_lock(&place->mutex);
    lx__remote_file *found = *list;
    while (found != NULL && strcmp(found->name, name) != 0)
        found = found->next;
    if (found == NULL)
        status = lx__remote_file_new(place, name, &found, error);
    if (status == LX_OK && found->number == 0) {
        found->number = ++place->file_count;
        found->next = *list;
        *list = found;
    }
    pthread_mutex_unlock(&place->mutex);
    *file = found;
    return status;
}

void lx__place_get_stats(lx__place *place, lx_remote_stats *stats)
{
    lx__request_counts counts;
    lx__place_check_process(place);
    lx__request_queue_get_counts(place->queue, &counts);
    *stats = (lx_remote_stats){
        .requests = counts.requests,
        .bytes = counts.bytes,
        .retries = counts.retries,
        .throttled = counts.throttled,
        .cached_bytes = atomic_load(&place->counts.cached_bytes),
        .stored_bytes = atomic_load(&place->counts.stored_bytes),
        .wait_ns = atomic_load(&place->counts.wait_ns),
        .replaced_bytes = lx__page_ring_count_unread(place->ring) * LX__PAGE_BYTES,
        .tier_bytes = counts.tier_bytes,
    };
}
