/* SPDX-License-Identifier: MIT */
#include "column.h"

#include <inttypes.h>
#include <stdlib.h>

#include "failure.h"
#include "idx.h"
#include "npy.h"

/** Checks the declared size against the length of the file, before anything is written. */
static lx_status check_bound(const column *self, lx_error *error)
{
    const array_header *header = &self->header;
    uint64_t begin = input_tell(self->in), bytes = header->length * header->size;
    int exact;
    uint64_t bound = input_bound(self->in, &exact);
    if (bound == LX_NONE)
        return LX_OK;
    uint64_t room = bound > begin ? bound - begin : 0;
    if (bytes > room)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the header declares %" PRIu64 " records of %" PRIu64
                       " bytes, more than the file can hold: the file is truncated or damaged",
                       header->length, header->size);
    if (exact && bytes < room)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "%" PRIu64 " bytes follow the %" PRIu64 " records that the header declares",
                       room - bytes, header->length);
    return LX_OK;
}

lx_status column_open(column *self, lx_error *error)
{
    lx_status status = input_open(self->path, &self->in, error);
    if (status == LX_OK)
        status = self->kind == COLUMN_IDX ? idx_read_header(self->in, &self->header, error)
                                          : npy_read_header(self->in, &self->header, error);
    if (status == LX_OK)
        status = check_bound(self, error);
    lx_error_locate(error, self->path, self->field, LX_NONE, LX_NONE);
    return status;
}

lx_status column_reserve(column *self, uint64_t records, lx_error *error)
{
    uint64_t bytes = records * self->header.size; /* at most the size of the whole file */
    for (size_t i = 0; i < COLUMN_BLOCKS; i++) {
        self->blocks[i] = bytes < SIZE_MAX ? malloc(bytes != 0 ? (size_t)bytes : 1) : NULL;
        if (self->blocks[i] == NULL) {
            lx_status status = lx_fail(error, LX_ERR_NOMEM,
                                       "not enough memory for records of %" PRIu64 " bytes",
                                       self->header.size);
            lx_error_locate(error, self->path, self->field, LX_NONE, LX_NONE);
            return status;
        }
    }
    return LX_OK;
}

lx_status column_read(column *self, size_t block, uint64_t records, lx_error *error)
{
    const array_header *header = &self->header;
    uint64_t before = input_tell(self->in);
    lx_status status = input_read(self->in, self->blocks[block], (size_t)(records * header->size),
                                  error);
    if (status == LX_ERR_CORRUPT)
        lx_error_locate(error, self->path, self->field,
                        self->read + (input_tell(self->in) - before) / header->size, LX_NONE);
    if (status == LX_OK) {
        array_swap(header, self->blocks[block], records);
        self->read += records;
        if (self->read == header->length)
            status = input_finish(self->in, error);
    }
    lx_error_locate(error, self->path, self->field, LX_NONE, LX_NONE);
    return status;
}

void column_close(column *self)
{
    input_close(self->in);
    self->in = NULL;
    for (size_t i = 0; i < COLUMN_BLOCKS; i++) {
        free(self->blocks[i]);
        self->blocks[i] = NULL;
    }
}
