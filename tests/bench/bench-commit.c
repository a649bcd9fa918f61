/* SPDX-License-Identifier: MIT */
/* Commits and changes of the store, compared with plain files, and with SQLite and LMDB if
 * configure found them. */
#include "plain.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif
#ifdef HAVE_LMDB
#include <lmdb.h>
#endif

#define DATASET "bench-dataset"
#define RECORD 256
/* Bytes of an update in the log, which the second of the two plain files gets for each record. */
#define ENTRY 40
#define THREADS 4
/* Records of the dataset that is changed, and changes per commit. */
#define CHANGED ((size_t)1 << 20)
#define CHANGES ((size_t)50000)
#define COMMIT_EVERY 1000

static uint8_t bytes[10000 * RECORD];

/* ---- the store */

static lx_writer *create(lx_durability durability, lx_executor *executor)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = lx_writer_options_new();
    lx_writer *writer;
    uint64_t shape = RECORD;
    must_be_ok(lx_schema_add_field(schema, "data", LX_UINT8, &shape, 1, LX_COMPRESSION_RAW, &error),
               &error);
    must_be_ok(lx_writer_options_set_durability(options, durability, &error), &error);
    must_be_ok(lx_writer_options_set_executor(options, executor, &error), &error);
    must_be_ok(lx_writer_create(DATASET, schema, options, &writer, &error), &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

static void remove_dataset(void)
{
    lx_error error = LX_ERROR_INIT;
    must_be_ok(lx_dataset_remove(DATASET, &error), &error);
}

static void extend(lx_writer *writer, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_values column = {.data = bytes};
    must_be_ok(lx_writer_extend(writer, count, &column, 1, NULL, &error), &error);
}

/* ---- commits */

struct commits {
    size_t count; /* records per commit */
    lx_writer *writer;
    int files[2];
    off_t ends[2];
#ifdef HAVE_SQLITE
    sqlite3 *sqlite;
    sqlite3_stmt *insert;
#endif
#ifdef HAVE_LMDB
    MDB_env *lmdb;
    MDB_dbi table;
    uint64_t key;
#endif
};

static void commit_files(void *context)
{
    struct commits *c = context;
    static const size_t sizes[] = {RECORD, ENTRY};
    for (int i = 0; i < 2; i++) {
        size_t size = c->count * sizes[i];
        must(pwrite(c->files[i], bytes, size, c->ends[i]) == (ssize_t)size, "pwrite");
        c->ends[i] += (off_t)size;
        must(fdatasync(c->files[i]) == 0, "fdatasync");
    }
}

static void commit_dataset(void *context)
{
    struct commits *c = context;
    lx_error error = LX_ERROR_INIT;
    extend(c->writer, c->count);
    must_be_ok(lx_writer_commit(c->writer, &error), &error);
}

#ifdef HAVE_SQLITE
static void run_sql(sqlite3 *sqlite, const char *sql)
{
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "bench: %s: %s\n", sql, sqlite3_errmsg(sqlite));
        exit(1);
    }
}

static void commit_sqlite(void *context)
{
    struct commits *c = context;
    run_sql(c->sqlite, "BEGIN");
    for (size_t i = 0; i < c->count; i++) {
        sqlite3_bind_blob(c->insert, 1, bytes + i * RECORD, RECORD, SQLITE_STATIC);
        must(sqlite3_step(c->insert) == SQLITE_DONE, "an insert");
        sqlite3_reset(c->insert);
    }
    run_sql(c->sqlite, "COMMIT");
}
#endif

#ifdef HAVE_LMDB
static void commit_lmdb(void *context)
{
    struct commits *c = context;
    MDB_txn *transaction;
    must(mdb_txn_begin(c->lmdb, NULL, 0, &transaction) == 0, "LMDB");
    for (size_t i = 0; i < c->count; i++) {
        uint64_t number = c->key++;
        MDB_val key = {sizeof number, &number}, value = {RECORD, bytes + i * RECORD};
        must(mdb_put(transaction, c->table, &key, &value, MDB_APPEND) == 0, "LMDB");
    }
    must(mdb_txn_commit(transaction) == 0, "LMDB");
}
#endif

static void open_others(struct commits *c)
{
    for (int i = 0; i < 2; i++) {
        c->files[i] = open(i == 0 ? "bench-file0" : "bench-file1", O_RDWR | O_CREAT | O_TRUNC,
                           0600);
        must(c->files[i] != -1, "open");
        c->ends[i] = 0;
    }
#ifdef HAVE_SQLITE
    must(sqlite3_open("bench-sqlite", &c->sqlite) == SQLITE_OK, "SQLite");
    run_sql(c->sqlite, "PRAGMA journal_mode = WAL");
    run_sql(c->sqlite, "PRAGMA synchronous = FULL");
    run_sql(c->sqlite, "CREATE TABLE records (id INTEGER PRIMARY KEY, data BLOB)");
    must(sqlite3_prepare_v2(c->sqlite, "INSERT INTO records (data) VALUES (?)", -1, &c->insert,
                            NULL) == SQLITE_OK,
         "SQLite");
#endif
#ifdef HAVE_LMDB
    MDB_txn *transaction;
    must(mkdir("bench-lmdb", 0700) == 0 && mdb_env_create(&c->lmdb) == 0 &&
             mdb_env_set_mapsize(c->lmdb, (size_t)32 << 30) == 0 &&
             mdb_env_open(c->lmdb, "bench-lmdb", 0, 0600) == 0 &&
             mdb_txn_begin(c->lmdb, NULL, 0, &transaction) == 0 &&
             mdb_dbi_open(transaction, NULL, MDB_INTEGERKEY | MDB_CREATE, &c->table) == 0 &&
             mdb_txn_commit(transaction) == 0,
         "LMDB");
#endif
}

static void close_others(struct commits *c)
{
    for (int i = 0; i < 2; i++)
        close(c->files[i]);
    unlink("bench-file0");
    unlink("bench-file1");
#ifdef HAVE_SQLITE
    sqlite3_finalize(c->insert);
    sqlite3_close(c->sqlite);
    unlink("bench-sqlite");
    unlink("bench-sqlite-wal");
    unlink("bench-sqlite-shm");
#endif
#ifdef HAVE_LMDB
    mdb_env_close(c->lmdb);
    unlink("bench-lmdb/data.mdb");
    unlink("bench-lmdb/lock.mdb");
    rmdir("bench-lmdb");
#endif
}

static void compare_commits(bench_run *bench, size_t count)
{
    char title[96];
    lx_error error = LX_ERROR_INIT;
    struct commits c = {.count = count, .writer = create(LX_DURABILITY_FULL, NULL)};
    open_others(&c);
    const bench_case cases[] = {
        {"two files, fdatasync of each", commit_files, &c, 1},
        {"commit, durability full", commit_dataset, &c, 1},
#ifdef HAVE_SQLITE
        {"SQLite, WAL, synchronous=FULL", commit_sqlite, &c, 1},
#endif
#ifdef HAVE_LMDB
        {"LMDB", commit_lmdb, &c, 1},
#endif
    };
    snprintf(title, sizeof title, "commits of %zu records of %d bytes", count, RECORD);
    bench_compare(bench, title, "commit", cases, sizeof cases / sizeof *cases);
    close_others(&c);
    must_be_ok(lx_writer_close(c.writer, &error), &error);
    remove_dataset();
}

/* ---- shared commits */

static void *commit_some(void *writer)
{
    struct commits c = {.count = 1, .writer = writer};
    for (int i = 0; i < 8; i++)
        commit_dataset(&c);
    return NULL;
}

static void commit_alone(void *writer)
{
    for (int i = 0; i < THREADS; i++)
        commit_some(writer);
}

static void commit_together(void *writer)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, commit_some, writer) == 0, "pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void compare_sharing(bench_run *bench)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = create(LX_DURABILITY_FULL, NULL);
    const bench_case cases[] = {{"one thread", commit_alone, writer, THREADS * 8},
                                {"four threads", commit_together, writer, THREADS * 8}};
    bench_compare(bench, "commits of one record, durability full", "commit", cases, 2);
    must_be_ok(lx_writer_close(writer, &error), &error);
    remove_dataset();
}

/* ---- changes */

struct changing {
    lx_writer *writer;
    int file;
    uint64_t random;
};

static void change_dataset(void *context)
{
    struct changing *c = context;
    lx_error error = LX_ERROR_INIT;
    size_t field = 0;
    for (size_t i = 1; i <= CHANGES; i++) {
        lx_value value = {bytes + i % 10000 * RECORD, RECORD};
        must_be_ok(lx_writer_modify(c->writer, next_random(&c->random) % CHANGED, &field, &value, 1,
                                    &error),
                   &error);
        if (i % COMMIT_EVERY == 0)
            must_be_ok(lx_writer_commit(c->writer, &error), &error);
    }
}

/** Buffers and writes the same bytes and entries as the store, and does nothing else. */
static void change_plain(void *context)
{
    struct changing *c = context;
    static uint8_t buffer[COMMIT_EVERY * RECORD], entries[COMMIT_EVERY * ENTRY];
    for (size_t i = 0; i < CHANGES; i++) {
        size_t at = i % COMMIT_EVERY;
        memcpy(buffer + at * RECORD, bytes + i % 10000 * RECORD, RECORD);
        memcpy(entries + at * ENTRY, &i, sizeof i);
        if (at + 1 < COMMIT_EVERY)
            continue;
        must(pwrite(c->file, buffer, sizeof buffer, (off_t)(i * RECORD)) == sizeof buffer,
             "pwrite");
        must(pwrite(c->file, entries, sizeof entries, 0) == sizeof entries, "pwrite");
    }
}

static void compare_changes(bench_run *bench)
{
    lx_error error = LX_ERROR_INIT;
    struct changing c = {.writer = create(LX_DURABILITY_PERIODIC, NULL)};
    for (size_t i = 0; i < CHANGED / 8192; i++)
        extend(c.writer, 8192);
    must_be_ok(lx_writer_sync(c.writer, &error), &error);
    c.file = open("bench-file0", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(c.file != -1, "open");
    const bench_case cases[] = {
        {"staged writes", change_plain, &c, (double)CHANGES},
        {"modify, durability periodic", change_dataset, &c, (double)CHANGES}};
    bench_compare(bench, "changes of 256-byte records, a commit each 1,000", "change", cases, 2);
    close(c.file);
    unlink("bench-file0");
    must_be_ok(lx_writer_close(c.writer, &error), &error);
    remove_dataset();
}

void bench_commit(bench_run *bench)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    compare_commits(bench, 1);
    compare_commits(bench, 100);
    compare_commits(bench, 10000);
    compare_sharing(bench);
    compare_changes(bench);
}
