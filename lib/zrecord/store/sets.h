/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The live entries of the log: which one stands in place of the table's row.
 *
 * They lie in layers. A layer holds the sets of some frames that follow each other, and never
 * changes once it is made: states share it. Going on in the log adds a layer, and small layers are
 * merged into the newest, so that there are few of them and a set is moved seldom. What later
 * frames drop of a layer follows from two numbers, which each state has of its own.
 *
 * Each layer has a filter, so that a record without a set costs a word of memory a layer, and
 * nothing where there are no layers.
 */
#ifndef LX_ZRECORD_SETS_H
#define LX_ZRECORD_SETS_H

#include <stdatomic.h>

#include "zrecord/format/entry.h"

/** Most layers of a state. */
#define LX__LAYERS_MAX 16

/** An entry of the log. */
typedef struct lx__set {
    uint64_t index;
    uint32_t field;                /**< Position in the schema. */
    _Atomic uint32_t note;         /**< The number of its frame while its layer is made; then
                                        whether its value was verified. */
    uint8_t rows[LX__ENTRY_BYTES]; /**< Offset row and check row, as in the tables. */
} lx__set;

static inline lx__entry lx__set_entry(const lx__set *set)
{
    return lx__entry_load(set->rows, set->rows + LX__OFFSET_ROW);
}

static inline bool lx__set_is_verified(const lx__set *set)
{
    return atomic_load_explicit(&set->note, memory_order_relaxed) != 0;
}

/** Notes that the value of a set in a layer was verified. */
static inline void lx__set_note_verified(const lx__set *set)
{
    atomic_store_explicit(&((lx__set *)set)->note, 1, memory_order_relaxed);
}

/** Sets of frames that follow each other, one for a field and index. Nothing of it changes once it
 * is added to a state, but for what is noted of its sets. */
typedef struct lx__layer {
    atomic_size_t references;
    lx__set *list; /**< In the order in which their keys came first. */
    size_t count;
    size_t capacity;
    uint32_t *places; /**< A hash table of positions in the list plus 1; 0: free. */
    size_t place_mask;
    uint64_t *filter; /**< Two bits a set in one word of it. Made by lx__sets_add(). */
    uint64_t filter_mask;
    uint64_t least, most; /**< Of the indices. Noted by lx__sets_add(). */
    uint64_t seed;        /**< That of the sets that it is for. */
} lx__layer;

/** A layer in a state. A set of it counts if its index is below @ref length, and not in
 * [@ref rows, rows of the state): frames behind the layer took these into the tables. */
typedef struct lx__layer_use {
    const uint64_t *filter; /**< The layer's. */
    uint64_t filter_mask;
    lx__layer *layer;
    uint64_t length; /**< The least length of all frames behind the layer. */
    uint64_t rows;   /**< Of the tables where the layer ends. */
} lx__layer_use;

/** The sets of a state; zeroed, none. A value: copied with lx__sets_copy(). */
typedef struct lx__sets {
    size_t depth; /**< Layers. */
    uint64_t rows; /**< Of the state. */
    uint64_t seed; /**< Of the hash: nobody who writes the log knows where its sets collide. */
    lx__layer_use uses[LX__LAYERS_MAX]; /**< The oldest first. */
} lx__sets;

/* ---- making a layer */

/** An empty layer for @p sets, for about @p expected sets. NULL when out of memory. */
lx__layer *lx__layer_new(lx__sets *sets, uint64_t expected);

/** Gives up a layer that is not added, or a reference to one; NULL is nothing. */
void lx__layer_unref(lx__layer *layer);

/** Most sets that are put at once. */
#define LX__PUT_MAX 16

/**
 * Puts sets, one after another, each in the place of an older one of the same field and index:
 * faster than one by one, since what is needed of memory is fetched for all of them first.
 * @retval LX_ERR_LIMIT  There are 2^32-2 in it already.
 */
lx_status lx__layer_put_many(lx__layer *layer, const lx__set *sets, size_t count,
                             lx_error *error);

/** Tells whether a set stays. */
typedef bool lx__set_filter(const lx__set *set, const void *user);

/** Drops the sets for which @p stays does not say so. */
void lx__layer_keep(lx__layer *layer, lx__set_filter *stays, const void *user);

/* ---- the layers of a state */

/**
 * Adds the sets of the frames that follow. On failure the sets are as they were.
 *
 * @param[in,out] sets    Of the state before these frames.
 * @param[in]     layer   What the frames set and do not drop themselves; taken over, also on
 *                        failure. NULL: nothing.
 * @param[in]     length  The least length of these frames.
 * @param[in]     rows    Of the tables, after them.
 */
lx_status lx__sets_add(lx__sets *sets, lx__layer *layer, uint64_t length, uint64_t rows,
                       lx_error *error);

/** A copy that shares the layers. */
void lx__sets_copy(lx__sets *copy, const lx__sets *sets);

void lx__sets_free(lx__sets *sets);

/** A secret of these sets, made when it is first asked for. */
uint64_t lx__sets_seed(lx__sets *sets);

/** How many sets are live; counts them one by one. */
size_t lx__sets_count(const lx__sets *sets);

/** How many sets there are of indices below @p below, at the most. */
size_t lx__sets_most(const lx__sets *sets, uint64_t below);

/** Called for a live set; a failure ends the walk. */
typedef lx_status lx__set_visit(void *user, const lx__set *set, lx_error *error);

/** Calls @p visit for each live set, in no order. */
lx_status lx__sets_each(const lx__sets *sets, lx__set_visit *visit, void *user, lx_error *error);

/* ---- finding one */

static inline uint64_t lx__sets_hash(uint64_t seed, uint32_t field, uint64_t index)
{
    uint64_t hash = (index ^ seed) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ field) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

/** Where a set stands in filters: a hash that is cheaper, and no worse if somebody sees through it
 * than that filters are of no use. The field is not mixed into the index before it is multiplied:
 * one field of a record would have the mark of the next field of the record beside it. */
static inline uint64_t lx__sets_mark(uint64_t seed, uint32_t field, uint64_t index)
{
    return (index ^ seed) * 0x9e3779b97f4a7c15u + field * 0xd1342543de82ef95u;
}

/** The bits of a set in its word of a filter. */
static inline unsigned lx__sets_first_bit(uint64_t mark)
{
    return (unsigned)(mark >> 58);
}

static inline unsigned lx__sets_second_bit(uint64_t mark)
{
    return (unsigned)(mark >> 52 & 63);
}

static inline uint64_t lx__sets_bits(uint64_t mark)
{
    return 1ull << lx__sets_first_bit(mark) | 1ull << lx__sets_second_bit(mark);
}

static inline size_t lx__sets_word(uint64_t mark, uint64_t mask)
{
    return (size_t)(mark >> 24 & mask);
}

/** Searches a layer; see lx__sets_find(). */
const lx__set *lx__layer_find(const lx__layer *layer, uint32_t field, uint64_t index);

static inline bool lx__layer_may_have(const lx__layer_use *use, uint64_t mark)
{
    uint64_t bits = lx__sets_bits(mark);
    return (use->filter[lx__sets_word(mark, use->filter_mask)] & bits) == bits;
}

/** Whether no later frame dropped the sets of that index in the layer. */
static inline bool lx__layer_counts(const lx__layer_use *use, uint64_t rows, uint64_t index)
{
    return index < use->length && (index < use->rows || index >= rows);
}

/** The live set of a field and index, valid as long as @p sets; NULL if there is none. */
static inline const lx__set *lx__sets_find_set(const lx__sets *sets, uint32_t field,
                                               uint64_t index)
{
    if (sets->depth == 0)
        return NULL;
    uint64_t mark = lx__sets_mark(sets->seed, field, index);
    for (size_t i = sets->depth; i-- != 0;) {
        const lx__layer_use *use = &sets->uses[i];
        if (!lx__layer_may_have(use, mark))
            continue;
        const lx__set *set = lx__layer_find(use->layer, field, index);
        /* What drops a set drops all older ones of its index, too. */
        if (set != NULL)
            return lx__layer_counts(use, sets->rows, index) ? set : NULL;
    }
    return NULL;
}

/** The 24 bytes of both rows of a live set, valid as long as @p sets; NULL if there is none. */
static inline const uint8_t *lx__sets_find(const lx__sets *sets, uint32_t field, uint64_t index)
{
    const lx__set *set = lx__sets_find_set(sets, field, index);
    return set != NULL ? set->rows : NULL;
}

/** @name For who looks up up to 64 records of a field: mark them, later screen them, later approach
 * and then find those that remain. Each step has the memory fetched that the next one reads. */
/** @{ */

/** Makes the marks of @p count records; none where there are no layers. */
void lx__sets_mark_many(const lx__sets *sets, uint32_t field, const uint64_t *indices,
                        size_t count, uint64_t *marks);

/** Which of them may have sets, a bit each. */
uint64_t lx__sets_screen(const lx__sets *sets, uint32_t field, const uint64_t *indices,
                         size_t count, const uint64_t *marks);

/** Approaches those that @p may have sets, a bit each. */
void lx__sets_approach(const lx__sets *sets, uint32_t field, const uint64_t *indices,
                       uint64_t may);

/** @} */

#endif
