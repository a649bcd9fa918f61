/* SPDX-License-Identifier: MIT */
/* Sources of callbacks: lib/loader/sources/source-callback.c. */
#include "loader/sources/source.h"

#include "../../scarce.h"
#include "../loaders.h"
#include "../../../new-sources.h"

static lx_status fill_nothing(const uint64_t *indices, size_t count, const lx_target *targets,
                              void *user, lx_error *error)
{
    (void)user, (void)indices, (void)count, (void)targets;
    ck_assert_ptr_nonnull(error);
    return LX_OK;
}

static const source_functions functions = {.fill = fill_nothing, .release = numbers_release};
static const uint64_t two[2] = {3, 2};
static const lx_column_info plain = {.name = "a", .dtype = LX_FLOAT32, .ndim = 2, .shape = two};

START_TEST(copies_columns_and_computes_sizes)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers user = {0};
    char name[] = "a";
    uint64_t shape[] = {3, 2}, empty[] = {5, 0};
    lx_column_info columns[] = {
        {.name = name, .dtype = LX_FLOAT32, .ndim = 2, .shape = shape, .size = 24},
        {.name = "b", .dtype = LX_COMPLEX128},
        {.name = "c", .dtype = LX_INT8, .ndim = 2, .shape = empty}};
    lx_source *source;
    unit_ok(new_source(&functions, &user, 9, columns, 3, NULL, &source, &error));
    name[0] = 'x';
    shape[0] = 0;
    ck_assert_uint_eq(lx_source_get_length(source), 9);
    ck_assert_uint_eq(lx_source_get_column_count(source), 3);
    const lx_column_info *column = lx_source_get_column(source, 0);
    ck_assert_str_eq(column->name, "a");
    ck_assert_int_eq(column->dtype, LX_FLOAT32);
    ck_assert_uint_eq(column->ndim, 2);
    ck_assert_mem_eq(column->shape, two, sizeof two);
    ck_assert_uint_eq(column->size, 24);
    ck_assert_uint_eq(lx_source_get_column(source, 1)->size, 16);
    ck_assert_uint_eq(lx_source_get_column(source, 2)->size, 0);
    ck_assert_ptr_null(lx_source_get_column(source, 3));
    lx_source_unref(source);
}
END_TEST

START_TEST(rejects_invalid_sources_without_releasing_them)
{
    static const uint64_t huge[2] = {1ull << 40, 1ull << 40};
    static const uint64_t ragged[] = {LX_NONE, 2}, twice_ragged[] = {LX_NONE, LX_NONE},
                          inner[] = {2, LX_NONE}, empty[] = {LX_NONE, 0};
    static const char long_name[] =
        "a name of more than 64 bytes, which no column of any source may have, ever";
    const lx_column_info bad[] = {
        {.name = NULL, .dtype = LX_INT8},
        {.name = "", .dtype = LX_INT8},
        {.name = long_name, .dtype = LX_INT8},
        {.name = "caf\xe9", .dtype = LX_INT8}, /* Latin-1: a state could not contain it */
        {.name = "a", .dtype = (lx_dtype)99},
        {.name = "a", .dtype = LX_BYTES},
        {.name = "a", .dtype = LX_FLOAT32, .ndim = 2, .shape = two, .size = 25},
        {.name = "a", .dtype = LX_FLOAT32, .ndim = 2, .shape = two, .size = LX_NONE},
        {.name = "a", .dtype = LX_INT8, .ndim = 2, .shape = huge},
        {.name = "a", .dtype = LX_INT8, .ndim = 2, .shape = ragged}, /* without sizes */
        {.name = "a", .dtype = LX_INT8, .ndim = 2, .shape = twice_ragged},
        {.name = "a", .dtype = LX_INT8, .ndim = 2, .shape = inner},
        {.name = "a", .dtype = LX_INT8, .ndim = 2, .shape = empty},
        {.name = "a", .dtype = LX_STR, .ndim = 1, .shape = two},
        {.name = "a", .dtype = LX_INT8, .ndim = LX_MAX_NDIM + 1, .shape = two}};
    lx_error error = LX_ERROR_INIT;
    struct numbers user = {0};
    lx_source *source;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        unit_fails(new_source(&functions, &user, 9, &bad[i], 1, "", &source, &error),
                   LX_ERR_ARGUMENT);
    unit_fails(new_source(&functions, &user, 9, &plain, 1, "\xff", &source, &error),
               LX_ERR_ARGUMENT);
    const lx_column_info twice[] = {plain, {.name = "b", .dtype = LX_INT8}, plain};
    ck_assert_int_eq(new_source(&functions, &user, 9, twice, 3, "", &source, &error),
                     LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "'a'"));
    unit_fails(new_source(&functions, &user, 9, &plain, 0, "", &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_source(NULL, &user, 9, &plain, 1, "", &source, &error), LX_ERR_ARGUMENT);
    const source_functions none = {.release = numbers_release};
    unit_fails(new_source(&none, &user, 9, &plain, 1, "", &source, &error), LX_ERR_ARGUMENT);
    ck_assert_uint_eq(user.released, 0);
}
END_TEST

START_TEST(releases_nothing_after_a_failed_allocation)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers user = {0};
    lx_source *source;
    lx_status status = LX_ERR_NOMEM;
    int left = 0;
    for (; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = new_source(&functions, &user, 9, &plain, 1, "mine", &source, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        ck_assert_uint_eq(user.released, 0);
    }
    ck_assert_int_gt(left, 4);
    lx_source_unref(source);
    ck_assert_uint_eq(user.released, 1);
}
END_TEST

START_TEST(the_last_reference_releases)
{
    struct numbers numbers = {.length = 4, .width = 1};
    lx_source *source = numbers_source(&numbers);
    ck_assert_ptr_eq(lx_source_ref(source), source);
    lx_source_unref(source);
    ck_assert_uint_eq(numbers.released, 0);
    lx_source_unref(source);
    ck_assert_uint_eq(numbers.released, 1);
    lx_source_unref(NULL);
}
END_TEST

START_TEST(passes_on_errors_of_fill)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {
        .length = 10, .width = 4, .bad = 3, .bad_of = 10, .status = LX_ERR_IO, .failing = true};
    lx_source *source = numbers_source(&numbers);
    uint64_t labels[3];
    const uint64_t good[] = {9, 0, 9}, bad[] = {1, 3};
    const lx_target targets[] = {{labels, 8}, {NULL, 0}};
    unit_ok(lx_source_fill(source, good, 3, targets, &error));
    ck_assert_mem_eq(labels, good, sizeof good);
    ck_assert_int_eq(lx_source_fill(source, bad, 2, targets, &error), LX_ERR_IO);
    ck_assert_str_eq(error.message, "a bad record");
    ck_assert_uint_eq(error.record, 3);
    ck_assert_int_eq(lx_source_fill(source, bad, 2, targets, NULL), LX_ERR_IO);

    lx_error_clear(&error);
    numbers.silent = true;
    ck_assert_int_eq(lx_source_fill(source, bad, 2, targets, &error), LX_ERR_IO);
    ck_assert_int_eq(error.status, LX_ERR_IO);
    ck_assert_int_ne(error.message[0], '\0');
    lx_error_clear(&error);
    numbers.status = LX_END; /* a positive status is a failure, too */
    ck_assert_int_eq(lx_source_fill(source, bad, 2, targets, &error), LX_ERR_CALLBACK);
    ck_assert_int_eq(error.status, LX_ERR_CALLBACK);
    lx_source_unref(source);
}
END_TEST

START_TEST(an_earlier_error_is_kept)
{
    struct numbers numbers = {
        .length = 10, .width = 4, .bad = 3, .bad_of = 10, .status = LX_ERR_IO, .failing = true};
    lx_source *source = numbers_source(&numbers);
    uint64_t label;
    const uint64_t bad = 3;
    const lx_target targets[] = {{&label, 8}, {NULL, 0}};
    lx_error error = LX_ERROR_INIT;
    error.status = LX_ERR_BUSY;
    strcpy(error.message, "first");
    ck_assert_int_eq(lx_source_fill(source, &bad, 1, targets, &error), LX_ERR_IO);
    ck_assert_str_eq(error.message, "first");
    lx_source_unref(source);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    static const source_functions none = {.fill = NULL};
    static const source_functions filled = {.fill = numbers_fill};
    const lx_column_info column = {.name = "a", .dtype = LX_UINT8, .ndim = 1};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_fails(new_source(NULL, NULL, 1, &column, 1, "", &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_source(&none, NULL, 1, &column, 1, "", &source, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(new_source(&filled, NULL, 1, NULL, 1, "", &source, &error), "columns");
    unit_refuses_null(new_source(&filled, NULL, 1, &column, 1, "", NULL, &error), "source");
    unit_refuses_null(new_source(&filled, NULL, 1, &column, 1, "", &source, &error), "shape");
}
END_TEST

UNIT_MAIN("loader/source-callback", copies_columns_and_computes_sizes,
          rejects_invalid_sources_without_releasing_them,
          releases_nothing_after_a_failed_allocation, the_last_reference_releases,
          passes_on_errors_of_fill, an_earlier_error_is_kept, rejects_null_by_name)
