/* SPDX-License-Identifier: MIT */
/* Hostile input that could crash a reader, or exhaust memory or time. A process with 512 MiB of
 * address space reads each in at most a second. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <loaderx/loader.h>

#include "base/bytes.h"
#include "forge.h"
#include "tree.h"

#define ADDRESSES ((rlim_t)512 << 20)
/* Seconds of processor time, and of elapsed time. The worst case takes 0.6 seconds on an idle
 * machine, and twice that or more on a busy one. */
#define SECONDS 3.0
#define SECONDS_OF_CLOCK 60

#define MEBIBYTE ((size_t)1 << 20)

/** The accepted results of a call, as a set of bits. */
#define ONE(status) (1ul << -(status))
#define FINE 1ul
/** It would use all memory: not tried with sanitizers, which have no limit. */
#define NEEDS_LIMIT (1ul << 31)

struct hostile {
    const char *name;
    void (*make)(const char *path);
    /** The test; returns its result. NULL: open for reading, and read each value. */
    lx_status (*look)(const char *path, lx_error *error);
    unsigned long may; /**< ONE() of each expected status, or FINE. */
};

/* ---- tests */

static lx_status read_all(const char *path, lx_error *error)
{
    lx_dataset *dataset;
    lx_status status = lx_dataset_open(path, NULL, &dataset, error);
    if (status != LX_OK)
        return status;
    uint64_t length = lx_dataset_get_length(dataset);
    for (uint64_t i = 0; status == LX_OK && i < length && i < 1000; i++) {
        uint64_t offsets[2];
        uint8_t *out = NULL;
        status = lx_dataset_get_sizes(dataset, 0, &i, 1, offsets, NULL, error);
        if (status == LX_OK && (out = malloc((size_t)offsets[1] + 1)) != NULL)
            status = lx_dataset_gather_bytes(dataset, 0, &i, 1, offsets, out, error);
        free(out);
    }
    lx_dataset_close(dataset);
    return status;
}

static lx_status verify(const char *path, lx_error *error)
{
    lx_dataset *dataset;
    lx_status status = lx_dataset_open(path, NULL, &dataset, error);
    if (status != LX_OK)
        return status;
    status = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, error);
    lx_dataset_close(dataset);
    return status;
}

static lx_status write_to(const char *path, lx_error *error)
{
    lx_writer *writer;
    lx_status status = lx_writer_open(path, NULL, &writer, error);
    return status == LX_OK ? lx_writer_close(writer, error) : status;
}

static lx_status remove_it(const char *path, lx_error *error)
{
    return lx_dataset_remove(path, error);
}

static lx_status open_source(const char *path, lx_error *error)
{
    lx_source *source;
    lx_status status = lx_source_open(path, NULL, &source, error);
    if (status == LX_OK)
        lx_source_unref(source);
    return status;
}

/* ---- meta.json */

/** 16 MiB with a valid checksum: one part repeated in an array. */
static void make_long_meta(const char *path, const char *part)
{
    struct forge forge;
    size_t size = 16 * MEBIBYTE - 64, length = strlen(part), at = 6;
    char *text = need(malloc(size));
    memcpy(text, "{\"a\":[", 6);
    for (; at + length + 3 < size; at += length)
        memcpy(text + at, part, length);
    memcpy(text + at, "0]}", 3);
    forge_begin(&forge, path, text, at + 3);
    forge_end(&forge);
    free(text);
}

static void make_objects(const char *path)
{
    make_long_meta(path, "{},");
}

static void make_numbers(const char *path)
{
    make_long_meta(path, "0,");
}

static void make_texts(const char *path)
{
    make_long_meta(path, "\"a text of some length\",");
}

static void make_keys(const char *path)
{
    struct forge forge;
    size_t size = 16 * MEBIBYTE - 64, at = 1;
    char *text = need(malloc(size));
    text[0] = '{';
    for (uint32_t i = 0; at + 32 < size; i++)
        at += (size_t)sprintf(text + at, "\"%x\":0,", i);
    at += (size_t)sprintf(text + at, "\"z\":0}");
    forge_begin(&forge, path, text, at);
    forge_end(&forge);
    free(text);
}

static void make_digits(const char *path)
{
    make_long_meta(path, "9");
}

static void make_brackets(const char *path)
{
    make_long_meta(path, "[");
}

static void make_fields(const char *path)
{
    struct forge forge;
    char *meta = forge_meta(LX_MAX_FIELDS + 1, "raw");
    forge_begin(&forge, path, meta, strlen(meta));
    forge_end(&forge);
    free(meta);
}

static void make_most_fields(const char *path)
{
    struct forge forge;
    char *meta = forge_meta(LX_MAX_FIELDS, "raw");
    forge_begin(&forge, path, meta, strlen(meta));
    forge_end(&forge);
    free(meta);
}

/* ---- LOG */

static void begin_plain(struct forge *forge, const char *path, const char *compress)
{
    char *meta = forge_meta(1, compress);
    forge_begin(forge, path, meta, strlen(meta));
    free(meta);
}

/** A hole of a tebibyte after the log. */
static void make_hole(const char *path)
{
    struct forge forge;
    char log[4300];
    begin_plain(&forge, path, "raw");
    snprintf(log, sizeof log, "%s/LOG", path);
    if (truncate(log, (off_t)1 << 40) == -1 && truncate(log, (off_t)1 << 36) == -1)
        give_up(log);
    forge_end(&forge);
}

/** The header of a large frame at each place. */
static void make_heads(const char *path)
{
    struct forge forge;
    char log[4300];
    size_t size = 16 * MEBIBYTE;
    uint8_t *bytes = need(calloc(1, size));
    begin_plain(&forge, path, "raw");
    for (size_t at = 0; at + 72 < size; at += 72) {
        uint32_t updates = (uint32_t)((size - at) / 2 / LX__FRAME_UPDATE);
        lx__store_le32(bytes + at, LX__FRAME_MAGIC);
        lx__store_le32(bytes + at + 4, (uint32_t)lx__frame_size(0, updates));
        lx__store_le64(bytes + at + 8, 1 << 20);
        lx__store_le32(bytes + at + 36, updates);
        lx__store_le32(bytes + at + 44, LX__FRAME_SYNCED);
    }
    snprintf(log, sizeof log, "%s/LOG", path);
    int fd = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (write(fd, bytes, size) != (ssize_t)size)
        give_up(log);
    close(fd);
    free(bytes);
    forge_end(&forge);
}

/** An update for each of many records, in a dataset of many fields: a writer would need an entry
 * for each field of each. */
static void make_updates(const char *path)
{
    enum { COUNT = 60000 };
    struct forge forge;
    char *meta = forge_meta(LX_MAX_FIELDS, "raw");
    lx__update_item *updates = need(calloc(COUNT, sizeof *updates));
    for (uint64_t i = 0; i < COUNT; i++)
        updates[i].index = i;
    forge_begin(&forge, path, meta, strlen(meta));
    forge_frame(&forge, (lx__frame){.length = COUNT, .flags = LX__FRAME_SYNCED}, NULL, 0, updates,
                COUNT);
    forge_end(&forge);
    free(updates);
    free(meta);
}

/** Chunk ids far apart. */
static void make_chunks(const char *path)
{
    enum { COUNT = 500000 };
    struct forge forge;
    lx__chunk_item *chunks = need(calloc(COUNT, sizeof *chunks));
    for (uint32_t i = 0; i < COUNT; i++)
        chunks[i] = (lx__chunk_item){i * 8000, 1, INT64_MAX};
    begin_plain(&forge, path, "raw");
    forge_frame(&forge, (lx__frame){.flags = LX__FRAME_SYNCED, .next_chunk = UINT32_MAX}, chunks,
                COUNT, NULL, 0);
    forge_end(&forge);
    free(chunks);
}

static void make_rows_of(const char *path, uint64_t rows, uint64_t file_rows)
{
    struct forge forge;
    begin_plain(&forge, path, "raw");
    forge_frame(&forge, (lx__frame){.length = rows, .rows = rows, .flags = LX__FRAME_SYNCED}, NULL,
                0, NULL, 0);
    forge_file(&forge, "f0.offset", "", 0, file_rows * LX__OFFSET_ROW);
    forge_file(&forge, "f0.check", "", 0, file_rows * LX__CHECK_ROW);
    forge_end(&forge);
}

static void make_most_rows(const char *path)
{
    make_rows_of(path, ((uint64_t)1 << 59) - 1, 1000);
}

/** Long tables of holes. */
static void make_many_rows(const char *path)
{
    make_rows_of(path, (uint64_t)1 << 36, (uint64_t)1 << 36);
}

/* ---- entries */

/** One row, of an existing chunk. */
static void make_entry(const char *path, const char *compress, lx__entry entry, const void *chunk,
                       size_t size)
{
    struct forge forge;
    lx__chunk_item item = {0, 1, size};
    begin_plain(&forge, path, compress);
    forge_seal(&entry, 0, chunk, 0);
    forge_tables(&forge, &entry, 1);
    forge_file(&forge, "chunk/0.zr", chunk, size, 0);
    forge_frame(&forge,
                (lx__frame){.length = 1, .rows = 1, .flags = LX__FRAME_SYNCED, .next_chunk = 1},
                &item, 1, NULL, 0);
    forge_end(&forge);
}

/** Deflates a mebibyte of zeros, in a form that can be repeated. */
static size_t deflate_zeros(uint8_t *stored, size_t room, int flush)
{
    uint8_t *zeros = need(calloc(1, MEBIBYTE));
    z_stream stream = {.next_in = zeros,
                       .avail_in = (uInt)(flush == Z_FINISH ? MEBIBYTE - 1 : MEBIBYTE),
                       .next_out = stored,
                       .avail_out = (uInt)room};
    if (deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&stream, flush) == Z_STREAM_ERROR)
        abort();
    size_t size = stream.total_out;
    deflateEnd(&stream);
    free(zeros);
    return size;
}

/** Four gibibytes of zeros, minus one byte. */
static void make_bomb(const char *path)
{
    enum { PARTS = 4096, ROOM = 4096 };
    uint8_t *stored = need(malloc((size_t)PARTS * ROOM));
    size_t part = deflate_zeros(stored, ROOM, Z_FULL_FLUSH), size = part * (PARTS - 1);
    for (size_t i = 1; i + 1 < PARTS; i++)
        memcpy(stored + i * part, stored, part);
    size += deflate_zeros(stored + size, ROOM, Z_FINISH);
    make_entry(path, "flate", (lx__entry){.physical = (uint32_t)size, .logical = UINT32_MAX},
               stored, size);
    free(stored);
}

/** A few bytes that claim to be that many. */
static void make_claim(const char *path)
{
    make_entry(path, "flate", (lx__entry){.physical = 10, .logical = UINT32_MAX}, "0123456789", 10);
}

static void make_zstd(const char *path)
{
    make_entry(path, "zstd", (lx__entry){.physical = 10, .logical = UINT32_MAX}, "0123456789", 10);
}

/** Four gibibytes of sevens, minus one byte: a frame whose blocks repeat one byte 128 Ki times. */
static void make_zstd_bomb(const char *path)
{
    enum { BLOCKS = 32768, BLOCK = 128 << 10, HEAD = 9 };
    static uint8_t frame[HEAD + 4 * BLOCKS] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0,
                                               0xff, 0xff, 0xff, 0xff};
    for (uint32_t i = 0; i < BLOCKS; i++) {
        bool last = i + 1 == BLOCKS;
        lx__store_le32(frame + HEAD + 4 * i,
                       (uint32_t)(BLOCK - last) << 3 | 1u << 1 | last | 7u << 24);
    }
    make_entry(path, "zstd", (lx__entry){.physical = sizeof frame, .logical = UINT32_MAX}, frame,
               sizeof frame);
}

/** As many bytes, all zero, that claim as much as zstd could give. */
static void make_zstd_claim(const char *path)
{
    static const uint8_t zeros[128 << 10];
    make_entry(path, "zstd", (lx__entry){.physical = sizeof zeros, .logical = UINT32_MAX}, zeros,
               sizeof zeros);
}

static void make_raw(const char *path)
{
    make_entry(path, "raw", (lx__entry){.physical = 10, .logical = UINT32_MAX}, "0123456789", 10);
}

/** A hundred thousand values that share one payload. */
static void make_overlap(const char *path)
{
    enum { COUNT = 100000, SIZE = 65536 };
    struct forge forge;
    lx__chunk_item item = {0, 1, SIZE};
    uint8_t *chunk = need(malloc(SIZE));
    lx__entry *entries = need(calloc(COUNT, sizeof *entries));
    memset(chunk, 'x', SIZE);
    entries[0] = (lx__entry){.physical = SIZE, .logical = SIZE};
    forge_seal(&entries[0], 0, chunk, 0);
    for (uint64_t i = 1; i < COUNT; i++) {
        entries[i] = entries[0];
        entries[i].crc ^= lx__index_crc(0) ^ lx__index_crc(i);
    }
    begin_plain(&forge, path, "raw");
    forge_tables(&forge, entries, COUNT);
    forge_file(&forge, "chunk/0.zr", chunk, SIZE, 0);
    forge_frame(
        &forge,
        (lx__frame){.length = COUNT, .rows = COUNT, .flags = LX__FRAME_SYNCED, .next_chunk = 1},
        &item, 1, NULL, 0);
    forge_end(&forge);
    free(entries);
    free(chunk);
}

/** Its statistics show the error: more live bytes than bytes. */
static lx_status stat_overlap(const char *path, lx_error *error)
{
    lx_dataset *dataset;
    lx_storage_stats totals;
    lx_status status = lx_dataset_open(path, NULL, &dataset, error);
    if (status != LX_OK)
        return status;
    status = lx_dataset_stat(dataset, &totals, NULL, error);
    lx_dataset_close(dataset);
    return status == LX_OK && totals.live_bytes <= totals.chunk_bytes ? LX_ERR_CALLBACK : status;
}

/* ---- names */

static void make_link_to_itself(const char *path)
{
    if (symlink(path, path) == -1)
        give_up(path);
}

static void make_fifo(const char *path)
{
    if (mkfifo(path, 0666) == -1)
        give_up(path);
}

/** A dataset with something else in place of one of its files. */
static void make_disguise(const char *path, const char *name, int (*put)(const char *place))
{
    char place[4300];
    struct forge forge;
    begin_plain(&forge, path, "raw");
    forge_file(&forge, "f0.offset", "", 0, 0);
    forge_file(&forge, "f0.check", "", 0, 0);
    snprintf(place, sizeof place, "%s/%s", path, name);
    if (remove(place) == -1 || put(place) == -1)
        give_up(place);
    forge_end(&forge);
}

static int put_fifo(const char *place)
{
    return mkfifo(place, 0666);
}

static int put_link(const char *place)
{
    return symlink("/etc/passwd", place);
}

static int put_link_to_directory(const char *place)
{
    return symlink("/tmp", place);
}

static int put_endless(const char *place)
{
    return symlink("/dev/zero", place);
}

static void make_fifo_for_lock(const char *path)
{
    make_disguise(path, "LOCK", put_fifo);
}

static void make_fifo_for_table(const char *path)
{
    make_disguise(path, "f0.check", put_fifo);
}

static void make_link_for_log(const char *path)
{
    make_disguise(path, "LOG", put_link);
}

static void make_link_for_lock(const char *path)
{
    make_disguise(path, "LOCK", put_link);
}

static void make_link_for_chunks(const char *path)
{
    make_disguise(path, "chunk", put_link_to_directory);
}

static void make_endless_meta(const char *path)
{
    make_disguise(path, "meta.json", put_endless);
}

static lx_status open_long_name(const char *path, lx_error *error)
{
    char name[9000];
    memset(name, 'x', sizeof name - 1);
    memcpy(name, path, strlen(path));
    name[sizeof name - 1] = '\0';
    return read_all(name, error);
}

static lx_status open_nothing(const char *path, lx_error *error)
{
    (void)path;
    return read_all("", error);
}

static lx_status open_device(const char *path, lx_error *error)
{
    (void)path;
    return open_source("/dev/zero", error);
}

static void make_nothing(const char *path)
{
    (void)path;
}

#define DAMAGED ONE(LX_ERR_CORRUPT)
/** What a library with the codec does; another one does not decompress values. */
#ifdef HAVE_ZSTD
#define ZSTD(may) (may)
#define CLAIM (DAMAGED | TOO_MUCH)
#else
#define ZSTD(may) ONE(LX_ERR_UNSUPPORTED)
#define CLAIM FINE
#endif
#define TOO_MUCH (ONE(LX_ERR_NOMEM) | ONE(LX_ERR_LIMIT) | ONE(LX_ERR_IO))

static const struct hostile table[] = {
    {"meta.json of 16 MiB of objects", make_objects, NULL, ONE(LX_ERR_LIMIT)},
    {"meta.json of 16 MiB of objects, removed", make_objects, remove_it, ONE(LX_ERR_LIMIT)},
    {"meta.json of 16 MiB of numbers", make_numbers, NULL, ONE(LX_ERR_LIMIT)},
    {"meta.json of 16 MiB of texts", make_texts, NULL, DAMAGED | ONE(LX_ERR_LIMIT)},
    {"meta.json of 16 MiB of keys", make_keys, NULL, ONE(LX_ERR_LIMIT)},
    {"meta.json of 16 MiB of digits", make_digits, NULL, DAMAGED},
    {"meta.json of 16 MiB of brackets", make_brackets, NULL, ONE(LX_ERR_LIMIT)},
    {"one field too many", make_fields, NULL, ONE(LX_ERR_LIMIT)},
    {"as many fields as there may be", make_most_fields, NULL, FINE},
    {"a log with a hole of a tebibyte", make_hole, NULL, FINE},
    {"a log with a hole of a tebibyte, written to", make_hole, write_to, FINE},
    {"a log full of heads of frames", make_heads, NULL, DAMAGED},
    {"a log full of heads of frames, written to", make_heads, write_to, DAMAGED},
    {"updates in a dataset of 4,096 fields", make_updates, NULL, FINE | TOO_MUCH},
    {"updates in a dataset of 4,096 fields, written to", make_updates, write_to,
     TOO_MUCH | DAMAGED | NEEDS_LIMIT},
    {"half a million chunks", make_chunks, NULL, FINE},
    {"as many rows as there may be, and no tables", make_most_rows, NULL, DAMAGED},
    {"as many rows as there may be, written to", make_most_rows, write_to, DAMAGED},
    {"2^36 rows of nothing", make_many_rows, NULL, FINE | TOO_MUCH},
    {"a Deflate bomb", make_bomb, NULL, FINE | TOO_MUCH},
    {"a Deflate bomb, verified", make_bomb, verify, FINE | TOO_MUCH},
    {"a claim of 4 GiB", make_claim, NULL, DAMAGED},
    {"a claim of 4 GiB, verified", make_claim, verify, DAMAGED},
    {"a claim of 4 GiB by zstd", make_zstd, NULL, DAMAGED},
    {"a claim of 4 GiB by 128 KiB of zstd", make_zstd_claim, verify, CLAIM},
    {"a zstd bomb", make_zstd_bomb, NULL, ZSTD(FINE | TOO_MUCH)},
    {"a zstd bomb, verified", make_zstd_bomb, verify, FINE | TOO_MUCH},
    {"a claim of 4 GiB, raw", make_raw, NULL, DAMAGED},
    {"values that overlap", make_overlap, NULL, FINE},
    {"values that overlap, counted", make_overlap, stat_overlap, FINE},
    {"a link to itself", make_link_to_itself, NULL, ONE(LX_ERR_IO) | DAMAGED},
    {"a FIFO", make_fifo, NULL, ONE(LX_ERR_NOT_FOUND) | DAMAGED},
    {"a FIFO as a source", make_fifo, open_source, ONE(LX_ERR_UNSUPPORTED) | DAMAGED},
    {"a device as a source", make_nothing, open_device, ONE(LX_ERR_UNSUPPORTED) | DAMAGED},
    {"a name that is too long", make_nothing, open_long_name, ONE(LX_ERR_IO)},
    {"no name", make_nothing, open_nothing, ONE(LX_ERR_NOT_FOUND)},
    {"a FIFO for LOCK", make_fifo_for_lock, write_to, DAMAGED},
    {"a FIFO for a table", make_fifo_for_table, write_to, DAMAGED},
    {"a link for LOG", make_link_for_log, write_to, DAMAGED},
    {"a link for LOCK", make_link_for_lock, write_to, DAMAGED},
    {"a link for chunk", make_link_for_chunks, NULL, DAMAGED},
    {"a link for chunk, written to", make_link_for_chunks, write_to, DAMAGED},
    {"a link for chunk, removed", make_link_for_chunks, remove_it, ONE(LX_ERR_EXISTS) | DAMAGED},
    {"a device for meta.json", make_endless_meta, NULL, DAMAGED},
};

/* ---- the test */

/* Exit status of a child: all is right except the time, which a busy machine may explain. */
#define TOO_SLOW 3
#define TRIES 4

/** In a separate process: exits with 0 if all is right, and otherwise reports the failure. */
static void look(const struct hostile *hostile, const char *path)
{
    char message[900];
    lx_error error = LX_ERROR_INIT;
    struct rlimit limit = {ADDRESSES, ADDRESSES};
    if (SLOWER == 1 && setrlimit(RLIMIT_AS, &limit) == -1)
        give_up("a limit");
    alarm(SECONDS_OF_CLOCK);
    clock_t before = clock(); /* of the processor */
    lx_status status = (hostile->look != NULL ? hostile->look : read_all)(path, &error);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    lx_error_describe(&error, message, sizeof message);
    if (!(hostile->may & (status == LX_OK ? FINE : ONE(status))))
        printf("%s: %s, %s\n", hostile->name, lx_status_get_name(status), message);
    else if (status != error.status || (status != LX_OK && error.message[0] == '\0'))
        printf("%s: %s, but it reports %s\n", hostile->name, lx_status_get_name(status), message);
    else
        exit(seconds > SECONDS * SLOWER ? TOO_SLOW : EXIT_SUCCESS);
    exit(EXIT_FAILURE);
}

static bool test(const struct hostile *hostile, const char *root)
{
    char path[4200];
    int status;
    int tries = TRIES;
    snprintf(path, sizeof path, "%s/it", root);
    do {
        hostile->make(path);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            look(hostile, path);
        if (child == -1 || waitpid(child, &status, 0) != child)
            give_up("a process");
        tree_clear(root);
    } while (WIFEXITED(status) && WEXITSTATUS(status) == TOO_SLOW && --tries != 0);
    if (tries == 0)
        printf("%s: it takes more than %g s\n", hostile->name, SECONDS * SLOWER);
    if (WIFSIGNALED(status))
        printf("%s: ended by signal %d\n", hostile->name, WTERMSIG(status));
    return status == 0;
}

int main(void)
{
    static char *root; /* also for children, in which this memory is not a leak */
    int passed = 0, failed = 0, skipped = 0;
    root = tree_scratch();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if ((table[i].may & NEEDS_LIMIT) && SLOWER != 1) {
            skipped++;
            continue;
        }
        bool right = test(&table[i], root);
        passed += right;
        failed += !right;
    }
    tree_remove(root);
    free(root);
    printf("# hostile: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
