/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A model of what a loader delivers, one position at a time, from the documentation.
 */
#ifndef LX_TESTS_MODEL_H
#define LX_TESTS_MODEL_H

#include "../sampler/orders.h"
#include "loaders.h"

/** Maximum rows of a batch of the model. */
#define MODEL_ROWS 64

struct model {
    const lx_order *order;
    lx__scratch *scratch;
    uint64_t length, batch_size, world, rank, epochs; /* epochs 0: endless */
    bool drop_last, uneven, pad_last;
    uint64_t position, entered, run_end;
    uint64_t real; /* rows of the last batch that are not padding */
};

static inline void model_seek(struct model *model, uint64_t position)
{
    uint64_t run = model->length * model->epochs;
    model->position = model->entered = position;
    model->run_end = run != 0 ? (position / run + 1) * run : UINT64_MAX;
}

static inline struct model model_of(lx_order *order, struct setup setup)
{
    lx_error error = LX_ERROR_INIT;
    struct model model = {.order = order,
                          .length = lx_order_get_length(order),
                          .batch_size = setup.batch_size,
                          .world = setup.world != 0 ? setup.world : 1,
                          .rank = setup.rank,
                          .epochs = setup.endless || setup.epochs != 0 ? setup.epochs : 1,
                          .drop_last = setup.drop_last,
                          .uneven = setup.uneven,
                          .pad_last = setup.pad_last};
    unit_ok(lx__scratch_new(order, &model.scratch, &error));
    model_seek(&model, 0);
    return model;
}

static inline void model_free(struct model *model)
{
    lx__scratch_free(model->scratch);
}

/** Whether the rank gets any sample of any epoch. */
static inline bool model_has_any(const struct model *model)
{
    uint64_t global = model->batch_size * model->world;
    return model->length >= global ||
           ((!model->uneven || model->rank < model->length) && !model->drop_last);
}

/** Reads the index at a position. */
static inline uint64_t model_read(const struct model *model, uint64_t position)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t index;
    unit_ok(lx__order_read(model->order, model->scratch, position, 1, 1, &index, &error));
    return index;
}

/** Whether an offset in the epoch belongs to the rank. */
static inline bool model_owns(const struct model *model, uint64_t offset)
{
    return offset % model->world == model->rank;
}

/** Repeats the epoch from its start until all ranks have as many rows, or all that fit. */
static inline uint64_t model_pad(const struct model *model, uint64_t start, uint64_t rows,
                                 uint64_t *indices)
{
    uint64_t begin = start / model->length * model->length, at = model->position;
    uint64_t end = start + model->batch_size * model->world;
    for (; model->pad_last ? at < end : (at - start) % model->world != 0; at++)
        if (model_owns(model, at - begin))
            indices[rows++] = model_read(model, begin + (at - begin) % model->length);
    return rows;
}

/** The rows of the rank's next batch, with its indices and position; 0 at the end. */
static inline uint64_t model_next(struct model *model, uint64_t *start, uint64_t *indices)
{
    uint64_t global = model->batch_size * model->world;
    if (model->run_end == UINT64_MAX && !model_has_any(model))
        return 0;
    while (model->position < model->run_end) {
        uint64_t rows = 0, epoch_end = (model->position / model->length + 1) * model->length;
        *start = model->position;
        for (; model->position < epoch_end && model->position < *start + global; model->position++)
            if (model_owns(model, model->position % model->length))
                indices[rows++] = model_read(model, model->position);
        model->real = rows;
        if (!model->uneven && !model->drop_last)
            rows = model_pad(model, *start, rows, indices);
        if (rows != 0 && (!model->drop_last || model->position - *start == global))
            return rows;
    }
    return 0;
}

/** Continues after the end, if no batch is left before it: for any rank that took nothing. */
static inline void model_continue(struct model *model)
{
    struct model ahead = *model;
    uint64_t indices[MODEL_ROWS], start, run = model->length * model->epochs;
    bool begins = model->position == model->run_end - run || model->position == 0 ||
                  (model->position == model->entered && !model->drop_last);
    if (!begins && model_next(&ahead, &start, indices) == 0)
        model_seek(model, ahead.position);
}

/** The number of batches of the first epoch. */
static inline uint64_t model_epoch_batches(const struct model *model)
{
    struct model one = *model;
    uint64_t indices[MODEL_ROWS], start, count = 0;
    one.epochs = 1;
    model_seek(&one, 0);
    while (model_next(&one, &start, indices) != 0)
        count++;
    return count;
}

#endif
