/* SPDX-License-Identifier: MIT */
/* Opens a writer: parses the options, and the fields of a new dataset. */
#include "writer.h"

static const char *const durability_names[] = {"full", "periodic", "none", NULL};

/* -------------------------------------------------------------------- options */

static int set_durability(lx_writer_options *options, PyObject *object, lx_error *error)
{
    int durability;
    if (object == NULL || object == Py_None)
        return 0;
    if (lxpy_choice(object, "durability", durability_names, &durability) < 0)
        return -1;
    lx_writer_options_set_durability(options, (lx_durability)durability, error);
    return 0;
}

static int set_level(lx_writer_options *options, PyObject *object, lx_error *error)
{
    uint64_t level;
    if (object == NULL || object == Py_None)
        return 0;
    if (lxpy_uint64(object, "level", 1, 9, &level) < 0)
        return -1;
    lx_writer_options_set_compression_level(options, (int)level, error);
    return 0;
}

/* The library's defaults and limits. */
#define CHUNK_RECORDS ((uint64_t)1 << 20)
#define CHUNK_RECORDS_MAX UINT32_MAX
#define CHUNK_BYTES ((uint64_t)1 << 30)
#define CHUNK_BYTES_MIN 4096
#define CHUNK_BYTES_MAX ((uint64_t)1 << 40)

static int set_chunk(lx_writer_options *options, PyObject *records, PyObject *bytes,
                     lx_error *error)
{
    uint64_t count = CHUNK_RECORDS, size = CHUNK_BYTES;
    if ((records != NULL && records != Py_None &&
         lxpy_uint64(records, "chunk_records", 1, CHUNK_RECORDS_MAX, &count) < 0) ||
        (bytes != NULL && bytes != Py_None &&
         lxpy_uint64(bytes, "chunk_bytes", CHUNK_BYTES_MIN, CHUNK_BYTES_MAX, &size) < 0))
        return -1;
    lx_writer_options_set_chunk_limits(options, count, size, error);
    return 0;
}

static int set_executor(lx_writer_options *options, lxpy_state *state, PyObject *object,
                        lx_error *error)
{
    lx_executor *executor;
    if (lxpy_executor_get(state, object, "executor", &executor) < 0)
        return -1;
    lx_writer_options_set_executor(options, executor, error);
    lx_executor_unref(executor);
    return 0;
}

static int set_card(lx_writer_options *options, lxpy_state *state, PyObject *dict)
{
    lxpy_card card;
    lx_error error = LX_ERROR_INIT;
    if (dict == NULL)
        return 0;
    if (lxpy_card_take(&card, dict) < 0)
        return -1;
    lx_writer_options_set_card(options, card.entries, card.count, &error);
    PyMem_Free(card.entries);
    if (error.status == LX_OK)
        return 0;
    lxpy_raise(state, &error);
    return -1;
}

lx_writer_options *lxpy_writer_options(lxpy_state *state, const lxpy_writer_arguments *params,
                                       lx_error *error)
{
    lx_writer_options *options = lx_writer_options_new();
    if (options == NULL)
        return (lx_writer_options *)PyErr_NoMemory();
    if (set_durability(options, params->durability, error) == 0 &&
        set_level(options, params->level, error) == 0 &&
        set_chunk(options, params->chunk_records, params->chunk_bytes, error) == 0 &&
        set_executor(options, state, params->executor, error) == 0 &&
        set_card(options, state, params->card) == 0)
        return options;
    lx_writer_options_free(options);
    return NULL;
}

/* --------------------------------------------------------------------- schema */

static int add_field(lx_schema *schema, lxpy_state *state, PyObject *tuple)
{
    lxpy_description d;
    lx_error error = LX_ERROR_INIT;
    if (lxpy_description_take(&d, state, tuple) < 0)
        return -1;
    if (lx_schema_add_field(schema, d.name, d.type, d.shape, d.ndim, d.compression, &error) ==
            LX_OK &&
        lx_schema_set_compression(schema, d.name, d.level, d.dictionary, &error) == LX_OK)
        return 0;
    lxpy_raise(state, &error);
    return -1;
}

static lx_schema *make_schema(lxpy_state *state, PyObject *fields)
{
    PyObject *list = PySequence_Fast(fields, "fields must be a sequence of tuples");
    lx_schema *schema = list != NULL ? lx_schema_new() : NULL;
    if (schema == NULL && list != NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; schema != NULL && i < PySequence_Fast_GET_SIZE(list); i++)
        if (add_field(schema, state, PySequence_Fast_GET_ITEM(list, i)) < 0) {
            lx_schema_free(schema);
            schema = NULL;
        }
    Py_XDECREF(list);
    return schema;
}

/* ----------------------------------------------------------------------- open */

lx_writer *lxpy_writer_open(lxpy_state *state, const lxpy_writer_arguments *params, PyObject *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *handle = NULL;
    lx_schema *schema = NULL;
    bool create = params->fields != NULL && params->fields != Py_None;
    lx_writer_options *options = lxpy_writer_options(state, params, &error);
    if (options == NULL)
        return NULL;
    if (create && (schema = make_schema(state, params->fields)) == NULL) {
        lx_writer_options_free(options);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    if (create)
        lx_writer_create(PyBytes_AS_STRING(path), schema, options, &handle, &error);
    else
        lx_writer_open(PyBytes_AS_STRING(path), options, &handle, &error);
    Py_END_ALLOW_THREADS lx_schema_free(schema);
    lx_writer_options_free(options);
    if (error.status == LX_OK)
        return handle;
    lx_writer_close(handle, NULL);
    return (lx_writer *)lxpy_raise(state, &error);
}
