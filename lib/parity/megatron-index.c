/* SPDX-License-Identifier: MIT */
#include "parity/megatron-index.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "parity/numpy-shuffle.h"
#include "sampler/core/index-table-cache.h"
#include "sampler/core/saved-state.h"

/* Version of the formula in doc/packing.md. A formula never changes. */
#define FORMULA 1
/* The last epoch is separate if less than this fraction of its samples is needed. */
#define THRESHOLD 0.80
/* Upper limit on the count of numbers in a table; a table that needs more is treated as the
 * caller's error. */
#define NUMBERS_MAX (UINT64_C(1) << 48)
/* How far ahead, in places, document lengths are prefetched. */
#define AHEAD 16

/* ---- counts */

static uint64_t samples_of(const lx__gpt_plan *plan, uint64_t tokens)
{
    return (tokens - plan->extra) / plan->sequence_length;
}

/** Counts samples including a partial one at the end. Megatron divides in float32, so with many
 * samples, it sometimes counts one too few. This function must reproduce that. Where Megatron would
 * count one too many, it fails with an error. */
static uint64_t count_partial(const lx__gpt_plan *plan, uint64_t tokens)
{
    uint64_t whole = samples_of(plan, tokens);
    uint64_t exact = whole + ((tokens - plan->extra) % plan->sequence_length != 0);
    float quotient = (float)(tokens - plan->extra) / (float)plan->sequence_length;
    uint64_t rounded = (uint64_t)quotient;
    rounded += (float)rounded < quotient;
    return rounded < exact ? rounded : exact;
}

static lx_status count_epochs(lx__gpt_plan *plan, uint64_t num_samples, lx_error *error)
{
    uint64_t asked = 1;
    plan->epochs = 1;
    if (num_samples == LX_NONE)
        return LX_OK;
    if (!lx__multiply_fits(num_samples, plan->sequence_length, &asked) || asked >= INT64_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "num_samples is %" PRIu64
                       ", which requires 2^63 tokens or more: use a smaller num_samples",
                       num_samples);
    asked += plan->extra;
    if (asked > plan->tokens)
        plan->epochs = (asked - 1) / plan->tokens + 1;
    if (plan->epochs <= INT32_MAX)
        return LX_OK;
    return lx_fail(error, LX_ERR_LIMIT,
                   "num_samples is %" PRIu64 ", which requires %" PRIu64 " epochs of %" PRIu64
                   " tokens: the limit is 2^31 - 1 epochs",
                   num_samples, plan->epochs, plan->tokens);
}

static lx_status check_size(const lx__gpt_plan *plan, uint64_t num_samples, lx_error *error)
{
    uint64_t places, pairs, all;
    if (plan->samples < NUMBERS_MAX && lx__multiply_fits(plan->epochs, plan->count, &places) &&
        lx__multiply_fits(plan->samples, 3, &pairs) && lx__add_fits(places, pairs, &all) &&
        all < NUMBERS_MAX - 2)
        return LX_OK;
    return lx_fail(error, LX_ERR_LIMIT,
                   "num_samples is %" PRIu64
                   ", which requires tables of 2^48 numbers or more: use a smaller num_samples",
                   num_samples);
}

lx_status lx__gpt_plan_make(lx__gpt_plan *plan, uint64_t num_samples, lx_error *error)
{
    uint64_t all;
    if (plan->tokens == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the %" PRIu64 " documents starting at document %" PRIu64 " have no tokens",
                       plan->count, plan->first);
    lx_status status = count_epochs(plan, num_samples, error);
    if (status != LX_OK)
        return status;
    if (!lx__multiply_fits(plan->epochs, plan->tokens, &all) || all > INT64_MAX)
        return lx_fail(error, LX_ERR_LIMIT, "%" PRIu64 " epochs have 2^63 tokens or more",
                       plan->epochs);
    plan->samples = plan->partial ? count_partial(plan, all) : samples_of(plan, all);
    plan->before_last = plan->samples;
    if (plan->samples == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a sequence_length of %" PRIu64
                       " exceeds the total length of the documents, %" PRIu64 " tokens",
                       plan->sequence_length, plan->tokens);
    if (plan->epochs > 1) {
        uint64_t before = samples_of(plan, all - plan->tokens);
        uint64_t least = (uint64_t)(THRESHOLD * (double)samples_of(plan, plan->tokens));
        plan->separate = num_samples - before < least;
        plan->before_last = plan->separate ? before : plan->samples;
    }
    return check_size(plan, num_samples, error);
}

int lx__gpt_plan_describe(const lx__gpt_plan *plan, json_t *object)
{
    int failed = json_object_set_new(object, "formula", json_integer(FORMULA));
    failed |= json_object_set_new(object, "first", lx__state_number(plan->first));
    failed |= json_object_set_new(object, "count", lx__state_number(plan->count));
    failed |= json_object_set_new(object, "tokens", lx__state_number(plan->tokens));
    failed |= json_object_set_new(object, "lengths", lx__state_crc(plan->lengths_crc));
    failed |= json_object_set_new(object, "sequence_length",
                                  lx__state_number(plan->sequence_length));
    failed |= json_object_set_new(object, "extra_token", json_boolean(plan->extra));
    failed |= json_object_set_new(object, "partial", json_boolean(plan->partial));
    failed |= json_object_set_new(object, "epochs", lx__state_number(plan->epochs));
    failed |= json_object_set_new(object, "separate", json_boolean(plan->separate));
    failed |= json_object_set_new(object, "seed", lx__state_number(plan->seed));
    return failed != 0 ? -1 : 0;
}

/* ---- construction */

typedef struct making {
    const lx__gpt_plan *plan;
    const uint32_t *lengths;
    uint32_t *narrow; /* one of these two arrays contains the numbers */
    uint64_t *wide;
    lx__mt19937 generator;
} making;

static inline void put(making *m, uint64_t at, uint64_t number)
{
    if (m->narrow != NULL)
        m->narrow[at] = (uint32_t)number;
    else
        m->wide[at] = number;
}

static inline uint64_t get(const making *m, uint64_t at)
{
    return m->narrow != NULL ? m->narrow[at] : m->wide[at];
}

static void shuffle(making *m, uint64_t from, uint64_t to)
{
    if (m->narrow != NULL)
        lx__random_state_shuffle32(&m->generator, m->narrow + from, to - from);
    else
        lx__random_state_shuffle64(&m->generator, m->wide + from, to - from);
}

/** Shuffles the epochs together, but a separate last epoch on its own. */
static void order_documents(making *m)
{
    const lx__gpt_plan *plan = m->plan;
    uint64_t places = lx__gpt_places(plan), number = 0;
    uint64_t together = plan->separate ? places - plan->count : places;
    for (uint64_t at = 0; at < places; at++) {
        put(m, at, plan->first + number);
        number = number + 1 < plan->count ? number + 1 : 0;
    }
    shuffle(m, 0, together);
    shuffle(m, together, places);
}

static inline uint32_t length_at(const making *m, uint64_t place)
{
    return m->lengths[get(m, place) - m->plan->first];
}

/** Finds the start of each sample, which is the last token of the sample before it, or the token
 * after that. */
static void cut(making *m)
{
    const lx__gpt_plan *plan = m->plan;
    uint64_t places = lx__gpt_places(plan), place = 0, at = lx__gpt_sample_at(plan, 0);
    uint64_t begin = 0; /* the offset, within all tokens, of the document at this place */
    uint64_t length = length_at(m, 0), need = plan->extra;
    uint64_t tokens = plan->epochs * plan->tokens;
    put(m, at, 0);
    put(m, at + 1, 0);
    for (uint64_t i = 1; i <= plan->samples; i++) {
        uint64_t here = i * plan->sequence_length;
        bool partial = here + need > tokens; /* the sample ends with the last document */
        while ((partial || begin + length < here + need) && place + 1 < places) {
            begin += length;
            length = length_at(m, ++place);
            if (place + AHEAD < places)
                __builtin_prefetch(&m->lengths[get(m, place + AHEAD) - plan->first]);
        }
        put(m, at + 2 * i, place);
        if (partial)
            here = begin + length - (length != 0 ? need : 0);
        put(m, at + 2 * i + 1, here - begin);
    }
}

static void order_samples(making *m)
{
    const lx__gpt_plan *plan = m->plan;
    uint64_t at = lx__gpt_shuffle_at(plan, 0);
    for (uint64_t i = 0; i < plan->samples; i++)
        put(m, at + i, i);
    shuffle(m, at, at + plan->before_last);
    shuffle(m, at + plan->before_last, at + plan->samples);
}

static lx_status make(void *user, lx__index_table *table, lx_error *error)
{
    making *m = user;
    bool narrow = lx__index_table_is_narrow(table->bound);
    size_t size = narrow ? sizeof(uint32_t) : sizeof(uint64_t);
    void *numbers = table->count <= SIZE_MAX / size ? lx__alloc_array((size_t)table->count, size)
                                                    : NULL;
    if (numbers == NULL)
        return lx_fail(error, LX_ERR_NOMEM,
                       "not enough memory for the tables of %" PRIu64 " samples: %" PRIu64
                       " numbers of %zu bytes each",
                       m->plan->samples, table->count, size);
    if (narrow)
        table->narrow = m->narrow = numbers;
    else
        table->wide = m->wide = numbers;
    lx__mt19937_seed(&m->generator, m->plan->seed);
    order_documents(m);
    cut(m);
    order_samples(m);
    return LX_OK;
}

static int describe(const void *user, json_t *what)
{
    const making *m = user;
    int failed = json_object_set_new(what, "kind", json_string("megatron"));
    failed |= json_object_set_new(what, "samples", lx__state_number(m->plan->samples));
    return failed | lx__gpt_plan_describe(m->plan, what);
}

lx_status lx__gpt_index_open(const lx__gpt_plan *plan, const uint32_t *lengths, const char *tables,
                             lx__index_table *table, lx_error *error)
{
    static const lx__index_table_maker maker = {"megatron", describe, make};
    uint64_t places = lx__gpt_places(plan), bound = (uint64_t)INT32_MAX + 1;
    making m = {.plan = plan, .lengths = lengths};
    bound = places > bound ? places : bound;
    bound = plan->samples > bound ? plan->samples : bound;
    *table = (lx__index_table){.count = lx__gpt_shuffle_at(plan, plan->samples), .bound = bound};
    return lx__index_table_cache_get(tables, &maker, &m, table, error);
}
