/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The settings and the results of an import.
 */
#ifndef LX_IMPORTER_IMPORTER_H
#define LX_IMPORTER_IMPORTER_H

#include <loaderx/import.h>

#include "importer/fields.h"
#include "importer/formats.h"

/** How a field is to be stored. */
typedef struct lx__import_storage {
    char *name; /**< NULL: all other fields of bytes. */
    lx_compression compression;
    int level;
    uint32_t dictionary;
} lx__import_storage;

struct lx_importer {
    const lx__format_class *format; /**< NULL: not set. */
    char *options[LX__FORMAT_OPTIONS];
    char **inputs;
    size_t input_count, input_capacity;
    lx__import_fields fields; /**< Only those whose types were set. */
    lx__import_storage *storages;
    size_t storage_count, storage_capacity;
    lx_bad_policy policy;
    uint64_t record_limit, commit_size;
    bool append, resume;
    lx_progress_function progress; /**< NULL: none. */
    void *user;
    /* What the last run did. */
    lx_import_result result;
    lx_error *bad;
    size_t bad_count, bad_capacity; /**< @c bad_count is at most #LX_MAX_BAD_LISTED. */
};

/** Counts a bad record, and lists it if the list is not full. */
lx_status lx__importer_note_bad(lx_importer *importer, const lx_error *why, lx_error *error);

/** Copies the fields of @p from to @p to, with their compressions. */
lx_status lx__importer_compress_fields(const lx_importer *importer, const lx_schema *from,
                                       lx_schema *to, lx_error *error);

#endif
