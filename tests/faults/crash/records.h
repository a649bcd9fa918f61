/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The values of a job. Each is a function of the seed, its kind of field, and a serial
 * number that no two written records share.
 */
#ifndef LX_TESTS_FAULTS_CRASH_RECORDS_H
#define LX_TESTS_FAULTS_CRASH_RECORDS_H

#include <loaderx/zrecord.h>

#include "../support.h"

/** Kinds of fields: a job has at most so many fields. */
#define RECORDS_FIELDS 5

/** In place of a serial number: a value that was never written. */
#define RECORDS_MISSING UINT32_MAX

/** The properties of a kind of field. */
struct kind {
    lx_dtype dtype;
    uint64_t shape; /**< 0: a scalar, or bytes. */
    lx_compression compression;
};

/** A field of a dataset. */
struct column {
    uint8_t kind;
    uint8_t name; /**< The number of renames. */
};

/** The fields of a dataset. */
struct columns {
    struct column list[RECORDS_FIELDS];
    size_t count;
};

struct records {
    uint64_t seed;
    struct kind kinds[RECORDS_FIELDS];
    struct columns columns; /**< Of a new dataset. */
    lx_schema *schema;      /**< The same. */
    lx_value *values;       /**< RECORDS_FIELDS for each serial, made on request. */
    uint64_t capacity;      /**< Capacity in serials. */
};

/** Chooses kinds of fields and a schema. With @p small, all values are inline, so that there can be
 * many. */
void records_init(struct records *records, uint64_t seed, bool small);
void records_free(struct records *records);

/** One value, valid until records_free(); RECORDS_MISSING gives a missing value. */
lx_value records_get(struct records *records, uint32_t serial, uint8_t kind);

/** The name of a field. */
void records_name(struct column column, char name[16]);

/** Parses the fields of a schema from names of records_name(). Returns false for other names. */
bool records_columns(const lx_schema *schema, struct columns *columns);

/** Values of one field for the serials from @p first on; for records_free_values(). */
lx_values records_join(struct records *records, uint8_t kind, uint64_t first, uint64_t count);
void records_free_values(lx_values *values);

#endif
