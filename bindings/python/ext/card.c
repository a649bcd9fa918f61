/* SPDX-License-Identifier: MIT */
/* The card of a dataset, as a dict. */
#include "dataset.h"
#include "writer.h"

int lxpy_card_take(lxpy_card *card, PyObject *dict)
{
    PyObject *key, *text;
    Py_ssize_t position = 0;
    card->count = 0;
    card->entries = PyMem_Calloc((size_t)PyDict_GET_SIZE(dict) + 1, sizeof *card->entries);
    if (card->entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    while (PyDict_Next(dict, &position, &key, &text)) {
        lx_card_entry *entry = &card->entries[card->count++];
        if ((entry->key = lxpy_text(key, "a key of the card")) == NULL ||
            (text != Py_None && (entry->text = lxpy_text(text, entry->key)) == NULL)) {
            PyMem_Free(card->entries);
            return -1;
        }
    }
    return 0;
}

static PyObject *make_dict(const lx_card *card)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < lx_card_get_count(card); i++) {
        const lx_card_entry *entry = lx_card_get_entry(card, i);
        PyObject *text = PyUnicode_FromString(entry->text);
        if (text == NULL || PyDict_SetItemString(dict, entry->key, text) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(text);
    }
    return dict;
}

PyObject *lxpy_card_read(lxpy_reading *reading)
{
    lx_card *card = NULL;
    lx_error error = LX_ERROR_INIT;
    LXPY_WITHOUT_GIL(lx_dataset_read_card(reading->handle, &card, &error));
    if (error.status != LX_OK)
        return lxpy_raise(reading->state, &error);
    PyObject *dict = make_dict(card);
    lx_card_free(card);
    return dict;
}

PyObject *lxpy_dataset_card(PyObject *object, PyObject *ignored)
{
    lxpy_reading reading;
    (void)ignored;
    if (lxpy_reading_begin(&reading, object) < 0)
        return NULL;
    PyObject *dict = lxpy_card_read(&reading);
    lxpy_reading_end(&reading);
    return dict;
}
