/* SPDX-License-Identifier: MIT */
#include "zrecord/write/orphans.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/write/handle.h"
#include "zrecord/write/readers.h"
#include "zrecord/write/writer.h"

/* ---- classification */

/** What a file is to the dataset. */
typedef enum lx__place {
    CURRENT,  /**< It belongs to the current generation. */
    FOREIGN,  /**< It is not a file of the format. */
    ORPHAN,   /**< It was made for a generation that was never installed. */
    OBSOLETE, /**< It belongs to an earlier generation. */
    /** It belongs to a dropped field, but readers of this generation may still have it open. */
    GONE
} lx__place;

static lx__place compare(uint64_t number, uint64_t now)
{
    return number > now ? ORPHAN : number < now ? OBSOLETE : CURRENT;
}

/** Whether a file is empty or contains nothing but zeros. */
static lx_status check_zeros(const lx__file *directory, const char *name, bool *zeros,
                             lx_error *error)
{
    static const uint8_t none[4096];
    uint8_t block[sizeof none];
    lx__file file;
    size_t got = 1;
    lx_status status = lx__file_open(&file, directory, name, O_RDONLY | O_NOFOLLOW, error);
    if (status != LX_OK)
        return status;
    *zeros = true;
    for (off_t at = 0; status == LX_OK && *zeros && got != 0; at += (off_t)got) {
        off_t data = lseek(file.fd, at, SEEK_DATA);
        if (data == -1 && errno == ENXIO)
            break; /* the rest of the file is a hole */
        at = data > at ? data : at;
        status = lx__file_read_once(&file, block, sizeof block, (uint64_t)at, &got, error);
        *zeros = status == LX_OK && memcmp(block, none, got) == 0;
    }
    lx__file_close(&file);
    return status;
}

/** Splits the name of a table, whose generation is stored in @p number, or of a dictionary. */
static bool split(const char *name, char stem[LX__NAME_SIZE], uint64_t *number, bool *table)
{
    *table = lx__name_split_table(name, stem, number);
    return *table || lx__name_split_dict(name, stem);
}

lx_status lx__file_is_ours(const lx__file *directory, const lx__meta *meta, const char *name,
                           bool *ours, lx_error *error)
{
    uint64_t number;
    size_t position;
    char stem[LX__NAME_SIZE];
    bool table, of_field = split(name, stem, &number, &table);
    *ours = false;
    if (!of_field && strcmp(name, LX__META_NEW_NAME) != 0 && !lx__name_is_log(name, &number))
        return LX_OK;
    lx_status status = lx__file_is_regular(directory, name, ours, error);
    if (status != LX_OK || !*ours || !of_field ||
        lx__schema_find_stem(meta->schema, stem, &position) ||
        lx__meta_get_next_field(meta) > meta->schema->count)
        return status;
    *ours = false;
    return table ? check_zeros(directory, name, ours, error) : LX_OK;
}

static lx__place place_of(const lx_writer *writer, const char *name)
{
    uint64_t number;
    size_t position;
    char stem[LX__NAME_SIZE];
    bool ours, table;
    const lx__meta *meta = &writer->meta;
    if (lx__file_is_ours(&writer->directory, meta, name, &ours, NULL) != LX_OK || !ours)
        return FOREIGN;
    if (strcmp(name, LX__META_NEW_NAME) == 0)
        return ORPHAN;
    if (!split(name, stem, &number, &table)) {
        (void)lx__name_is_log(name, &number);
        return compare(number, meta->generation);
    }
    if (!lx__schema_find_stem(meta->schema, stem, &position))
        return GONE;
    if (table)
        return compare(number, writer->committed.state.table_generation);
    return lx__meta_find_dict(meta, position, NULL) ? CURRENT : GONE;
}

static lx__place place_of_chunk(lx_writer *writer, const char *name)
{
    uint64_t id;
    bool regular;
    if (!lx__name_is_chunk(name, &id) ||
        lx__file_is_regular(&writer->chunk_directory, name, &regular, NULL) != LX_OK || !regular)
        return FOREIGN;
    if (lx__state_find_chunk(&writer->committed.state, (uint32_t)id) != NULL)
        return CURRENT;
    if (id < writer->committed.state.next_chunk)
        return OBSOLETE;
    /* A new chunk is current even before anything is written to it. */
    return id < lx__writer_next_chunk(writer) ? CURRENT : ORPHAN;
}

/* ---- orphans */

static lx_status remove_orphan(const lx__file *directory, const char *name, lx_error *error)
{
    lx__log(LX_LOG_INFO, "%s: removing %s, left by an interrupted writer", directory->path, name);
    return lx__file_remove(directory, name, error);
}

static lx_status visit_file(void *user, const char *name, lx_error *error)
{
    const lx_writer *writer = user;
    return place_of(writer, name) == ORPHAN ? remove_orphan(&writer->directory, name, error)
                                            : LX_OK;
}

static lx_status visit_chunk(void *user, const char *name, lx_error *error)
{
    lx_writer *writer = user;
    return place_of_chunk(writer, name) == ORPHAN
               ? remove_orphan(&writer->chunk_directory, name, error)
               : LX_OK;
}

lx_status lx__orphans_remove(lx_writer *writer, lx_error *error)
{
    lx_status status = LX__FAULT(ORPHANS)
                           ? LX_OK
                           : lx__directory_each(&writer->directory, visit_file, writer, error);
    return status == LX_OK
               ? lx__directory_each(&writer->chunk_directory, visit_chunk, writer, error)
               : status;
}

/* ---- obsolete files */

void lx__obsolete_files_add(lx__obsolete_files *obsolete, bool is_chunk, const char *name,
                            uint64_t first, uint64_t end)
{
    lx__obsolete_file *list = lx__grow_array(obsolete->list, obsolete->count, &obsolete->capacity,
                                             sizeof *list);
    char *copy = lx__strdup(name);
    if (list != NULL)
        obsolete->list = list;
    if (list == NULL || copy == NULL) {
        lx__free(copy); /* the next writer will find the file */
        return;
    }
    list[obsolete->count++] =
        (lx__obsolete_file){.name = copy, .is_chunk = is_chunk, .first = first, .end = end};
}

/** A search for obsolete files. */
typedef struct finding {
    lx_writer *writer;
    lx__readers readers;
} finding;

static lx_status find_file(void *user, const char *name, lx_error *error)
{
    finding *self = user;
    lx_writer *writer = self->writer;
    lx__place place = place_of(writer, name);
    uint64_t number, now = writer->meta.generation;
    lx__generations in = {0, now + 1}; /* a dictionary does not belong to one generation */
    char stem[LX__NAME_SIZE];
    (void)error;
    if (place != OBSOLETE && place != GONE)
        return LX_OK;
    if (lx__name_is_log(name, &number)) {
        in = (lx__generations){number, number + 1};
    } else if (lx__name_split_table(name, stem, &number)) {
        in = lx__readers_of_tables(&self->readers, number);
        if (place == GONE && number == writer->committed.state.table_generation)
            lx__generations_add(&in, now); /* readers of this generation may still show the field */
    }
    lx__obsolete_files_add(&writer->obsolete, false, name, in.first, in.end);
    return LX_OK;
}

static lx_status find_chunk(void *user, const char *name, lx_error *error)
{
    finding *self = user;
    uint64_t id;
    (void)error;
    if (place_of_chunk(self->writer, name) != OBSOLETE || !lx__name_is_chunk(name, &id))
        return LX_OK;
    lx__generations in = lx__readers_of_chunk(&self->readers, id);
    lx__obsolete_files_add(&self->writer->obsolete, true, name, in.first, in.end);
    return LX_OK;
}

lx_status lx__obsolete_files_find(lx_writer *writer, lx_error *error)
{
    finding self = {.writer = writer};
    lx__readers_find(&self.readers, &writer->directory, &writer->lock, &writer->meta);
    lx_status status = lx__directory_each(&writer->directory, find_file, &self, error);
    if (status == LX_OK)
        status = lx__directory_each(&writer->chunk_directory, find_chunk, &self, error);
    lx__readers_free(&self.readers);
    return status;
}

/** Whether a file may be removed: no generation that used it may have a reader. A reader that opens
 * such a generation after this check will read meta.json once more and find a newer generation. */
static bool is_removable(const lx_writer *writer, const lx__obsolete_file *file)
{
    bool present;
    return LX__FAULT(OBSOLETE_UNDER_READER) ||
           (lx__reader_locks_present(&writer->lock, file->first, file->end, &present, NULL) ==
                LX_OK &&
            !present);
}

/** Whether the dataset uses the file after all, or the file is foreign. The name of a table left by
 * an interrupted addition may be used later by a new field, or by a file that is not part of the
 * dataset. */
static bool must_stay(lx_writer *writer, const lx__obsolete_file *file)
{
    lx__place place = file->is_chunk ? place_of_chunk(writer, file->name)
                                     : place_of(writer, file->name);
    return place == CURRENT || place == FOREIGN;
}

void lx__obsolete_files_remove(lx_writer *writer)
{
    lx__obsolete_files *obsolete = &writer->obsolete;
    size_t kept = 0;
    bool goes = false;
    for (size_t i = 0; i < obsolete->count; i++) {
        lx__obsolete_file *file = &obsolete->list[i];
        /* Files usually come in runs that share the same generations. */
        if (i == 0 || file->first != file[-1].first || file->end != file[-1].end)
            goes = is_removable(writer, file);
        const lx__file *directory = file->is_chunk ? &writer->chunk_directory : &writer->directory;
        if (goes && ((must_stay(writer, file) && !LX__FAULT(OBSOLETE_EARLY)) ||
                     lx__file_remove(directory, file->name, NULL) == LX_OK)) {
            lx__free(file->name);
            file->name = NULL;
        }
    }
    for (size_t i = 0; i < obsolete->count; i++)
        if (obsolete->list[i].name != NULL)
            obsolete->list[kept++] = obsolete->list[i];
    obsolete->count = kept;
}

lx_status lx_writer_remove_old_files(lx_writer *writer, uint64_t *kept, lx_error *error)
{
    if (kept == NULL)
        return lx__fail_null(error, "kept");
    lx_status status = lx__writer_enter_alone(writer, error);
    if (status != LX_OK)
        return status;
    status = lx__writer_usable(writer, error);
    if (status == LX_OK)
        lx__obsolete_files_remove(writer);
    *kept = writer->obsolete.count;
    lx__writer_leave(writer);
    return status;
}

void lx__obsolete_files_free(lx__obsolete_files *obsolete)
{
    for (size_t i = 0; i < obsolete->count; i++)
        lx__free(obsolete->list[i].name);
    lx__free(obsolete->list);
    *obsolete = (lx__obsolete_files){0};
}
