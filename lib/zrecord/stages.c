/* SPDX-License-Identifier: MIT */
/* The ring of stages of a writer: one is filled while others are placed. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/writer.h"

/* Rows that wait before the tables are appended to in the middle of a large append. */
#define BULK_ROWS ((size_t)1 << 16)

static lx__stage *stage_at(const lx_writer *writer, size_t position)
{
    return writer->stages[(writer->oldest + position) % LX__STAGES];
}

/** Waits for the oldest stage and takes its rows. */
static lx_status collect_oldest(lx_writer *writer, lx_error *error)
{
    lx__stage *stage = stage_at(writer, 0);
    lx_status status = lx__placer_wait(&writer->placer, stage, error);
    if (status == LX_OK)
        status = lx__rows_take(&writer->rows, stage, error);
    if (status == LX_OK && writer->rows.count >= BULK_ROWS &&
        writer->rows.first >= writer->state.rows)
        status = lx__rows_write(&writer->rows, error);
    if (status != LX_OK)
        return status;
    lx__stage_clear(stage);
    writer->oldest = (writer->oldest + 1) % LX__STAGES;
    writer->in_use--;
    return LX_OK;
}

lx_status lx__writer_begin_stage(lx_writer *writer, lx__stage **stage, lx_error *error)
{
    if (writer->filling) {
        *stage = stage_at(writer, writer->in_use - 1);
        return LX_OK;
    }
    if (writer->in_use == LX__STAGES) {
        lx_status status = collect_oldest(writer, error);
        if (status != LX_OK)
            return status;
    }
    lx__stage **slot = &writer->stages[(writer->oldest + writer->in_use) % LX__STAGES];
    if (*slot == NULL)
        *slot = lx__stage_new();
    if (*slot == NULL)
        return lx__fail_memory(error, "records to be written");
    lx__stage_clear(*slot);
    writer->in_use++;
    writer->filling = true;
    *stage = *slot;
    return LX_OK;
}

lx_status lx__writer_submit_stage(lx_writer *writer, lx_error *error)
{
    writer->filling = false;
    return lx__placer_submit(&writer->placer, stage_at(writer, writer->in_use - 1), error);
}

lx_status lx__writer_collect_all(lx_writer *writer, lx_error *error)
{
    lx_status status = LX_OK;
    if (writer->filling && writer->in_use == 1 && lx__placer_idle(&writer->placer)) {
        /* Nothing is under way: to wake a thread for it would only cost two switches. */
        writer->filling = false;
        status = lx__placer_place(&writer->placer, stage_at(writer, 0), error);
    } else if (writer->filling) {
        status = lx__writer_submit_stage(writer, error);
    }
    while (status == LX_OK && writer->in_use != 0)
        status = collect_oldest(writer, error);
    lx__placer_drain(&writer->placer);
    return status;
}

lx_status lx__writer_forget(lx_writer *writer, lx_error *error)
{
    lx__placer_drain(&writer->placer);
    if (writer->placer.failure.status == LX_ERR_POISONED)
        return lx__writer_note(writer, LX_ERR_POISONED, &writer->placer.failure, error);
    lx__placer_reset(&writer->placer);
    for (size_t i = 0; i < LX__STAGES; i++)
        if (writer->stages[i] != NULL)
            lx__stage_clear(writer->stages[i]);
    writer->in_use = 0;
    writer->filling = false;
    writer->length = writer->state.length;
    writer->pending_bytes = 0;
    lx__rows_cut(&writer->rows, writer->length);
    return lx__chunk_files_rollback(&writer->placer.chunks, error);
}
