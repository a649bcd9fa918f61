/* SPDX-License-Identifier: MIT */
/* Deletes one or several records. */
#include "indices.h"
#include "target.h"
#include "writer.h"

#include <stdlib.h>

/* The number of records to delete between two checks for signals. */
#define PIECE 4096

/** The move of a record to the index of a deleted record. */
typedef struct move {
    int64_t from, to;
} move;

/* ------------------------------------------------------------------- one record */

static PyObject *delete_one(lxpy_writer *self, PyObject *key, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t index, moved;
    if (lxpy_index_take(key, length, &index) < 0 || lxpy_writer_enter(self) < 0)
        return NULL;
    LXPY_WITHOUT_GIL(lx_writer_delete(self->handle, index, &moved, &error));
    lxpy_writer_leave(self);
    if (error.status != LX_OK)
        return lxpy_raise(self->state, &error);
    if (moved == LX_NONE)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(moved);
}

/* ---------------------------------------------------------------- several records */

static int compare_descending(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left < right) - (left > right);
}

/** Sorts the indices in descending order and removes duplicates. */
static void sort(lxpy_indices *indices)
{
    uint64_t *numbers = indices->numbers;
    size_t kept = 0;
    qsort(numbers, indices->count, sizeof *numbers, compare_descending);
    for (size_t i = 0; i < indices->count; i++)
        if (kept == 0 || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    indices->count = kept;
}

/** Counts the leading indices that refer to the last records. Deleting these moves no record. */
static size_t count_last(const lxpy_indices *indices, uint64_t length)
{
    size_t count = 0;
    while (count < indices->count && indices->numbers[count] == length - 1 - count)
        count++;
    return count;
}

/** Deletes records from the highest index to the lowest, so that the last record, which moves to
 * the free index, is never one of the records to delete. Called without the GIL. */
static void delete_piece(lx_writer *writer, const uint64_t *numbers, size_t count, move *moves,
                         lx_error *error)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t from;
        if (lx_writer_delete(writer, numbers[i], &from, error) != LX_OK)
            return;
        moves[i] = (move){from != LX_NONE ? (int64_t)from : (int64_t)numbers[i],
                          (int64_t)numbers[i]};
    }
}

/** Truncates the dataset to remove those of the selected records that are at its end, and returns
 * their number. Called without the GIL. */
static size_t truncate_last(lx_writer *writer, const lxpy_indices *indices, lx_error *error)
{
    uint64_t length = lx_writer_get_length(writer);
    size_t last = count_last(indices, length);
    if (last != 0)
        lx_writer_truncate(writer, length - last, error);
    return last;
}

/** Like truncate_last(), but excludes other threads, because records that they have appended since
 * the indices were read must remain. */
static int truncate_last_exclusive(lxpy_writer *self, const lxpy_indices *indices, size_t *last)
{
    lx_error error = LX_ERROR_INIT;
    if (lxpy_writer_enter_exclusive(self) < 0)
        return -1;
    int result = lxpy_writer_check_open(self);
    if (result == 0)
        LXPY_WITHOUT_GIL(*last = truncate_last(self->handle, indices, &error));
    lxpy_writer_leave_exclusive(self);
    if (error.status == LX_OK)
        return result;
    lxpy_raise(self->state, &error);
    return -1;
}

/** Deletes all records in the list except the first @p last records. */
static int delete_rest(lxpy_writer *self, const lxpy_indices *indices, size_t last, move *moves)
{
    lx_error error = LX_ERROR_INIT;
    for (size_t done = last; error.status == LX_OK && done < indices->count; done += PIECE) {
        size_t left = indices->count - done, rows = left < PIECE ? left : PIECE;
        LXPY_WITHOUT_GIL(delete_piece(self->handle, indices->numbers + done, rows,
                                      moves + (done - last), &error));
        if (error.status == LX_OK && PyErr_CheckSignals() < 0)
            return -1;
    }
    if (error.status == LX_OK)
        return 0;
    lxpy_raise(self->state, &error);
    return -1;
}

/** Merges two moves of one record into one move, and drops moves of a record to its own index.
 * Returns the number of remaining moves. Both the old and the new indices decrease from one move to
 * the next. */
static size_t merge_moves(move *moves, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0, earlier = 0; i < count; i++) {
        while (earlier < i && moves[earlier].to > moves[i].from)
            earlier++;
        if (earlier < i && moves[earlier].to == moves[i].from) {
            moves[i].from = moves[earlier].from;
            moves[earlier].from = moves[earlier].to;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (moves[i].from != moves[i].to)
            moves[kept++] = moves[i];
    return kept;
}

/** Returns an array with a row for each move. */
static PyObject *moves_array(lxpy_state *state, const move *moves, size_t count)
{
    lxpy_target t = {NULL, {0}};
    PyObject *shape = Py_BuildValue("(nn)", (Py_ssize_t)count, (Py_ssize_t)2), *array = NULL;
    if (lxpy_target_make(&t, state, shape, LX_INT64) == 0) {
        memcpy(t.view.buf, moves, count * sizeof *moves);
        array = Py_NewRef(t.object);
        lxpy_target_drop(&t);
    }
    Py_XDECREF(shape);
    return array;
}

static PyObject *delete_indices(lxpy_writer *self, lxpy_indices *indices, uint64_t length)
{
    size_t last = 0;
    LXPY_WITHOUT_GIL(sort(indices));
    if (count_last(indices, length) != 0 && truncate_last_exclusive(self, indices, &last) < 0)
        return NULL;
    size_t count = indices->count - last;
    move *moves = PyMem_Calloc(count + 1, sizeof *moves);
    if (moves == NULL)
        return PyErr_NoMemory();
    PyObject *array = NULL;
    if (lxpy_writer_enter(self) == 0) {
        int result = delete_rest(self, indices, last, moves);
        lxpy_writer_leave(self);
        if (result == 0)
            array = moves_array(self->state, moves, merge_moves(moves, count));
    }
    PyMem_Free(moves);
    return array;
}

PyObject *lxpy_writer_delete(PyObject *object, PyObject *key)
{
    lxpy_writer *self = (lxpy_writer *)object;
    lxpy_indices indices;
    uint64_t length;
    if (lxpy_writer_check_change(self) < 0 || lxpy_writer_length(self, &length) < 0)
        return NULL;
    if (lxpy_is_index(self->state, key))
        return delete_one(self, key, length);
    if (lxpy_indices_take(&indices, self->state, key, length, "the records to delete") < 0)
        return NULL;
    PyObject *array = delete_indices(self, &indices, length);
    lxpy_indices_clear(&indices);
    return array;
}
