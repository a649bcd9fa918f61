/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/verify-job.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/image-signature.h"
#include "zrecord/format/content.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/sealed.h"
#include "zrecord/table/dictionary-file.h"
#include "zrecord/table/table-file.h"

size_t lx__verify_first_chunk(const lx__snapshot *snapshot, bool sealed)
{
    return (sealed ? 3 : 1) * snapshot->store->meta.schema->count;
}

size_t lx__verify_files(const lx__snapshot *snapshot, bool sealed)
{
    return lx__verify_first_chunk(snapshot, sealed) + snapshot->state.chunk_count;
}

/** Whether the disk failed to return a value. */
static bool is_unreadable(const lx__verify_job *job, const lx_error *damage)
{
    return job->file == LX__NO_FILE && lx__file_is_unreadable(damage) &&
           !lx__store_is_elsewhere(job->checker.snapshot->store);
}

/** Keeps a finding, with the results up to and including @p records more records. */
static lx_status keep(lx__verify_job *job, const lx_error *error, bool unreadable, uint64_t records)
{
    if (job->found == NULL)
        job->found = lx__alloc_array(LX__FOUND_MAX, sizeof *job->found);
    if (job->found == NULL) {
        job->failure = (lx_error)LX_ERROR_INIT;
        return lx__fail_memory(&job->failure, "a verification");
    }
    lx__found *kept = &job->found[job->found_count++];
    *kept = (lx__found){.error = *error,
                        .unreadable = unreadable,
                        .file = job->file,
                        .field = job->field,
                        .index = job->index,
                        .sums = job->sums};
    kept->sums.records += records;
    return LX_OK;
}

/** Adds a finding if @p status means damage; any other failure ends the job. */
static lx_status add_finding(lx__verify_job *job, lx_status status, lx_error *damage,
                             uint64_t records)
{
    bool unreadable = is_unreadable(job, damage);
    if (status != LX_ERR_CORRUPT && !unreadable) {
        job->failure = *damage;
        return status;
    }
    damage->status = LX_ERR_CORRUPT;
    return keep(job, damage, unreadable, records);
}

/** Adds a finding if an intact value is in a field of images but is none, which is no damage: up to
 * 1.0.0rc1, writers stored any bytes. */
static lx_status check_image(lx__verify_job *job, uint64_t index, size_t field)
{
    const lx__checker *checker = &job->checker;
    const lx__snapshot *snapshot = checker->snapshot;
    lx_dtype dtype = lx__schema_field(snapshot->store->schema, field)->shown.dtype;
    size_t size = checker->value.entry.logical;
    lx_error why = LX_ERROR_INIT;
    if (checker->missing || (checker->data == NULL && size != 0) ||
        !lx__content_is_no_image(dtype, checker->data, size))
        return LX_OK;
    lx_fail(&why, LX_ERR_MISMATCH, LX__NO_IMAGE, size);
    lx__snapshot_add_context(snapshot, field, index, &checker->value.entry, &why);
    return keep(job, &why, false, 1);
}

static lx_status check_value(lx__verify_job *job, uint64_t index, size_t field)
{
    uint64_t bytes;
    lx_status status = lx__checker_check(&job->checker, field, index, &bytes, &job->failure);
    if (status != LX_OK && is_unreadable(job, &job->failure)) { /* the fault may have passed */
        lx_error_clear(&job->failure);
        status = lx__checker_check(&job->checker, field, index, &bytes, &job->failure);
    }
    job->sums.bytes += bytes;
    job->sums.values++;
    if (status == LX_OK)
        return check_image(job, index, field);
    lx_error damage = job->failure;
    lx_error_clear(&job->failure);
    return add_finding(job, status, &damage, 1);
}

static lx_status check_records(lx__verify_job *job)
{
    size_t fields = job->checker.snapshot->store->schema->count;
    for (; job->index < job->end; job->index++) {
        for (; job->field < fields; job->field++) {
            if (job->found_count == LX__FOUND_MAX)
                return LX_OK;
            lx_status status = check_value(job, job->index, job->field);
            if (status != LX_OK)
                return status;
        }
        job->field = 0;
        job->sums.records++;
    }
    return LX_OK;
}

/** Checks the dictionary of the field, if it has one. */
static lx_status check_dictionary(const lx__store *store, size_t position, lx_error *error)
{
    const lx__field *field = lx__schema_field(store->meta.schema, position);
    lx__dictionary *dictionary;
    lx__dict dict;
    if (!lx__meta_find_dict(&store->meta, position, &dict))
        return LX_OK;
    lx_status status = lx__dictionary_load(&store->directory, field->stem, &dict,
                                           lx__codec_of(field->shown.compression), 0, &dictionary,
                                           error);
    lx__dictionary_free(dictionary);
    lx_error_locate(error, NULL, field->name, LX_NONE, LX_NONE);
    return status;
}

/** Checks that a chunk has all of its committed bytes, even if no value refers to it. In a sealed
 * dataset, it must have no other bytes. */
static lx_status check_chunk(const lx__store *store, const lx__chunk_item *chunk, bool sealed,
                             lx_error *error)
{
    lx__file file;
    if (!sealed && chunk->bytes == 0)
        return LX_OK; /* the file may be missing */
    lx_status status = lx__store_open_chunk(store, chunk->id, chunk->bytes, sealed, &file, error);
    if (status == LX_OK)
        lx__file_close(&file);
    return status;
}

/** Checks a file: the dictionary of a field, a table of a sealed dataset, or the size of a
 * chunk. */
static lx_status check_file(lx__verify_job *job)
{
    static const char *const kinds[] = {LX__OFFSET_KIND, LX__CHECK_KIND};
    const lx__snapshot *snapshot = job->checker.snapshot;
    const lx__store *store = snapshot->store;
    size_t number = job->file, fields = store->meta.schema->count;
    size_t first_chunk = lx__verify_first_chunk(snapshot, job->sealed);
    lx_error damage = LX_ERROR_INIT;
    lx_status status;
    if (number < fields)
        status = check_dictionary(store, number, &damage);
    else if (number < first_chunk)
        status = lx__sealed_check_table(store, &snapshot->state, (number - fields) / 2,
                                        kinds[(number - fields) % 2], &damage);
    else
        status = check_chunk(store, &job->committed->chunks[number - first_chunk], job->sealed,
                             &damage);
    return status != LX_OK ? add_finding(job, status, &damage, 0) : LX_OK;
}

lx_status lx__verify_run(lx__verify_job *job)
{
    job->found_count = 0;
    lx_status status = job->file == LX__NO_FILE ? check_records(job) : check_file(job);
    if (status != LX_OK || job->index == job->end)
        lx__checker_end(&job->checker);
    return status;
}
