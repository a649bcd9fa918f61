/* SPDX-License-Identifier: MIT */
/* Adds, drops, replaces and renames fields, and changes how they are compressed. See
 * doc/zrecord-format.md, 11.5 and 4.8. */
#include "zrecord/write/alter.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/write/value.h"

/** Everything that a new schema needs. All of it is prepared before meta.json names the schema, so
 * that nothing can fail afterwards. */
typedef struct change {
    lx__install next;
    lx_schema *schema;
    lx__entry_rules *rules;
    lx__codec_settings *settings;
    lx__update_map live;
    /** Positions of the field that is dropped, and of the one whose place a new field takes;
     * SIZE_MAX if there is none. */
    size_t dropped, replaced;
} change;

/** Copies the updates of the remaining fields, giving them their new field positions. */
static lx_status copy_updates(change *self, const lx_writer *writer, lx_error *error)
{
    const lx__update_map *live = &writer->committed.updates;
    lx_status status = lx__update_map_reserve(&self->live, live->count, error);
    for (size_t i = 0; status == LX_OK && i < live->count; i++) {
        const lx__update *update = &live->list[i];
        lx__update moved = *update;
        moved.field -= update->field > self->dropped;
        if (update->field != self->dropped && update->field != self->replaced)
            lx__update_map_put(&self->live, &moved);
    }
    return status;
}

/** Opens the tables of the new schema, and prepares everything else it needs. */
static lx_status prepare(change *self, lx_error *error)
{
    lx_writer *writer = self->next.writer;
    const lx__state *state = &writer->committed.state;
    size_t count = self->schema->count;
    lx_schema **schemas = lx__grow_array(writer->former.list, writer->former.count,
                                         &writer->former.capacity, sizeof *schemas);
    if (schemas != NULL)
        writer->former.list = schemas;
    self->rules = lx__alloc_array(count, sizeof *self->rules);
    if (schemas == NULL || self->rules == NULL)
        return lx__fail_memory(error, "fields");
    for (size_t i = 0; i < count; i++)
        self->rules[i] = lx__field_rules(lx__schema_field(self->schema, i), writer->meta.uuid);
    lx_status status = lx__codec_settings_make(writer, &self->next.meta, self->schema,
                                               &self->settings, error);
    if (status == LX_OK)
        status = lx__table_writer_open(&self->next.tables, &writer->directory, self->schema,
                                       state->table_generation, state->rows, state->rows, error);
    return status;
}

/** Adopts the new schema, which meta.json now names. */
static void adopt(change *self)
{
    lx_writer *writer = self->next.writer;
    writer->former.list[writer->former.count++] = writer->meta.schema;
    writer->meta.schema = self->schema;
    lx__free(writer->rules);
    writer->rules = self->rules;
    lx__free(writer->codec_settings);
    writer->codec_settings = self->settings;
    lx__update_map_free(&writer->committed.updates);
    writer->committed.updates = self->live;
    lx__flush_start(&writer->flush, writer->executor, writer->rules, writer->codec_settings,
                    self->schema->count);
    lx__training_end(&writer->training);
    lx__training_begin(&writer->training, &writer->meta);
    self->schema = NULL;
    self->rules = NULL;
    self->settings = NULL;
    self->live = (lx__update_map){0};
}

static lx_status finish(change *self, lx_error *error)
{
    lx_status status = prepare(self, error);
    if (status == LX_OK)
        status = lx__install_finish(&self->next, error);
    if (status == LX_OK)
        adopt(self);
    return status;
}

static void end(change *self)
{
    lx_schema_free(self->schema);
    lx__free(self->rules);
    lx__free(self->settings);
    lx__update_map_free(&self->live);
    lx__install_end(&self->next);
}

/** A new field. */
typedef struct new_field {
    lx_field field;
    char stem[LX__NAME_SIZE];
    lx__fill_function *fill; /**< NULL: the existing records have no value. */
    void *user;
} new_field;

/** Makes a schema of the writer's fields: leaves out the field at @p dropped, puts @p added in the
 * place of the field at @p replaced, and gives the name @p name to the field at @p renamed. */
static lx_status copy_schema(change *self, const new_field *added, size_t renamed, const char *name,
                             lx_error *error)
{
    const lx_schema *from = self->next.writer->meta.schema;
    lx_status status = LX_OK;
    self->schema = lx_schema_new();
    if (self->schema == NULL)
        return lx__fail_memory(error, "fields");
    for (size_t i = 0; status == LX_OK && i < from->count; i++) {
        const lx__field *field = lx__schema_field(from, i);
        if (i == self->replaced)
            status = lx__schema_add(self->schema, &added->field, added->stem, false, error);
        else if (i != self->dropped)
            status = lx__schema_add_copy(self->schema, field, i == renamed ? name : field->name,
                                         error);
    }
    return status;
}

/** Begins a change of the schema. The caller must then call end(), even on failure. */
static lx_status begin(change *self, lx_writer *writer, const new_field *added, size_t renamed,
                       const char *name, lx_error *error)
{
    lx_status status = lx__install_begin(&self->next, writer, error);
    if (status == LX_OK)
        status = copy_schema(self, added, renamed, name, error);
    return status == LX_OK ? copy_updates(self, writer, error) : status;
}

/* ---- adding */

/** The tables and the dictionary of one stem. */
typedef struct stem_files {
    const lx_writer *writer;
    const char *stem;
} stem_files;

static lx_status clear_name(void *user, const char *name, lx_error *error)
{
    const stem_files *self = user;
    const lx__file *directory = &self->writer->directory;
    uint64_t number;
    char stem[LX__NAME_SIZE];
    bool ours;
    if ((!lx__name_split_table(name, stem, &number) && !lx__name_split_dict(name, stem)) ||
        strcmp(stem, self->stem) != 0)
        return LX_OK;
    lx_status status = lx__file_is_ours(directory, &self->writer->meta, name, &ours, error);
    if (status != LX_OK)
        return status;
    if (ours)
        return lx__file_remove(directory, name, error);
    status = lx_fail(error, LX_ERR_EXISTS,
                     "'%.100s' does not belong to the dataset, but has the same name as a file of "
                     "the new field: move it, or choose a different field name",
                     name);
    lx_error_locate(error, directory->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Removes all generations of the files of a field that is about to be added or could not be added.
 * Once the field exists, they would count as obsolete. */
static lx_status clear_stem(const lx_writer *writer, const char *stem, lx_error *error)
{
    stem_files self = {writer, stem};
    return lx__directory_each(&writer->directory, clear_name, &self, error);
}

/** Chooses the stem of a new field: its name, unless another field may have had that stem. The
 * stems of dropped fields are not recorded, but the new field's id was never used for another
 * field. */
static void choose_stem(const lx_writer *writer, const char *name, uint64_t id, char *stem)
{
    const lx_schema *schema = writer->meta.schema;
    size_t position;
    if (schema->count == id && !lx__schema_find_stem(schema, name, &position))
        snprintf(stem, LX__NAME_SIZE, "%s", name);
    else
        snprintf(stem, LX__NAME_SIZE, "%s~%llu", name, (unsigned long long)id);
}

/** Makes the tables of a field of the new schema, and stores its values. */
static lx_status make_tables(change *self, lx__field *field, const new_field *added,
                             lx_error *error)
{
    lx__field_filler filler;
    lx_status status = lx__field_filler_open(&filler, &self->next, field, error);
    if (status == LX_OK && added->fill != NULL)
        status = added->fill(&filler, added->user, error);
    if (status == LX_OK)
        status = lx__field_filler_finish(&filler, error);
    field->complete = !filler.missing;
    field->shared = filler.shared;
    lx__field_filler_close(&filler);
    return status;
}

/** Makes the new field at @p position of the new schema. If its values are in new chunks, there is
 * a new log, too, because only a log can say that chunks exist. */
static lx_status make_field(change *self, size_t position, const new_field *added, lx_error *error)
{
    const lx_writer *writer = self->next.writer;
    lx__field *field = self->schema->fields[position];
    lx_status status = make_tables(self, field, added, error);
    if (status == LX_OK && self->next.state.next_chunk != self->next.first_chunk)
        status = lx__install_make_log(&self->next, &self->live, error);
    if (status == LX_OK)
        status = self->replaced == SIZE_MAX
                     ? lx__meta_add_field(&self->next.meta, field, error)
                     : lx__meta_replace_field(&self->next.meta, position, field, error);
    if (status == LX_OK)
        status = finish(self, error);
    if (!self->next.named)
        (void)clear_stem(writer, added->stem, NULL);
    return status;
}

/** Marks an id as used before there is a field with this id. Otherwise, if the change is
 * interrupted, the next writer would not recognize tables that contain values (see
 * lx__file_is_ours()). */
static lx_status reserve_id(lx_writer *writer, uint64_t id, lx_error *error)
{
    lx__install next;
    lx_status status = lx__install_begin(&next, writer, error);
    if (status == LX_OK)
        status = lx__meta_set_next_field(&next.meta, id + 1, error);
    if (status == LX_OK)
        status = lx__install_finish(&next, error);
    lx__install_end(&next);
    return status;
}

/** Chooses the id and the stem of a new field, and removes files that have its stem. */
static lx_status identify(lx_writer *writer, new_field *added, lx_error *error)
{
    uint64_t id = lx__meta_get_next_field(&writer->meta);
    if (id >= UINT32_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "all %u field ids have been used: copy the dataset to continue", UINT32_MAX);
    added->field.id = (uint32_t)id;
    choose_stem(writer, added->field.name, id, added->stem);
    lx_status status = clear_stem(writer, added->stem, error); /* left by an interrupted attempt */
    return status == LX_OK && added->fill != NULL && id == writer->meta.schema->count
               ? reserve_id(writer, id, error)
               : status;
}

static lx_status add(lx_writer *writer, void *user, lx_error *error)
{
    new_field *added = user;
    change self = {.dropped = SIZE_MAX, .replaced = SIZE_MAX};
    lx_status status = identify(writer, added, error);
    if (status != LX_OK)
        return status;
    status = begin(&self, writer, NULL, SIZE_MAX, NULL, error);
    if (status == LX_OK)
        status = lx__schema_add(self.schema, &added->field, added->stem, false, error);
    if (status == LX_OK)
        status = make_field(&self, self.schema->count - 1, added, error);
    end(&self);
    return status;
}

/** The default of a new field, and the field. */
typedef struct with_default {
    new_field added;
    const lx_value *value;
} with_default;

static lx_status fill_with_default(lx__field_filler *filler, void *user, lx_error *error)
{
    const lx_value *value = ((const with_default *)user)->value;
    lx_status status = lx__value_check_field(&filler->field->shown, value, error);
    lx_error_locate(error, NULL, filler->field->name, LX_NONE, LX_NONE);
    return status == LX_OK ? lx__field_filler_repeat(filler, value, error) : status;
}

lx_status lx_writer_add_field_default(lx_writer *writer, const char *name, lx_dtype dtype,
                                      const uint64_t *shape, size_t ndim,
                                      lx_compression compression, const lx_value *value,
                                      lx_error *error)
{
    if (name == NULL)
        return lx__fail_null(error, "name");
    if (ndim != 0 && shape == NULL)
        return lx__fail_null(error, "shape");
    lx_status status = lx__compression_check(name, compression, error);
    if (status != LX_OK)
        return status;
    with_default self = {
        .added = {.field = {.name = name,
                            .dtype = dtype,
                            .ndim = ndim,
                            .shape = shape,
                            .compression = compression},
                  .fill = value != NULL && value->size != LX_NONE ? fill_with_default : NULL},
        .value = value};
    self.added.user = &self;
    return lx__install_call(writer, add, &self.added, error);
}

lx_status lx_writer_add_field(lx_writer *writer, const char *name, lx_dtype dtype,
                              const uint64_t *shape, size_t ndim, lx_compression compression,
                              lx_error *error)
{
    return lx_writer_add_field_default(writer, name, dtype, shape, ndim, compression, NULL, error);
}

/* ---- dropping */

/** Marks the files of the field that was at @p position as obsolete; readers of generations before
 * @p end may have them open. */
static void add_obsolete_files(lx_writer *writer, size_t position, uint64_t end)
{
    char name[LX__NAME_SIZE];
    const lx_schema *former = writer->former.list[writer->former.count - 1];
    const char *stem = lx__schema_field(former, position)->stem;
    lx__table_name(stem, LX__OFFSET_KIND, writer->committed.state.table_generation, name);
    lx__obsolete_files_add(&writer->obsolete, false, name, writer->obsolete.tables_since, end);
    lx__table_name(stem, LX__CHECK_KIND, writer->committed.state.table_generation, name);
    lx__obsolete_files_add(&writer->obsolete, false, name, writer->obsolete.tables_since, end);
    lx__dict_name(stem, name);
    lx__obsolete_files_add(&writer->obsolete, false, name, 0, end);
}

static lx_status drop(lx_writer *writer, void *user, lx_error *error)
{
    const char *name = user;
    size_t position;
    lx_status status = lx_schema_find_field(writer->meta.schema, name, &position, error);
    if (status != LX_OK)
        return status;
    if (writer->meta.schema->count == 1)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "cannot drop '%s': it is the only field, and a dataset needs at least one",
                       name);
    change self = {.dropped = position, .replaced = SIZE_MAX};
    status = begin(&self, writer, NULL, SIZE_MAX, NULL, error);
    if (status == LX_OK)
        status = lx__meta_drop_field(&self.next.meta, position, error);
    if (status == LX_OK)
        status = finish(&self, error);
    if (status == LX_OK)
        add_obsolete_files(writer, position, writer->meta.generation + 1);
    end(&self);
    return status;
}

lx_status lx_writer_drop_field(lx_writer *writer, const char *name, lx_error *error)
{
    if (name == NULL)
        return lx__fail_null(error, "name");
    return lx__install_call(writer, drop, (void *)name, error);
}

/* ---- replacing */

lx_status lx__alter_replace(lx_writer *writer, size_t position, const lx_field *field,
                            lx__fill_function *fill, void *user, lx_error *error)
{
    new_field added = {.field = *field, .fill = fill, .user = user};
    change self = {.dropped = SIZE_MAX, .replaced = position};
    uint64_t end_before = writer->meta.generation + 1;
    added.field.name = lx__schema_field(writer->meta.schema, position)->name;
    lx_status status = identify(writer, &added, error);
    if (status != LX_OK)
        return status;
    status = begin(&self, writer, &added, SIZE_MAX, NULL, error);
    if (status == LX_OK)
        status = make_field(&self, position, &added, error);
    if (status == LX_OK)
        add_obsolete_files(writer, position, end_before);
    end(&self);
    return status;
}

/* ---- renaming */

typedef struct names {
    const char *from, *to;
} names;

static lx_status rename_to(lx_writer *writer, void *user, lx_error *error)
{
    const names *name = user;
    change self = {.dropped = SIZE_MAX, .replaced = SIZE_MAX};
    size_t position;
    lx_status status = lx_schema_find_field(writer->meta.schema, name->from, &position, error);
    if (status != LX_OK)
        return status;
    status = begin(&self, writer, NULL, position, name->to, error);
    if (status == LX_OK)
        status = lx__meta_rename_field(&self.next.meta, position, name->to, error);
    if (status == LX_OK)
        status = finish(&self, error);
    end(&self);
    return status;
}

lx_status lx_writer_rename_field(lx_writer *writer, const char *name, const char *to,
                                 lx_error *error)
{
    if (name == NULL || to == NULL)
        return lx__fail_null(error, name == NULL ? "name" : "to");
    names both = {name, to};
    return lx__install_call(writer, rename_to, &both, error);
}

/* ---- compression */

typedef struct settings {
    const char *name;
    int level;
    uint32_t dictionary;
} settings;

/** A dictionary that was trained can neither be removed nor become larger. */
static lx_status check_settings(const lx_writer *writer, size_t position, const settings *chosen,
                                lx_error *error)
{
    const lx_field *field = &lx__schema_field(writer->meta.schema, position)->shown;
    if (chosen->dictionary != field->dictionary &&
        lx__meta_find_dict(&writer->meta, position, NULL))
        return lx_fail(error, LX_ERR_STATE,
                       "field '%s' already has a dictionary, which cannot be changed: copy the "
                       "dataset to train another one",
                       chosen->name);
    return lx__codec_settings_check(chosen->name, field->compression, chosen->level,
                                    chosen->dictionary, error);
}

lx_status lx__alter_codec_settings(lx_writer *writer, size_t position, int level,
                                   uint32_t dictionary, lx_error *error)
{
    change self = {.dropped = SIZE_MAX, .replaced = SIZE_MAX};
    lx_status status = begin(&self, writer, NULL, SIZE_MAX, NULL, error);
    if (status == LX_OK) {
        lx_field *field = &self.schema->fields[position]->shown;
        field->level = level;
        field->dictionary = dictionary;
        status = lx__meta_set_codec_settings(&self.next.meta, position, level, dictionary, error);
    }
    if (status == LX_OK)
        status = finish(&self, error);
    end(&self);
    return status;
}

static lx_status set_compression(lx_writer *writer, void *user, lx_error *error)
{
    const settings *chosen = user;
    size_t position;
    lx_status status = lx_schema_find_field(writer->meta.schema, chosen->name, &position, error);
    if (status == LX_OK)
        status = check_settings(writer, position, chosen, error);
    return status == LX_OK ? lx__alter_codec_settings(writer, position, chosen->level,
                                                      chosen->dictionary, error)
                           : status;
}

lx_status lx_writer_set_compression(lx_writer *writer, const char *name, int level,
                                    uint32_t dictionary, lx_error *error)
{
    if (name == NULL)
        return lx__fail_null(error, "name");
    settings chosen = {name, level, dictionary};
    return lx__install_call(writer, set_compression, &chosen, error);
}
