/* SPDX-License-Identifier: MIT */
/* A source whose function computes columns from those of another source. */
#include "loader/sources/source-map.h"

#include <loaderx/map.h>

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "executor/clock.h"
#include "loader/sources/map-workspace.h"
#include "loader/sources/source-options.h"
#include "loader/sources/source-parts.h"

typedef struct map_source {
    lx__parts_source parts; /* one part */
    lx__mapping *mapping;   /* owned by the live source, not by its snapshot */
} map_source;

static lx_source *part_of(const lx_source *source)
{
    return ((const map_source *)source)->parts.parts[0];
}

static lx__mapping *mapping_of(const lx_source *source)
{
    return ((const map_source *)source)->mapping;
}

/* ---- reading */

static _Thread_local uint64_t map_ns;

uint64_t lx__map_ns(void)
{
    return map_ns;
}

/** Finds the input that a failure names; otherwise, the first one. */
static size_t find_failed(const lx_source *source, const lx_error *failure)
{
    const lx__mapping *m = mapping_of(source);
    for (size_t i = 0; i < m->input_count; i++)
        if (strcmp(part_of(source)->columns[m->inputs[i]].name, failure->field) == 0)
            return m->inputs[i];
    return m->inputs[0];
}

/** Adds the place of an input to a failure that concerns a record. */
static void locate_failure(const lx_source *source, lx_error *failure)
{
    uint64_t index = failure->record, offset = LX_NONE;
    if (failure->status == LX_OK || index >= source->length || failure->path[0] != '\0')
        return;
    const char *path = lx__source_locate(part_of(source), find_failed(source, failure), &index,
                                         &offset);
    if (path != NULL)
        failure->record = index;
    lx_error_locate(failure, path, NULL, index, offset);
}

/** Calls the function of the map, and accounts for its time. */
static lx_status call_map(const lx_source *source, const lx_samples *samples, lx__workspace *w,
                          lx_error *error)
{
    const lx__mapping *m = mapping_of(source);
    lx_error theirs = LX_ERROR_INIT;
    uint64_t before = map_ns, started = lx__clock_now();
    lx_status status = m->map(samples, w->inputs, w->outputs, w->worker, m->user, &theirs);
    map_ns = before + (lx__clock_now() - started); /* counts once what maps within this one took */
    locate_failure(source, &theirs);
    return lx__source_pass_on(&theirs, status, "map", error);
}

/** Fills the columns that the map takes from its part. */
static lx_status fill_passed(lx_source *source, lx__workspace *w, const lx_samples *samples,
                             const lx_target *targets, lx_error *error)
{
    const lx__mapping *m = mapping_of(source);
    lx_source *part = part_of(source);
    bool wanted = false;
    memset(w->targets, 0, part->column_count * sizeof *w->targets);
    for (size_t i = 0; i < m->passed_count; i++) {
        w->targets[m->passed[i]] = targets[i];
        wanted = wanted || targets[i].data != NULL;
    }
    return wanted ? lx__source_fill(part, samples, w->targets, error) : LX_OK;
}

/** Whether an input may be missing, which can change in a live dataset. */
static bool has_missing_inputs(const lx_source *source)
{
    const lx__mapping *m = mapping_of(source);
    size_t i = 0;
    while (i < m->input_count && !lx__source_may_be_missing(part_of(source), m->inputs[i]))
        i++;
    return i < m->input_count;
}

/** Finds out which records have all inputs; sets the bytes of the others to 0. */
static lx_status mark_inputs(lx_source *source, const uint64_t *indices, size_t count,
                             uint8_t *present, lx_error *error)
{
    const lx__mapping *m = mapping_of(source);
    lx_source *part = part_of(source);
    uint8_t marks[LX__SOURCE_BLOCK];
    lx_status status = lx__source_mark_present(part, m->inputs[0], indices, count, present, error);
    for (size_t i = 1; status == LX_OK && i < m->input_count; i++)
        for (size_t at = 0, here; status == LX_OK && at < count; at += here) {
            here = count - at < LX__SOURCE_BLOCK ? count - at : LX__SOURCE_BLOCK;
            status = lx__source_mark_present(part, m->inputs[i], indices + at, here, marks, error);
            for (size_t k = 0; status == LX_OK && k < here; k++)
                present[at + k] &= marks[k];
        }
    return status;
}

static void fill_zeros(const lx_source *source, const lx_target *outputs)
{
    const lx__mapping *m = mapping_of(source);
    for (size_t i = 0; i < m->output_count; i++)
        if (outputs[i].data != NULL && m->followed[i] == SIZE_MAX)
            memset(outputs[i].data, 0, (size_t)source->columns[m->passed_count + i].size);
}

/** Fails if the sizes of an input are not those of @p offsets; @p sizes is NULL if the input is
 * missing. */
static lx_status check_sizes(const uint64_t *sizes, const uint64_t *offsets, size_t count,
                             lx_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (offsets[i + 1] - offsets[i] != (sizes != NULL ? sizes[i + 1] - sizes[i] : 0))
            return lx_fail(error, LX_ERR_MISMATCH,
                           "the size of an input has changed: get the sizes again");
    return LX_OK;
}

/** Computes outputs of the first samples; lowers @p samples to those. Output @p varying is written
 * to @p offsets, relative to the first one; without offsets, none varies. */
static lx_status map_block(lx_source *source, lx__workspace *w, lx_samples *samples, size_t varying,
                           const uint64_t *offsets, lx_error *error)
{
    const lx__mapping *m = mapping_of(source);
    uint8_t present = 1;
    lx_status status = LX_OK;
    bool one_by_one = has_missing_inputs(source);
    samples->count = one_by_one                       ? 1
                     : samples->count < LX__MAP_BLOCK ? samples->count
                                                      : LX__MAP_BLOCK;
    if (one_by_one)
        status = mark_inputs(source, samples->indices, 1, &present, error);
    if (status == LX_OK && present)
        status = lx__workspace_read(m, part_of(source), w, samples, error);
    if (status == LX_OK && offsets != NULL)
        status = check_sizes(present ? w->inputs[m->followed[varying]].offsets : NULL, offsets,
                             samples->count, error);
    if (status == LX_OK && !present)
        fill_zeros(source, w->outputs);
    return status == LX_OK && present ? call_map(source, samples, w, error) : status;
}

static lx_status fill_outputs(lx_source *source, lx__workspace *w, const lx_samples *samples,
                              const lx_target *targets, lx_error *error)
{
    const lx__mapping *m = mapping_of(source);
    bool wanted = false;
    for (size_t i = 0; i < m->output_count; i++) {
        w->outputs[i] = targets[i];
        wanted = wanted || targets[i].data != NULL;
    }
    lx_status status = LX_OK;
    for (size_t at = 0; wanted && status == LX_OK && at < samples->count;) {
        lx_samples block = lx__samples_slice(samples, at, samples->count - at);
        status = map_block(source, w, &block, 0, NULL, error);
        at += block.count;
        for (size_t i = 0; i < m->output_count; i++)
            if (w->outputs[i].data != NULL)
                w->outputs[i].data = (uint8_t *)w->outputs[i].data +
                                     block.count * w->outputs[i].stride;
    }
    return status;
}

static lx_status fill_samples(lx_source *source, const lx_samples *samples,
                              const lx_target *targets, lx_error *error)
{
    lx__mapping *m = mapping_of(source);
    lx__workspace *w;
    lx_status status = lx__workspace_take(m, part_of(source), &w, error);
    if (status != LX_OK)
        return status;
    status = fill_passed(source, w, samples, targets, error);
    if (status == LX_OK)
        status = fill_outputs(source, w, samples, targets + m->passed_count, error);
    lx__workspace_return(m, w);
    return status;
}

/* ---- values that vary in size: those that the map takes from its part, and outputs that have the
 * sizes of an input */

/** Makes the values of records without all inputs empty: they are missing, too. */
static lx_status drop_missing(lx_source *source, const uint64_t *indices, size_t count,
                              uint64_t *offsets, lx_error *error)
{
    uint8_t present[LX__SOURCE_BLOCK];
    uint64_t begin = 0;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        size_t rest = count - i, place = i % LX__SOURCE_BLOCK;
        if (place == 0)
            status = mark_inputs(source, indices + i,
                                 rest < LX__SOURCE_BLOCK ? rest : LX__SOURCE_BLOCK, present, error);
        uint64_t size = offsets[i + 1] - begin;
        begin = offsets[i + 1];
        if (status == LX_OK)
            offsets[i + 1] = offsets[i] + (present[place] ? size : 0);
    }
    return status;
}

static lx_status get_sizes(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error)
{
    const lx__mapping *m = mapping_of(source);
    lx_source *part = part_of(source);
    bool passed = column < m->passed_count;
    size_t origin = passed ? m->passed[column] : m->inputs[m->followed[column - m->passed_count]];
    lx_status status = part->class->get_sizes(part, origin, indices, count, offsets, error);
    return status == LX_OK && !passed && has_missing_inputs(source)
               ? drop_missing(source, indices, count, offsets, error)
               : status;
}

/** Computes an output whose values vary in size. */
static lx_status fill_varying(lx_source *source, size_t output, const lx_samples *samples,
                              const uint64_t *offsets, uint8_t *out, lx_error *error)
{
    lx__mapping *m = mapping_of(source);
    lx__workspace *w;
    lx_status status = lx__workspace_take(m, part_of(source), &w, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < m->output_count; i++)
        w->outputs[i] = (lx_target){.data = NULL};
    for (size_t at = 0; status == LX_OK && at < samples->count;) {
        lx_samples block = lx__samples_slice(samples, at, samples->count - at);
        w->outputs[output].data = out + offsets[at];
        status = map_block(source, w, &block, output, offsets + at, error);
        at += block.count;
    }
    lx__workspace_return(m, w);
    return status;
}

static lx_status fill_bytes(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error)
{
    const lx__mapping *m = mapping_of(source);
    lx_source *part = part_of(source);
    return column < m->passed_count
               ? part->class->fill_bytes(part, m->passed[column], samples, offsets, out, error)
               : fill_varying(source, column - m->passed_count, samples, offsets, out, error);
}

/* ---- class */

static bool may_be_missing(const lx_source *source, size_t column)
{
    const lx__mapping *m = mapping_of(source);
    return column < m->passed_count ? lx__source_may_be_missing(part_of(source), m->passed[column])
                                    : has_missing_inputs(source);
}

static lx_status mark_present(lx_source *source, size_t column, const uint64_t *indices,
                              size_t count, uint8_t *present, lx_error *error)
{
    const lx__mapping *m = mapping_of(source);
    return column < m->passed_count ? lx__source_mark_present(part_of(source), m->passed[column],
                                                              indices, count, present, error)
                                    : mark_inputs(source, indices, count, present, error);
}

/** Returns, for each column of the part, whether it is read for the map's columns in @p wanted. The
 * caller frees the result, which is NULL if there is no memory. */
static bool *wanted_of_part(const lx_source *source, const bool *wanted)
{
    const lx__mapping *m = mapping_of(source);
    bool *of_part = lx__alloc_array(part_of(source)->column_count, sizeof *of_part);
    bool any = false;
    if (of_part == NULL)
        return NULL;
    for (size_t i = 0; i < m->passed_count; i++)
        of_part[m->passed[i]] = wanted[i];
    for (size_t i = 0; i < m->output_count; i++)
        any = any || wanted[m->passed_count + i];
    for (size_t i = 0; i < m->input_count; i++)
        of_part[m->inputs[i]] = any;
    return of_part;
}

static lx_status visit_datasets(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error)
{
    bool *of_part = wanted != NULL ? wanted_of_part(source, wanted) : NULL;
    if (wanted != NULL && of_part == NULL)
        return lx__fail_memory(error, "a map");
    lx_status status = lx__source_visit_datasets(part_of(source), of_part, visit, user, error);
    lx__free(of_part);
    return status;
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    bool *of_part = wanted_of_part(source, wanted);
    bool requested = of_part != NULL &&
                     lx__source_read_ahead(part_of(source), of_part, indices, count);
    lx__free(of_part);
    return requested;
}

static int describe(const lx_source *source, json_t *object)
{
    const lx__mapping *m = mapping_of(source);
    json_t *inputs = json_array();
    int failed = lx__source_parts_describe(source, object);
    for (size_t i = 0; i < m->input_count; i++)
        failed |= json_array_append_new(inputs,
                                        json_string(part_of(source)->columns[m->inputs[i]].name));
    failed |= json_object_set_new(object, "inputs", inputs);
    failed |= json_object_set_new(object, "outputs", lx__columns_to_json(source, m->passed_count));
    failed |= json_object_set_new(object, "identity", json_string(m->identity));
    return failed != 0 ? -1 : 0;
}

static lx_status pin(lx_source *source, lx_source **pinned, lx_error *error)
{
    lx_status status = lx__source_parts_pin(source, sizeof(map_source), pinned, error);
    if (status == LX_OK) /* owned by the live source, which the snapshot references */
        ((map_source *)*pinned)->mapping = mapping_of(source);
    return status;
}

static void free_mapping(lx__mapping *m)
{
    lx__workspaces_free(m);
    if (m->release != NULL)
        m->release(m->user);
    pthread_mutex_destroy(&m->mutex);
    lx__free(m->inputs);
    lx__free(m->passed);
    lx__free(m->followed);
    lx__free(m->identity);
    lx__free(m);
}

static void dispose(lx_source *source)
{
    if (source->live_source == NULL && mapping_of(source) != NULL)
        free_mapping(mapping_of(source));
    lx__source_parts_dispose(source);
}

static const char *locate(const lx_source *source, size_t column, uint64_t *index, uint64_t *offset)
{
    const lx__mapping *m = mapping_of(source);
    size_t origin = column < m->passed_count ? m->passed[column] : m->inputs[0];
    return lx__source_locate(part_of(source), origin, index, offset);
}

static const lx__source_class class = {.kind = "map",
                                       .locate = locate,
                                       .fill_samples = fill_samples,
                                       .get_sizes = get_sizes,
                                       .fill_bytes = fill_bytes,
                                       .may_be_missing = may_be_missing,
                                       .mark_present = mark_present,
                                       .describe = describe,
                                       .visit_datasets = visit_datasets,
                                       .read_ahead = read_ahead,
                                       .pin = pin,
                                       .dispose = dispose};

/* ---- constructor */

static size_t find_column(const lx_source *part, const char *name)
{
    size_t i = 0;
    while (i < part->column_count && strcmp(part->columns[i].name, name) != 0)
        i++;
    return i;
}

static lx_status find_inputs(lx__mapping *m, const lx_source *part, const char *const *inputs,
                             lx_error *error)
{
    for (size_t i = 0; i < m->input_count; i++) {
        if (inputs[i] == NULL)
            return lx__fail_null(error, "the name of an input");
        m->inputs[i] = find_column(part, inputs[i]);
        if (m->inputs[i] == part->column_count)
            return lx_fail(error, LX_ERR_NOT_FOUND, "the source has no column '%.64s'", inputs[i]);
        for (size_t k = 0; k < i; k++)
            if (m->inputs[k] == m->inputs[i])
                return lx_fail(error, LX_ERR_ARGUMENT, "the input '%s' is named twice", inputs[i]);
    }
    return LX_OK;
}

static lx_status new_mapping(const lx_source *part, const char *const *inputs, size_t input_count,
                             size_t output_count, const lx_source_options *options,
                             lx__mapping **made, lx_error *error)
{
    lx__mapping *m = lx__alloc_array(1, sizeof *m);
    *made = m;
    if (m == NULL)
        return lx__fail_memory(error, "a map");
    pthread_mutex_init(&m->mutex, NULL);
    m->input_count = input_count;
    m->output_count = output_count;
    m->inputs = lx__alloc_array(input_count, sizeof *m->inputs);
    m->passed = lx__alloc_array(part->column_count, sizeof *m->passed);
    m->followed = lx__alloc_array(output_count, sizeof *m->followed);
    m->identity = lx__strdup(options->identity != NULL ? options->identity : "");
    if (m->inputs == NULL || m->passed == NULL || m->followed == NULL || m->identity == NULL)
        return lx__fail_memory(error, "a map");
    lx_status status = find_inputs(m, part, inputs, error);
    for (size_t i = 0; status == LX_OK && i < part->column_count; i++) {
        bool is_input = false;
        for (size_t k = 0; k < input_count; k++)
            is_input = is_input || m->inputs[k] == i;
        if (!is_input)
            m->passed[m->passed_count++] = i;
    }
    return status;
}

/** Finds the input whose sizes the values of an output have: that of the same name. */
static lx_status follow_input(lx_source *made, size_t output, lx_error *error)
{
    const lx__mapping *m = mapping_of(made);
    const lx_column_info *column = &made->columns[m->passed_count + output];
    m->followed[output] = SIZE_MAX;
    if (column->size != LX_NONE)
        return LX_OK;
    for (size_t i = 0; i < m->input_count; i++) {
        const lx_column_info *input = &part_of(made)->columns[m->inputs[i]];
        if (strcmp(input->name, column->name) == 0 && input->dtype == column->dtype &&
            input->ndim == column->ndim &&
            memcmp(input->shape, column->shape, input->ndim * sizeof *input->shape) == 0)
            m->followed[output] = i;
    }
    if (m->followed[output] != SIZE_MAX)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                               "the records of an output must have a fixed size, or the sizes of "
                               "the input of the same name: give it a fixed-size dtype and a "
                               "shape, or the name, dtype and shape of an input");
    lx_error_locate(error, NULL, column->name, LX_NONE, LX_NONE);
    return status;
}

static lx_status set_columns(lx_source *made, const lx_column_info *outputs, lx_error *error)
{
    const lx_source *part = part_of(made);
    const lx__mapping *m = mapping_of(made);
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < m->passed_count; i++)
        status = lx__source_set_column(made, i, part->columns[m->passed[i]].name,
                                       &part->columns[m->passed[i]], error);
    for (size_t i = 0; status == LX_OK && i < m->output_count; i++) {
        status = lx__source_set_column(made, m->passed_count + i, outputs[i].name, &outputs[i],
                                       error);
        if (status == LX_OK)
            status = follow_input(made, i, error);
    }
    return status == LX_OK ? lx__source_check_names(made, error) : status;
}

static lx_status check(const lx_source *part, const char *const *inputs, size_t input_count,
                       const lx_column_info *outputs, size_t output_count,
                       const lx_source_options *options, lx_error *error)
{
    if (part == NULL || inputs == NULL || outputs == NULL)
        return lx__fail_null(error, part == NULL ? "part" : inputs == NULL ? "inputs" : "outputs");
    if (options == NULL || options->map == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "a map needs a function: set map");
    if (input_count == 0 || output_count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "a map needs at least one %s",
                       input_count == 0 ? "input" : "output");
    if (options->identity != NULL && !lx__utf8_valid(options->identity))
        return lx_fail(error, LX_ERR_ARGUMENT, "the identity is not valid UTF-8");
    return LX_OK;
}

lx_status lx_source_new_map(lx_source *part, const char *const *inputs, size_t input_count,
                            const lx_column_info *outputs, size_t output_count,
                            const lx_source_options *options, lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    lx_source *made = NULL;
    lx__mapping *m = NULL;
    if (source == NULL)
        return lx__fail_null(error, "source");
    lx_status status = check(part, inputs, input_count, outputs, output_count, options, error);
    if (status != LX_OK)
        return status;
    status = new_mapping(part, inputs, input_count, output_count, options, &m, error);
    if (status == LX_OK)
        status = lx__source_new(&class, sizeof(map_source), part->length,
                                m->passed_count + output_count, &made, error);
    if (status != LX_OK) {
        if (m != NULL)
            free_mapping(m);
        return status;
    }
    ((map_source *)made)->mapping = m;
    status = lx__source_add_parts(made, &part, 1, error);
    if (status == LX_OK)
        status = set_columns(made, outputs, error);
    if (status != LX_OK) {
        lx_source_unref(made); /* its function is not set yet, so the user data is not released */
        return status;
    }
    m->map = options->map;
    m->new_worker = options->new_worker;
    m->free_worker = options->free_worker;
    m->release = options->release;
    m->user = options->user;
    *source = made;
    return LX_OK;
}
