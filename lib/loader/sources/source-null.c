/* SPDX-License-Identifier: MIT */
/* A source without columns that stands in for another source in saved states. */
#include "base/error.h"
#include "loader/sources/source.h"

typedef struct null_source {
    lx_source source;
    json_t *identity; /**< The replaced source's description, with its kind and length. */
    json_t *snapshot_id;
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

static json_t *snapshot_id(const lx_source *source)
{
    return json_deep_copy(((const null_source *)source)->snapshot_id);
}

static void dispose(lx_source *source)
{
    null_source *self = (null_source *)source;
    json_decref(self->identity);
    json_decref(self->snapshot_id);
}

/* No fill(): it is called only if a column is selected, and this source has no columns. */
static const lx__source_class class = {
    .kind = "null", .describe = describe, .snapshot_id = snapshot_id, .dispose = dispose};

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
    self->snapshot_id = lx__source_snapshot_id(source);
    if (self->identity == NULL || self->snapshot_id == NULL) {
        lx_source_unref(made);
        return lx__fail_memory(error, "a source");
    }
    *null = made;
    return LX_OK;
}
