/* SPDX-License-Identifier: MIT */
/* See doc/zrecord-format.md, 11.3. */
#include "zrecord/write/checkpoint.h"

#include "zrecord/write/row-block.h"

lx_status lx__switch_fold(lx__switch *self, lx_error *error)
{
    lx__stripe stripe;
    lx_status status = lx__switch_make_tables(self, error);
    if (status != LX_OK)
        return status;
    status = lx__stripe_open(&stripe, self->writer, error);
    while (status == LX_OK && (status = lx__stripe_next(&stripe, error)) == LX_OK)
        status = lx__stripe_write(&stripe, &self->rows, error);
    lx__stripe_close(&stripe);
    return status == LX_END ? lx__switch_sync_tables(self, error) : status;
}

lx_status lx__writer_fold(lx_writer *writer, lx_error *error)
{
    lx__switch next;
    lx_status status = lx__switch_begin(&next, writer, error);
    if (status == LX_OK)
        status = lx__switch_fold(&next, error);
    if (status == LX_OK)
        status = lx__switch_make_log(&next, NULL, error);
    if (status == LX_OK)
        status = lx__switch_finish(&next, error);
    lx__switch_end(&next);
    return status;
}

static lx_status fold(lx_writer *writer, void *user, lx_error *error)
{
    (void)user;
    return lx__committed_has_changes(&writer->committed) ? lx__writer_fold(writer, error) : LX_OK;
}

lx_status lx_writer_checkpoint(lx_writer *writer, lx_error *error)
{
    return lx__switch_call(writer, fold, NULL, error);
}
