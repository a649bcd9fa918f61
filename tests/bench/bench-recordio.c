/* SPDX-License-Identifier: MIT */
/* RecordIO files read in order: compared with reading the file, and through a link of 100 MB/s,
 * from which images are decoded. They are those of photos.rec, which this command makes of the
 * files of photos.py: loaderx pack photos photos.rec --resize 256 --crop 256 --quality 90 */
#include "plain.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <loaderx/image/decoder.h>
#include <loaderx/recordio.h>

#define GIVEN "photos.rec"
#define REPEATED "bench.rec" /* the same again and again, which is a RecordIO file, too */
#define BYTES ((size_t)128 << 20)
#define BLOCK ((size_t)1 << 20)
#define PIECE ((size_t)1 << 16)
#define LINK_RATE 100e6   /* bytes per second */
#define LINK_DELAY 0.005  /* seconds that the link makes up for, because sleeps are too long */
#define SIDE 256          /* of the images */
#define IMAGE_BYTES BLOCK /* more than any has */

/** One run: what is read, and by two threads. */
struct reading {
    int limited;
    pthread_mutex_t mutex; /* of the reader */
    lx_recordio_reader *reader;
};

static lx_error error = LX_ERROR_INIT;

/* ---- the file and the link */

/** Makes the file, and returns its size. */
static size_t make_file(void)
{
    FILE *from = fopen(GIVEN, "rb"), *to = fopen(REPEATED, "wb");
    char *block = malloc(BLOCK);
    size_t size, total = 0;
    must(from != NULL, GIVEN ", which 'loaderx pack' makes of the files of photos.py");
    for (; total < BYTES; must(total != 0, GIVEN ", which is empty"), rewind(from))
        for (; (size = fread(block, 1, BLOCK, from)) != 0; total += size)
            must(fwrite(block, 1, size, to) == size, REPEATED);
    must(fclose(to) == 0, REPEATED);
    fclose(from);
    free(block);
    return total;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/** Writes the file to a pipe at the rate of the link, and ends the process. */
static _Noreturn void send_file(int pipe)
{
    static char piece[PIECE];
    int file = open(REPEATED, O_RDONLY | O_CLOEXEC);
    ssize_t size;
    for (double due = now(); (size = read(file, piece, PIECE)) > 0;) {
        double time = now();
        if (due < time - LINK_DELAY)
            due = time - LINK_DELAY; /* what was not sent in time is lost */
        due += (double)size / LINK_RATE;
        if (due > time)
            usleep((useconds_t)((due - time) * 1e6));
        for (ssize_t sent = 0, more; sent < size; sent += more)
            if ((more = write(pipe, piece + sent, (size_t)(size - sent))) <= 0)
                _exit(1);
    }
    _exit(0);
}

/** Opens the file, or the end of a link to it; sets @p sender to the process at its other end. */
static int open_file(const struct reading *r, pid_t *sender)
{
    int ends[2];
    if (!r->limited)
        return open(REPEATED, O_RDONLY | O_CLOEXEC);
    must(pipe2(ends, O_CLOEXEC) == 0 && (*sender = fork()) != -1, "a pipe and a process");
    if (*sender == 0)
        send_file(ends[1]);
    close(ends[1]);
    return ends[0];
}

static void close_file(const struct reading *r, int file, pid_t sender)
{
    int status = 0;
    close(file);
    must(!r->limited || (waitpid(sender, &status, 0) == sender && status == 0), "the sender");
}

/* ---- cases */

static void read_bytes(void *context)
{
    pid_t sender;
    char *block = malloc(BLOCK);
    int file = open_file(context, &sender);
    ssize_t size;
    while ((size = read(file, block, BLOCK)) > 0) {
    }
    must(size == 0, REPEATED);
    close_file(context, file, sender);
    free(block);
}

static void read_records(void *context)
{
    lx_recordio_reader *reader;
    lx_recordio_record record;
    (void)context;
    must_be_ok(lx_recordio_reader_open(REPEATED, false, NULL, NULL, &reader, &error), &error);
    while (lx_recordio_reader_next(reader, &record, &error) == LX_OK) {
    }
    must_be_ok(error.status, &error);
    lx_recordio_reader_close(reader);
}

/** Opens the file as a source, without an index. */
static uint64_t count_records(void)
{
    lx_source *source;
    must_be_ok(lx_source_open_recordio(REPEATED, NULL, 1, NULL, NULL, &source, &error), &error);
    uint64_t count = lx_source_get_length(source);
    lx_source_unref(source);
    return count;
}

static void scan(void *context)
{
    (void)context;
    count_records();
}

/** Copies the next record; returns its size, or 0 at the end. */
static size_t take(struct reading *r, char *copy)
{
    lx_error why = LX_ERROR_INIT;
    lx_recordio_record record;
    pthread_mutex_lock(&r->mutex);
    lx_status status = lx_recordio_reader_next(r->reader, &record, &why);
    must(status != LX_OK || record.size <= IMAGE_BYTES, "an image is too large");
    if (status == LX_OK)
        memcpy(copy, record.data, record.size);
    pthread_mutex_unlock(&r->mutex);
    if (status == LX_END)
        return 0;
    must_be_ok(status, &why);
    return record.size;
}

static void *decode(void *context)
{
    struct reading *r = *(struct reading **)context;
    lx_image_decoder *decoder = lx_image_decoder_new();
    char *copy = malloc(IMAGE_BYTES);
    uint8_t *pixels = malloc(SIDE * SIDE * 3);
    const lx_image_region whole = {0, 0, SIDE, SIDE};
    lx_recordio_label label;
    lx_image_info info;
    lx_error why = LX_ERROR_INIT;
    for (size_t size; (size = take(r, copy)) != 0;) {
        must_be_ok(lx_recordio_label_read(copy, size, &label, &why), &why);
        must_be_ok(lx_image_decoder_open(decoder, label.data, label.size, &info, &why), &why);
        must_be_ok(lx_image_decoder_read(decoder, &whole, pixels, SIDE * 3, &why), &why);
    }
    lx_image_decoder_free(decoder);
    free(pixels);
    free(copy);
    return NULL;
}

/** Decodes all images on two threads, which take turns to read. */
static void decode_all(void *context)
{
    struct reading *r = context, *both[THREADS_MAX] = {r, r};
    char path[32];
    pid_t sender;
    int file = open_file(r, &sender);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    must_be_ok(lx_recordio_reader_open(path, false, NULL, NULL, &r->reader, &error), &error);
    run_on_threads(decode, both, sizeof *both, THREADS_MAX);
    lx_recordio_reader_close(r->reader);
    close_file(r, file, sender);
}

void bench_recordio(bench_run *bench)
{
    char title[96];
    struct reading near = {.mutex = PTHREAD_MUTEX_INITIALIZER}, far = near;
    const double size = (double)make_file(), work = (double)count_records();
    far.limited = 1;
    const bench_case reads[] = {{"read() of the file", read_bytes, &near, size},
                                {"reader", read_records, &near, size},
                                {"opening without an index", scan, &near, size}};
    const bench_case images[] = {{"the link alone", read_bytes, &far, work},
                                 {"images decoded from the link", decode_all, &far, work},
                                 {"images decoded from the file", decode_all, &near, work}};
    bench_compare(bench, "a RecordIO file read in order", "byte", reads, 3);
    snprintf(title, sizeof title, "images of %.1f KB through a link of 100 MB/s, 2 threads",
             size / work / 1000);
    bench_compare(bench, title, "image", images, 3);
    remove(REPEATED);
}
