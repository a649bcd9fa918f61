/* SPDX-License-Identifier: MIT */
/* A source without columns that stands in for another source in saved states. */
#include "base/error.h"
#include "loader/sources/dataset-state.h"
#include "loader/sources/source.h"

typedef struct null_source {
    lx_source source;
    json_t *identity; /**< The replaced source's description, with its kind and length. */
    json_t *datasets; /**< The replaced source's datasets in saved states. */
} null_source;

/* Any thread may save a state, and jansson's reference counts need not be atomic, so these
 * functions return copies. */

static int describe(const lx_source *source, json_t *object)
{
    json_t *copy = json_deep_copy(((const null_source *)source)->identity);
    int failed = json_object_update(object, copy);
    json_decref(copy);
    return failed;
}

static lx_status visit_datasets(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error)
{
    const json_t *datasets = ((const null_source *)source)->datasets;
    lx_status status = LX_OK;
    (void)wanted;
    for (size_t i = 0; status == LX_OK && i < json_array_size(datasets); i++) {
        const lx__dataset_use use = {.state = json_array_get(datasets, i)};
        status = visit(user, &use, error);
    }
    return status;
}

static void dispose(lx_source *source)
{
    null_source *self = (null_source *)source;
    json_decref(self->identity);
    json_decref(self->datasets);
}

/* No fill(): it is called only if a column is selected, and this source has no columns. */
static const lx__source_class class = {
    .kind = "null", .describe = describe, .visit_datasets = visit_datasets, .dispose = dispose};

lx_status lx_source_new_null(const lx_source *source, lx_source **null, lx_error *error)
{
    LX__CLEAR(null);
    lx_source *made;
    if (source == NULL || null == NULL)
        return lx__fail_null(error, source == NULL ? "source" : "null");
    lx_status status = lx__source_new(&class, sizeof(null_source), source->length, 0, &made, error);
    if (status != LX_OK)
        return status;
    null_source *self = (null_source *)made;
    self->identity = lx__source_to_json(source);
    status = self->identity != NULL ? lx__dataset_states_new(source, &self->datasets, error)
                                    : lx__fail_memory(error, "a source");
    if (status == LX_OK)
        *null = made;
    else
        lx_source_unref(made);
    return status;
}
