/* SPDX-License-Identifier: MIT */
#include "importer/varying.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

lx_status lx__varying_open(lx__varying *self, const char *name, lx_error *error)
{
    size_t size = strlen(name) + sizeof LX__VARYING_SUFFIX;
    self->name = name;
    self->shape_name = lx__alloc(size);
    if (self->shape_name == NULL)
        return lx__fail_memory(error, "the name of a field");
    snprintf(self->shape_name, size, "%s" LX__VARYING_SUFFIX, name);
    return LX_OK;
}

void lx__varying_close(lx__varying *self)
{
    lx__free(self->shape_name);
    self->shape_name = NULL;
}

bool lx__varying_fits(const lx__varying *self, lx_dtype dtype, uint64_t size)
{
    uint64_t product = lx_dtype_get_size(dtype);
    for (size_t i = 0; i < self->ndim; i++)
        if (!lx__multiply_fits(product, self->shape[i], &product))
            return false;
    return product == size;
}

size_t lx__varying_put(lx__varying *self, lx_dtype dtype, const void *data, size_t size,
                       lx__import_value *values)
{
    values[0] = (lx__import_value){.name = self->name,
                                   .name_size = strlen(self->name),
                                   .kind = LX__IMPORT_ARRAY,
                                   .data = size != 0 ? data : NULL,
                                   .size = size,
                                   .dtype = dtype,
                                   .ndim = self->ndim,
                                   .shape = self->shape,
                                   .varies = true};
    if (self->ndim == 1)
        return 1;
    for (size_t i = 0; i < self->ndim; i++)
        self->elements[i] = LX__LE64(self->shape[i]);
    self->extent = self->ndim;
    values[1] = (lx__import_value){.name = self->shape_name,
                                   .name_size = strlen(self->shape_name),
                                   .kind = LX__IMPORT_ARRAY,
                                   .data = self->elements,
                                   .size = self->ndim * sizeof *self->elements,
                                   .dtype = LX_INT64,
                                   .ndim = 1,
                                   .shape = &self->extent,
                                   .is_shape = true};
    return 2;
}
