/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/join-tables.h"

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/maintenance/renumber.h"
#include "zrecord/snapshot/sealed.h"

/* Rows that are read, renumbered and written at a time. */
#define ROWS ((size_t)1 << 16)
/* Bytes of a table to request before they are read: of a remote part, by several requests. */
#define AHEAD ((uint64_t)128 << 20)
/* Remote parts whose tables are requested before they are read, as each answer takes long. */
#define PARTS_AHEAD 16

/** One of the two tables of a field. */
typedef struct table {
    const char *kind;
    size_t row;           /**< Bytes of a row. */
    lx__file from, to;    /**< Of the part; of the joined dataset. */
    lx__table_seal *seal; /**< Of what was written so far. */
    uint8_t *rows;
} table;

/** A field under way. */
typedef struct field_pass {
    lx__join *join;
    size_t position;
    lx__entry_rules rules;
    table tables[2]; /**< Offsets, checks. */
} field_pass;

/* ---- a stripe of a part */

static lx_status read_rows(table *self, uint64_t at, size_t count, lx_error *error)
{
    return lx__file_read(&self->from, self->rows, count * self->row, at * self->row, error);
}

static lx_status write_rows(table *self, size_t count, lx_error *error)
{
    size_t bytes = count * self->row;
    lx_status status = lx__file_write(&self->to, self->rows, bytes, self->seal->bytes, error);
    self->seal->bytes += bytes;
    self->seal->crc = lx__crc32c(self->seal->crc, self->rows, bytes);
    return status;
}

/** Adds to the error which row of the part is damaged. */
static void locate_row(const field_pass *self, const lx__join_part *part, uint64_t index,
                       size_t row, lx_error *error)
{
    lx__entry entry = lx__entry_load(self->tables[0].rows + row * LX__OFFSET_ROW,
                                     self->tables[1].rows + row * LX__CHECK_ROW);
    lx__snapshot_add_context(part->snapshot, lx__join_find_field(self->join, part, self->position),
                             index + row, &entry, error);
    lx__error_append(error, "; repair the part, then join again");
}

static lx_status take_stripe(field_pass *self, const lx__join_part *part, lx__renumber *rows,
                             uint64_t at, size_t count, lx_error *error)
{
    lx__join *join = self->join;
    table *offsets = &self->tables[0], *checks = &self->tables[1];
    size_t done;
    lx_status status = read_rows(offsets, at, count, error);
    if (status == LX_OK)
        status = read_rows(checks, at, count, error);
    if (status != LX_OK)
        return status;
    status = lx__renumber_rows(rows, at, offsets->rows, checks->rows, count, &done, error);
    if (status != LX_OK) {
        locate_row(self, part, at, done, error);
        return status;
    }
    status = write_rows(offsets, count, error);
    if (status == LX_OK)
        status = write_rows(checks, count, error);
    join->done += count;
    if (status != LX_OK || join->progress == NULL)
        return status;
    return lx__error_return(error, join->progress(join->done, join->total, join->user, error),
                            "progress");
}

/* ---- a part */

static const lx__field *field_of(const field_pass *self, const lx__join_part *part)
{
    return lx__schema_field(part->snapshot->store->schema,
                            lx__join_find_field(self->join, part, self->position));
}

/** Opens a table of a part, and requests it. */
static lx_status request_table(table *self, const lx__join_part *part, const lx__field *field,
                               lx_error *error)
{
    const lx__state *state = &part->snapshot->state;
    char name[LX__NAME_SIZE];
    uint64_t bytes = state->rows * self->row;
    lx__table_name(field->stem, self->kind, state->table_generation, name);
    lx_status status = lx__committed_open(&self->from, &part->snapshot->store->directory, name,
                                          O_RDONLY, bytes, true, error);
    if (status == LX_OK)
        lx__file_will_need(&self->from, 0, bytes < AHEAD ? bytes : AHEAD);
    return status;
}

/** Requests the tables of a part if it is remote. If that fails, so will opening them. */
static void request_part(field_pass *self, const lx__join_part *part)
{
    if (!lx__store_is_elsewhere(part->snapshot->store))
        return;
    for (int k = 0; k < 2; k++) {
        (void)request_table(&self->tables[k], part, field_of(self, part), NULL);
        lx__file_close(&self->tables[k].from);
    }
}

/** Opens a table of a part, and verifies its checksum. */
static lx_status open_table(table *self, const lx__join_part *part, const lx__field *field,
                            lx_error *error)
{
    const lx__store *store = part->snapshot->store;
    uint32_t at;
    if (!lx__schema_find_id(store->meta.schema, field->shown.id, &at))
        return lx_fail(error, LX_ERR_STATE, "the part has changed: open it again");
    lx_status status = request_table(self, part, field, error);
    return status == LX_OK
               ? lx__sealed_check_table(store, &part->snapshot->state, at, self->kind, error)
               : status;
}

static lx_status take_rows(field_pass *self, const lx__join_part *part, lx_error *error)
{
    const lx__snapshot *snapshot = part->snapshot;
    size_t there = lx__join_find_field(self->join, part, self->position);
    lx__renumber rows = {.chunks = snapshot->state.chunks,
                         .chunk_count = snapshot->state.chunk_count,
                         .first_chunk = part->first_chunk,
                         .first_index = part->first_index,
                         .from = &snapshot->store->rules[there],
                         .to = &self->rules,
                         .complete = !lx__snapshot_may_be_missing(snapshot, there)};
    lx_status status = LX_OK;
    lx__renumber_begin(&rows);
    for (uint64_t at = 0; status == LX_OK && at < snapshot->length; at += ROWS) {
        uint64_t left = snapshot->length - at;
        status = take_stripe(self, part, &rows, at, left < ROWS ? (size_t)left : ROWS, error);
    }
    return status;
}

static lx_status take_part(field_pass *self, const lx__join_part *part, lx_error *error)
{
    const lx__field *field = field_of(self, part);
    lx_status status = open_table(&self->tables[0], part, field, error);
    if (status == LX_OK)
        status = open_table(&self->tables[1], part, field, error);
    if (status == LX_OK)
        status = take_rows(self, part, error);
    lx__file_close(&self->tables[0].from);
    lx__file_close(&self->tables[1].from);
    return status;
}

/* ---- a field */

static lx_status create_table(table *self, const lx__join *join, lx_error *error)
{
    self->seal->bytes = 0;
    self->seal->crc = 0;
    return lx__file_open(&self->to, &join->directory, self->seal->name,
                         O_WRONLY | O_CREAT | O_TRUNC, error);
}

static lx_status take_field(field_pass *self, lx_error *error)
{
    lx__join *join = self->join;
    lx_status status = create_table(&self->tables[0], join, error);
    if (status == LX_OK)
        status = create_table(&self->tables[1], join, error);
    for (size_t i = 0, asked = 0; status == LX_OK && i < join->count; i++) {
        for (; asked < join->count && asked < i + PARTS_AHEAD; asked++)
            request_part(self, &join->parts[asked]);
        status = take_part(self, &join->parts[i], error);
    }
    for (int k = 0; status == LX_OK && k < 2; k++)
        status = lx__file_sync(&self->tables[k].to, error);
    lx__file_close(&self->tables[0].to);
    lx__file_close(&self->tables[1].to);
    return status;
}

lx_status lx__join_name_tables(lx__join *self, lx_error *error)
{
    const lx_schema *schema = self->meta.schema;
    self->seals = lx__alloc_array(2 * schema->count, sizeof *self->seals);
    if (self->seals == NULL)
        return lx__fail_memory(error, "a join");
    for (size_t i = 0; i < schema->count; i++) {
        lx__table_seal *seals = &self->seals[2 * i];
        lx__table_name(lx__schema_field(schema, i)->stem, LX__OFFSET_KIND, 0, seals[0].name);
        lx__table_name(lx__schema_field(schema, i)->stem, LX__CHECK_KIND, 0, seals[1].name);
        seals[0].bytes = self->state.length * LX__OFFSET_ROW;
        seals[1].bytes = self->state.length * LX__CHECK_ROW;
        seals[0].crc = seals[1].crc = UINT32_MAX;
    }
    return LX_OK;
}

lx_status lx__join_write_tables(lx__join *self, lx_error *error)
{
    lx_status status = LX_OK;
    uint8_t *rows = lx__alloc(ROWS * LX__ENTRY_BYTES);
    if (rows == NULL)
        return lx__fail_memory(error, "a join");
    for (size_t i = 0; status == LX_OK && i < self->meta.schema->count; i++) {
        field_pass pass = {
            .join = self,
            .position = i,
            .rules = lx__field_rules(lx__schema_field(self->meta.schema, i), self->meta.uuid),
            .tables = {{LX__OFFSET_KIND, LX__OFFSET_ROW, LX__FILE_CLOSED, LX__FILE_CLOSED,
                        &self->seals[2 * i], rows},
                       {LX__CHECK_KIND, LX__CHECK_ROW, LX__FILE_CLOSED, LX__FILE_CLOSED,
                        &self->seals[2 * i + 1], rows + ROWS * LX__OFFSET_ROW}}};
        status = take_field(&pass, error);
    }
    lx__free(rows);
    return status;
}
