/* SPDX-License-Identifier: MIT */
/* A trace contains what each thread of a loader did, and its file is complete or absent. */
#include "loader/trace.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../evict.h"
#include "../sampler/orders.h"
#include "../zrecord/records.h"
#include "loader/loader-private.h"
#include "loaders.h"

#define LENGTH 1000

static lx_trace *new_trace(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_trace *trace;
    unit_ok(lx_trace_new(&trace, &error));
    return trace;
}

static void set(lx_loader *loader, lx_trace *trace)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_loader_set_trace(loader, trace, &error));
}

/** Writes the trace and parses the file. */
static json_t *write_trace(lx_trace *trace)
{
    lx_error error = LX_ERROR_INIT;
    json_error_t wrong;
    unit_ok(lx_trace_write(trace, "trace.json", &error));
    json_t *file = json_load_file("trace.json", JSON_REJECT_DUPLICATES, &wrong);
    ck_assert_msg(file != NULL, "line %d: %s", wrong.line, wrong.text);
    return file;
}

static const char *text_of(const json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

static uint64_t argument(const json_t *event, const char *key)
{
    const json_t *number = json_object_get(json_object_get(event, "args"), key);
    ck_assert_msg(json_is_integer(number), "no %s", key);
    return (uint64_t)json_integer_value(number);
}

static double time_of(const json_t *event, const char *key)
{
    const json_t *number = json_object_get(event, key);
    ck_assert_msg(json_is_real(number) && json_real_value(number) >= 0, "no %s", key);
    return json_real_value(number);
}

/** What a trace says of all spans of a name. */
struct sum {
    uint64_t spans, records, bytes;
};

static struct sum sum_up(const json_t *file, const char *name)
{
    struct sum sum = {0};
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(file, "traceEvents"), i, event)
    {
        if (strcmp(text_of(event, "name"), name) != 0)
            continue;
        ck_assert_str_eq(text_of(event, "ph"), "X");
        sum.spans++;
        sum.records += argument(event, "records");
        sum.bytes += argument(event, "bytes");
    }
    return sum;
}

/** Spans of a thread are nested or follow each other; each thread has a name. */
static void check_threads(const json_t *file)
{
    const json_t *events = json_object_get(file, "traceEvents");
    size_t i, k;
    json_t *a, *b;
    json_array_foreach(events, i, a)
    {
        bool named = strcmp(text_of(a, "ph"), "X") != 0;
        json_array_foreach(events, k, b)
        {
            const char *kind = text_of(b, "ph");
            if (named || !json_equal(json_object_get(a, "tid"), json_object_get(b, "tid")))
                continue;
            if (strcmp(kind, "M") == 0) {
                named = true;
                break;
            }
        }
        ck_assert_msg(named, "a thread has no name");
        if (strcmp(text_of(a, "ph"), "X") != 0)
            continue;
        double begin = time_of(a, "ts"), end = begin + time_of(a, "dur");
        for (k = i + 1; (b = json_array_get(events, k)) != NULL; k++) {
            if (strcmp(text_of(b, "ph"), "X") != 0 ||
                !json_equal(json_object_get(a, "tid"), json_object_get(b, "tid")))
                continue;
            double first = time_of(b, "ts"), last = first + time_of(b, "dur"), e = 0.002;
            ck_assert_msg(last <= begin + e || end <= first + e || /* apart */
                              (first <= begin + e && end <= last + e) ||
                              (begin <= first + e && last <= end + e),
                          "%s and %s overlap", text_of(a, "name"), text_of(b, "name"));
        }
    }
}

static void take(lx_loader *loader, int count)
{
    for (int i = 0; i < count; i++)
        lx_batch_unref(next_batch(loader));
}

static lx_status transform_nothing(lx_batch *batch, void *user, lx_error *error)
{
    (void)batch, (void)user, (void)error;
    return LX_OK;
}

START_TEST(spans_add_up_to_the_batches)
{
    char *scratch = scratch_make();
    for (uint32_t threads = 0; threads < 3; threads++) {
        struct numbers numbers = {.length = LENGTH, .width = 4096};
        lx_loader *loader = open_numbers(
            &numbers,
            (struct setup){.batch_size = 64, .threads = threads, .transform = transform_nothing});
        lx_trace *trace = new_trace();
        set(loader, trace);
        take(loader, 17); /* the last one is NULL */
        lx_loader_close(loader);
        json_t *file = write_trace(trace);
        lx_trace_unref(trace);
        check_threads(file);
        struct sum read = sum_up(file, "read"), transform = sum_up(file, "transform");
        struct sum wait = sum_up(file, "wait"), consumer = sum_up(file, "consumer");
        ck_assert_uint_eq(read.records, LENGTH);
        ck_assert_uint_eq(read.bytes, LENGTH * (8 + 4096));
        ck_assert_uint_ge(read.spans, 16);
        ck_assert_uint_eq(transform.spans, 16);
        ck_assert_uint_eq(transform.records, LENGTH);
        ck_assert_uint_eq(wait.records, LENGTH);
        ck_assert_uint_eq(consumer.spans, 16);
        ck_assert_uint_eq(sum_up(file, "read ahead").spans, 0);
        json_decref(file);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(counts_batches_in_preparation)
{
    char *scratch = scratch_make();
    struct numbers numbers = {.length = LENGTH, .width = 4096};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 64, .threads = 1});
    lx_trace *trace = new_trace();
    set(loader, trace);
    take(loader, 17);
    json_t *file = write_trace(trace), *event;
    size_t i, counts = 0;
    uint64_t most = 0;
    json_array_foreach(json_object_get(file, "traceEvents"), i, event)
    {
        if (strcmp(text_of(event, "ph"), "C") != 0)
            continue;
        uint64_t batches = argument(event, "ready") + argument(event, "in preparation");
        ck_assert_str_eq(text_of(event, "name"), "batches of loader 0");
        most = batches > most ? batches : most;
        counts++;
    }
    ck_assert_uint_eq(counts, 17);
    ck_assert_uint_eq(most, 4); /* for each thread */
    json_decref(file);
    lx_trace_unref(trace);
    lx_loader_close(loader);
    scratch_remove(scratch);
}
END_TEST

START_TEST(continues_across_seeks_until_it_is_ended)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = LENGTH, .width = 8};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 10});
    lx_trace *trace = new_trace();
    take(loader, 3);
    set(loader, trace);
    take(loader, 2);
    unit_ok(lx_loader_seek(loader, 500, &error));
    take(loader, 4);
    for (int i = 0; i < 2; i++) { /* a trace can be written several times */
        json_t *file = write_trace(trace);
        ck_assert_uint_eq(sum_up(file, "wait").records, 60);
        ck_assert_uint_eq(sum_up(file, "consumer").spans, 5);
        json_decref(file);
    }
    set(loader, NULL);
    take(loader, 5);
    set(loader, trace); /* as another loader */
    take(loader, 1);
    lx_loader_close(loader);
    json_t *file = write_trace(trace);
    ck_assert_uint_eq(sum_up(file, "wait").records, 70);
    const json_t *events = json_object_get(file, "traceEvents");
    const json_t *last = json_array_get(events, json_array_size(events) - 2);
    ck_assert_str_eq(text_of(last, "name"), "wait");
    ck_assert_uint_eq(argument(last, "loader"), 1);
    ck_assert_uint_eq(argument(last, "position"), 590);
    json_decref(file);
    lx_trace_unref(trace);
    scratch_remove(scratch);
}
END_TEST

START_TEST(includes_reading_ahead)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const fields[] = {"wave", "label"};
    records_make_sealed("d", 3000);
    lx_order *order = make_order("shuffle", 3000, 3, 0);
    if (evict("d")) {
        lx_source *source;
        unit_ok(lx_source_open("d", NULL, &source, &error));
        lx_loader *loader = open_loader(source, (struct setup){.batch_size = 16,
                                                               .threads = 1,
                                                               .order = order,
                                                               .fields = fields,
                                                               .field_count = 2});
        lx_trace *trace = new_trace();
        set(loader, trace);
        take(loader, 20);
        json_t *file = write_trace(trace);
        ck_assert_uint_gt(sum_up(file, "read ahead").records, 0);
        check_threads(file);
        json_decref(file);
        lx_trace_unref(trace);
        lx_loader_close(loader);
        lx_source_unref(source);
    }
    lx_order_unref(order);
    scratch_remove(scratch);
}
END_TEST

START_TEST(drops_and_counts_what_does_not_fit)
{
    char *scratch = scratch_make();
    const lx__span span = {.name = "read", .begin = 5000001, .end = 7000011};
    lx_trace *trace = new_trace();
    lx__tracer tracer = {NULL, 0};
    lx__tracer_add(&tracer, &span); /* off */
    lx__tracer_set(&tracer, trace);
    for (int i = 0; i < LX_MAX_TRACE_SPANS + 3; i++)
        lx__tracer_add(&tracer, &span);
    lx__tracer_set(&tracer, NULL);
    json_error_t wrong;
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_trace_write(trace, "trace.json", &error));
    FILE *file = fopen("trace.json", "r");
    ck_assert_ptr_nonnull(file);
    char line[512], first[512];
    size_t lines = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (lines++ == 3)
            strcpy(first, line);
        else if (lines == 1)
            ck_assert_ptr_nonnull(strstr(line, "{\"dropped\":3}"));
    }
    fclose(file);
    ck_assert_uint_eq(lines, 4 + LX_MAX_TRACE_SPANS); /* 2 lines name the process and the thread */
    json_t *event = json_loadb(first, strlen(first) - 2, 0, &wrong);
    ck_assert_ptr_nonnull(event);
    ck_assert_double_eq_tol(time_of(event, "ts"), 5000.001, 1e-6);
    ck_assert_double_eq_tol(time_of(event, "dur"), 2000.010, 1e-6);
    json_decref(event);
    lx_trace_unref(trace);
    scratch_remove(scratch);
}
END_TEST

static void *trace_in_between(void *user)
{
    lx_loader *loader = user;
    for (int i = 0; i < 20; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_trace *trace = new_trace();
        set(loader, trace);
        unit_ok(lx_trace_write(trace, "trace.json", &error));
        lx_trace_unref(trace); /* the loader has a reference */
    }
    set(loader, NULL);
    return NULL;
}

START_TEST(can_begin_and_end_while_batches_are_taken)
{
    char *scratch = scratch_make();
    struct numbers numbers = {.length = LENGTH, .width = 4096};
    lx_loader *loader =
        open_numbers(&numbers, (struct setup){.batch_size = 64, .threads = 2, .endless = true});
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, trace_in_between, loader), 0);
    for (int i = 0; i < 200; i++) {
        lx_batch *batch = next_batch(loader);
        check_numbers(batch);
        lx_batch_unref(batch);
    }
    pthread_join(thread, NULL);
    lx_loader_close(loader);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_write_changes_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_trace *trace = new_trace();
    json_decref(write_trace(trace)); /* an empty one */
    unit_fails(lx_trace_write(trace, "absent/trace.json", &error), LX_ERR_NOT_FOUND);
    ck_assert_int_eq(mkdir("folder", 0777), 0);
    unit_fails(lx_trace_write(trace, "folder", &error), LX_ERR_EXISTS);
    unit_fails(lx_trace_write(trace, "/dev/null", &error), LX_ERR_EXISTS);
    ck_assert_int_eq(symlink("trace.json", "link"), 0);
    unit_ok(lx_trace_write(trace, "link", &error));
    struct stat about;
    ck_assert(lstat("link", &about) == 0 && S_ISLNK(about.st_mode));
    lx_trace_unref(trace);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_child_can_trace_only_its_own_loaders)
{
    char *scratch = scratch_make();
    struct numbers numbers = {.length = LENGTH, .width = 4096};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 64, .threads = 1});
    lx_trace *trace = new_trace();
    set(loader, trace);
    take(loader, 3);
    if (unit_in_child()) {
        bool right = lx_loader_set_trace(loader, NULL, NULL) == LX_ERR_FORKED &&
                     lx_trace_write(trace, "child.json", NULL) == LX_OK;
        lx_loader_close(loader);
        lx_trace_unref(trace);
        _exit(right ? 0 : 1);
    }
    take(loader, 14);
    lx_loader_close(loader);
    json_t *file = write_trace(trace);
    ck_assert_uint_eq(sum_up(file, "wait").records, LENGTH);
    json_decref(file);
    lx_trace_unref(trace);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    lx_trace *trace = new_trace();
    unit_refuses_null(lx_trace_new(NULL, &error), "trace");
    unit_refuses_null(lx_trace_write(NULL, "x", &error), "trace");
    unit_refuses_null(lx_trace_write(trace, NULL, &error), "path");
    unit_refuses_null(lx_loader_set_trace(NULL, trace, &error), "loader");
    lx_trace_unref(lx_trace_ref(trace));
    lx_trace_unref(trace);
    lx_trace_unref(NULL);
}
END_TEST

UNIT_MAIN("loader/trace", spans_add_up_to_the_batches, counts_batches_in_preparation,
          continues_across_seeks_until_it_is_ended, includes_reading_ahead,
          drops_and_counts_what_does_not_fit, can_begin_and_end_while_batches_are_taken,
          a_failed_write_changes_nothing, a_child_can_trace_only_its_own_loaders,
          rejects_null_by_name)
