/* SPDX-License-Identifier: MIT */
#include "remote/http/tier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mix.h"

/* How long a node is passed over. */
#define PAUSE_NS ((uint64_t)30 * 1000000000)
#define SCHEME "http://"
#define PORT 80u

/* ---- names */

/** Returns the length of the host that @p text begins with; 0 if it is none. An IPv6 address is in
 * brackets. */
static size_t host_length(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
    if (*text != '[')
        return strspn(text, letters);
    size_t inside = strspn(text + 1, "ABCDEFabcdef0123456789:.");
    return inside != 0 && text[inside + 1] == ']' ? inside + 2 : 0;
}

/** Parses ":port" and a final slash; returns 0 if @p text is anything else. */
static unsigned parse_port(const char *text)
{
    unsigned port = PORT;
    if (*text == ':') {
        size_t digits = strspn(++text, "0123456789");
        port = digits >= 1 && digits <= 5 ? (unsigned)strtoul(text, NULL, 10) : 0;
        text += digits;
    }
    return port <= UINT16_MAX && (*text == '\0' || strcmp(text, "/") == 0) ? port : 0;
}

/** Makes "::host:port" in lower case, so that all hosts have the same names. */
static lx_status parse(const char *url, char **target, lx_error *error)
{
    bool has_scheme = strncmp(url, SCHEME, sizeof SCHEME - 1) == 0;
    const char *host = has_scheme ? url + sizeof SCHEME - 1 : "";
    size_t length = host_length(host);
    unsigned port = length != 0 ? parse_port(host + length) : 0;
    if (port == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a node of the tier must be http://host or http://host:port");
    size_t size = length + sizeof ":::65535";
    *target = lx__alloc(size);
    if (*target == NULL)
        return lx__fail_memory(error, "a node of the tier");
    snprintf(*target, size, "::%.*s:%u", (int)length, host, port);
    for (char *at = *target; *at != '\0'; at++)
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    return LX_OK;
}

/* ---- hashing */

#define HASH_BEGIN 0xcbf29ce484222325

/** FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash(uint64_t state, const char *text)
{
    for (; *text != '\0'; text++)
        state = (state ^ (unsigned char)*text) * 0x100000001b3;
    return state;
}

uint64_t lx__tier_get_key(const char *base, const char *name, uint64_t offset)
{
    uint64_t file = hash(hash(hash(HASH_BEGIN, base), "/"), name);
    return lx__mix(file) ^ lx__mix(offset / LX__TIER_SEGMENT + 1);
}

/* ---- the tier */

/** Allocates the nodes of a tier that has none yet. */
static lx_status allocate(lx__tier *tier, size_t count, lx_error *error)
{
    *tier = (lx__tier){.nodes = count != 0 ? lx__alloc_array(count, sizeof *tier->nodes) : NULL};
    return count == 0 || tier->nodes != NULL ? LX_OK : lx__fail_memory(error, "a tier");
}

/** Adds a node, which owns its target. */
static void add(lx__tier *tier, char *target)
{
    lx__tier_node *node = &tier->nodes[tier->count++];
    node->target = target;
    node->hash = lx__mix(hash(HASH_BEGIN, target));
    atomic_init(&node->again, 0);
}

lx_status lx__tier_open(lx__tier *tier, const char *const *urls, size_t count, lx_error *error)
{
    lx_status status = allocate(tier, count, error);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        char *target;
        status = parse(urls[i], &target, error);
        if (status == LX_OK)
            add(tier, target);
    }
    if (status != LX_OK)
        lx__tier_close(tier);
    return status;
}

lx_status lx__tier_copy(lx__tier *tier, const lx__tier *from, lx_error *error)
{
    lx_status status = allocate(tier, from->count, error);
    for (size_t i = 0; status == LX_OK && i < from->count; i++) {
        char *target = lx__strdup(from->nodes[i].target);
        if (target != NULL)
            add(tier, target);
        else
            status = lx__fail_memory(error, "a node of the tier");
    }
    if (status != LX_OK)
        lx__tier_close(tier);
    return status;
}

void lx__tier_close(lx__tier *tier)
{
    for (size_t i = 0; i < tier->count; i++)
        lx__free(tier->nodes[i].target);
    lx__free(tier->nodes);
    *tier = (lx__tier){0};
}

lx__tier_node *lx__tier_choose(lx__tier *tier, uint64_t key, const lx__tier_node *except,
                               uint64_t now)
{
    for (;;) {
        lx__tier_node *best = NULL;
        uint64_t most = 0, again = 0;
        for (size_t i = 0; i < tier->count; i++) {
            lx__tier_node *node = &tier->nodes[i];
            uint64_t weight = lx__mix(node->hash ^ key), when = atomic_load(&node->again);
            if (node == except || when > now || (best != NULL && weight <= most))
                continue;
            best = node;
            most = weight;
            again = when;
        }
        /* To others, a node that is tried again is still passed over. */
        if (best == NULL || again == 0 ||
            atomic_compare_exchange_strong(&best->again, &again, now + PAUSE_NS))
            return best;
    }
}

void lx__tier_use(lx__tier_node *node)
{
    if (atomic_load_explicit(&node->again, memory_order_relaxed) != 0)
        atomic_store(&node->again, 0);
}

void lx__tier_pass_over(lx__tier_node *node, const lx_error *why, uint64_t now)
{
    char text[1200];
    if (atomic_exchange(&node->again, now + PAUSE_NS) != 0)
        return;
    lx_error_describe(why, text, sizeof text);
    lx__log(LX_LOG_WARNING,
            "the node http://%s of the tier is passed over, and tried again every 30 s: %s",
            node->target + 2, text);
}
