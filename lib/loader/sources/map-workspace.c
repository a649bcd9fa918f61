/* SPDX-License-Identifier: MIT */
#include "loader/sources/map-workspace.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static void free_workspace(const lx__mapping *m, lx__workspace *w)
{
    if (w->worker != NULL)
        m->free_worker(w->worker, m->user);
    for (size_t i = 0; w->inputs != NULL && i < m->input_count; i++)
        lx__free(w->inputs[i].data);
    lx__free(w->inputs);
    lx__free(w->capacities);
    lx__free(w->offsets);
    lx__free(w->targets);
    lx__free(w->outputs);
    lx__free(w);
}

static void set_inputs(const lx__mapping *m, const lx_source *part, lx__workspace *w)
{
    for (size_t i = 0; i < m->input_count; i++) {
        const lx_column_info *column = &part->columns[m->inputs[i]];
        w->inputs[i] = (lx_column){.name = column->name,
                                   .dtype = column->dtype,
                                   .ndim = column->ndim,
                                   .shape = column->shape,
                                   .size = column->size,
                                   .item_size = column->item_size,
                                   .offsets = column->size == LX_NONE ? w->offsets[i] : NULL};
    }
}

static lx_status new_workspace(const lx__mapping *m, const lx_source *part, lx__workspace **made,
                               lx_error *error)
{
    lx_error theirs = LX_ERROR_INIT;
    lx_status status = LX_OK;
    lx__workspace *w = lx__alloc_array(1, sizeof *w);
    if (w == NULL)
        return lx__fail_memory(error, "a map");
    w->inputs = lx__alloc_array(m->input_count, sizeof *w->inputs);
    w->capacities = lx__alloc_array(m->input_count, sizeof *w->capacities);
    w->offsets = lx__alloc_array(m->input_count, sizeof *w->offsets);
    w->targets = lx__alloc_array(part->column_count, sizeof *w->targets);
    w->outputs = lx__alloc_array(m->output_count, sizeof *w->outputs);
    if (w->inputs == NULL || w->capacities == NULL || w->offsets == NULL || w->targets == NULL ||
        w->outputs == NULL)
        status = lx__fail_memory(error, "a map");
    if (status == LX_OK && m->new_worker != NULL) {
        status = m->new_worker(m->user, &w->worker, &theirs);
        status = lx__source_pass_on(&theirs, status, "new_worker", error);
    }
    if (status != LX_OK) {
        free_workspace(m, w);
        return status;
    }
    set_inputs(m, part, w);
    *made = w;
    return LX_OK;
}

lx_status lx__workspace_take(lx__mapping *m, const lx_source *part, lx__workspace **taken,
                             lx_error *error)
{
    *taken = NULL;
    if (pthread_mutex_trylock(&m->mutex) == 0) {
        *taken = m->idle;
        if (*taken != NULL)
            m->idle = (*taken)->next;
        pthread_mutex_unlock(&m->mutex);
    }
    return *taken != NULL ? LX_OK : new_workspace(m, part, taken, error);
}

void lx__workspace_return(lx__mapping *m, lx__workspace *w)
{
    if (pthread_mutex_trylock(&m->mutex) != 0) {
        free_workspace(m, w);
        return;
    }
    w->next = m->idle;
    m->idle = w;
    pthread_mutex_unlock(&m->mutex);
}

void lx__workspaces_free(lx__mapping *m)
{
    for (lx__workspace *next; m->idle != NULL; m->idle = next) {
        next = m->idle->next;
        free_workspace(m, m->idle);
    }
}

/* ---- reading */

/** Gets the sizes of the inputs that vary, and lowers the number of samples until their inputs fit
 * into a block. */
static lx_status get_input_sizes(const lx__mapping *m, lx_source *part, lx__workspace *w,
                                 lx_samples *samples, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < m->input_count; i++) {
        const uint64_t *offsets = w->offsets[i];
        uint64_t size = w->inputs[i].size;
        if (size == LX_NONE)
            status = part->class->get_sizes(part, m->inputs[i], samples->indices, samples->count,
                                            w->offsets[i], error);
        while (status == LX_OK && samples->count > 1 &&
               (size == LX_NONE ? offsets[samples->count] : size * samples->count) >
                   LX__MAP_BLOCK_BYTES)
            samples->count--;
    }
    return status;
}

/** Makes room for the inputs. */
static lx_status reserve_inputs(const lx__mapping *m, lx__workspace *w, size_t count,
                                lx_error *error)
{
    for (size_t i = 0; i < m->input_count; i++) {
        lx_column *input = &w->inputs[i];
        uint8_t *data = input->data;
        uint64_t bytes = input->offsets != NULL ? input->offsets[count] : input->size * count;
        if (bytes > SIZE_MAX || !lx__reserve(&data, &w->capacities[i], (size_t)bytes))
            return lx__fail_memory(error, "the inputs of a map");
        input->data = data;
        input->rows = count;
    }
    return LX_OK;
}

lx_status lx__workspace_read(const lx__mapping *m, lx_source *part, lx__workspace *w,
                             lx_samples *samples, lx_error *error)
{
    bool fixed = false;
    lx_status status = get_input_sizes(m, part, w, samples, error);
    if (status == LX_OK)
        status = reserve_inputs(m, w, samples->count, error);
    if (status == LX_OK)
        memset(w->targets, 0, part->column_count * sizeof *w->targets);
    for (size_t i = 0; status == LX_OK && i < m->input_count; i++) {
        const lx_column *input = &w->inputs[i];
        if (input->offsets != NULL) {
            status = part->class->fill_bytes(part, m->inputs[i], samples, input->offsets,
                                             input->data, error);
        } else {
            w->targets[m->inputs[i]] = (lx_target){input->data, (size_t)input->size};
            fixed = true;
        }
    }
    return status == LX_OK && fixed ? lx__source_fill(part, samples, w->targets, error) : status;
}
