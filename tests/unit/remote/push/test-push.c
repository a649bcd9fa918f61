/* SPDX-License-Identifier: MIT */
/* A push publishes a snapshot, and continues where an earlier one ended, in a store that fails. */
#include "remote/push/push.h"

#include <loaderx/remote.h>

#include "../../zrecord/harm.h"
#include "fake-store.h"
#include "zrecord/read/refresh.h"

#define COUNT 400
#define PART ((size_t)1000)
#define PATIENCE ((uint64_t)30 * 1000000000)

/** What a push did. */
struct result {
    lx_status status;
    uint64_t sent, done, total;
    unsigned requests;
    lx_error error;
};

/** The bytes at which the progress function stops the push. */
struct limit {
    struct result *result;
    uint64_t most;
};

static lx_status advance(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    struct limit *limit = user;
    (void)error;
    ck_assert(done >= limit->result->done && done <= total);
    limit->result->done = done;
    limit->result->total = total;
    return done < limit->most ? LX_OK : LX_ERR_CANCELED;
}

static struct result push_with(struct store *store, const char *path, bool replace, uint64_t most,
                               uint64_t patience)
{
    struct result result = {.error = LX_ERROR_INIT};
    struct limit limit = {&result, most};
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx__snapshot *snapshot;
    lx__target target;
    unsigned before = atomic_load(&store->requests);
    unit_ok(open_as(path, LX_VERIFY_ALWAYS, false, &dataset, &error));
    unit_ok(lx__dataset_pin_newest(dataset, &snapshot, &error));
    store_open(store, store->connections, patience, &target);
    result.status = lx__push(&target, snapshot, replace, advance, &limit, &result.sent,
                             &result.error);
    lx__target_close(&target);
    lx__snapshot_unref(snapshot);
    lx_dataset_close(dataset);
    result.requests = atomic_load(&store->requests) - before;
    return result;
}

static struct result push(struct store *store, const char *path)
{
    return push_with(store, path, false, UINT64_MAX, PATIENCE);
}

static void must_push(struct store *store, const char *path)
{
    struct result result = push(store, path);
    char text[2048];
    lx_error_describe(&result.error, text, sizeof text);
    ck_assert_msg(result.status == LX_OK, "%s", text);
    ck_assert_uint_eq(result.done, result.total);
}

static void expect_failure(struct result result, lx_status status, const char *message)
{
    ck_assert_int_eq(result.status, status);
    ck_assert_msg(strstr(result.error.message, message) != NULL, "'%s' is not in '%s'", message,
                  result.error.message);
}

/** Copies what the store has to a directory. */
static void save(struct store *store, const char *path)
{
    char name[600];
    snprintf(name, sizeof name, "rm -rf %s && mkdir -p %s/chunk", path, path);
    ck_assert_int_eq(system(name), 0);
    for (size_t i = 0; i < store->count; i++) {
        snprintf(name, sizeof name, "%s/%s", path, store->files[i].name);
        file_put(name, store->files[i].data, store->files[i].size);
    }
}

/** What the store has must be the dataset @p path, which has @p count records. */
static void expect_published(struct store *store, const char *path, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *here, *there;
    lx_dataset_identity a, b;
    ck_assert_ptr_null(store_find(store, "meta.json.new"));
    save(store, "saved");
    unit_ok(open_as(path, LX_VERIFY_ALWAYS, false, &here, &error));
    unit_ok(open_as("saved", LX_VERIFY_ALWAYS, false, &there, &error));
    lx_dataset_get_identity(here, &a);
    lx_dataset_get_identity(there, &b);
    ck_assert(memcmp(&a, &b, sizeof a) == 0);
    expect_records(there, count);
    unit_ok(lx_dataset_verify(there, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(there);
    lx_dataset_close(here);
}

/** No file was sent twice. */
static void expect_sent_once(const struct store *store)
{
    for (size_t i = 0; i < store->count; i++)
        ck_assert_msg(store->files[i].sent == 1, "%s was sent %u times", store->files[i].name,
                      store->files[i].sent);
}

/** Unseals the dataset d, appends records up to @p count, and seals it again. */
static void grow(uint64_t first, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_dataset_unseal("d", &error));
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, count - first);
    unit_ok(lx_writer_seal(writer, &error));
    unit_ok(lx_writer_close(writer, &error));
}

START_TEST(a_push_publishes_the_dataset)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART);
    records_make_sealed("d", COUNT);
    struct result result = push(store, "d");
    ck_assert_int_eq(result.status, LX_OK);
    ck_assert(result.sent == result.total && result.done == result.total);
    expect_published(store, "d", COUNT);
    expect_sent_once(store);
    ck_assert_uint_gt(store_find(store, "chunk/0.zr")->size, 10 * PART);
    /* At most as many requests as there are connections were under way. */
    ck_assert_uint_le(atomic_load(&store->most), store->connections);
    /* Once more: nothing is sent, and there are few requests. */
    result = push(store, "d");
    ck_assert_int_eq(result.status, LX_OK);
    ck_assert(result.sent == 0 && result.done == result.total);
    ck_assert_uint_le(result.requests, 4);
    expect_sent_once(store);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

/* ---- interruptions */

/** Lets all requests fail from the one on whose number is user. */
static lx_status cut_off(struct store *store, const char *request, const char *name, bool after,
                         lx__answer *answer, lx_error *error)
{
    (void)request, (void)name, (void)after;
    const unsigned *from = store->user;
    return atomic_load(&store->requests) <= *from ? LX_OK : store_refuse(answer, error);
}

START_TEST(continues_wherever_it_was_cut_off)
{
    char *scratch = scratch_make();
    records_make_sealed("d", COUNT);
    struct store *whole = store_new(PART);
    unsigned requests = push(whole, "d").requests;
    store_free(whole);
    ck_assert_uint_gt(requests, 30);
    for (unsigned i = 0; i < requests; i += 1 + i / 8) {
        struct store *store = store_new(PART);
        unsigned from = i;
        store->hook = cut_off;
        store->user = &from;
        struct result result = push_with(store, "d", false, UINT64_MAX, 0);
        ck_assert_int_eq(result.status, LX_ERR_IO);
        store->hook = NULL;
        must_push(store, "d");
        expect_published(store, "d", COUNT);
        /* meta.json.new is gone; the others were sent once, also if the first push sent them. */
        expect_sent_once(store);
        /* Its uploads are no longer there. */
        for (size_t j = 0; j < store->upload_count; j++)
            ck_assert_ptr_null(store->uploads[j].data);
        store_free(store);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_progress_function_ends_it)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART);
    records_make_sealed("d", COUNT);
    struct result first = push_with(store, "d", false, 4 * PART, PATIENCE);
    expect_failure(first, LX_ERR_CANCELED, "progress");
    ck_assert(first.sent >= 4 * PART && first.sent < first.total);
    ck_assert_ptr_null(store_find(store, "meta.json"));
    must_push(store, "d");
    expect_published(store, "d", COUNT);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

/** Loses a tenth of the answers, after the request had an effect or before. */
static lx_status lose_answers(struct store *store, const char *request, const char *name,
                              bool after, lx__answer *answer, lx_error *error)
{
    (void)request, (void)name, (void)after;
    atomic_uint *calls = store->user;
    return mix(atomic_fetch_add(calls, 1)) % 10 == 0 ? store_refuse(answer, error) : LX_OK;
}

START_TEST(answers_may_get_lost)
{
    char *scratch = scratch_make();
    atomic_uint calls = 0;
    records_make_sealed("d", 60);
    for (unsigned i = 0; i < 3; i++) {
        struct store *store = store_new(5 * PART);
        atomic_store(&calls, 1000 * i);
        store->hook = lose_answers;
        store->user = &calls;
        must_push(store, "d");
        expect_published(store, "d", 60);
        store_free(store);
    }
    scratch_remove(scratch);
}
END_TEST

/** Loses the first answer to the request that makes a table of its parts. */
static lx_status lose_completion(struct store *store, const char *request, const char *name,
                                 bool after, lx__answer *answer, lx_error *error)
{
    atomic_bool *done = store->user;
    return after && strcmp(request, "complete") == 0 && strcmp(name, "label.check") == 0 &&
                   !atomic_exchange(done, true)
               ? store_refuse(answer, error)
               : LX_OK;
}

START_TEST(a_table_is_read_back_if_the_answer_was_lost)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART / 5);
    atomic_bool done = false;
    records_make_sealed("d", 60);
    store->hook = lose_completion;
    store->user = &done;
    must_push(store, "d");
    ck_assert(atomic_load(&done));
    expect_published(store, "d", 60);
    expect_sent_once(store);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

/* ---- other datasets */

START_TEST(another_dataset_stays)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART);
    records_make_sealed("d", COUNT);
    records_make_sealed("other", 20);
    must_push(store, "d");
    expect_failure(push_with(store, "other", true, UINT64_MAX, PATIENCE), LX_ERR_EXISTS,
                   "another dataset is there");
    expect_published(store, "d", COUNT);
    /* Nor is one disturbed that is being pushed. */
    store_free(store);
    store = store_new(PART);
    push_with(store, "d", false, 4 * PART, PATIENCE);
    expect_failure(push(store, "other"), LX_ERR_EXISTS, "another dataset is being pushed there");
    must_push(store, "d");
    expect_published(store, "d", COUNT);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

/** When another push happens: once, at a certain request. */
struct intervention {
    const char *when;
    atomic_bool done;
};

/** Lets another push happen. */
static lx_status intervene(struct store *store, const char *request, const char *name, bool after,
                           lx__answer *answer, lx_error *error)
{
    char what[300];
    struct intervention *user = store->user;
    (void)answer, (void)error;
    snprintf(what, sizeof what, "%s %s", request, name);
    if (after || strcmp(what, user->when) != 0 || atomic_exchange(&user->done, true))
        return LX_OK;
    struct result result = push(store, "other");
    if (strcmp(what, "put meta.json") == 0 || strncmp(what, "put_part", 8) == 0)
        expect_failure(result, LX_ERR_EXISTS, "another dataset is being pushed there");
    else
        ck_assert_int_eq(result.status, LX_OK);
    return LX_OK;
}

START_TEST(one_of_two_wins)
{
    static const char *const when[] = {"stat meta.json",    "stat meta.json.new",  "list ",
                                       "put meta.json.new", "put_part chunk/0.zr", "put meta.json"};
    char *scratch = scratch_make();
    records_make_sealed("d", COUNT);
    records_make_sealed("other", 20);
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        struct store *store = store_new(PART);
        struct intervention other = {.when = when[i]};
        store->hook = intervene;
        store->user = &other;
        struct result result = push(store, "d");
        ck_assert(atomic_load(&other.done));
        if (i < 4) {
            expect_failure(result, LX_ERR_EXISTS, "");
            expect_published(store, "other", 20);
        } else {
            ck_assert_int_eq(result.status, LX_OK);
            expect_published(store, "d", COUNT);
        }
        expect_sent_once(store);
        store_free(store);
    }
    scratch_remove(scratch);
}
END_TEST

/** Writes another meta.json just before that of the push. */
static lx_status publish_before(struct store *store, const char *request, const char *name,
                                bool after, lx__answer *answer, lx_error *error)
{
    (void)answer, (void)error;
    if (after || strcmp(request, "put") != 0 || strcmp(name, "meta.json") != 0)
        return LX_OK;
    const struct stored *other = store->user;
    pthread_mutex_lock(&store->lock);
    store_write(store, "meta.json", store_copy(other->data, other->size), other->size);
    pthread_mutex_unlock(&store->lock);
    return LX_OK;
}

START_TEST(meta_json_is_not_overwritten)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART), *elsewhere = store_new(PART);
    records_make_sealed("d", COUNT);
    records_make_sealed("other", 20);
    must_push(elsewhere, "other");
    store->hook = publish_before;
    store->user = store_find(elsewhere, "meta.json");
    expect_failure(push(store, "d"), LX_ERR_EXISTS, "another dataset is there");
    ck_assert_uint_eq(store_find(store, "meta.json")->sent, 1);
    store_free(store);
    store_free(elsewhere);
    scratch_remove(scratch);
}
END_TEST

/** When another push does something: at the request with this name and number. */
struct moment {
    const char *request, *name;
    unsigned number;
    bool after;
    struct stored *meta; /* the meta.json of the other */
    bool publishes, done;
};

/** Does what another push would. */
static lx_status interfere(struct store *store, const char *request, const char *name, bool after,
                           lx__answer *answer, lx_error *error)
{
    struct moment *moment = store->user;
    const struct stored *meta = moment->meta;
    (void)answer, (void)error;
    if (after != moment->after || strcmp(request, moment->request) != 0 ||
        strcmp(name, moment->name) != 0 || moment->number-- != 1)
        return LX_OK;
    pthread_mutex_lock(&store->lock);
    if (moment->publishes)
        store_write(store, "meta.json", store_copy(meta->data, meta->size), meta->size);
    store_write(store, "meta.json.new", store_copy(meta->data, meta->size), meta->size);
    pthread_mutex_unlock(&store->lock);
    moment->done = true;
    return LX_OK;
}

START_TEST(the_claim_of_another_push_stays)
{
    struct moment moments[] = {
        /* It publishes and makes another claim after this one has made its own. */
        {.request = "stat", .name = "meta.json", .number = 2, .publishes = true},
        {.request = "put", .name = "meta.json", .number = 1, .after = true},
    };
    char *scratch = scratch_make();
    struct store *elsewhere = store_new(PART);
    records_make_sealed("d", 20);
    must_push(elsewhere, "d");
    grow(20, 60);
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct store *store = store_new(PART);
        moments[i].meta = store_find(elsewhere, "meta.json");
        store->hook = interfere;
        store->user = &moments[i];
        struct result result = push(store, "d");
        ck_assert(moments[i].done);
        if (moments[i].publishes)
            expect_failure(result, LX_ERR_EXISTS, "at the same time");
        else
            ck_assert_int_eq(result.status, LX_OK);
        ck_assert_ptr_nonnull(store_find(store, "meta.json.new"));
        store_free(store);
    }
    store_free(elsewhere);
    scratch_remove(scratch);
}
END_TEST

/** Lets the dataset "d" be pushed before a certain request of a push that is older. */
static lx_status overtake(struct store *store, const char *request, const char *name, bool after,
                          lx__answer *answer, lx_error *error)
{
    char what[300];
    struct intervention *user = store->user;
    (void)answer, (void)error;
    snprintf(what, sizeof what, "%s %s", request, name);
    if (!after && strcmp(what, user->when) == 0 && !atomic_exchange(&user->done, true))
        must_push(store, "d");
    return LX_OK;
}

START_TEST(an_older_push_that_hung_replaces_nothing)
{
    static const struct {
        const char *when;
        size_t part_size;
    } cases[] = {{"begin chunk/0.zr", PART},
                 {"put chunk/0.zr", 100 * PART},
                 {"begin label.check", PART / 5},
                 {"put label.check", 100 * PART}};
    char *scratch = scratch_make();
    records_make_sealed("d", 20);
    ck_assert_int_eq(system("cp -r d first"), 0);
    grow(20, 60);
    ck_assert_int_eq(system("cp -r d second"), 0);
    grow(60, 100);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct store *store = store_new(cases[i / 2].part_size);
        struct intervention other = {.when = cases[i / 2].when};
        store->connections = 1; /* all of the older push hangs */
        if (i % 2 != 0) {       /* files of an even older one are there */
            must_push(store, "first");
            strcpy(store_find(store, "meta.json")->name, "meta.json.new");
        }
        store->hook = overtake;
        store->user = &other;
        struct result result = push(store, "second");
        ck_assert(atomic_load(&other.done));
        store->hook = NULL;
        expect_published(store, "d", 100);
        expect_failure(result, LX_ERR_EXISTS, "another process that pushes to the same URL");
        store_free(store);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(works_on_a_server_that_ignores_conditions)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART);
    store->unconditional = true;
    records_make_sealed("d", COUNT);
    must_push(store, "d");
    expect_published(store, "d", COUNT);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

/** Once all files are sent, removes one, or abandons the upload of one. */
static lx_status disturb(struct store *store, const char *request, const char *name, bool after,
                         lx__answer *answer, lx_error *error)
{
    const char *when = store->user;
    (void)answer, (void)error;
    if (after || strcmp(request, when) != 0 || strcmp(name, "chunk/0.zr") != 0)
        return LX_OK;
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->upload_count; i++) {
        free(store->uploads[i].data);
        store->uploads[i].data = NULL;
    }
    pthread_mutex_unlock(&store->lock);
    return LX_OK;
}

START_TEST(an_upload_may_be_abandoned_by_others)
{
    static const char *const when[] = {"put_part", "complete"};
    char *scratch = scratch_make();
    records_make_sealed("d", COUNT);
    for (size_t i = 0; i < 2; i++) {
        struct store *store = store_new(PART);
        store->hook = disturb;
        store->user = (char *)(uintptr_t)when[i];
        expect_failure(push(store, "d"), LX_ERR_EXISTS, "has abandoned this upload");
        store->hook = NULL;
        must_push(store, "d");
        expect_published(store, "d", COUNT);
        store_free(store);
    }
    scratch_remove(scratch);
}
END_TEST

/** Cuts a file off after the last one was sent, just before the files are listed again. */
static lx_status cut_file(struct store *store, const char *request, const char *name, bool after,
                          lx__answer *answer, lx_error *error)
{
    unsigned *lists = store->user;
    (void)name, (void)answer, (void)error;
    if (after || strcmp(request, "list") != 0 || ++*lists != 2)
        return LX_OK;
    pthread_mutex_lock(&store->lock);
    store_find(store, "chunk/0.zr")->size--;
    pthread_mutex_unlock(&store->lock);
    return LX_OK;
}

START_TEST(a_file_that_another_push_replaced_is_not_published)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART);
    unsigned lists = 0;
    records_make_sealed("d", COUNT);
    store->hook = cut_file;
    store->user = &lists;
    expect_failure(push(store, "d"), LX_ERR_EXISTS, "replaced or removed this file");
    ck_assert_ptr_null(store_find(store, "meta.json"));
    must_push(store, "d");
    expect_published(store, "d", COUNT);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

/* ---- generations */

START_TEST(files_of_a_published_generation_stay)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART);
    records_make_sealed("d", COUNT);
    must_push(store, "d");
    ck_assert_int_eq(system("cp -r d former"), 0);
    grow(COUNT, 2 * COUNT);
    struct result result = push(store, "d");
    expect_failure(result, LX_ERR_EXISTS, "has another version of this file");
    ck_assert_uint_eq(result.sent, 0);
    expect_published(store, "former", COUNT);
    result = push_with(store, "d", true, UINT64_MAX, PATIENCE);
    ck_assert_int_eq(result.status, LX_OK);
    expect_published(store, "d", 2 * COUNT);
    /* An older state does not replace a newer one. */
    expect_failure(push(store, "former"), LX_ERR_EXISTS, "");
    expect_published(store, "d", 2 * COUNT);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_new_generation_is_published_next_to_the_former_one)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct store *store = store_new(PART);
    records_make_sealed("d", COUNT);
    must_push(store, "d");
    ck_assert_int_eq(system("cp -r d former"), 0);
    grow(COUNT, 2 * COUNT);
    unit_ok(lx_dataset_unseal("d", &error));
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    unit_ok(lx_writer_seal(writer, &error));
    unit_ok(lx_writer_close(writer, &error));
    /* Also if the push is cut off in the middle. */
    push_with(store, "d", false, 10 * PART, PATIENCE);
    save(store, "saved");
    ck_assert_int_eq(remove("saved/meta.json.new"), 0);
    lx_dataset *dataset;
    unit_ok(open_as("saved", LX_VERIFY_ALWAYS, false, &dataset, &error));
    expect_records(dataset, COUNT);
    lx_dataset_close(dataset);
    must_push(store, "d");
    expect_published(store, "d", 2 * COUNT);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

/* ---- damage */

START_TEST(damage_is_not_published)
{
    char *scratch = scratch_make();
    records_make_sealed("d", COUNT);
    static const struct {
        const char *file;
        bool short_file;
        size_t part_size;
    } cases[] = {{"d/label.offset", false, PART},
                 {"d/label.check", false, 100 * PART},
                 {"d/chunk/0.zr", true, PART}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        uint8_t *content = file_bytes(cases[i].file, &size);
        struct store *store = store_new(cases[i].part_size);
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset;
        lx__snapshot *snapshot;
        lx__target target;
        uint64_t sent;
        unit_ok(open_as("d", LX_VERIFY_NEVER, false, &dataset, &error));
        unit_ok(lx__dataset_pin_newest(dataset, &snapshot, &error));
        /* after the dataset was opened, which might notice it */
        if (cases[i].short_file)
            file_cut(cases[i].file, size - 1);
        else
            file_flip(cases[i].file, 8 * 2000);
        store_open(store, store->connections, PATIENCE, &target);
        lx_status status = lx__push(&target, snapshot, false, NULL, NULL, &sent, &error);
        expect_error(status, LX_ERR_CORRUPT, cases[i].short_file ? "" : "checksum", cases[i].file);
        lx__target_close(&target);
        lx__snapshot_unref(snapshot);
        lx_dataset_close(dataset);
        ck_assert_ptr_null(store_find(store, "meta.json"));
        ck_assert_ptr_null(store_find(store, cases[i].file + 2));
        file_put(cases[i].file, content, size);
        must_push(store, "d");
        expect_published(store, "d", COUNT);
        free(content);
        store_free(store);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_was_deleted_is_sent_again)
{
    char *scratch = scratch_make();
    struct store *store = store_new(PART);
    lx_error error = LX_ERROR_INIT;
    lx__target target;
    records_make_sealed("d", COUNT);
    must_push(store, "d");
    store_open(store, 1, 0, &target);
    unit_ok(lx__target_remove(&target, "label.check", &error));
    lx__target_close(&target);
    struct result result = push(store, "d");
    ck_assert_int_eq(result.status, LX_OK);
    ck_assert_uint_eq(result.sent, file_size("d/label.check"));
    expect_published(store, "d", COUNT);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(hostile_files_are_refused)
{
    static const char *const texts[] = {"", "{", "{\"checksum\": \"00000000\",}"};
    char *scratch = scratch_make();
    records_make_sealed("d", 20);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int new = 0; new < 2; new ++) {
            struct store *store = store_new(PART);
            store_set(store, new ? "meta.json.new" : "meta.json", texts[i]);
            expect_failure(push(store, "d"), LX_ERR_CORRUPT, "");
            ck_assert_uint_eq(store->count, 1);
            store_free(store);
        }
    struct store *store = store_new(PART);
    store->no_writing = true;
    lx__target target;
    lx_error error = LX_ERROR_INIT;
    const lx__request_limits limits = {1, 0};
    unit_fails(lx__target_open(&target, store_connect_to(store), &limits, &error),
               LX_ERR_UNSUPPORTED);
    store_free(store);
    scratch_remove(scratch);
}
END_TEST

static lx_status note(const lx_pruned_file *file, void *user, lx_error *error)
{
    (void)error;
    ck_assert_str_eq(file->name, "LOG.9");
    ++*(unsigned *)user;
    return LX_OK;
}

START_TEST(directories_are_published_and_pruned)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset, *there;
    uint64_t sent;
    unsigned found = 0;
    records_make_sealed("d", COUNT);
    records_make("open", 10, 1);
    dataset = open_dataset("d");
    unit_ok(lx_dataset_push(dataset, "a/b", NULL, false, NULL, NULL, &sent, &error));
    ck_assert_uint_gt(sent, 0);
    file_put("a/b/LOG.9", "x", 1);
    lx_prune_kept kept;
    unit_ok(lx_remote_prune("a/b", NULL, 3600, false, note, &found, &kept, &error));
    ck_assert(kept.files == 1 && kept.bytes == 1 && kept.published > 0);
    unit_ok(lx_remote_prune("a/b", NULL, 0, true, note, &found, &kept, &error));
    ck_assert(kept.files == 0 && kept.published == 0);
    ck_assert(found == 1 && file_exists("a/b/LOG.9"));
    unit_ok(lx_remote_prune("a/b", NULL, 0, false, NULL, NULL, NULL, &error));
    ck_assert(!file_exists("a/b/LOG.9"));
    unit_ok(lx_remote_open("a/b", NULL, NULL, &there, &error));
    expect_records(there, COUNT);
    /* Another place, from there. */
    unit_ok(lx_dataset_push(there, "c", NULL, false, NULL, NULL, NULL, &error));
    lx_dataset_close(there);
    there = open_dataset("c");
    expect_records(there, COUNT);
    lx_dataset_close(there);
    unit_refuses_null(lx_dataset_push(NULL, "x", NULL, false, NULL, NULL, NULL, &error), "dataset");
    unit_refuses_null(lx_dataset_push(dataset, NULL, NULL, false, NULL, NULL, NULL, &error), "url");
    unit_refuses_null(lx_remote_prune(NULL, NULL, 0, false, NULL, NULL, NULL, &error), "url");
    unit_fails(lx_remote_prune("x", NULL, 0, false, NULL, NULL, NULL, &error), LX_ERR_NOT_FOUND);
    lx_dataset_close(dataset);
    dataset = open_dataset("open");
    unit_fails(lx_dataset_push(dataset, "x", NULL, false, NULL, NULL, NULL, &error), LX_ERR_STATE);
    ck_assert(!file_exists("x"));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("remote/push", directories_are_published_and_pruned, a_push_publishes_the_dataset,
          continues_wherever_it_was_cut_off, the_progress_function_ends_it, answers_may_get_lost,
          a_table_is_read_back_if_the_answer_was_lost, another_dataset_stays, one_of_two_wins,
          meta_json_is_not_overwritten, works_on_a_server_that_ignores_conditions,
          an_upload_may_be_abandoned_by_others, the_claim_of_another_push_stays,
          an_older_push_that_hung_replaces_nothing,
          a_file_that_another_push_replaced_is_not_published, files_of_a_published_generation_stay,
          a_new_generation_is_published_next_to_the_former_one, damage_is_not_published,
          what_was_deleted_is_sent_again, hostile_files_are_refused)
