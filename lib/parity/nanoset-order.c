/* SPDX-License-Identifier: MIT */
#include <loaderx/parity/nanoset.h>

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "parity/greedy.h"
#include "parity/numpy-shuffle.h"
#include "parity/numpy-sum.h"
#include "sampler/core/index-table-cache.h"
#include "sampler/core/order-json.h"
#include "sampler/core/order-options.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/weights.h"

/* Positions assigned per call. */
#define STEP 4096

struct nanoset {
    lx_order order;
    uint64_t seed;
    uint64_t sets;
    uint32_t crc; /* CRC-32C of the lengths and the effective weights */
    lx__index_table table;
};

/** The inputs of the order, and buffers for its construction. */
typedef struct making {
    const uint64_t *lengths;
    size_t count;
    uint64_t total; /* the sum of the lengths */
    double *weights;
    const lx_order *order;
    uint64_t seed;
    uint64_t *begins; /* the start of each set in the concatenation of all sets */
    uint64_t *next;   /* the next sample of each set */
    uint64_t *indices;
} making;

/* ---- an epoch */

/** Samples of a short set repeat cyclically. */
static lx_status mix(making *m, lx_error *error)
{
    uint16_t sets[STEP];
    lx__greedy greedy;
    lx_status status = lx__greedy_new(m->weights, m->count, &greedy, error);
    if (status != LX_OK)
        return status;
    for (uint64_t done = 0; done < m->total;) {
        size_t step = m->total - done < STEP ? (size_t)(m->total - done) : STEP;
        lx__greedy_assign(&greedy, sets, step);
        for (size_t i = 0; i < step; i++) {
            size_t set = sets[i];
            m->indices[done++] = m->begins[set] + m->next[set];
            m->next[set] = m->next[set] + 1 < m->lengths[set] ? m->next[set] + 1 : 0;
        }
    }
    lx__greedy_free(&greedy);
    return LX_OK;
}

/* ---- weights */

/** Computes the weights from the lengths, divided by their sum, or takes those of the user, which
 * are divided by their sum only if @p divide is set. The sum is computed in NumPy's order. */
static lx_status make_weights(making *m, const double *weights, bool divide, lx_error *error)
{
    double largest;
    lx_status status = LX_OK;
    if (weights != NULL)
        status = lx__weights_check(weights, m->count, &largest, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < m->count; i++)
        m->weights[i] = weights != NULL ? weights[i] + 0.0 /* -0 to 0 */ : (double)m->lengths[i];
    if (weights != NULL && !divide)
        return LX_OK;
    double sum = lx__numpy_sum(m->weights, m->count);
    for (size_t i = 0; i < m->count; i++)
        m->weights[i] /= sum;
    return LX_OK;
}

static uint32_t checksum(const making *m)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < m->count; i++)
        crc = lx__state_add(crc, m->lengths[i]);
    for (size_t i = 0; i < m->count; i++) {
        uint64_t bits;
        memcpy(&bits, &m->weights[i], sizeof bits);
        crc = lx__state_add(crc, bits);
    }
    return crc;
}

/* ---- the order */

static lx_status nanoset_read(const lx_order *order, void *scratch, uint64_t *positions,
                              size_t count, lx_error *error)
{
    (void)scratch;
    for (size_t i = 0; i < count; i++)
        positions[i] %= order->length; /* all epochs are identical */
    return lx__index_table_map(&((const struct nanoset *)order)->table, positions, count, error);
}

static int nanoset_describe(const lx_order *order, json_t *object)
{
    const struct nanoset *self = (const struct nanoset *)order;
    int failed = json_object_set_new(object, "sets", lx__state_number(self->sets));
    failed |= json_object_set_new(object, "weights", lx__state_crc(self->crc));
    failed |= json_object_set_new(object, "seed", lx__state_number(self->seed));
    return failed;
}

static void nanoset_dispose(lx_order *order)
{
    lx__index_table_free(&((struct nanoset *)order)->table);
}

static const lx__order_class nanoset_class = {.kind = "nanoset",
                                              .formula = 1,
                                              .read = nanoset_read,
                                              .describe = nanoset_describe,
                                              .dispose = nanoset_dispose};

/** Checks the lengths against the limits, and sums them. */
static lx_status add_lengths(making *m, lx_error *error)
{
    if (m->count == 0 || m->count > LX__GREEDY_SETS_MAX)
        return lx_fail(error, m->count == 0 ? LX_ERR_ARGUMENT : LX_ERR_LIMIT,
                       "the number of sets is %zu, but must be from 1 to %u", m->count,
                       LX__GREEDY_SETS_MAX);
    for (size_t i = 0; i < m->count; i++) {
        if (m->lengths[i] == 0)
            return lx_fail(error, LX_ERR_ARGUMENT, "set %zu is empty: leave it out", i);
        if (m->lengths[i] > LX__GREEDY_POSITIONS_MAX - m->total)
            return lx_fail(error, LX_ERR_LIMIT, "the sets have more than 2^53 samples in total");
        m->total += m->lengths[i];
    }
    return LX_OK;
}

/* ---- table */

static int describe_table(const void *user, json_t *what)
{
    return lx__order_describe(((const making *)user)->order, what);
}

/** Allocates the buffers. */
static lx_status prepare(making *m, lx_error *error)
{
    m->begins = lx__alloc_array(m->count, sizeof *m->begins);
    m->next = lx__alloc_array(m->count, sizeof *m->next);
    m->indices = m->total <= SIZE_MAX / sizeof *m->indices
                     ? lx__alloc_array((size_t)m->total, sizeof *m->indices)
                     : NULL;
    if (m->begins == NULL || m->next == NULL || m->indices == NULL)
        return lx__fail_memory(error, "a mixture");
    for (size_t i = 1; i < m->count; i++)
        m->begins[i] = m->begins[i - 1] + m->lengths[i - 1];
    return LX_OK;
}

static lx_status make_table(void *user, lx__index_table *table, lx_error *error)
{
    making *m = user;
    lx__mt19937 generator;
    lx_status status = prepare(m, error);
    if (status == LX_OK)
        status = mix(m, error);
    if (status == LX_OK) {
        lx__mt19937_seed(&generator, (uint32_t)m->seed);
        lx__random_state_shuffle64(&generator, m->indices, m->total);
        status = lx__index_table_fill(m->indices, table, error);
    }
    lx__free(m->begins);
    lx__free(m->next);
    lx__free(m->indices);
    return status;
}

/* ---- construction */

static lx_status make(making *m, const char *tables, lx_order **order, lx_error *error)
{
    static const lx__index_table_maker maker = {"nanoset", describe_table, make_table};
    lx_status status = lx__order_new(&nanoset_class, sizeof(struct nanoset), m->total, m->total,
                                     order, error);
    if (status != LX_OK)
        return status;
    struct nanoset *self = (struct nanoset *)*order;
    self->seed = m->seed;
    self->sets = m->count;
    self->crc = checksum(m);
    self->table = (lx__index_table){.count = m->total, .bound = m->total};
    m->order = *order;
    status = lx__index_table_cache_get(tables, &maker, m, &self->table, error);
    return lx__order_finish(order, status);
}

/** Nanotron's default seed. */
#define NANOTRON_SEED 1234

lx_status lx_order_new_nanoset(const uint64_t *lengths, const double *weights, size_t count,
                               bool divide, const lx_order_options *options, lx_order **order,
                               lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    making m = {.lengths = lengths, .count = count};
    if (order == NULL)
        return lx__fail_null(error, "order");
    if (lengths == NULL)
        return lx__fail_null(error, "lengths");
    lx_status status = lx__order_options_take(options, LX__ORDER_SEED | LX__ORDER_TABLES, &how,
                                              error);
    if (status != LX_OK)
        return status;
    m.seed = (how.given & LX__ORDER_SEED) != 0 ? how.seed : NANOTRON_SEED;
    if (m.seed > UINT32_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "seed %" PRIu64 " exceeds 2^32 - 1, the limit of RandomState", m.seed);
    status = add_lengths(&m, error);
    if (status != LX_OK)
        return status;
    m.weights = lx__alloc_array(m.count, sizeof *m.weights);
    status = m.weights != NULL ? make_weights(&m, weights, divide, error)
                               : lx__fail_memory(error, "a mixture");
    if (status == LX_OK)
        status = make(&m, how.tables, order, error);
    lx__free(m.weights);
    return status;
}
