/* SPDX-License-Identifier: MIT */
/* Columns computed from other columns: lib/loader/sources/source-map.c. */
#include <loaderx/map.h>

#include <sys/stat.h>

#include "loader/sources/source-options.h"

#include "../../sampler/orders.h"
#include "../../scarce.h"
#include "../../scratch.h"
#include "../loaders.h"

#define WIDTH 5

/** What a map writes for a sample. */
typedef struct seen {
    uint64_t index, position, epoch, label, sum;
} seen;

static const uint64_t seen_shape[] = {sizeof(seen) / 8};
static const lx_column_info seen_column = {
    .name = "seen", .dtype = LX_UINT64, .ndim = 1, .shape = seen_shape};
static const char *const both[] = {"label", "image"};

struct user {
    bool damaged; /* fails for labels that are 2 modulo 5 */
    lx_status status;
    atomic_uint calls, released;
    atomic_int workers, all_workers;
    size_t most; /* most samples in a call */
};

static uint64_t sum_of(uint64_t index)
{
    uint64_t sum = 0;
    for (uint64_t k = 0; k < WIDTH; k++)
        sum += byte_of(index, k);
    return sum;
}

static lx_status look(const lx_samples *samples, const lx_column *inputs, const lx_target *outputs,
                      void *worker, void *user, lx_error *error)
{
    struct user *self = user;
    atomic_fetch_add(&self->calls, 1);
    ck_assert_int_eq(atomic_fetch_add((atomic_int *)worker, 1), 0); /* one call at a time */
    if (samples->count > self->most)
        self->most = samples->count;
    for (size_t i = 0; i < samples->count; i++) {
        seen now = {samples->indices[i], samples->positions[i], samples->epoch, 0, 0};
        memcpy(&now.label, (uint8_t *)inputs[0].data + 8 * i, 8);
        for (uint64_t k = 0; k < WIDTH; k++)
            now.sum += ((uint8_t *)inputs[1].data)[i * WIDTH + k];
        if (self->damaged && now.label % 5 == 2) {
            lx_status status = lx_fail(error, self->status, "a bad picture");
            atomic_fetch_sub((atomic_int *)worker, 1);
            lx_error_locate(error, NULL, "image", samples->indices[i], LX_NONE);
            return status;
        }
        ck_assert_ptr_nonnull(outputs[0].data);
        memcpy((uint8_t *)outputs[0].data + i * outputs[0].stride, &now, sizeof now);
    }
    atomic_fetch_sub((atomic_int *)worker, 1);
    return LX_OK;
}

static lx_status new_worker(void *user, void **worker, lx_error *error)
{
    struct user *self = user;
    (void)error;
    ck_assert_uint_eq(self->released, 0);
    atomic_fetch_add(&self->workers, 1);
    atomic_fetch_add(&self->all_workers, 1);
    *worker = calloc(1, sizeof(atomic_int));
    return LX_OK;
}

static void free_worker(void *worker, void *user)
{
    struct user *self = user;
    ck_assert_uint_eq(self->released, 0);
    atomic_fetch_sub(&self->workers, 1);
    free(worker);
}

static void release(void *user)
{
    atomic_fetch_add(&((struct user *)user)->released, 1);
}

static lx_status new_map(lx_source *part, struct user *user, const char *identity,
                         lx_source **source, lx_error *error)
{
    lx_source_options options = {.map = look,
                                 .new_worker = new_worker,
                                 .free_worker = free_worker,
                                 .release = release,
                                 .user = user,
                                 .identity = identity};
    return lx_source_new_map(part, both, 2, &seen_column, 1, &options, source, error);
}

static lx_source *map_source(struct numbers *numbers, struct user *user)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *part = numbers_source(numbers), *source;
    unit_ok(new_map(part, user, "look", &source, &error));
    lx_source_unref(part);
    return source;
}

START_TEST(computes_columns)
{
    enum { COUNT = 100 };
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 1000, .width = WIDTH};
    struct user user = {0};
    lx_source *source = map_source(&numbers, &user);
    uint64_t indices[COUNT];
    seen got[COUNT];
    ck_assert_uint_eq(lx_source_get_length(source), 1000);
    ck_assert_uint_eq(lx_source_get_column_count(source), 1);
    ck_assert_str_eq(lx_source_get_column(source, 0)->name, "seen");
    for (uint64_t i = 0; i < COUNT; i++)
        indices[i] = i * 617 % 1000;
    unit_ok(lx_source_fill(source, indices, COUNT, &(lx_target){got, sizeof *got}, &error));
    for (uint64_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(got[i].label, indices[i]);
        ck_assert_uint_eq(got[i].sum, sum_of(indices[i]));
        ck_assert_uint_eq(got[i].index, indices[i]);
        ck_assert_uint_eq(got[i].position, indices[i]); /* there is no order */
        ck_assert_uint_eq(got[i].epoch, 0);
    }
    unit_ok(lx_source_fill(source, indices, COUNT, &(lx_target){NULL, 0}, &error));
    ck_assert_uint_le(user.calls, 4);
    ck_assert_int_eq(user.all_workers, 1);
    ck_assert_uint_eq(user.released, 0);
    lx_source_unref(source);
    ck_assert_int_eq(user.workers, 0);
    ck_assert_uint_eq(user.released, 1);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

static const uint64_t *seen_of(const lx_batch *batch, uint64_t row)
{
    return (const uint64_t *)lx_batch_find_column(batch, "seen")->data + row * seen_shape[0];
}

/* Whichever ranks and threads there are, a position and its epoch reach the function. */
START_TEST(passes_places_on)
{
    enum { LENGTH = 103 };
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = LENGTH, .width = WIDTH};
    struct user user = {0};
    lx_order *order = make_order("shuffle", LENGTH, 9, 0);
    static uint64_t indices[2 * LENGTH];
    lx_sampler *sampler;
    uint64_t taken;
    unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
    unit_ok(lx_sampler_take(sampler, 2 * LENGTH, indices, &taken, &error));
    lx_sampler_free(sampler);
    for (uint64_t world = 1; world <= 3; world++) {
        lx_source *source = map_source(&numbers, &user);
        uint64_t count = 0;
        for (uint64_t rank = 0; rank < world; rank++) {
            struct setup setup = {.batch_size = 10,
                                  .world = world,
                                  .rank = rank,
                                  .epochs = 2,
                                  .threads = (uint32_t)world - 1,
                                  .uneven = true,
                                  .order = order};
            lx_loader *loader = open_loader(source, setup);
            for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
                for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, count++) {
                    const uint64_t *got = seen_of(batch, i);
                    ck_assert_uint_eq(got[0], lx_batch_get_indices(batch)[i]);
                    ck_assert_uint_eq(indices[got[1]], got[0]);
                    ck_assert_uint_eq(got[2], got[1] / LENGTH);
                    ck_assert_uint_eq(got[1] % world, (rank + got[2] * LENGTH) % world);
                }
            }
            lx_loader_close(loader);
        }
        ck_assert_uint_eq(count, 2 * LENGTH);
        lx_source_unref(source);
        ck_assert_int_eq(user.workers, 0);
        user.released = 0; /* for the next map */
    }
    lx_order_unref(order);
}
END_TEST

/* A concatenation of subsets of zips of maps. */
START_TEST(passes_places_through_other_sources)
{
    enum { LENGTH = 700, PARTS = 3, COUNT = LENGTH * PARTS };
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = LENGTH, .width = WIDTH};
    lx_source *parts[PARTS], *all;
    struct user users[PARTS] = {{0}};
    static uint64_t table[LENGTH], indices[COUNT], positions[COUNT];
    static seen got[COUNT];
    for (uint64_t i = 0; i < LENGTH; i++)
        table[i] = LENGTH - 1 - i;
    for (size_t i = 0; i < PARTS; i++) {
        lx_source *map = map_source(&numbers, &users[i]), *zip;
        unit_ok(lx_source_new_zip(&map, NULL, 1, &zip, &error));
        unit_ok(lx_source_new_subset(zip, table, LENGTH, &parts[i], &error));
        lx_source_unref(map);
        lx_source_unref(zip);
    }
    unit_ok(lx_source_new_concat(parts, PARTS, &all, &error));
    for (uint64_t i = 0; i < COUNT; i++) {
        indices[i] = i * 1009 % COUNT;
        positions[i] = 5 * COUNT + i;
    }
    const lx_samples samples = {
        .count = COUNT, .indices = indices, .positions = positions, .epoch = 5};
    unit_ok(lx_source_fill_samples(all, &samples, &(lx_target){got, sizeof *got}, &error));
    for (uint64_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(got[i].index, LENGTH - 1 - indices[i] % LENGTH);
        ck_assert_uint_eq(got[i].position, positions[i]);
        ck_assert_uint_eq(got[i].epoch, 5);
    }
    lx_source_unref(all);
    for (size_t i = 0; i < PARTS; i++)
        lx_source_unref(parts[i]);
    for (size_t i = 0; i < PARTS; i++)
        ck_assert_uint_eq(users[i].released, 1);
}
END_TEST

/* ---- inputs that vary in size or are missing */

static const uint64_t three[] = {3};

/** Writes the dataset "d": "text" of record i has i % 7 times @p unit bytes and, if @p missing, is
 * missing where i % 5 is 4; "label" is i. */
static void write_texts(uint64_t length, size_t unit, bool missing)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    uint8_t *text = malloc(6 * unit + 1);
    unit_ok(lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "label", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < length; i++) {
        memset(text, (int)i, i % 7 * unit);
        const lx_value values[] = {{text, missing && i % 5 == 4 ? LX_NONE : i % 7 * unit}, {&i, 8}};
        unit_ok(lx_writer_append(writer, values, 2, NULL, &error));
    }
    unit_ok(lx_writer_close(writer, &error));
    free(text);
}

/** Writes the size of a text and its first byte, and checks that all bytes are equal. */
static lx_status describe_text(const lx_samples *samples, const lx_column *inputs,
                               const lx_target *outputs, void *worker, void *user, lx_error *error)
{
    struct user *self = user;
    (void)error;
    ck_assert_ptr_null(worker);
    ck_assert_uint_eq(inputs[0].rows, samples->count);
    ck_assert_uint_eq(inputs[0].offsets[0], 0);
    if (samples->count > self->most)
        self->most = samples->count;
    for (size_t i = 0; i < samples->count; i++) {
        const uint8_t *text = (const uint8_t *)inputs[0].data + inputs[0].offsets[i];
        uint64_t size = inputs[0].offsets[i + 1] - inputs[0].offsets[i];
        uint64_t out[3] = {size, size != 0 ? text[0] : 0, 1};
        ck_assert(size < 2 || memcmp(text, text + 1, size - 1) == 0);
        memcpy((uint8_t *)outputs[0].data + i * outputs[0].stride, out, sizeof out);
    }
    return LX_OK;
}

static lx_source *open_texts(struct user *user)
{
    static const char *const input[] = {"text"};
    static const lx_column_info column = {
        .name = "text", .dtype = LX_UINT64, .ndim = 1, .shape = three};
    lx_source_options options = {.map = describe_text, .user = user};
    lx_error error = LX_ERROR_INIT;
    lx_source *part, *source;
    unit_ok(lx_source_open("d", NULL, &part, &error));
    unit_ok(lx_source_new_map(part, input, 1, &column, 1, &options, &source, &error));
    lx_source_unref(part);
    return source;
}

static void check_text(const uint64_t *got, uint64_t index, size_t unit, bool present)
{
    uint64_t size = present ? index % 7 * unit : 0;
    ck_assert_uint_eq(got[0], size);
    ck_assert_uint_eq(got[1], size != 0 ? (uint8_t)index : 0);
    ck_assert_uint_eq(got[2], present);
}

START_TEST(reads_inputs_that_vary_in_size_or_are_missing)
{
    enum { LENGTH = 300, UNIT = 50 };
    struct user user = {0};
    char *scratch = scratch_make();
    write_texts(LENGTH, UNIT, true);
    lx_source *source = open_texts(&user);
    ck_assert_str_eq(lx_source_get_column(source, 0)->name, "label");
    ck_assert_str_eq(lx_source_get_column(source, 1)->name, "text");
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        struct setup setup = {.batch_size = 64, .threads = threads, .missing = LX_MISSING_MASK};
        lx_loader *loader = open_loader(source, setup);
        uint64_t index = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            const lx_column *text = lx_batch_find_column(batch, "text");
            const uint8_t *present = lx_batch_get_present(batch, 1);
            ck_assert_ptr_nonnull(present);
            for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, index++) {
                ck_assert_uint_eq(present[i], index % 5 != 4);
                check_text((const uint64_t *)text->data + 3 * i, index, UNIT, index % 5 != 4);
                ck_assert_uint_eq(((uint64_t *)lx_batch_find_column(batch, "label")->data)[i],
                                  index);
            }
        }
        ck_assert_uint_eq(index, LENGTH);
        lx_loader_close(loader);
    }
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/* A record needs all inputs; more records than are marked at a time. */
START_TEST(records_without_one_of_the_inputs_are_missing)
{
    enum { LENGTH = 700 };
    static const char *const inputs[] = {"a", "b"};
    static const lx_column_info column = {
        .name = "sum", .dtype = LX_UINT64, .ndim = 1, .shape = three};
    static uint64_t indices[LENGTH], got[LENGTH][3];
    static uint8_t marks[LENGTH], *present[] = {marks};
    struct user user = {0};
    lx_source_options options = {.map = describe_text, .user = &user};
    lx_error error = LX_ERROR_INIT;
    lx_source *part, *source;
    lx_writer *writer;
    char *scratch = scratch_make();
    lx_schema *schema = lx_schema_new();
    for (int i = 0; i < 2; i++)
        unit_ok(
            lx_schema_add_field(schema, inputs[i], LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < LENGTH; i++) {
        const lx_value values[] = {{"x", i % 5 == 1 ? LX_NONE : 1},
                                   {"y", i % 3 == 1 ? LX_NONE : 1}};
        unit_ok(lx_writer_append(writer, values, 2, NULL, &error));
        indices[i] = LENGTH - 1 - i;
    }
    unit_ok(lx_writer_close(writer, &error));
    unit_ok(lx_source_open("d", NULL, &part, &error));
    unit_ok(lx_source_new_map(part, inputs, 2, &column, 1, &options, &source, &error));
    lx_source_unref(part);
    const lx_samples samples = {.count = LENGTH, .indices = indices, .positions = indices};
    unit_ok(lx_source_fill_present(source, &samples, &(lx_target){got, sizeof got[0]}, present,
                                   &error));
    for (uint64_t i = 0; i < LENGTH; i++) {
        uint64_t there = indices[i] % 5 != 1 && indices[i] % 3 != 1;
        ck_assert_uint_eq(marks[i], there);
        ck_assert_uint_eq(got[i][2], there); /* the function was called, or zeros were written */
    }
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/* A call receives at most 16 MiB, unless one sample has more. */
START_TEST(bounds_the_memory_of_inputs)
{
    enum { COUNT = 11, UNIT = 3 << 20 };
    const uint64_t indices[COUNT] = {6, 5, 3, 13, 0, 1, 2, 6, 6, 6, 2};
    struct user user = {0};
    lx_error error = LX_ERROR_INIT;
    uint64_t got[COUNT][3];
    char *scratch = scratch_make();
    write_texts(14, UNIT, false);
    lx_source *source = open_texts(&user);
    const lx_target targets[] = {{NULL, 0}, {got, sizeof got[0]}};
    unit_ok(lx_source_fill(source, indices, COUNT, targets, &error));
    for (size_t i = 0; i < COUNT; i++)
        check_text(got[i], indices[i], UNIT, true);
    ck_assert_uint_eq(user.most, 3); /* 0, 3 and 6 MiB */
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/* ---- failures */

START_TEST(damaged_inputs_follow_the_policy)
{
    enum { LENGTH = 200 };
    struct numbers numbers = {.length = LENGTH, .width = WIDTH};
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        struct user user = {.damaged = true, .status = LX_ERR_CORRUPT};
        lx_source *source = map_source(&numbers, &user);
        struct setup setup = {.batch_size = 32, .threads = threads, .damage = LX_DAMAGE_SKIP};
        lx_loader *loader = open_loader(source, setup);
        uint64_t count = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
            for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, count++) {
                const uint64_t *got = seen_of(batch, i);
                ck_assert_uint_ne(got[3] % 5, 2);
                ck_assert_uint_eq(got[0], lx_batch_get_indices(batch)[i]);
                ck_assert_uint_eq(got[1], got[0]);
                ck_assert_uint_eq(got[4], sum_of(got[0]));
            }
        ck_assert_uint_eq(count, LENGTH - LENGTH / 5);
        lx_loader_close(loader);
        setup.damage = LX_DAMAGE_ZEROS;
        loader = open_loader(source, setup);
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
            for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++) {
                uint64_t index = lx_batch_get_indices(batch)[i];
                ck_assert_uint_eq(seen_of(batch, i)[4], index % 5 == 2 ? 0 : sum_of(index));
            }
        lx_loader_close(loader);
        lx_source_unref(source);
    }
}
END_TEST

START_TEST(failures_name_the_record)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 20, .width = WIDTH};
    struct user user = {.damaged = true, .status = LX_ERR_LIMIT};
    lx_source *source = map_source(&numbers, &user);
    seen got[3];
    const uint64_t indices[] = {11, 12, 13};
    ck_assert_int_eq(lx_source_fill(source, indices, 3, &(lx_target){got, sizeof *got}, &error),
                     LX_ERR_LIMIT);
    ck_assert_uint_eq(error.record, 12);
    ck_assert_str_eq(error.field, "image");
    ck_assert_ptr_nonnull(strstr(error.message, "a bad picture"));
    lx_source_unref(source);
}
END_TEST

static lx_status refuse(const lx_samples *samples, const lx_column *inputs,
                        const lx_target *outputs, void *worker, void *user, lx_error *error)
{
    (void)inputs, (void)outputs, (void)worker, (void)user;
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "a bad picture");
    lx_error_locate(error, NULL, "data", samples->indices[0], LX_NONE);
    return status;
}

/** A source of files in a folder, which are empty. */
static lx_source *empty_files(const char *folder, const char *const *names, size_t count)
{
    static const lx_column_info data = {.name = "data", .dtype = LX_BYTES};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    mkdir(folder, 0700);
    for (size_t i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        fclose(fopen(path, "w"));
    }
    unit_ok(lx_source_open_files(folder, names, count, &data, &source, &error));
    return source;
}

/* A subset of two folders, zipped with numbers, which are the first input. */
START_TEST(failures_name_the_file)
{
    static const char *const names[] = {"x", "y", "z"};
    static const char *const inputs[] = {"label", "data"};
    static const uint64_t backwards[] = {4, 3, 2, 1, 0};
    static const struct {
        const char *path;
        uint64_t record;
    } right[] = {{"two/z", 2}, {"two/y", 1}, {"two/x", 0}, {"one/y", 1}, {"one/x", 0}};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct numbers numbers = {.length = 5, .width = WIDTH};
    lx_source *parts[] = {empty_files("one", names, 2), empty_files("two", names, 3)};
    lx_source *both_folders, *subset, *map, *zipped[2] = {numbers_source(&numbers)};
    lx_source_options options = {.map = refuse};
    unit_ok(lx_source_new_concat(parts, 2, &both_folders, &error));
    unit_ok(lx_source_new_subset(both_folders, backwards, 5, &zipped[1], &error));
    unit_ok(lx_source_new_zip(zipped, NULL, 2, &subset, &error));
    unit_ok(lx_source_new_map(subset, inputs, 2, &seen_column, 1, &options, &map, &error));
    for (uint64_t i = 0; i < 5; i++) {
        seen got;
        const lx_target targets[] = {{NULL, 0}, {&got, sizeof got}};
        ck_assert_int_eq(lx_source_fill(map, &i, 1, targets, &error), LX_ERR_CORRUPT);
        ck_assert_str_eq(error.path + strlen(error.path) - strlen(right[i].path), right[i].path);
        ck_assert_uint_eq(error.record, right[i].record);
        ck_assert_str_eq(error.field, "data");
        lx_error_clear(&error);
    }
    lx_source *const all[] = {parts[0], parts[1], both_folders, zipped[0], zipped[1], subset, map};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        lx_source_unref(all[i]);
    scratch_remove(scratch);
}
END_TEST

START_TEST(states_distinguish_maps)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = WIDTH};
    struct user user = {0};
    char text[4096];
    lx_source *part = numbers_source(&numbers), *one, *same, *other;
    unit_ok(new_map(part, &user, "scale 1", &one, &error));
    unit_ok(new_map(part, &user, "scale 1", &same, &error));
    unit_ok(new_map(part, &user, "scale 2", &other, &error));
    unit_ok(lx_source_save(one, text, sizeof text, NULL, &error));
    unit_ok(lx_source_match(same, text, false, &error));
    unit_fails(lx_source_match(other, text, false, &error), LX_ERR_MISMATCH);
    lx_source_unref(one);
    lx_source_unref(same);
    lx_source_unref(other);
    lx_source_unref(part);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = WIDTH};
    struct user user = {0};
    lx_source *part = numbers_source(&numbers), *map;
    lx_source_options options = {.map = look, .release = release, .user = &user}, none = {0};
    static const char *const unknown[] = {"label", "picture"}, *const twice[] = {"label", "label"};
    static const char *const label[] = {"label"};
    static const lx_column_info bytes = {.name = "seen", .dtype = LX_BYTES};
    static const lx_column_info image = {.name = "image", .dtype = LX_UINT8};
    unit_fails(lx_source_new_map(part, unknown, 2, &seen_column, 1, &options, &map, &error),
               LX_ERR_NOT_FOUND);
    unit_fails(lx_source_new_map(part, twice, 2, &seen_column, 1, &options, &map, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_source_new_map(part, both, 2, &bytes, 1, &options, &map, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_source_new_map(part, label, 1, &image, 1, &options, &map, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_source_new_map(part, both, 0, &seen_column, 1, &options, &map, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_source_new_map(part, both, 2, &seen_column, 0, &options, &map, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_source_new_map(part, both, 2, &seen_column, 1, &none, &map, &error),
               LX_ERR_ARGUMENT);
    options.identity = "\xff";
    unit_fails(lx_source_new_map(part, both, 2, &seen_column, 1, &options, &map, &error),
               LX_ERR_ARGUMENT);
    ck_assert_ptr_null(map);
    unit_refuses_null(lx_source_new_map(NULL, both, 2, &seen_column, 1, &options, &map, &error),
                      "part");
    unit_refuses_null(lx_source_new_map(part, NULL, 2, &seen_column, 1, &options, &map, &error),
                      "inputs");
    unit_refuses_null(lx_source_new_map(part, both, 2, NULL, 1, &options, &map, &error), "outputs");
    unit_refuses_null(lx_source_new_map(part, both, 2, &seen_column, 1, &options, NULL, &error),
                      "source");
    unit_refuses_null(lx_source_options_set_map(NULL, look, NULL, &error), "options");
    unit_refuses_null(lx_source_options_set_map(&options, NULL, NULL, &error), "map");
    unit_refuses_null(lx_source_options_set_worker(NULL, new_worker, free_worker, &error),
                      "options");
    unit_refuses_null(lx_source_options_set_worker(&options, NULL, free_worker, &error),
                      "new_worker");
    unit_refuses_null(lx_source_options_set_worker(&options, new_worker, NULL, &error),
                      "free_worker");
    lx_source_unref(part);
    ck_assert_uint_eq(user.released, 0);
}
END_TEST

START_TEST(survives_failing_allocations)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = WIDTH};
    struct user user = {0};
    lx_source *part = numbers_source(&numbers), *map;
    lx_status status = LX_ERR_NOMEM;
    int left = 0;
    for (; status != LX_OK; left++) {
        seen got;
        const uint64_t index = 3;
        lx_error_clear(&error);
        scarce_begin(left);
        status = new_map(part, &user, "x", &map, &error);
        if (status == LX_OK)
            status = lx_source_fill(map, &index, 1, &(lx_target){&got, sizeof got}, &error);
        lx_source_unref(map);
        user.released = 0;
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    ck_assert_int_gt(left, 15);
    lx_source_unref(part);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

UNIT_MAIN("loader/sources/source-map", computes_columns, passes_places_on,
          passes_places_through_other_sources, reads_inputs_that_vary_in_size_or_are_missing,
          records_without_one_of_the_inputs_are_missing, bounds_the_memory_of_inputs,
          damaged_inputs_follow_the_policy, failures_name_the_record, failures_name_the_file,
          states_distinguish_maps, rejects_invalid_arguments, survives_failing_allocations)
