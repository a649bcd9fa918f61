/* SPDX-License-Identifier: MIT */
/* The actions of check-disks.sh on its own file systems:
 *   disks fill DIR          a dataset on a disk that becomes full, and has space again
 *   disks leave DIR         leaves a dataset as a kill does
 *   disks read DIR COUNT    reads that dataset on a read-only file system
 *   disks write DIR SEED    commits forever, and reports each durable commit
 *   disks check DIR COUNT   checks a dataset after a power loss: at least COUNT records */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"

/* Records of a commit while the disk fills, and the free bytes that remain. */
#define COMMIT_RECORDS 200
#define SPACE ((off_t)6 << 20)
#define LEFT_RECORDS 100

static char path[4096], ballast[4200];
static struct plain plain;

static lx_writer_options *make_options(lx_durability durability)
{
    lx_writer_options *options = need(lx_writer_options_new());
    if (lx_writer_options_set_durability(options, durability, NULL) != LX_OK)
        give_up("options");
    return options;
}

static lx_status create(const char *where, lx_durability durability, lx_writer **writer,
                        lx_error *error)
{
    lx_schema *schema = need(plain_schema(&plain));
    lx_writer_options *options = make_options(durability);
    lx_status status = lx_writer_create(where, schema, options, writer, error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return status;
}

static lx_status extend(lx_writer *writer, uint64_t count, lx_error *error)
{
    lx_values columns[PLAIN_COLUMNS];
    uint64_t first = plain.count;
    for (uint64_t i = 0; i < count; i++) {
        struct plain_record record = plain_make(&plain, (uint32_t)plain.count + 1);
        plain_append(&plain, &record);
    }
    plain_columns(&plain, first, count, columns);
    lx_status status = lx_writer_extend(writer, count, columns, plain.column_count, NULL, error);
    plain_columns_free(&plain, columns);
    return status;
}

/** Checks the content, of at least @p least records; returns the number of records. */
static uint64_t check(uint64_t least)
{
    char why[600];
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    PLAIN_OK(lx_dataset_open(path, NULL, &dataset, &error));
    uint64_t length = lx_dataset_get_length(dataset);
    if (length < least)
        plain_fail("records are lost that were committed", NULL);
    while (plain.count < length) {
        struct plain_record record = plain_make(&plain, (uint32_t)plain.count + 1);
        plain_append(&plain, &record);
    }
    plain.count = length;
    if (!plain_check(&plain, dataset, why, sizeof why))
        plain_fail(why, NULL);
    PLAIN_OK(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    return length;
}

/* ---- a full disk */

static void fill_disk(void)
{
    static const char block[65536];
    int fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    off_t size = 0;
    ssize_t moved;
    if (fd == -1)
        give_up(ballast);
    while ((moved = write(fd, block, sizeof block)) > 0)
        size += moved;
    if (errno != ENOSPC || ftruncate(fd, size > SPACE ? size - SPACE : 0) == -1)
        give_up(ballast);
    (void)fsync(fd);
    close(fd);
}

static void expect_full(lx_status status, const lx_error *error)
{
    if (status != LX_ERR_POISONED && (status != LX_ERR_IO || error->errnum != ENOSPC))
        plain_fail("a full disk causes the wrong error", error);
    if (error->message[0] == '\0')
        plain_fail("a full disk causes no error", NULL);
}

/** A rollback, or after a failed sync another writer, finds the committed records. */
static lx_writer *go_back(lx_writer *writer, lx_status failure, uint64_t committed)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = make_options(LX_DURABILITY_FULL);
    if (failure == LX_ERR_POISONED) {
        if (lx_writer_close(writer, NULL) == LX_OK)
            plain_fail("a poisoned writer was closed as if nothing were", NULL);
        writer = NULL;
        lx_status status = lx_writer_open(path, options, &writer, &error);
        if (status != LX_OK)
            expect_full(status, &error);
    } else {
        PLAIN_OK(lx_writer_rollback(writer, &error));
    }
    lx_writer_options_free(options);
    uint64_t length = check(committed);
    if (writer != NULL && lx_writer_get_length(writer) != length)
        plain_fail("the writer has another length than a reader", NULL);
    return writer;
}

static uint64_t fill_up(lx_writer **writer, uint64_t committed)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = LX_OK;
    for (int commits = 0; status == LX_OK; commits++) {
        status = extend(*writer, COMMIT_RECORDS, &error);
        if (status == LX_OK)
            status = lx_writer_commit(*writer, &error);
        if (status == LX_OK)
            committed = plain.count;
        if (commits > 100000)
            plain_fail("the disk does not become full", NULL);
    }
    expect_full(status, &error);
    *writer = go_back(*writer, status, committed);
    return plain.count;
}

static void fill(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer, *other;
    char second[4200];
    PLAIN_OK(create(path, LX_DURABILITY_FULL, &writer, &error));
    PLAIN_OK(extend(writer, COMMIT_RECORDS, &error));
    PLAIN_OK(lx_writer_commit(writer, &error));
    fill_disk();
    uint64_t committed = fill_up(&writer, COMMIT_RECORDS);
    if (writer != NULL) /* and again, in the space that a rollback has released */
        committed = fill_up(&writer, committed);
    snprintf(second, sizeof second, "%s-second", path);
    lx_status status = create(second, LX_DURABILITY_FULL, &other, &error);
    if (status == LX_OK) {
        PLAIN_OK(lx_writer_close(other, &error));
    } else {
        expect_full(status == LX_ERR_POISONED ? LX_ERR_IO : status, &error);
    }
    if (unlink(ballast) == -1)
        give_up(ballast);
    lx_error_clear(&error);
    if (status != LX_OK) {
        PLAIN_OK(create(second, LX_DURABILITY_FULL, &other, &error));
        PLAIN_OK(lx_writer_close(other, &error));
    }
    if (writer == NULL)
        PLAIN_OK(lx_writer_open(path, NULL, &writer, &error));
    PLAIN_OK(extend(writer, COMMIT_RECORDS, &error));
    PLAIN_OK(lx_writer_commit(writer, &error));
    PLAIN_OK(lx_writer_seal(writer, &error));
    PLAIN_OK(lx_writer_close(writer, &error));
    if (check(committed) != committed + COMMIT_RECORDS)
        plain_fail("there are other records than those that were committed", NULL);
}

/* ---- a read-only file system */

/** Leaves unsynced frames and a torn one, which the next writer must handle. */
static void leave(void)
{
    char log[4200];
    int status;
    pid_t child = fork();
    if (child == 0) {
        lx_error error = LX_ERROR_INIT;
        lx_writer *writer;
        PLAIN_OK(create(path, LX_DURABILITY_NONE, &writer, &error));
        for (int i = 0; i < LEFT_RECORDS; i++) {
            PLAIN_OK(extend(writer, 1, &error));
            PLAIN_OK(lx_writer_commit(writer, &error));
        }
        _exit(EXIT_SUCCESS);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        plain_fail("a writer that ends", NULL);
    snprintf(log, sizeof log, "%s/LOG", path);
    int fd = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd == -1 || write(fd, "LXLF", 4) != 4)
        give_up(log);
    close(fd);
}

static void read_only(uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    if (check(count) != count)
        plain_fail("there are other records than those that were committed", NULL);
    if (lx_writer_open(path, NULL, &writer, &error) != LX_ERR_IO || error.errnum != EROFS)
        plain_fail("a writer is not refused", &error);
}

/* ---- losses of power */

/** Reports the number of records after each durable commit. Later commits may be lost. */
static void write_for_ever(uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    struct rng rng = {seed};
    lx_writer *writer;
    lx_durability durability = seed % 2 == 0 ? LX_DURABILITY_FULL : LX_DURABILITY_NONE;
    PLAIN_OK(create(path, durability, &writer, &error));
    printf("0\n");
    fflush(stdout);
    for (;;) {
        PLAIN_OK(extend(writer, 1 + rng_below(&rng, 40), &error));
        PLAIN_OK(lx_writer_commit(writer, &error));
        bool durable = durability == LX_DURABILITY_FULL || rng_once_in(&rng, 6);
        if (durable && durability != LX_DURABILITY_FULL)
            PLAIN_OK(lx_writer_sync(writer, &error));
        if (!durable)
            continue;
        printf("%" PRIu64 "\n", plain.count);
        fflush(stdout);
    }
}

static void check_after(uint64_t least)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    uint64_t length = check(least);
    PLAIN_OK(lx_writer_open(path, NULL, &writer, &error));
    if (lx_writer_get_length(writer) != length)
        plain_fail("a writer finds another length than a reader", NULL);
    PLAIN_OK(extend(writer, 10, &error));
    PLAIN_OK(lx_writer_close(writer, &error));
    (void)check(length + 10);
    printf("%" PRIu64 " records, %" PRIu64 " of them durable\n", length, least);
}

int main(int count, char **arguments)
{
    const char *what = count > 2 ? arguments[1] : "";
    uint64_t number = count > 3 ? strtoull(arguments[3], NULL, 10) : 0;
    if (count > 2) {
        snprintf(path, sizeof path, "%s/data", arguments[2]);
        snprintf(ballast, sizeof ballast, "%s/ballast", arguments[2]);
    }
    plain_init(&plain, PLAIN_KINDS);
    if (strcmp(what, "fill") == 0)
        fill();
    else if (strcmp(what, "leave") == 0)
        leave();
    else if (strcmp(what, "read") == 0)
        read_only(number);
    else if (strcmp(what, "write") == 0)
        write_for_ever(number);
    else if (strcmp(what, "check") == 0)
        check_after(number);
    else
        return 2;
    return EXIT_SUCCESS;
}
