/* SPDX-License-Identifier: MIT */
/* A source over a zrecord dataset. */
#include "loader/sources/source-zrecord.h"

#include <loaderx/card.h>

#include "base/error.h"
#include "base/log.h"
#include "loader/sources/source.h"
#include "sampler/core/saved-state.h"
#include "zrecord/read/dataset-open.h"
#include "zrecord/read/dataset.h"
#include "zrecord/read/residency.h"

typedef struct zrecord_source {
    lx_source source;
    lx_dataset *dataset; /**< A handle of its own. */
} zrecord_source;

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    zrecord_source *self = (zrecord_source *)source;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < source->column_count; i++)
        if (targets[i].data != NULL)
            status = lx_dataset_gather(self->dataset, i, indices, count, targets[i].data,
                                       targets[i].stride, error);
    return status;
}

static lx_status get_sizes(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error)
{
    return lx_dataset_get_sizes(((zrecord_source *)source)->dataset, column, indices, count,
                                offsets, NULL, error);
}

static lx_status fill_bytes(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error)
{
    return lx_dataset_gather_bytes(((zrecord_source *)source)->dataset, column, samples->indices,
                                   samples->count, offsets, out, error);
}

static bool may_be_missing(const lx_source *source, size_t column)
{
    return lx_dataset_may_lack_values(((const zrecord_source *)source)->dataset, column);
}

static lx_status mark_present(lx_source *source, size_t column, const uint64_t *indices,
                              size_t count, uint8_t *present, lx_error *error)
{
    return lx_dataset_get_present(((zrecord_source *)source)->dataset, column, indices, count,
                                  present, error);
}

static int describe(const lx_source *source, json_t *object)
{
    lx_dataset_identity identity;
    lx_dataset_get_identity(((const zrecord_source *)source)->dataset, &identity);
    return json_object_set_new(object, "uuid", json_string(identity.uuid));
}

static lx_status visit_datasets(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error)
{
    const lx__dataset_use use = {.dataset = ((const zrecord_source *)source)->dataset,
                                 .length = source->length,
                                 .only = SIZE_MAX,
                                 .wanted = wanted};
    return visit(user, &use, error);
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    lx_dataset *dataset = ((zrecord_source *)source)->dataset;
    bool on_disk = false;
    for (size_t i = 0; i < source->column_count; i++)
        if (wanted[i])
            on_disk |= lx__dataset_read_ahead(dataset, i, indices, count);
    return on_disk;
}

static lx_status pin(lx_source *source, lx_source **pinned, lx_error *error)
{
    lx_source *made;
    lx_dataset *dataset;
    lx_status status = lx_dataset_pin(((zrecord_source *)source)->dataset, &dataset, error);
    if (status != LX_OK)
        return status;
    status = lx__source_new_pinned(source, sizeof(zrecord_source), &made, error);
    if (status != LX_OK) {
        lx_dataset_close(dataset);
        return status;
    }
    ((zrecord_source *)made)->dataset = dataset;
    *pinned = made;
    return LX_OK;
}

static void dispose(lx_source *source)
{
    lx_dataset_close(((zrecord_source *)source)->dataset);
}

static const char *locate(const lx_source *source, size_t column, uint64_t *index, uint64_t *offset)
{
    (void)column, (void)index, (void)offset;
    return lx_dataset_get_path(((const zrecord_source *)source)->dataset);
}

static const lx__source_class class = {.kind = "zrecord",
                                       .locate = locate,
                                       .fill = fill,
                                       .get_sizes = get_sizes,
                                       .fill_bytes = fill_bytes,
                                       .may_be_missing = may_be_missing,
                                       .mark_present = mark_present,
                                       .describe = describe,
                                       .visit_datasets = visit_datasets,
                                       .read_ahead = read_ahead,
                                       .pin = pin,
                                       .dispose = dispose};

/** Warns if an import into the dataset is not complete: training would use a part of the data. */
static void warn_of_import(lx_dataset *dataset)
{
    lx_card *card = NULL;
    if (lx_dataset_read_card(dataset, &card, NULL) == LX_OK &&
        lx_card_get_text(card, LX_CARD_IMPORT) != NULL)
        lx__log(LX_LOG_WARNING,
                "%s: an import into the dataset is not complete, so records may be missing",
                lx_dataset_get_path(dataset));
    lx_card_free(card);
}

/** Makes a source that owns @p dataset, even on failure. */
static lx_status make(lx_dataset *dataset, lx_source **source, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    lx_source *made;
    lx_status status = lx__source_new(&class, sizeof(zrecord_source),
                                      lx_dataset_get_length(dataset),
                                      lx_schema_get_field_count(schema), &made, error);
    if (status != LX_OK) {
        lx_dataset_close(dataset);
        return status;
    }
    ((zrecord_source *)made)->dataset = dataset;
    made->live = lx__dataset_is_live(dataset);
    for (size_t i = 0; status == LX_OK && i < made->column_count; i++) {
        const lx_field *field = lx_schema_get_field(schema, i);
        lx_column_info column = {
            .dtype = field->dtype, .ndim = field->ndim, .shape = field->shape, .size = field->size};
        status = lx__source_set_column(made, i, field->name, &column, error);
    }
    if (status != LX_OK) {
        lx_source_unref(made);
        return status;
    }
    warn_of_import(dataset);
    *source = made;
    return LX_OK;
}

lx_status lx_source_new_dataset(lx_dataset *dataset, lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (source == NULL)
        return lx__fail_null(error, "source");
    lx_dataset *shared;
    lx_status status = lx__dataset_share(dataset, &shared, error);
    return status == LX_OK ? make(shared, source, error) : status;
}

lx_status lx__source_open_zrecord(const char *path, const lx_dataset_options *options,
                                  lx_source **source, lx_error *error)
{
    lx_dataset *dataset;
    lx_status status = lx_dataset_open(path, options, &dataset, error);
    return status == LX_OK ? make(dataset, source, error) : status;
}
