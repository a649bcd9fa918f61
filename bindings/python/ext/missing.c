/* SPDX-License-Identifier: MIT */
#include "missing.h"
#include "target.h"

#include <string.h>

static void raise_missing(lxpy_state *state, PyObject *lacking, const char *field, size_t first,
                          const uint8_t *present, const lxpy_indices *indices)
{
    size_t count = 0;
    char choices[256] = "";
    for (size_t i = first; i < indices->count; i++)
        count += present[i] == 0;
    if (lacking != Py_True)
        PyOS_snprintf(choices, sizeof choices,
                      "%zu of the %zu records read have no value; set missing= of gather() to "
                      "'mask', 'zeros' or a value, read ds['%s'].filled(value)[...], or ",
                      count, indices->count, field);
    lxpy_raise_missing(state, field, indices->numbers[first], choices);
}

int lxpy_lacking_add(lxpy_state *state, PyObject *lacking, const char *field,
                     const uint8_t *present, const lxpy_indices *indices)
{
    lxpy_target made;
    const uint8_t *none = memchr(present, 0, indices->count);
    if (none == NULL)
        return 0;
    if (lacking == Py_True || PyDict_GetItemString(lacking, field) == NULL) {
        raise_missing(state, lacking, field, (size_t)(none - present), present, indices);
        return -1;
    }
    PyObject *shape = Py_BuildValue("(n)", (Py_ssize_t)indices->count);
    int result = lxpy_target_make(&made, state, shape, LX_BOOL);
    Py_XDECREF(shape);
    if (result < 0)
        return -1;
    memcpy(made.view.buf, present, indices->count);
    result = PyDict_SetItemString(lacking, field, made.object);
    lxpy_target_drop(&made);
    return result;
}
