/* SPDX-License-Identifier: MIT */
/* Datasets read through the cache, or through memory, from a directory. */
#include "../zrecord/joined.h"
#include "../zrecord/placed.h"

#include <glob.h>
#include <pthread.h>
#include <sys/stat.h>

#include <loaderx/hooks.h>
#include <loaderx/remote.h>

#define LENGTH 700

/** A dataset and what to read it with. */
struct place {
    char *scratch;
    char path[300], url[400], cache[300];
};

static struct place make_place(void)
{
    struct place place = {.scratch = scratch_make()};
    snprintf(place.path, sizeof place.path, "%s/set", place.scratch);
    snprintf(place.url, sizeof place.url, "file://%s", place.path);
    snprintf(place.cache, sizeof place.cache, "%s/cache", place.scratch);
    records_make_sealed(place.path, LENGTH);
    return place;
}

static lx_remote_options *options_of(const struct place *place, bool cached, uint64_t limit)
{
    lx_error error = LX_ERROR_INIT;
    lx_remote_options *options = lx_remote_options_new();
    unit_ok(lx_remote_options_set_cache(options, cached ? place->cache : NULL, limit, &error));
    unit_ok(lx_remote_options_set_patience(options, 0, &error));
    return options;
}

static lx_status try_open(const struct place *place, bool cached, uint64_t limit,
                          lx_dataset **dataset, lx_error *error)
{
    lx_remote_options *options = options_of(place, cached, limit);
    lx_status status = lx_remote_open(place->url, options, NULL, dataset, error);
    lx_remote_options_free(options);
    return status;
}

static lx_dataset *open_place(const struct place *place, bool cached, uint64_t limit)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(try_open(place, cached, limit, &dataset, &error));
    return dataset;
}

static lx_remote_stats stats_of(lx_dataset *dataset)
{
    lx_error error = LX_ERROR_INIT;
    lx_remote_stats stats;
    unit_ok(lx_remote_get_stats(dataset, &stats, &error));
    return stats;
}

static void end_place(struct place *place)
{
    scratch_remove(place->scratch);
}

/** Compares random reads of each field with those from the directory itself. */
static void compare(const struct place *place, lx_dataset *dataset, uint64_t seed)
{
    uint64_t indices[300];
    lx_dataset *local = open_dataset(place->path);
    for (size_t field = 0; field < FIELDS; field++) {
        size_t count = (size_t)(mix(seed + field) % 300);
        for (size_t i = 0; i < count; i++)
            indices[i] = mix(seed * 100 + field * 1000 + i) % LENGTH;
        const lx_field *shown = lx_schema_get_field(lx_dataset_get_schema(local), field);
        struct answers *right = ask(local, field, indices, count);
        struct answers *got = ask(dataset, field, indices, count);
        expect_same_answers(right, got, count, shown->size != LX_NONE ? (size_t)shown->size : 0);
        answers_free(right);
        answers_free(got);
    }
    lx_dataset_close(local);
}

START_TEST(reads_the_same_records)
{
    struct place place = make_place();
    for (int cached = 0; cached < 2; cached++) {
        lx_dataset *dataset = open_place(&place, cached, LX_NONE);
        ck_assert_int_eq(lx_dataset_get_access(dataset), LX_ACCESS_PREAD);
        ck_assert_str_eq(lx_dataset_get_network(dataset), "file");
        for (uint64_t seed = 0; seed < 20; seed++)
            compare(&place, dataset, seed);
        expect_records(dataset, LENGTH);
        lx_remote_stats stats = stats_of(dataset);
        ck_assert_uint_gt(stats.requests, 2);
        ck_assert_uint_eq(stats.retries, 0);
        ck_assert_uint_eq(stats.replaced_bytes, 0);
        if (cached)
            ck_assert_uint_gt(stats.stored_bytes, 0);
        else
            ck_assert_uint_eq(stats.stored_bytes + stats.cached_bytes, 0);
        lx_dataset_close(dataset);
    }
    end_place(&place);
}
END_TEST

START_TEST(fetches_once)
{
    struct place place = make_place();
    lx_dataset *first = open_place(&place, true, LX_NONE), *second;
    expect_records(first, LENGTH);
    uint64_t requests = stats_of(first).requests;
    expect_records(first, LENGTH);
    ck_assert_uint_eq(stats_of(first).requests, requests);
    for (int with_first = 1; with_first >= 0; with_first--) {
        second = open_place(&place, true, LX_NONE);
        expect_records(second, LENGTH);
        ck_assert_uint_eq(stats_of(second).requests, 2); /* meta.json and LOG */
        lx_dataset_close(second);
        if (with_first)
            lx_dataset_close(first);
    }
    end_place(&place);
}
END_TEST

START_TEST(passes_what_the_cache_does_not_admit)
{
    struct place place = make_place();
    uint64_t tables = FIELDS * LENGTH * 24;
    lx_dataset *dataset = open_place(&place, true, tables + (100 << 10));
    for (int i = 0; i < 2; i++)
        expect_records(dataset, LENGTH);
    ck_assert_uint_le(stats_of(dataset).stored_bytes, tables + (100 << 10));
    lx_dataset_close(dataset);
    end_place(&place);
}
END_TEST

START_TEST(fetches_chunks_in_parts)
{
    struct place place = {.scratch = scratch_make()};
    lx_error error = LX_ERROR_INIT;
    lx_dataset_identity identity;
    char path[600];
    snprintf(place.path, sizeof place.path, "%s/set", place.scratch);
    snprintf(place.url, sizeof place.url, "file://%s", place.path);
    snprintf(place.cache, sizeof place.cache, "%s/cache", place.scratch);
    records_make_joined(place.path, LENGTH);
    for (int cached = 0; cached < 2; cached++) {
        lx_dataset *dataset = open_place(&place, cached != 0, LX_NONE);
        uint64_t opened = stats_of(dataset).bytes;
        expect_value(dataset, IMAGE, 0);
        ck_assert_uint_lt(stats_of(dataset).bytes - opened, file_size(in(place.path, OUTER)) / 2);
        expect_records(dataset, LENGTH);
        lx_dataset_close(dataset);
    }
    lx_dataset *again = open_place(&place, true, LX_NONE);
    uint64_t opened = stats_of(again).bytes;
    expect_records(again, LENGTH);
    ck_assert_uint_eq(stats_of(again).bytes, opened);
    lx_dataset_get_identity(again, &identity);
    lx_dataset_close(again);
    snprintf(path, sizeof path, "%s/%s/chunk/part~b~part~x~chunk~0.zr", place.cache, identity.uuid);
    ck_assert(file_exists(path));
    joined_move(place.path, "part/b", "part/moved"); /* the cache has what is missing */
    again = open_place(&place, true, LX_NONE);
    expect_records(again, LENGTH);
    lx_dataset_close(again);
    again = open_place(&place, false, 0);
    lx_status status = lx_dataset_verify(again, NULL, NULL, NULL, NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "not found", "set/part/b");
    lx_dataset_close(again);
    end_place(&place);
}
END_TEST

START_TEST(refuses)
{
    struct place place = make_place();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_fails(try_open(&place, true, 1000, &dataset, &error), LX_ERR_LIMIT);
    records_unseal(place.path);
    unit_fails(try_open(&place, true, LX_NONE, &dataset, &error), LX_ERR_UNSUPPORTED);
    strcat(place.url, "-not");
    unit_fails(try_open(&place, false, LX_NONE, &dataset, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_remote_open("gopher://x/y", NULL, NULL, &dataset, &error), LX_ERR_UNSUPPORTED);
    unit_fails(lx_remote_open(NULL, NULL, NULL, &dataset, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_remote_open("x", NULL, NULL, NULL, &error), LX_ERR_ARGUMENT);
    end_place(&place);
}
END_TEST

START_TEST(refuses_caches_of_others)
{
    struct place place = make_place();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    ck_assert_int_eq(mkdir(place.cache, 0700), 0);
    ck_assert_int_eq(chmod(place.cache, 0777), 0);
    unit_fails(try_open(&place, true, LX_NONE, &dataset, &error), LX_ERR_STATE);
    end_place(&place);
}
END_TEST

START_TEST(children_read_for_themselves)
{
    struct place place = make_place();
    for (int cached = 0; cached < 2; cached++) {
        lx_dataset *dataset = open_place(&place, cached, LX_NONE);
        uint8_t value[VALUE_MAX], right[VALUE_MAX];
        uint64_t size, index = 5;
        bool there;
        lx_error error = LX_ERROR_INIT;
        unit_ok(read_value(dataset, LABEL, 0, value, &size, &there, &error));
        if (unit_in_child()) {
            for (index = 0; index < LENGTH; index++) {
                uint64_t wanted = record_value(LABEL, index, right);
                if (lx_dataset_gather(dataset, LABEL, &index, 1, value, 8, NULL) != LX_OK ||
                    (wanted != LX_NONE && memcmp(value, right, 8) != 0))
                    _exit(1);
            }
            lx_dataset_close(dataset);
            _exit(0);
        }
        expect_records(dataset, LENGTH);
        lx_dataset_close(dataset);
    }
    end_place(&place);
}
END_TEST

static void *read_all(void *user)
{
    expect_records(user, LENGTH);
    return NULL;
}

START_TEST(threads_share_a_handle)
{
    struct place place = make_place();
    for (int cached = 0; cached < 2; cached++) {
        pthread_t threads[4];
        lx_dataset *dataset = open_place(&place, cached, LX_NONE);
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, read_all, dataset), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        lx_dataset_close(dataset);
    }
    end_place(&place);
}
END_TEST

/** Fills each page of the cached files in a folder, whose entries stay, with zeros. */
static void punch(const struct place *place, const char *folder)
{
    static const uint8_t zeros[4096];
    glob_t files;
    char pattern[1500];
    snprintf(pattern, sizeof pattern, "%s/*/%s/*", place->cache, folder);
    ck_assert_int_eq(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        for (uint64_t at = 4096, end = file_size(files.gl_pathv[i]); at < end; at += 4096)
            file_patch(files.gl_pathv[i], at, zeros, end - at < 4096 ? end - at : 4096);
    globfree(&files);
}

/** Flips a bit in each page of the cached chunk, whose entries stay. */
static void spoil(const struct place *place)
{
    glob_t files;
    char pattern[1500];
    snprintf(pattern, sizeof pattern, "%s/*/chunk/*", place->cache);
    ck_assert_int_eq(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *file = fopen(files.gl_pathv[i], "r+b");
        ck_assert_ptr_nonnull(file);
        for (long at = 4096 + 100; fseek(file, at, SEEK_SET) == 0; at += 4096) {
            int byte = fgetc(file);
            if (byte == EOF)
                break;
            ck_assert_int_eq(fseek(file, at, SEEK_SET), 0);
            ck_assert_int_eq(fputc(byte ^ 1, file), byte ^ 1);
        }
        ck_assert_int_eq(fclose(file), 0);
    }
    globfree(&files);
}

START_TEST(fetches_damaged_pages_again)
{
    struct place place = make_place();
    lx_dataset *dataset = open_place(&place, true, LX_NONE);
    expect_records(dataset, LENGTH);
    lx_dataset_close(dataset);
    spoil(&place);
    dataset = open_place(&place, true, LX_NONE);
    expect_records(dataset, LENGTH);
    ck_assert_uint_gt(stats_of(dataset).requests, 2);
    lx_dataset_close(dataset);
    end_place(&place);
}
END_TEST

static int warned;

static void hear(lx_log_level level, const char *message, void *user)
{
    warned += level == LX_LOG_WARNING && strstr(message, user) != NULL &&
              strstr(message, "the cache has lost") != NULL;
}

/** Also of fields that may have missing values, as which rows of zeros read. */
START_TEST(fetches_holes_in_the_cache_again)
{
    static const char *const folders[] = {"tables.*", "chunk"};
    struct place place = make_place();
    lx_dataset *dataset = open_place(&place, true, LX_NONE);
    expect_records(dataset, LENGTH);
    lx_dataset_close(dataset);
    for (int i = 0; i < 2; i++) {
        punch(&place, folders[i]);
        warned = 0;
        lx_set_log_hook(hear, place.cache);
        dataset = open_place(&place, true, LX_NONE);
        expect_records(dataset, LENGTH);
        lx_set_log_hook(NULL, NULL);
        ck_assert_int_ge(warned, i == 0); /* the checksums of values tell about chunks */
        punch(&place, folders[i]);        /* while it is open */
        for (uint64_t index = 0; index < LENGTH; index++)
            expect_value(dataset, LABEL, index);
        lx_dataset_close(dataset);
    }
    end_place(&place);
}
END_TEST

START_TEST(reports_files_of_other_lengths)
{
    struct place place = make_place();
    lx_error error = LX_ERROR_INIT;
    uint8_t value[VALUE_MAX];
    uint64_t size;
    bool there;
    char chunk[400];
    snprintf(chunk, sizeof chunk, "%s/chunk/0.zr", place.path);
    file_cut(chunk, file_size(chunk) - 1);
    lx_dataset *dataset = open_place(&place, false, LX_NONE);
    lx_status status = LX_OK;
    for (uint64_t index = 0; status == LX_OK && index < LENGTH; index++)
        status = read_value(dataset, IMAGE, index, value, &size, &there, &error);
    ck_assert_int_eq(status, LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "are committed"));
    ck_assert_ptr_nonnull(strstr(error.path, "chunk/0.zr"));
    lx_dataset_close(dataset);
    end_place(&place);
}
END_TEST

UNIT_MAIN("remote/remote-open", reads_the_same_records, fetches_once,
          passes_what_the_cache_does_not_admit, fetches_chunks_in_parts, refuses,
          refuses_caches_of_others, children_read_for_themselves, threads_share_a_handle,
          fetches_damaged_pages_again, fetches_holes_in_the_cache_again,
          reports_files_of_other_lengths)
