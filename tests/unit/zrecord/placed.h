/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset opened in each access mode, and reads that must have the same results.
 */
#ifndef LX_TESTS_PLACED_H
#define LX_TESTS_PLACED_H

#include "change.h"
#include "records.h"

/** The access modes; the first is the reference. */
static const lx_access access_modes[] = {LX_ACCESS_MMAP, LX_ACCESS_PREAD};
#define ACCESS_MODES 2

/** The options of a handle. */
struct placed {
    lx_access access;
    lx_verify_policy verify;
    lx_damage_policy damage;
    bool live;
};

static inline lx_dataset *open_placed(const char *path, struct placed how)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_access(options, how.access, &error));
    unit_ok(lx_dataset_options_set_verify_policy(options, how.verify, &error));
    unit_ok(lx_dataset_options_set_damage_policy(options, how.damage, &error));
    unit_ok(lx_dataset_options_set_live(options, how.live, &error));
    unit_ok(lx_dataset_open(path, options, &dataset, &error));
    lx_dataset_options_free(options);
    return dataset;
}

/** All results of reading some records of a field. */
struct answers {
    lx_status measured, gathered, dense, viewed;
    lx_error errors[4];
    uint64_t offsets[300];
    uint8_t present[300];
    uint8_t *bytes, *rows, *shown;
    uint64_t shown_size;
};

/** Of @p count records, below 300, of records.h. */
static inline struct answers *ask(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                  size_t count)
{
    struct answers *a = calloc(1, sizeof *a);
    lx_slice slices[300];
    lx_view *view = NULL;
    const lx_field *shown = lx_schema_get_field(lx_dataset_get_schema(dataset), field);
    size_t size = shown->size != LX_NONE ? (size_t)shown->size : 0;
    a->bytes = calloc(count + 1, VALUE_MAX);
    a->rows = calloc(count + 1, size + 3);
    a->shown = calloc(count + 1, VALUE_MAX);
    a->measured = lx_dataset_get_sizes(dataset, field, indices, count, a->offsets, a->present,
                                       &a->errors[0]);
    if (a->measured == LX_OK)
        a->gathered = lx_dataset_gather_bytes(dataset, field, indices, count, a->offsets, a->bytes,
                                              &a->errors[1]);
    /* Close to each other, and far apart. */
    a->dense = lx_dataset_gather(dataset, field, indices, count, a->rows,
                                 size + (count % 2 != 0 ? 3 : 0), &a->errors[2]);
    a->viewed = lx_dataset_view(dataset, field, indices, count, slices, &view, &a->errors[3]);
    for (size_t i = 0; a->viewed == LX_OK && i < count; i++) {
        ck_assert_uint_eq((uintptr_t)slices[i].data % shown->align, 0);
        if (slices[i].size != 0)
            memcpy(a->shown + a->shown_size, slices[i].data, slices[i].size);
        a->shown_size += slices[i].size;
        a->shown[a->shown_size++] = slices[i].data != NULL;
    }
    lx_view_free(view);
    return a;
}

static inline void answers_free(struct answers *a)
{
    free(a->bytes);
    free(a->rows);
    free(a->shown);
    free(a);
}

static inline void expect_same_error(lx_status left, const lx_error *a, lx_status right,
                                     const lx_error *b)
{
    char said[2048], other[2048];
    lx_error_describe(a, said, sizeof said);
    lx_error_describe(b, other, sizeof other);
    ck_assert_msg(left == right && strcmp(said, other) == 0, "%s: %s\nand %s: %s",
                  lx_status_get_name(left), said, lx_status_get_name(right), other);
}

/** Checks that both are equal, including the text of errors. */
static inline void expect_same_answers(const struct answers *a, const struct answers *b,
                                       size_t count, size_t size)
{
    expect_same_error(a->measured, &a->errors[0], b->measured, &b->errors[0]);
    expect_same_error(a->gathered, &a->errors[1], b->gathered, &b->errors[1]);
    expect_same_error(a->dense, &a->errors[2], b->dense, &b->errors[2]);
    expect_same_error(a->viewed, &a->errors[3], b->viewed, &b->errors[3]);
    if (a->measured == LX_OK) {
        ck_assert_mem_eq(a->offsets, b->offsets, (count + 1) * sizeof *a->offsets);
        ck_assert_mem_eq(a->present, b->present, count + 1);
        if (a->gathered == LX_OK)
            ck_assert_mem_eq(a->bytes, b->bytes, (count + 1) * VALUE_MAX);
    }
    if (a->dense == LX_OK)
        ck_assert_mem_eq(a->rows, b->rows, (count + 1) * (size + 3));
    if (a->viewed == LX_OK) {
        ck_assert_uint_eq(a->shown_size, b->shown_size);
        ck_assert_mem_eq(a->shown, b->shown, a->shown_size + 1);
    }
}

#endif
