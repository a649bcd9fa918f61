/* SPDX-License-Identifier: MIT */
#include "recordio-merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <loaderx/recordio.h>

#include "atomic-write.h"
#include "failure.h"
#include "interrupt.h"
#include "recordio-pass.h"

/** A line of the index of an input. */
typedef struct entry {
    const char *key; /* belongs to the index */
    uint64_t offset;
    size_t input;
} entry;

/** A merge in progress. */
typedef struct merging {
    const recordio_merge *merge;
    char **names; /* of the indexes of the inputs */
    lx_recordio_index **indexes;
    entry *entries; /* of all inputs, in the order of their records; NULL: they have no keys */
    size_t count, next;
    size_t input; /* the current one */
    recordio_pass pass;
    atomic_write records, index;
    lx_recordio_writer *writer;
} merging;

/* ---- the keys */

static lx_status load_index(merging *self, size_t input, lx_error *error)
{
    self->names[input] = recordio_name_index(self->merge->inputs[input]);
    if (self->names[input] == NULL)
        return fail_memory(error, "a path");
    lx_status status = lx_recordio_index_open(self->names[input], &self->indexes[input], error);
    advise(error, LX_ERR_NOT_FOUND,
           "'loaderx recordio index' makes an index, and --renumber needs none");
    if (status == LX_OK)
        self->count += (size_t)lx_recordio_index_get_count(self->indexes[input]);
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order != 0 ? order : (x->input > y->input) - (x->input < y->input);
}

static int compare_places(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->input != y->input ? (x->input > y->input) - (x->input < y->input)
                                : (x->offset > y->offset) - (x->offset < y->offset);
}

/** Checks that no key occurs twice, and sorts the entries. */
static lx_status sort_entries(merging *self, lx_error *error)
{
    entry *entries = self->entries;
    qsort(entries, self->count, sizeof *entries, compare_keys);
    for (size_t i = 1; i < self->count; i++)
        if (strcmp(entries[i - 1].key, entries[i].key) == 0)
            return lx_fail(error, LX_ERR_EXISTS,
                           "the key '%.100s' is in %s and again in %s: --renumber uses the numbers "
                           "of the records as keys",
                           entries[i].key, self->names[entries[i - 1].input],
                           self->names[entries[i].input]);
    qsort(entries, self->count, sizeof *entries, compare_places);
    return LX_OK;
}

static lx_status load_keys(merging *self, lx_error *error)
{
    lx_status status = LX_OK;
    size_t inputs = self->merge->input_count, at = 0;
    self->names = calloc(inputs, sizeof *self->names);
    self->indexes = calloc(inputs, sizeof(lx_recordio_index *));
    if (self->names == NULL || self->indexes == NULL)
        return fail_memory(error, "the inputs");
    for (size_t input = 0; status == LX_OK && input < inputs; input++)
        status = load_index(self, input, error);
    if (status != LX_OK)
        return status;
    self->entries = calloc(self->count + 1, sizeof *self->entries);
    if (self->entries == NULL)
        return fail_memory(error, "the keys");
    for (size_t input = 0; input < inputs; input++) {
        const lx_recordio_index *index = self->indexes[input];
        for (uint64_t i = 0; i < lx_recordio_index_get_count(index); i++)
            self->entries[at++] = (entry){lx_recordio_index_get_key(index, i),
                                          lx_recordio_index_get_offset(index, i), input};
    }
    return sort_entries(self, error);
}

/** Takes the entry of the record at @p offset of the current input; @p offset UINT64_MAX is its
 * end. Only damage may separate the entries from the records. */
static lx_status take_entry(merging *self, uint64_t offset, const entry **taken, lx_error *error)
{
    const entry *at = self->entries + self->next, *end = self->entries + self->count;
    while (self->merge->skip && at < end && at->input == self->input && at->offset < offset)
        at++;
    bool there = at < end && at->input == self->input;
    if (there ? at->offset != offset : offset != UINT64_MAX)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "%s does not describe the records of %s: 'loaderx recordio index --force' "
                       "makes it again, and --renumber needs none",
                       self->names[self->input], self->merge->inputs[self->input]);
    self->next = (size_t)(at - self->entries) + there;
    *taken = at;
    return LX_OK;
}

/* ---- the records */

static lx_status copy_record(void *user, const recordio_pass *pass,
                             const lx_recordio_record *record, lx_error *error)
{
    merging *self = user;
    const entry *taken = NULL;
    lx_status status = self->entries != NULL ? take_entry(self, record->offset, &taken, error)
                                             : LX_OK;
    return status == LX_OK ? lx_recordio_reader_copy(pass->reader, self->writer,
                                                     taken != NULL ? taken->key : NULL, error)
                           : status;
}

static lx_status copy_inputs(merging *self, lx_error *error)
{
    const recordio_merge *merge = self->merge;
    const entry *none;
    lx_status status = LX_OK;
    recordio_pass_begin(&self->pass, "merge", merge->skip, merge->quiet);
    for (size_t i = 0; i < merge->input_count; i++)
        recordio_pass_expect(&self->pass, merge->inputs[i]);
    for (size_t i = 0; status == LX_OK && i < merge->input_count; i++) {
        self->input = i;
        status = recordio_pass_read(&self->pass, merge->inputs[i], copy_record, self, error);
        if (status == LX_OK && self->entries != NULL)
            status = take_entry(self, UINT64_MAX, &none, error);
    }
    return status;
}

/* ---- the files */

static lx_status check_outputs(const recordio_merge *self, lx_error *error)
{
    if (strcmp(self->path, self->index) == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--index %s is the merged file itself", self->index);
    lx_status status = recordio_check_output(self->path, self->replace, error);
    return status == LX_OK ? recordio_check_output(self->index, self->replace, error) : status;
}

/** Renames the finished files. The index comes last, and an old one is removed first, so that no
 * index describes another file. */
static lx_status install(merging *self, lx_error *error)
{
    if (unlink(self->merge->index) == -1 && errno != ENOENT)
        return lx_fail_errno(error, errno, self->merge->index, "cannot remove the old index");
    lx_status status = atomic_write_finish(&self->records, error);
    return status == LX_OK ? atomic_write_finish(&self->index, error) : status;
}

/** Empties the file, before closing the writer makes it durable: that would take long, and the file
 * is removed then. */
static void discard(const merging *self)
{
    int ignored = ftruncate(self->records.file, 0);
    (void)ignored;
}

static lx_status write_files(merging *self, lx_error *error)
{
    lx_status status = atomic_write_begin(&self->records, self->merge->path, error);
    if (status == LX_OK)
        status = atomic_write_begin(&self->index, self->merge->index, error);
    if (status == LX_OK)
        status = lx_recordio_writer_create(self->records.name, self->index.name, true,
                                           &self->writer, error);
    if (status == LX_OK)
        status = copy_inputs(self, error);
    if (status != LX_OK)
        discard(self);
    lx_status closed = lx_recordio_writer_close(self->writer, error);
    if (status == LX_OK)
        status = closed;
    return status == LX_OK ? install(self, error) : status;
}

static void release(merging *self)
{
    atomic_write_end(&self->records);
    atomic_write_end(&self->index);
    for (size_t i = 0; self->names != NULL && i < self->merge->input_count; i++)
        free(self->names[i]);
    for (size_t i = 0; self->indexes != NULL && i < self->merge->input_count; i++)
        lx_recordio_index_free(self->indexes[i]);
    free(self->names);
    free(self->indexes);
    free(self->entries);
}

lx_status recordio_merge_run(const recordio_merge *self, lx_error *error)
{
    merging m = {.merge = self, .records = {.file = -1}, .index = {.file = -1}};
    lx_status status = check_outputs(self, error);
    if (status == LX_OK && !self->renumber)
        status = load_keys(&m, error);
    interrupt_catch();
    if (status == LX_OK)
        status = write_files(&m, error);
    if (status == LX_OK)
        recordio_pass_print(&m.pass, self->path, stdout);
    release(&m);
    return status;
}
