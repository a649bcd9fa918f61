/* SPDX-License-Identifier: MIT */
#include "importer/importer.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

lx_importer *lx_importer_new(void)
{
    lx_importer *importer = lx__alloc_array(1, sizeof *importer);
    if (importer != NULL) {
        importer->record_limit = LX_DEFAULT_RECORD_LIMIT;
        importer->commit_size = LX_DEFAULT_COMMIT_SIZE;
    }
    return importer;
}

static void clear_options(lx_importer *importer)
{
    for (size_t i = 0; i < LX__FORMAT_OPTIONS; i++) {
        lx__free(importer->options[i]);
        importer->options[i] = NULL;
    }
}

void lx_importer_free(lx_importer *importer)
{
    if (importer == NULL)
        return;
    clear_options(importer);
    for (size_t i = 0; i < importer->input_count; i++)
        lx__free(importer->inputs[i]);
    for (size_t i = 0; i < importer->storage_count; i++)
        lx__free(importer->storages[i].name);
    lx__import_fields_free(&importer->fields);
    lx__free(importer->inputs);
    lx__free(importer->storages);
    lx__free(importer->bad);
    lx__free(importer);
}

lx_status lx_importer_set_format(lx_importer *importer, const char *name, lx_error *error)
{
    if (importer == NULL || name == NULL)
        return lx__fail_null(error, importer == NULL ? "importer" : "name");
    lx_status status = lx__format_find(name, &importer->format, error);
    if (status == LX_OK)
        clear_options(importer);
    return status;
}

lx_status lx_importer_set_option(lx_importer *importer, const char *name, const char *value,
                                 lx_error *error)
{
    size_t position;
    if (importer == NULL || name == NULL || value == NULL)
        return lx__fail_null(error, importer == NULL ? "importer"
                                    : name == NULL   ? "name"
                                                     : "value");
    if (importer->format == NULL)
        return lx_fail(error, LX_ERR_STATE, "the format must be set before its options");
    lx_status status = lx__format_find_option(importer->format, name, &position, error);
    if (status != LX_OK)
        return status;
    char *copy = lx__strdup(value);
    if (copy == NULL)
        return lx__fail_memory(error, "an option");
    lx__free(importer->options[position]);
    importer->options[position] = copy;
    return LX_OK;
}

lx_status lx_importer_add_input(lx_importer *importer, const char *path, lx_error *error)
{
    if (importer == NULL || path == NULL)
        return lx__fail_null(error, importer == NULL ? "importer" : "path");
    void *more = lx__grow_array(importer->inputs, importer->input_count, &importer->input_capacity,
                                sizeof *importer->inputs);
    if (more == NULL)
        return lx__fail_memory(error, "an input");
    importer->inputs = more;
    char *copy = lx__strdup(path);
    if (copy == NULL)
        return lx__fail_memory(error, "an input");
    importer->inputs[importer->input_count++] = copy;
    return LX_OK;
}

lx_status lx_importer_set_field(lx_importer *importer, const char *name, const char *type,
                                lx_error *error)
{
    if (importer == NULL || name == NULL || type == NULL)
        return lx__fail_null(error, importer == NULL ? "importer" : name == NULL ? "name" : "type");
    if (lx__import_fields_find(&importer->fields, 0, name, strlen(name)) != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the type of '%.64s' is set twice", name);
    lx__import_field checked;
    lx_status status = lx__import_type_parse(type, &checked, error);
    lx_error_locate(error, NULL, name, LX_NONE, LX_NONE);
    return status == LX_OK ? lx__import_fields_set(&importer->fields, name, type, error) : status;
}

lx_status lx_importer_set_compression(lx_importer *importer, const char *name,
                                      lx_compression compression, int level, uint32_t dictionary,
                                      lx_error *error)
{
    if (importer == NULL)
        return lx__fail_null(error, "importer");
    void *more = lx__grow_array(importer->storages, importer->storage_count,
                                &importer->storage_capacity, sizeof *importer->storages);
    if (more == NULL)
        return lx__fail_memory(error, "a setting");
    importer->storages = more;
    lx__import_storage storage = {.compression = compression, level, dictionary};
    if (name != NULL && (storage.name = lx__strdup(name)) == NULL)
        return lx__fail_memory(error, "a setting");
    importer->storages[importer->storage_count++] = storage;
    return LX_OK;
}

/** How the field is to be stored; NULL: raw. */
static const lx__import_storage *find_storage(const lx_importer *importer, const lx_field *field)
{
    const lx__import_storage *found = NULL;
    for (size_t i = 0; i < importer->storage_count; i++) {
        const lx__import_storage *storage = &importer->storages[i];
        if (storage->name != NULL && strcmp(storage->name, field->name) == 0)
            return storage;
        if (storage->name == NULL && field->size == LX_NONE)
            found = storage;
    }
    return found;
}

static lx_status check_storages(const lx_importer *importer, const lx_schema *schema,
                                lx_error *error)
{
    size_t position;
    for (size_t i = 0; i < importer->storage_count; i++) {
        const char *name = importer->storages[i].name;
        if (name != NULL && lx_schema_find_field(schema, name, &position, NULL) != LX_OK)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "a compression is set for the field '%.64s', which does not exist",
                           name);
    }
    return LX_OK;
}

lx_status lx__importer_compress_fields(const lx_importer *importer, const lx_schema *from,
                                       lx_schema *to, lx_error *error)
{
    lx_status status = check_storages(importer, from, error);
    for (size_t i = 0; status == LX_OK && i < lx_schema_get_field_count(from); i++) {
        const lx_field *field = lx_schema_get_field(from, i);
        const lx__import_storage *storage = find_storage(importer, field);
        status = lx_schema_add_field(to, field->name, field->dtype, field->shape, field->ndim,
                                     storage != NULL ? storage->compression : LX_COMPRESSION_RAW,
                                     error);
        if (status == LX_OK && storage != NULL && storage->compression != LX_COMPRESSION_RAW)
            status = lx_schema_set_compression(to, field->name, storage->level, storage->dictionary,
                                               error);
    }
    return status;
}

lx_status lx_importer_set_bad_policy(lx_importer *importer, lx_bad_policy policy, lx_error *error)
{
    if (importer == NULL)
        return lx__fail_null(error, "importer");
    if (policy != LX_BAD_STOP && policy != LX_BAD_SKIP)
        return lx_fail(error, LX_ERR_ARGUMENT, "the policy %d is invalid: use stop or skip",
                       (int)policy);
    importer->policy = policy;
    return LX_OK;
}

lx_status lx_importer_set_record_limit(lx_importer *importer, uint64_t bytes, lx_error *error)
{
    if (importer == NULL)
        return lx__fail_null(error, "importer");
    if (bytes == 0 || bytes > LX_MAX_VALUE)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a limit of %" PRIu64 " bytes is out of range: use 1 to %" PRIu32, bytes,
                       LX_MAX_VALUE);
    importer->record_limit = bytes;
    return LX_OK;
}

lx_status lx_importer_set_commit_size(lx_importer *importer, uint64_t bytes, lx_error *error)
{
    if (importer == NULL)
        return lx__fail_null(error, "importer");
    if (bytes == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "the commit size must be at least 1");
    importer->commit_size = bytes;
    return LX_OK;
}

lx_status lx_importer_set_append(lx_importer *importer, bool append, lx_error *error)
{
    if (importer == NULL)
        return lx__fail_null(error, "importer");
    importer->append = append;
    return LX_OK;
}

lx_status lx_importer_set_resume(lx_importer *importer, bool resume, lx_error *error)
{
    if (importer == NULL)
        return lx__fail_null(error, "importer");
    importer->resume = resume;
    return LX_OK;
}

lx_status lx_importer_set_progress(lx_importer *importer, lx_progress_function progress, void *user,
                                   lx_error *error)
{
    if (importer == NULL)
        return lx__fail_null(error, "importer");
    importer->progress = progress;
    importer->user = user;
    return LX_OK;
}

void lx_importer_get_result(const lx_importer *importer, lx_import_result *result)
{
    *result = importer->result;
}

const lx_error *lx_importer_get_bad(const lx_importer *importer, size_t i)
{
    return i < importer->bad_count ? &importer->bad[i] : NULL;
}

lx_status lx__importer_note_bad(lx_importer *importer, const lx_error *why, lx_error *error)
{
    importer->result.bad++;
    if (importer->bad_count == LX_MAX_BAD_LISTED)
        return LX_OK;
    void *more = lx__grow_array(importer->bad, importer->bad_count, &importer->bad_capacity,
                                sizeof *importer->bad);
    if (more == NULL)
        return lx__fail_memory(error, "the list of bad records");
    importer->bad = more;
    importer->bad[importer->bad_count++] = *why;
    return LX_OK;
}
