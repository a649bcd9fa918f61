/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

char (*table_add(table *self, lx_error *error))[TABLE_CELL]
{
    if (self->rows == self->capacity) {
        size_t capacity = self->capacity != 0 ? 2 * self->capacity : 16;
        void *larger = realloc(self->cells, capacity * self->columns * TABLE_CELL);
        if (larger == NULL) {
            fail_memory(error, "a table");
            return NULL;
        }
        self->cells = larger;
        self->capacity = capacity;
    }
    char(*row)[TABLE_CELL] = self->cells + self->rows++ * self->columns;
    for (size_t i = 0; i < self->columns; i++)
        row[i][0] = '\0';
    return row;
}

lx_status table_begin(table *self, const char *const *headings, size_t columns, size_t numbers_from,
                      lx_error *error)
{
    *self = (table){.columns = columns, .numbers_from = numbers_from};
    char(*row)[TABLE_CELL] = table_add(self, error);
    for (size_t i = 0; row != NULL && i < columns; i++)
        snprintf(row[i], TABLE_CELL, "%s", headings[i]);
    return row != NULL ? LX_OK : LX_ERR_NOMEM;
}

static int width_of(const table *self, size_t column)
{
    size_t width = 0;
    for (size_t row = 0; row < self->rows; row++) {
        size_t length = strlen(self->cells[row * self->columns + column]);
        width = length > width ? length : width;
    }
    return (int)width;
}

void table_print(const table *self)
{
    int *widths = calloc(self->columns, sizeof *widths); /* out of memory: columns are not aligned
                                                            */
    for (size_t i = 0; widths != NULL && i < self->columns; i++)
        widths[i] = width_of(self, i);
    for (size_t row = 0; row < self->rows; row++) {
        for (size_t i = 0; i < self->columns; i++) {
            int width = widths != NULL ? widths[i] : 0;
            const char *cell = self->cells[row * self->columns + i];
            printf(i < self->numbers_from ? "%s%-*s" : "%s%*s", i != 0 ? "  " : "", width, cell);
        }
        putchar('\n');
    }
    free(widths);
}

void table_free(table *self)
{
    free(self->cells);
    *self = (table){0};
}
