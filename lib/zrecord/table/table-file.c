/* SPDX-License-Identifier: MIT */
#include "zrecord/table/table-file.h"

#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/pages.h"
#include "zrecord/format/names.h"

lx__file_id lx__file_get_id(const lx__file *file)
{
    struct stat about;
    if (file->provider != NULL || fstat(file->fd, &about) == -1)
        return (lx__file_id){0};
    return (lx__file_id){about.st_dev, about.st_ino};
}

lx_status lx__chunk_directory_open(lx__file *file, const lx__file *directory, lx_error *error)
{
    /* LX_ERR_NOT_FOUND is reserved for a missing dataset. */
    return lx__file_must_exist(lx__directory_open(file, directory, LX__CHUNK_DIRECTORY, error),
                               error);
}

lx_status lx__chunk_directory_make(const lx__file *directory, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__directory_make(directory, LX__CHUNK_DIRECTORY, &why);
    if (status == LX_OK || status == LX_ERR_EXISTS)
        return LX_OK;
    lx__error_propagate(error, &why);
    return status;
}

lx_status lx__committed_open(lx__file *file, const lx__file *directory, const char *name,
                             int access, uint64_t bytes, bool exact, lx_error *error)
{
    int make = access != O_RDONLY && bytes == 0 ? O_CREAT : 0;
    lx_status status = lx__file_must_exist(
        lx__folder_open_file(file, directory, name, access | make, error), error);
    if (status != LX_OK)
        return status;
    status = lx__file_expect_size(file, bytes, exact, error);
    if (status != LX_OK)
        lx__file_close(file);
    return status;
}

static lx_status open_one(lx__file *file, const lx__table_location *location, const char *kind,
                          uint64_t bytes, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__table_name(location->stem, kind, location->generation, name);
    return lx__committed_open(file, location->directory, name, O_RDONLY, bytes, location->exact,
                              error);
}

static lx_status map_one(lx__mapping *mapping, lx__file_id *id, const lx__table_location *location,
                         const char *kind, uint64_t rows, uint64_t capacity, unsigned row,
                         lx_error *error)
{
    lx__file file;
    lx_status status = open_one(&file, location, kind, rows * row, error);
    if (status != LX_OK)
        return status;
    if (!location->unmapped)
        status = lx__mapping_open(mapping, &file, capacity * row, LX__ADVICE_RANDOM, error);
    *id = lx__file_get_id(&file);
    lx__file_close(&file);
    return status;
}

lx_status lx__table_open(lx__table **table, const lx__table_location *location, uint64_t rows,
                         uint64_t capacity, bool track_verified, lx_error *error)
{
    lx__table *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a table");
    atomic_init(&made->references, 1);
    made->capacity = capacity;
    atomic_init(&made->rows, rows);
    lx_status status = map_one(&made->offsets, &made->offset_file, location, LX__OFFSET_KIND, rows,
                               capacity, LX__OFFSET_ROW, error);
    if (status == LX_OK)
        status = map_one(&made->checks, &made->check_file, location, LX__CHECK_KIND, rows, capacity,
                         LX__CHECK_ROW, error);
    if (status == LX_OK && track_verified) {
        made->verified = lx__pages_alloc((size_t)(capacity / 8));
        if (made->verified == NULL)
            status = lx__fail_memory(error, "the bits for verified records");
    }
    if (status == LX_OK)
        *table = made;
    else
        lx__table_close(made);
    return status;
}

lx_status lx__table_check_files(const lx__table_location *location, uint64_t rows, lx_error *error)
{
    lx__file file;
    lx_status status = open_one(&file, location, LX__OFFSET_KIND, rows * LX__OFFSET_ROW, error);
    if (status != LX_OK)
        return status;
    lx__file_close(&file);
    status = open_one(&file, location, LX__CHECK_KIND, rows * LX__CHECK_ROW, error);
    if (status == LX_OK)
        lx__file_close(&file);
    return status;
}

static bool is_at(lx__file_id id, const lx__table_location *location, const char *kind)
{
    lx__file file;
    char name[LX__NAME_SIZE];
    lx__table_name(location->stem, kind, location->generation, name);
    if (lx__file_open(&file, location->directory, name, O_RDONLY, NULL) != LX_OK)
        return false;
    bool same = lx__file_id_equal(id, lx__file_get_id(&file));
    lx__file_close(&file);
    return same;
}

bool lx__table_has_files(const lx__table *table, const lx__table_location *location)
{
    return is_at(table->offset_file, location, LX__OFFSET_KIND) &&
           is_at(table->check_file, location, LX__CHECK_KIND);
}

void lx__table_raise_rows(lx__table *table, uint64_t rows)
{
    uint64_t known = atomic_load_explicit(&table->rows, memory_order_relaxed);
    while (known < rows && !atomic_compare_exchange_weak(&table->rows, &known, rows))
        ;
}

void lx__table_inherit(lx__table *table, const lx__table *old)
{
    if (old->verified == NULL)
        return;
    uint64_t count = 0;
    for (uint64_t i = 0; i < old->capacity / 64; i++) {
        uint64_t bits = atomic_load_explicit(&old->verified[i], memory_order_relaxed);
        atomic_store_explicit(&table->verified[i], bits, memory_order_relaxed);
        count += (uint64_t)__builtin_popcountll(bits);
    }
    atomic_store_explicit(&table->verified_count, count, memory_order_release);
}

lx__table *lx__table_ref(lx__table *table)
{
    atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    return table;
}

void lx__table_close(lx__table *table)
{
    if (table == NULL ||
        atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) != 1)
        return;
    lx__mapping_close(&table->offsets);
    lx__mapping_close(&table->checks);
    lx__pages_free((void *)table->verified, (size_t)(table->capacity / 8));
    lx__free(table);
}
