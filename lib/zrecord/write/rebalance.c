/* SPDX-License-Identifier: MIT */
/* Rebalance, which is compaction: copies the payloads of all records to new chunks, in record
 * order. See doc/zrecord-format.md, 11.4. */
#include "base/alloc.h"
#include "base/error.h"
#include "executor/executor.h"
#include "zrecord/write/relocate.h"
#include "zrecord/write/row-block.h"

/* Number of payload bytes between two progress reports. */
#define REPORT_BYTES ((uint64_t)32 << 20)

typedef struct rebalance {
    lx__install next;
    lx__row_block block;
    lx__relocation relocation;
    uint64_t reported; /**< Number of bytes moved at the time of the last report. */
    lx_progress_function progress;
    void *user;
    lx_status progress_status; /**< What the progress function last returned. */
    lx_rebalance_result *result;
} rebalance;

/** Returns value @p at of the row block, counting record by record, and field by field within each
 * record. */
static lx__move value_at(const lx__row_block *block, size_t at)
{
    size_t fields = block->writer->meta.schema->count, record = at / fields, field = at % fields;
    return (lx__move){.offset_row = lx__row_block_offset_row(block, field, record),
                      .check_row = lx__row_block_check_row(block, field, record),
                      .index = block->first + record,
                      .field = (uint32_t)field};
}

static size_t value_count(const lx__row_block *block)
{
    return block->count * block->writer->meta.schema->count;
}

/** Returns the number of stored bytes of a value. Those of a shared payload count only once; @p
 * seen has a mark for each field. */
static uint64_t stored_bytes(const rebalance *self, const lx__move *value, bool *seen)
{
    lx__entry entry = lx__entry_load(value->offset_row, value->check_row);
    const lx__field *field = lx__schema_field(self->next.writer->meta.schema, value->field);
    bool shared = lx__entry_is_shared(&entry, &field->shared), again = shared && seen[value->field];
    seen[value->field] |= shared;
    return lx__entry_is_inline(&entry) || again ? 0 : entry.physical;
}

/* ---- figures */

static uint64_t chunk_bytes(const lx__state *state)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < state->chunk_count; i++)
        bytes += state->chunks[i].bytes;
    return bytes;
}

/** Computes the figures that section 7.4 of the format defines. */
static void measure(const lx_writer *writer, const lx__state *state, lx_rebalance_result *result,
                    double *utilisation, double *live_ratio)
{
    uint64_t bytes = chunk_bytes(state);
    double room = (double)state->chunk_count * (double)writer->meta.chunk_records;
    *utilisation = room != 0 ? (double)result->payloads / room : 0;
    *live_ratio = bytes != 0 ? (double)result->bytes / (double)bytes : 1;
}

/** Checks all entries and adds up what is stored. */
static lx_status add_up(rebalance *self, bool *seen, lx_error *error)
{
    lx_rebalance_result *result = self->result;
    lx_status status;
    while ((status = lx__row_block_next(&self->block, error)) == LX_OK) {
        for (size_t i = 0; i < value_count(&self->block); i++) {
            lx__move value = value_at(&self->block, i);
            status = lx__relocation_check(&self->relocation, &value, error);
            if (status != LX_OK)
                return status;
            uint64_t bytes = stored_bytes(self, &value, seen);
            result->payloads += bytes != 0;
            result->bytes += bytes;
        }
    }
    lx__row_block_rewind(&self->block);
    return status == LX_END ? LX_OK : status;
}

/** Computes the figures before the rebalance. If the payloads add up to more than the chunks, some
 * of them overlap, and copying them could take an unbounded amount of space. */
static lx_status count(rebalance *self, lx_error *error)
{
    lx_rebalance_result *result = self->result;
    const lx__state *state = &self->next.writer->committed.state;
    bool *seen = lx__alloc_array(self->next.writer->meta.schema->count, sizeof *seen);
    lx_status status = seen != NULL ? add_up(self, seen, error)
                                    : lx__fail_memory(error, "a rebalance");
    lx__free(seen);
    if (status != LX_OK)
        return status;
    result->records = state->length;
    result->chunks_before = state->chunk_count;
    result->bytes_before = chunk_bytes(state);
    measure(self->next.writer, state, result, &result->utilisation_before,
            &result->live_ratio_before);
    if (result->bytes <= result->bytes_before)
        return LX_OK;
    return lx_fail(
        error, LX_ERR_CORRUPT,
        "the records have %llu stored bytes, but the chunks have only %llu: some values overlap",
        (unsigned long long)result->bytes, (unsigned long long)result->bytes_before);
}

/* ---- moving */

static lx_status report(rebalance *self, uint64_t done, lx_error *error)
{
    self->reported = self->relocation.output.bytes;
    if (self->progress == NULL)
        return LX_OK;
    lx_status progress_status = self->progress(done, self->next.writer->committed.state.length,
                                               self->user, error);
    lx_status forked = lx__executor_check(self->next.writer->executor, error);
    if (forked != LX_OK)
        return forked;
    self->progress_status = lx__error_return(error, progress_status, "progress");
    /* A failure of the callback does not poison the writer. */
    return self->progress_status == LX_OK ? LX_OK : LX_ERR_CALLBACK;
}

static lx_status move_block(rebalance *self, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < value_count(&self->block); i++) {
        lx__move value = value_at(&self->block, i);
        status = lx__relocation_add(&self->relocation, &value, error);
        if (status == LX_OK && self->relocation.output.bytes - self->reported >= REPORT_BYTES)
            status = report(self, value.index, error);
    }
    if (status == LX_OK)
        status = lx__relocation_flush(&self->relocation, error);
    if (status == LX_OK)
        status = lx__row_block_write(&self->block, &self->next.tables, error);
    return status == LX_OK ? report(self, self->block.first + self->block.count, error) : status;
}

static lx_status move_all(rebalance *self, lx_error *error)
{
    lx_status status = LX_OK;
    bool more = true;
    while (more) {
        status = lx__row_block_next(&self->block, error);
        more = status == LX_OK;
        if (status == LX_END)
            status = lx__chunk_output_finish(&self->relocation.output, error);
        else if (more)
            status = move_block(self, error);
        more = more && status == LX_OK;
    }
    for (size_t i = 0; status == LX_OK && i < self->relocation.schema->count; i++)
        status = lx__meta_set_shared(&self->next.meta, i, &self->relocation.shared[i].to, error);
    return status;
}

/** Notes in the schema where the shared payloads are now. */
static void adopt_shared(rebalance *self)
{
    lx_schema *schema = self->next.writer->meta.schema;
    for (size_t i = 0; i < schema->count; i++)
        schema->fields[i]->shared = self->relocation.shared[i].to;
}

static lx_status make_all(rebalance *self, lx_error *error)
{
    lx_status status = lx__relocation_open(&self->relocation, error);
    if (status == LX_OK)
        status = lx__install_make_tables(&self->next, error);
    self->next.new_chunks = true;
    self->next.state.chunk_count = 0;
    if (status == LX_OK)
        status = move_all(self, error);
    if (status == LX_OK)
        status = lx__install_sync_tables(&self->next, error);
    if (status == LX_OK)
        status = lx__install_make_log(&self->next, NULL, error);
    if (status == LX_OK)
        status = lx__install_finish(&self->next, error);
    if (status == LX_OK)
        adopt_shared(self);
    lx__relocation_close(&self->relocation);
    return status;
}

static lx_status run(lx_writer *writer, void *user, lx_error *error)
{
    rebalance *self = user;
    lx_rebalance_result *result = self->result;
    lx_status status = lx__install_begin(&self->next, writer, error);
    self->relocation = (lx__relocation){.directory = &writer->chunk_directory,
                                        .tables = &writer->directory,
                                        .meta = &writer->meta,
                                        .schema = writer->meta.schema,
                                        .rules = writer->rules,
                                        .from = &writer->committed.state,
                                        .output = lx__install_output(&self->next)};
    if (status == LX_OK)
        status = lx__row_block_open(&self->block, writer, error);
    if (status == LX_OK)
        status = count(self, error);
    if (status == LX_OK)
        status = make_all(self, error);
    if (status == LX_OK) {
        result->chunks_after = writer->committed.state.chunk_count;
        result->bytes_after = chunk_bytes(&writer->committed.state);
        measure(writer, &writer->committed.state, result, &result->utilisation_after,
                &result->live_ratio_after);
    }
    lx__row_block_close(&self->block);
    lx__install_end(&self->next);
    result->kept_files = writer->obsolete.count;
    return status;
}

lx_status lx_writer_rebalance(lx_writer *writer, lx_progress_function progress, void *user,
                              lx_rebalance_result *result, lx_error *error)
{
    lx_rebalance_result figures = {0};
    rebalance self = {.progress = progress, .user = user, .result = &figures};
    lx_status status = lx__install_call(writer, run, &self, error);
    if (self.progress_status != LX_OK)
        status = self.progress_status;
    if (status == LX_OK && result != NULL)
        *result = figures;
    return status;
}
