/* SPDX-License-Identifier: MIT */
/* Changes to a whole dataset: its fields, its log, its chunks. No transaction can undo these
 * changes, so within a with-block, each change commits and begins a new transaction. */
#include "dataset.h"
#include "progress.h"
#include "writer.h"

static void run(lx_writer *writer, bool inside, lxpy_job *job, void *what, lx_error *error)
{
    if (inside && lx_writer_end_transaction(writer, error) != LX_OK)
        return;
    (void)job(writer, what, error);
    if (inside) /* even after a failure: the with-block continues */
        lx_writer_begin_transaction(writer, error);
}

/* --------------------------------------------------------------------- fields */

/** Reloads the schema. If memory runs out, the writer becomes unusable. */
static int renew_schema(lxpy_writer *self)
{
    lxpy_schema *schema = lxpy_schema_new(lx_writer_get_schema(self->handle));
    if (schema == NULL) {
        lx_writer *handle = self->handle;
        self->handle = NULL;
        LXPY_WITHOUT_GIL(lx_writer_close(handle, NULL));
        return -1;
    }
    lxpy_schema_unref(self->schema);
    self->schema = schema;
    return 0;
}

/** Changes fields and reloads the schema. */
static int run_change(lxpy_writer *self, lxpy_job *job, void *what, lxpy_callbacks *callbacks,
                      lx_error *error)
{
    if (lxpy_writer_check_open(self) < 0)
        return -1;
    callbacks->callback_thread = &self->callback_thread;
    lxpy_callbacks_begin(callbacks);
    run(self->handle, self->inside, job, what, error);
    lxpy_callbacks_end(callbacks);
    return callbacks->raised ? -1 : renew_schema(self); /* after an exception, it is the same */
}

PyObject *lxpy_writer_change_fields(lxpy_writer *self, lxpy_job *job, void *what,
                                    lxpy_callbacks *callbacks)
{
    lx_error error = LX_ERROR_INIT;
    lxpy_callbacks none = {.state = self->state};
    if (lxpy_writer_check_change(self) < 0 || lxpy_writer_enter_exclusive(self) < 0)
        return NULL;
    int result = run_change(self, job, what, callbacks != NULL ? callbacks : &none, &error);
    lxpy_writer_leave_exclusive(self);
    if (result < 0)
        return NULL;
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

/** A new field, and the default that existing records get. */
typedef struct addition {
    lxpy_description description;
    lx_value value;
} addition;

static lx_status add_field(lx_writer *writer, void *what, lx_error *error)
{
    const addition *added = what;
    const lxpy_description *d = &added->description;
    lx_status status = lx_writer_add_field_default(writer, d->name, d->type, d->shape, d->ndim,
                                                   d->compression, &added->value, error);
    if (status == LX_OK && (d->level != 0 || d->dictionary != 0))
        status = lx_writer_set_compression(writer, d->name, d->level, d->dictionary, error);
    return status;
}

PyObject *lxpy_writer_add_field(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    static const char *const names[] = {"description", "default", NULL};
    lxpy_writer *self = (lxpy_writer *)object;
    PyObject *values[2], *result = NULL;
    addition added;
    lxpy_value_owner owner = {0};
    if (lxpy_arguments("_add_field", names, 2, 2, args, count, NULL, values) < 0 ||
        lxpy_description_take(&added.description, self->state, values[0]) < 0)
        return NULL;
    lxpy_schema *schema = lxpy_schema_describing(&added.description, self->state);
    if (schema != NULL && lxpy_value_take(&added.value, &owner, self->state, &schema->fields[0],
                                          values[1], Py_None) == 0)
        result = lxpy_writer_change_fields(self, add_field, &added, NULL);
    lxpy_value_owner_clear(&owner);
    lxpy_schema_unref(schema);
    return result;
}

static lx_status drop_field(lx_writer *writer, void *what, lx_error *error)
{
    return lx_writer_drop_field(writer, what, error);
}

PyObject *lxpy_writer_drop_field(PyObject *object, PyObject *name)
{
    const char *text = lxpy_text(name, "name");
    return text != NULL
               ? lxpy_writer_change_fields((lxpy_writer *)object, drop_field, (void *)text, NULL)
               : NULL;
}

static lx_status rename_field(lx_writer *writer, void *what, lx_error *error)
{
    const char **names = what;
    return lx_writer_rename_field(writer, names[0], names[1], error);
}

PyObject *lxpy_writer_rename_field(PyObject *object, PyObject *const *args, Py_ssize_t count,
                                   PyObject *kwnames)
{
    static const char *const names[] = {"name", "to", NULL};
    PyObject *values[2];
    const char *texts[2];
    if (lxpy_arguments("rename_field", names, 2, 2, args, count, kwnames, values) < 0)
        return NULL;
    for (int i = 0; i < 2; i++)
        if ((texts[i] = lxpy_text(values[i], names[i])) == NULL)
            return NULL;
    return lxpy_writer_change_fields((lxpy_writer *)object, rename_field, texts, NULL);
}

/* ---------------------------------------------------------------- compression */

typedef struct settings {
    const char *name;
    uint64_t level, dictionary;
} settings;

static lx_status set_compression(lx_writer *writer, void *what, lx_error *error)
{
    const settings *chosen = what;
    return lx_writer_set_compression(writer, chosen->name, (int)chosen->level,
                                     (uint32_t)chosen->dictionary, error);
}

PyObject *lxpy_writer_set_compression(PyObject *object, PyObject *const *args, Py_ssize_t count,
                                      PyObject *kwnames)
{
    static const char *const names[] = {"name", "level", "dictionary", NULL};
    PyObject *values[3];
    settings chosen;
    if (lxpy_arguments("_set_compression", names, 3, 3, args, count, kwnames, values) < 0 ||
        (chosen.name = lxpy_text(values[0], names[0])) == NULL ||
        lxpy_uint64(values[1], names[1], 0, INT16_MAX, &chosen.level) < 0 ||
        lxpy_uint64(values[2], names[2], 0, UINT32_MAX, &chosen.dictionary) < 0)
        return NULL;
    return lxpy_writer_change_fields((lxpy_writer *)object, set_compression, &chosen, NULL);
}

/* ----------------------------------------------------------------------- card */

static lx_status set_card(lx_writer *writer, void *what, lx_error *error)
{
    const lxpy_card *card = what;
    return lx_writer_set_card(writer, card->entries, card->count, error);
}

PyObject *lxpy_writer_commit_card(PyObject *object, PyObject *dict)
{
    lxpy_writer *self = (lxpy_writer *)object;
    lxpy_card card;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_card_take(&card, dict) < 0)
        return NULL;
    if (lxpy_writer_enter(self) < 0) {
        PyMem_Free(card.entries);
        return NULL;
    }
    LXPY_WITHOUT_GIL(
        (void)(lx_writer_set_card(self->handle, card.entries, card.count, &error) == LX_OK &&
               lx_writer_end_transaction(self->handle, &error) == LX_OK &&
               lx_writer_begin_transaction(self->handle, &error) == LX_OK));
    lxpy_writer_leave(self);
    PyMem_Free(card.entries);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

PyObject *lxpy_writer_set_card(PyObject *object, PyObject *dict)
{
    lxpy_card card;
    if (lxpy_card_take(&card, dict) < 0)
        return NULL;
    PyObject *result = lxpy_writer_change_fields((lxpy_writer *)object, set_card, &card, NULL);
    PyMem_Free(card.entries);
    return result;
}

/* ------------------------------------------------------------------- training */

typedef struct training {
    const char *name;
    lx_dataset *from;
} training;

static lx_status train_dictionary(lx_writer *writer, void *what, lx_error *error)
{
    const training *with = what;
    return lx_writer_train_dictionary(writer, with->name, with->from, error);
}

PyObject *lxpy_writer_train_dictionary(PyObject *object, PyObject *const *args, Py_ssize_t count,
                                       PyObject *kwnames)
{
    static const char *const names[] = {"name", "dataset", NULL};
    lxpy_writer *self = (lxpy_writer *)object;
    PyObject *values[2];
    lxpy_reading from;
    training with;
    if (lxpy_arguments("_train_dictionary", names, 2, 2, args, count, kwnames, values) < 0 ||
        (with.name = lxpy_text(values[0], names[0])) == NULL)
        return NULL;
    with.from = NULL;
    if (values[1] == Py_None)
        return lxpy_writer_change_fields(self, train_dictionary, &with, NULL);
    if (lxpy_dataset_check(self->state, values[1], names[1]) < 0 ||
        lxpy_reading_begin(&from, values[1]) < 0)
        return NULL;
    with.from = from.handle;
    PyObject *result = lxpy_writer_change_fields(self, train_dictionary, &with, NULL);
    lxpy_reading_end(&from);
    return result;
}

/* -------------------------------------------------------------- log and chunks */

static lx_status checkpoint(lx_writer *writer, void *what, lx_error *error)
{
    (void)what;
    return lx_writer_checkpoint(writer, error);
}

PyObject *lxpy_writer_checkpoint(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    lx_error error = LX_ERROR_INIT;
    (void)ignored;
    if (lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(run(self->handle, self->inside, checkpoint, NULL, &error));
    lxpy_writer_leave(self);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    Py_RETURN_NONE;
}

typedef struct rebalancing {
    lxpy_callbacks callbacks;
    lx_rebalance_result result;
} rebalancing;

static lx_status rebalance(lx_writer *writer, void *what, lx_error *error)
{
    rebalancing *r = what;
    return lx_writer_rebalance(writer, lxpy_report_progress, &r->callbacks, &r->result, error);
}

static PyObject *rebalance_result(const lx_rebalance_result *r)
{
    return Py_BuildValue(
        "{s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:d, s:d, s:d, s:d}", "records",
        (unsigned long long)r->records, "payloads", (unsigned long long)r->payloads, "bytes",
        (unsigned long long)r->bytes, "chunks_before", (unsigned long long)r->chunks_before,
        "chunks_after", (unsigned long long)r->chunks_after, "bytes_before",
        (unsigned long long)r->bytes_before, "bytes_after", (unsigned long long)r->bytes_after,
        "kept_files", (unsigned long long)r->kept_files, "utilisation_before",
        r->utilisation_before, "utilisation_after", r->utilisation_after, "live_ratio_before",
        r->live_ratio_before, "live_ratio_after", r->live_ratio_after);
}

PyObject *lxpy_writer_rebalance(PyObject *object, PyObject *progress)
{
    lxpy_writer *self = (lxpy_writer *)object;
    lx_error error = LX_ERROR_INIT;
    rebalancing r = {.result = {0}};
    if (lxpy_callbacks_init(&r.callbacks, self->state, progress, Py_None) < 0 ||
        lxpy_writer_enter_exclusive(self) < 0)
        return NULL;
    int result = lxpy_writer_check_open(self);
    if (result == 0) {
        r.callbacks.callback_thread = &self->callback_thread;
        lxpy_callbacks_begin(&r.callbacks);
        run(self->handle, self->inside, rebalance, &r, &error);
        lxpy_callbacks_end(&r.callbacks);
    }
    lxpy_writer_leave_exclusive(self);
    if (result < 0 || r.callbacks.raised)
        return NULL;
    return error.status == LX_OK ? rebalance_result(&r.result) : lxpy_raise(self->state, &error);
}

PyObject *lxpy_writer_remove_old_files(PyObject *object, PyObject *ignored)
{
    lxpy_writer *self = (lxpy_writer *)object;
    lx_error error = LX_ERROR_INIT;
    uint64_t kept;
    (void)ignored;
    if (lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_remove_old_files(self->handle, &kept, &error));
    lxpy_writer_leave(self);
    return error.status == LX_OK ? PyLong_FromUnsignedLongLong(kept)
                                 : lxpy_raise(self->state, &error);
}
