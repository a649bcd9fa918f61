/* SPDX-License-Identifier: MIT */
/* See doc/zrecord-format.md, 11.3. */
#include "zrecord/write/checkpoint.h"

#include "zrecord/write/row-block.h"

lx_status lx__install_checkpoint(lx__install *self, lx_error *error)
{
    lx__row_block block;
    lx_status status = lx__install_make_tables(self, error);
    if (status != LX_OK)
        return status;
    status = lx__row_block_open(&block, self->writer, error);
    while (status == LX_OK && (status = lx__row_block_next(&block, error)) == LX_OK)
        status = lx__row_block_write(&block, &self->tables, error);
    lx__row_block_close(&block);
    return status == LX_END ? lx__install_sync_tables(self, error) : status;
}

lx_status lx__writer_checkpoint(lx_writer *writer, lx_error *error)
{
    lx__install next;
    lx_status status = lx__install_begin(&next, writer, error);
    if (status == LX_OK)
        status = lx__install_checkpoint(&next, error);
    if (status == LX_OK)
        status = lx__install_make_log(&next, NULL, error);
    if (status == LX_OK)
        status = lx__install_finish(&next, error);
    lx__install_end(&next);
    return status;
}

static lx_status checkpoint(lx_writer *writer, void *user, lx_error *error)
{
    (void)user;
    return lx__committed_has_changes(&writer->committed) ? lx__writer_checkpoint(writer, error)
                                                         : LX_OK;
}

lx_status lx_writer_checkpoint(lx_writer *writer, lx_error *error)
{
    return lx__install_call(writer, checkpoint, NULL, error);
}
