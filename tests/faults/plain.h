/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A plain model in memory of the content of a dataset, and its comparison with a real one.
 *
 * A value is named by a number, its token: the token and the kind of the column give its bytes. The
 * token 0 is a missing value.
 */
#ifndef LX_TESTS_FAULTS_PLAIN_H
#define LX_TESTS_FAULTS_PLAIN_H

#include <loaderx/zrecord.h>

#include "support.h"

/** Most columns of a model. */
#define PLAIN_COLUMNS 6
/** The longest value. */
#define PLAIN_VALUE ((size_t)6000)

/** The values of a column. */
enum plain_kind {
    PLAIN_IMAGE, /**< uint8 (3, 4), raw: in chunks. */
    PLAIN_LABEL, /**< int64: in the table. */
    PLAIN_TEXT,  /**< Compressible bytes, flate: empty, in the table, or in chunks. */
    PLAIN_BLOB,  /**< Incompressible bytes, raw; sometimes some thousands. */
    PLAIN_KINDS
};

struct plain_column {
    char name[LX_MAX_FIELD_NAME + 1];
    enum plain_kind kind;
    uint32_t id; /**< Unique to the column. */
};

struct plain_record {
    uint32_t tokens[PLAIN_COLUMNS];
};

struct plain {
    struct plain_column columns[PLAIN_COLUMNS];
    size_t column_count;
    uint32_t next_id;
    struct plain_record *records;
    uint64_t count;
    size_t capacity;
};

/** Fails the test, in any process; @p error, which may be NULL, adds details. */
_Noreturn void plain_fail(const char *what, const lx_error *error);

/** The call must be LX_OK. Uses the local `error`. */
#define PLAIN_OK(call)                                                                             \
    do {                                                                                           \
        if ((call) != LX_OK)                                                                       \
            plain_fail(#call, &error);                                                             \
    } while (0)

/** Makes a model without records, with a column of each of the first @p columns kinds. */
void plain_init(struct plain *plain, size_t columns);
void plain_free(struct plain *plain);

/** Makes @p to, which was initialized, equal to @p from. */
void plain_set(struct plain *to, const struct plain *from);

/** The schema of its columns, for lx_schema_free(); NULL when out of memory. */
lx_schema *plain_schema(const struct plain *plain);

/** The properties of a kind of column in a schema. */
struct plain_form {
    lx_dtype dtype;
    size_t ndim;
    lx_compression compression;
};

extern const struct plain_form plain_forms[PLAIN_KINDS];
extern const uint64_t plain_shape[2];

/** Adds the column to a schema. */
lx_status plain_add_to(lx_schema *schema, const struct plain_column *column, lx_error *error);

/** The value of a token, its bytes in @p memory. */
lx_value plain_value(enum plain_kind kind, uint32_t token, uint8_t memory[PLAIN_VALUE]);

/** Makes a record of values that are unique to @p number; some are missing. */
struct plain_record plain_make(const struct plain *plain, uint32_t number);

void plain_append(struct plain *plain, const struct plain_record *record);

/** Moves the last record to @p index; returns its old index, LX_NONE if it was the same. */
uint64_t plain_delete(struct plain *plain, uint64_t index);

/** Changes of the schema: a new column is missing in all records. */
void plain_add_column(struct plain *plain, const char *name, enum plain_kind kind);
void plain_drop_column(struct plain *plain, size_t column);
void plain_rename_column(struct plain *plain, size_t column, const char *name);

/** Whether both have the same content. */
bool plain_equals(const struct plain *a, const struct plain *b);

/** A record in the form of an append; for one thread, valid until the next call. */
const lx_value *plain_values(const struct plain *plain, const struct plain_record *record);

/** @p count records from @p first on, in the form of an extend; for plain_columns_free(). */
void plain_columns(const struct plain *plain, uint64_t first, uint64_t count,
                   lx_values columns[PLAIN_COLUMNS]);
void plain_columns_free(const struct plain *plain, lx_values columns[PLAIN_COLUMNS]);

/** Reads the values @p indices of a column and compares them. Returns false, and the reason in @p
 * why, if one differs; @p status receives a failure of the read. */
bool plain_check_values(const struct plain *plain, lx_dataset *dataset, size_t column,
                        const uint64_t *indices, size_t count, lx_status *status, char *why,
                        size_t size);

/** Reads every value of a dataset and compares it. False, and the reason in @p why, if one differs
 * or cannot be read. */
bool plain_check(const struct plain *plain, lx_dataset *dataset, char *why, size_t size);

#endif
