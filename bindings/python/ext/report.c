/* SPDX-License-Identifier: MIT */
/* Dataset statistics and verification. */
#include "dataset.h"
#include "progress.h"
#include "target.h"

#define NUMBER(value) ((unsigned long long)(value))

/* The number of records to probe between two checks for signals. */
#define PROBE_PIECE 4096

/* --------------------------------------------------------------------- stat */

/** Adds @p value, and takes the reference to it. Fails if @p value is NULL. */
static int put(PyObject *dict, const char *key, PyObject *value)
{
    int result = value != NULL ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return result;
}

/** Returns the number of value bytes per byte in chunks, or None if no value is in a chunk. */
static PyObject *ratio(uint64_t bytes, uint64_t stored)
{
    return stored != 0 ? PyFloat_FromDouble((double)bytes / (double)stored) : Py_NewRef(Py_None);
}

static PyObject *number_or_none(uint64_t number)
{
    return number != 0 ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

static PyObject *field_stat(const lxpy_field *field, const lx_field *more,
                            const lx_field_stats *sums)
{
    return Py_BuildValue(
        "{s:O, s:s, s:O, s:s, s:N, s:N, s:k, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:N}", "name",
        field->name, "dtype", lx_dtype_get_name(field->type), "shape", field->shape, "compress",
        lxpy_compression_name(field->compression), "level", number_or_none((uint64_t)field->level),
        "dictionary_bytes", number_or_none(sums->dictionary_bytes), "align",
        (unsigned long)more->align, "present", NUMBER(sums->present), "missing",
        NUMBER(sums->missing), "inline", NUMBER(sums->inlined), "inline_bytes",
        NUMBER(sums->inline_bytes), "compressed", NUMBER(sums->compressed), "bytes",
        NUMBER(sums->logical_bytes), "stored_bytes", NUMBER(sums->stored_bytes), "ratio",
        ratio(sums->logical_bytes, sums->stored_bytes));
}

static PyObject *fields_stat(lxpy_reading *self, const lx_field_stats *sums)
{
    const lx_schema *schema = lx_dataset_get_schema(self->handle);
    PyObject *list = PyList_New((Py_ssize_t)self->schema->count);
    for (size_t i = 0; list != NULL && i < self->schema->count; i++) {
        PyObject *one = field_stat(&self->schema->fields[i], lx_schema_get_field(schema, i),
                                   &sums[i]);
        if (one == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, one);
    }
    return list;
}

static PyObject *chunk_stat(const lx_chunk_stats *chunk)
{
    return Py_BuildValue("{s:k, s:K, s:K, s:K, s:K, s:K}", "id", (unsigned long)chunk->id,
                         "payloads", NUMBER(chunk->payloads), "bytes", NUMBER(chunk->bytes),
                         "live_payloads", NUMBER(chunk->live_payloads), "live_bytes",
                         NUMBER(chunk->live_bytes), "dead_bytes", NUMBER(chunk->dead_bytes));
}

/** Returns all chunks of the snapshot, which the caller frees, or NULL with an exception. */
static lx_chunk_stats *find_chunks(lxpy_reading *self, size_t *count)
{
    lx_chunk_stats *chunks = NULL;
    lx_error error = {.status = LX_ERR_LIMIT};
    for (*count = 1; error.status == LX_ERR_LIMIT;) { /* a refresh may add chunks */
        size_t capacity = *count;
        lx_error_clear(&error);
        PyMem_Free(chunks);
        chunks = PyMem_Calloc(capacity, sizeof *chunks);
        if (chunks == NULL)
            return (lx_chunk_stats *)PyErr_NoMemory();
        LXPY_WITHOUT_GIL(lx_dataset_stat_chunks(self->handle, chunks, capacity, count, &error));
    }
    if (error.status == LX_OK)
        return chunks;
    PyMem_Free(chunks);
    return (lx_chunk_stats *)lxpy_raise(self->state, &error);
}

static PyObject *chunks_stat(lxpy_reading *self)
{
    size_t count;
    lx_chunk_stats *chunks = find_chunks(self, &count);
    PyObject *list = chunks != NULL ? PyList_New((Py_ssize_t)count) : NULL;
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *one = chunk_stat(&chunks[i]);
        if (one == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, one);
    }
    PyMem_Free(chunks);
    return list;
}

/** Returns the sizes of the dataset. @p sum contains the sums of the fields. */
static PyObject *totals_stat(const lx_storage_stats *t, const lx_field_stats *sum)
{
    return Py_BuildValue(
        "{s:K, s:K, s:N, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:d, s:d, s:K, s:K, s:K, "
        "s:K, s:K}",
        "length", NUMBER(t->length), "bytes", NUMBER(sum->logical_bytes), "ratio",
        ratio(sum->logical_bytes, t->live_bytes), "inline", NUMBER(sum->inlined), "inline_bytes",
        NUMBER(sum->inline_bytes), "chunk_records", NUMBER(t->chunk_records), "chunk_limit",
        NUMBER(t->chunk_limit), "payloads", NUMBER(t->payloads), "live_payloads",
        NUMBER(t->live_payloads), "chunk_bytes", NUMBER(t->chunk_bytes), "live_bytes",
        NUMBER(t->live_bytes), "dead_bytes", NUMBER(t->dead_bytes), "live_ratio", t->live_ratio,
        "utilisation", t->utilisation, "table_bytes", NUMBER(t->table_bytes), "log_bytes",
        NUMBER(t->log_bytes), "log_entries", NUMBER(t->log_entries), "leftover_bytes",
        NUMBER(t->leftover_bytes), "parts", NUMBER(t->parts));
}

/** Adds the access mode and, if there is one, the name of the network file system. Returns -1 with
 * an exception on failure. */
static int put_access(PyObject *all, lx_dataset *handle)
{
    const char *network = lx_dataset_get_network(handle);
    lx_access access = lx_dataset_get_access(handle);
    if (put(all, "access", PyUnicode_FromString(lxpy_access_name(access))) < 0)
        return -1;
    return put(all, "network",
               network != NULL ? PyUnicode_FromString(network) : Py_NewRef(Py_None));
}

static PyObject *stat_entered(lxpy_reading *self, lx_field_stats *sums)
{
    lx_storage_stats totals;
    lx_dataset_identity identity;
    lx_error error = LX_ERROR_INIT;
    lx_field_stats sum = {0};
    LXPY_WITHOUT_GIL(lx_dataset_stat(self->handle, &totals, sums, &error));
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    for (size_t i = 0; i < self->schema->count; i++) {
        sum.logical_bytes += sums[i].logical_bytes;
        sum.inlined += sums[i].inlined;
        sum.inline_bytes += sums[i].inline_bytes;
    }
    lx_dataset_get_identity(self->handle, &identity);
    PyObject *all = totals_stat(&totals, &sum);
    if (all != NULL &&
        (put(all, "path", Py_NewRef(self->dataset->path)) < 0 ||
         put(all, "uuid", PyUnicode_FromString(identity.uuid)) < 0 ||
         put(all, "generation", PyLong_FromUnsignedLongLong(identity.generation)) < 0 ||
         put(all, "sequence", PyLong_FromUnsignedLongLong(identity.sequence)) < 0 ||
         put(all, "sealed", PyBool_FromLong(identity.sealed)) < 0 ||
         put_access(all, self->handle) < 0 || put(all, "card", lxpy_card_read(self)) < 0 ||
         put(all, "fields", fields_stat(self, sums)) < 0 ||
         put(all, "chunks", chunks_stat(self)) < 0))
        Py_CLEAR(all);
    return all;
}

PyObject *lxpy_dataset_stat(PyObject *object, PyObject *ignored)
{
    lxpy_reading reading;
    (void)ignored;
    if (lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    lx_field_stats *sums = PyMem_Calloc(reading.schema->count + 1, sizeof *sums);
    PyObject *all = sums != NULL ? stat_entered(&reading, sums) : PyErr_NoMemory();
    PyMem_Free(sums);
    lxpy_reading_end(&reading);
    return all;
}

/* ------------------------------------------------------------------- verify */

static PyObject *make_exception(lxpy_callbacks *callbacks, const void *what)
{
    return lxpy_exception_new(callbacks->state, what);
}

static lx_status take_damage(const lx_error *damage, void *user, lx_error *error)
{
    (void)error;
    if (damage->status != LX_ERR_CORRUPT)
        return LX_OK; /* a value that is no image: only counted */
    return lxpy_report_finding(user, make_exception, damage);
}

/** Returns the counts, and an exception for the first damaged value or file, or None. */
static PyObject *verify_entered(lxpy_reading *self, lxpy_callbacks *callbacks)
{
    lx_verify_result v = {0};
    lx_error error = LX_ERROR_INIT;
    lxpy_callbacks_begin(callbacks);
    lx_dataset_verify(self->handle, take_damage, lxpy_report_progress, callbacks, &v, &error);
    lxpy_callbacks_end(callbacks);
    if (callbacks->raised)
        return NULL;
    if (error.status != LX_OK && (error.status != LX_ERR_CORRUPT || v.damages == 0))
        return lxpy_raise(self->state, &error);
    PyObject *first = error.status != LX_OK ? lxpy_exception_new(self->state, &error)
                                            : Py_NewRef(Py_None);
    if (first == NULL)
        return NULL;
    return Py_BuildValue("({s:K, s:K, s:K, s:K, s:K, s:K}N)", "records", NUMBER(v.records),
                         "values", NUMBER(v.values), "bytes", NUMBER(v.bytes), "not_images",
                         NUMBER(v.not_images), "leftover_bytes", NUMBER(v.leftover_bytes),
                         "damage_count", NUMBER(v.damages), first);
}

PyObject *lxpy_dataset_verify(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"damaged", "progress", NULL};
    lxpy_reading reading;
    PyObject *values[2];
    lxpy_callbacks callbacks;
    if (lxpy_arguments("_verify", names, 2, 2, args, count, NULL, values) < 0 ||
        lxpy_callbacks_init(&callbacks, ((lxpy_dataset *)object)->state, values[1], values[0]) <
            0 ||
        lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    PyObject *result = verify_entered(&reading, &callbacks);
    lxpy_reading_end(&reading);
    return result;
}

/* -------------------------------------------------------------------- probe */

static int probe(lxpy_reading *self, const lxpy_indices *indices, const size_t *positions,
                 size_t count, uint8_t *damaged)
{
    for (size_t done = 0; done < indices->count; done += PROBE_PIECE) {
        lx_error error = LX_ERROR_INIT;
        size_t left = indices->count - done, rows = left < PROBE_PIECE ? left : PROBE_PIECE;
        LXPY_WITHOUT_GIL(lx_dataset_probe(self->handle, positions, count, indices->numbers + done,
                                          rows, damaged + done, &error));
        if (error.status != LX_OK) {
            lxpy_raise(self->state, &error);
            return -1;
        }
        if (PyErr_CheckSignals() < 0)
            return -1;
    }
    return 0;
}

static PyObject *probe_indices(lxpy_reading *self, const lxpy_indices *indices,
                               const size_t *positions, size_t count, void *user)
{
    (void)user;
    lxpy_target t = {NULL, {0}};
    PyObject *shape = Py_BuildValue("(n)", (Py_ssize_t)indices->count), *result = NULL;
    if (lxpy_target_make(&t, self->state, shape, LX_BOOL) == 0) {
        if (probe(self, indices, positions, count, t.view.buf) == 0)
            result = Py_NewRef(t.object);
        lxpy_target_drop(&t);
    }
    Py_XDECREF(shape);
    return result;
}

PyObject *lxpy_dataset_probe(PyObject *object, PyObject *const *args, Py_ssize_t count,
                             PyObject *kwnames)
{
    static const char *const names[] = {"indices", "fields", NULL};
    PyObject *values[2];
    if (lxpy_arguments("probe", names, 2, 1, args, count, kwnames, values) < 0)
        return NULL;
    return lxpy_reading_call(object, values[0], values[1], probe_indices, NULL);
}

/* ------------------------------------------------------------------ indices */

PyObject *lxpy_dataset_resolve(PyObject *object, PyObject *which)
{
    lxpy_state *state = ((lxpy_dataset *)object)->state;
    lxpy_indices indices;
    lxpy_target t = {NULL, {0}};
    PyObject *result = NULL;
    Py_ssize_t length = PyObject_Length(object);
    if (length < 0 || lxpy_indices_take(&indices, state, which, (uint64_t)length, "indices") < 0)
        return NULL;
    PyObject *shape = Py_BuildValue("(n)", (Py_ssize_t)indices.count);
    if (lxpy_target_make(&t, state, shape, LX_UINT64) == 0) {
        memcpy(t.view.buf, indices.numbers, indices.count * sizeof *indices.numbers);
        result = Py_NewRef(t.object);
        lxpy_target_drop(&t);
    }
    Py_XDECREF(shape);
    lxpy_indices_clear(&indices);
    return result;
}
