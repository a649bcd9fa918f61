/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include <loaderx/parity/torch.h>

#include "base/alloc.h"
#include "base/error.h"
#include "parity/mt19937-jump.h"
#include "sampler/core/order-options.h"
#include "parity/torch-randperm.h"
#include "sampler/core/epoch-tables.h"
#include "sampler/core/saved-state.h"

/* Lengths in torch have 63 bits, but the tables here contain 32-bit numbers. */
#define LENGTH_MAX UINT32_MAX
/* Above this, some versions of torch draw an index with 32 bits, others with 64. */
#define REPLACEMENT_MAX ((UINT64_C(1) << 28) - 1)

struct torch {
    lx_order order;
    uint64_t seed;
    uint64_t indices; /* upper limit of the indices, exclusive */
    uint64_t whole;   /* number of permutations that an epoch starts; the last one may be partial */
    bool again;       /* draws with replacement */
    bool anew;        /* each epoch has its own generator, seeded with the sum of seed and
                            epoch */
    lx__epoch_tables *epochs;
    /* The generator is at the start of epoch *number; if *number is UINT64_MAX, its state is
     * unknown. The lock of the epoch tables protects both members, because only fill() uses
     * them. */
    uint64_t *number;
    lx__mt19937 *generator;
};

/* ---- an epoch */

static uint64_t draws_of_epoch(const struct torch *self)
{
    return self->again ? self->order.length : self->whole * lx__randperm_draws(self->indices);
}

/** Moves the generator to the start of an epoch: from the end of the last epoch made, or from the
 * seed. */
static void go_to(const struct torch *self, uint64_t epoch)
{
    if (self->anew || *self->number > epoch) {
        lx__mt19937_seed(self->generator, (uint32_t)(self->anew ? self->seed + epoch : self->seed));
        *self->number = self->anew ? epoch : 0;
    }
    lx__mt19937_skip(self->generator, draws_of_epoch(self), epoch - *self->number);
}

static lx_status fill_permutations(const struct torch *self, uint32_t *indices, size_t count,
                                   lx_error *error)
{
    uint64_t done = 0;
    uint32_t *spare = NULL;
    for (uint64_t i = 0; i < self->whole; i++) {
        if (count - done >= self->indices) {
            lx__randperm(self->generator, indices + done, self->indices);
            done += self->indices;
            continue;
        }
        if (count - done == 0) { /* torch also makes this permutation, but does not use it */
            lx__mt19937_skip(self->generator, lx__randperm_draws(self->indices), 1);
            continue;
        }
        spare = lx__alloc_array((size_t)self->indices, sizeof *spare);
        if (spare == NULL)
            return lx__fail_memory(error, "a permutation");
        lx__randperm(self->generator, spare, self->indices);
        memcpy(indices + done, spare, (count - done) * sizeof *spare);
        done = count;
        lx__free(spare);
    }
    return LX_OK;
}

static lx_status fill(const lx_order *order, uint64_t epoch, uint32_t *indices, size_t count,
                      lx_error *error)
{
    const struct torch *self = (const struct torch *)order;
    lx_status status = LX_OK;
    go_to(self, epoch);
    if (self->again)
        for (size_t i = 0; i < count; i++)
            indices[i] = lx__mt19937_next(self->generator) % (uint32_t)self->indices;
    else
        status = fill_permutations(self, indices, count, error);
    /* After a failure, the generator's state is unknown: the next fill starts from the seed. */
    *self->number = status == LX_OK ? epoch + 1 : UINT64_MAX;
    return status;
}

/* ---- class */

static lx_status torch_read(const lx_order *order, void *scratch, uint64_t *positions, size_t count,
                            lx_error *error)
{
    return lx__epoch_tables_read(((const struct torch *)order)->epochs, order, scratch, positions,
                                 count, error);
}

static int torch_describe(const lx_order *order, json_t *object)
{
    const struct torch *self = (const struct torch *)order;
    int failed = json_object_set_new(object, "indices", lx__state_number(self->indices));
    failed |= json_object_set_new(object, "replacement", json_boolean(self->again));
    failed |= json_object_set_new(object, "permutations", lx__state_number(self->whole));
    failed |= json_object_set_new(object, "seeded", json_string(self->anew ? "anew" : "once"));
    failed |= json_object_set_new(object, "seed", lx__state_number(self->seed));
    return failed;
}

static void torch_dispose(lx_order *order)
{
    struct torch *self = (struct torch *)order;
    lx__epoch_tables_free(self->epochs);
    lx__free(self->number);
    lx__free(self->generator);
}

static const lx__order_class torch_class = {.kind = "torch",
                                            .formula = 1,
                                            .scratch_size = sizeof(lx__epoch_table *),
                                            .clear_scratch = lx__epoch_table_clear_scratch,
                                            .read = torch_read,
                                            .describe = torch_describe,
                                            .dispose = torch_dispose};

static lx_status make(struct torch wanted, uint64_t length, const char *tables, lx_order **order,
                      lx_error *error)
{
    if (wanted.indices > LENGTH_MAX || length > LENGTH_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "%" PRIu64 " positions over %" PRIu64
                       " indices exceed the table limit of 2^32 - 1",
                       length, wanted.indices);
    lx_status status = lx__order_new(&torch_class, sizeof(struct torch), length, wanted.indices,
                                     order, error);
    if (status != LX_OK)
        return status;
    struct torch *self = (struct torch *)*order;
    wanted.order = self->order;
    *self = wanted;
    self->number = lx__alloc_array(1, sizeof *self->number);
    self->generator = lx__alloc_array(1, sizeof *self->generator);
    if (self->number == NULL || self->generator == NULL)
        return lx__order_finish(order, lx__fail_memory(error, "a torch order"));
    *self->number = UINT64_MAX; /* the generator has no state yet */
    status = lx__epoch_tables_new(fill, (size_t)length, tables, &self->epochs, error);
    return lx__order_finish(order, status);
}

static lx_status begin(const lx_order_options *options, unsigned allowed, lx_order_options *how,
                       lx_order **order, lx_error *error)
{
    if (order == NULL)
        return lx__fail_null(error, "order");
    return lx__order_options_take(options, allowed, how, error);
}

lx_status lx_order_new_torch_random(uint64_t length, bool replacement,
                                    const lx_order_options *options, lx_order **order,
                                    lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    lx_status status = begin(options, LX__ORDER_LENGTH | LX__ORDER_SEED | LX__ORDER_TABLES, &how,
                             order, error);
    if (status != LX_OK)
        return status;
    uint64_t samples = (how.given & LX__ORDER_LENGTH) != 0 ? how.length : length;
    if (samples == 0 || length == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%s is 0, but torch's RandomSampler requires at least 1",
                       length == 0 ? "length" : "the length of an epoch");
    if (replacement && length > REPLACEMENT_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "cannot draw with replacement from %" PRIu64
                       " indices: torch versions differ for 2^28 or more; use fewer indices",
                       length);
    struct torch wanted = {
        .seed = how.seed, .indices = length, .whole = samples / length + 1, .again = replacement};
    return make(wanted, samples, how.tables, order, error);
}

lx_status lx_order_new_torch_subset(const uint64_t *indices, uint64_t count,
                                    const lx_order_options *options, lx_order **order,
                                    lx_error *error)
{
    LX__CLEAR(order);
    lx_order *part = NULL;
    lx_order_options how = {0};
    lx_status status = begin(options, LX__ORDER_SEED | LX__ORDER_TABLES, &how, order, error);
    if (status == LX_OK)
        status = make((struct torch){.seed = how.seed, .indices = count, .whole = 1}, count,
                      how.tables, &part, error);
    how.given &= LX__ORDER_TABLES; /* the table of the indices is stored in the same directory */
    if (status == LX_OK)
        status = lx_order_new_subset(part, indices, count, &how, order, error);
    lx_order_unref(part);
    return status;
}

/** Creates DistributedSampler's order of all indices, before it is padded or truncated. */
static lx_status make_whole(uint64_t length, bool shuffle, uint64_t seed, const char *tables,
                            lx_order **order, lx_error *error)
{
    if (!shuffle)
        return lx_order_new_sequential(length, 0, 0, order, error);
    struct torch wanted = {.seed = seed, .indices = length, .whole = 1, .anew = true};
    return make(wanted, length, tables, order, error);
}

lx_status lx_order_new_torch_distributed(uint64_t length, uint64_t world, unsigned flags,
                                         const lx_order_options *options, lx_order **order,
                                         lx_error *error)
{
    LX__CLEAR(order);
    lx_order *whole = NULL;
    lx_order_options how;
    bool shuffle = (flags & LX_TORCH_SHUFFLE) != 0;
    lx_status status = begin(options, LX__ORDER_SEED | LX__ORDER_TABLES, &how, order, error);
    if (status != LX_OK)
        return status;
    if (world == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "world must be at least 1");
    if ((flags & ~(unsigned)(LX_TORCH_SHUFFLE | LX_TORCH_DROP_LAST)) != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "flags contains unknown bits: 0x%x", flags);
    if (how.tables != NULL && !shuffle)
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "tables is set, but an order that does not shuffle has no table: leave tables unset");
    status = make_whole(length, shuffle, how.seed, how.tables, &whole, error);
    if (status == LX_OK && (flags & LX_TORCH_DROP_LAST) != 0)
        status = lx_order_new_slice(whole, 0, length - length % world, order, error);
    else if (status == LX_OK)
        status = lx_order_new_padded(whole, world, order, error);
    lx_order_unref(whole);
    return status;
}
