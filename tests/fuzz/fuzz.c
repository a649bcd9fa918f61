/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../faults/tree.h"
#include "../stamp.h"

const uint8_t fuzz_uuid[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                               0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

static const char meta[] =
    "{\"format\": [1, 0], \"features\": {\"must\": [], \"may\": []}, \"generation\": 0,\n"
    " \"uuid\": \"00112233-4455-6677-8899-aabbccddeeff\", \"sealed\": false, \"length\": 0,\n"
    " \"chunks\": {\"num\": 0, \"size\": 1000, \"limit\": 65536, \"unfull\": []},\n"
    " \"next_field\": 4, \"fields\": [\n"
    "  {\"id\": 0, \"name\": \"image\", \"stem\": \"image\", \"dtype\": \"uint8\",\n"
    "   \"shape\": [3, 4], \"compress\": \"raw\", \"align\": 4, \"dict\": null},\n"
    "  {\"id\": 1, \"name\": \"label\", \"stem\": \"label\", \"dtype\": \"int64\", \"shape\": [],\n"
    "   \"compress\": \"raw\", \"align\": 8, \"dict\": null},\n"
    "  {\"id\": 2, \"name\": \"text\", \"stem\": \"text\", \"dtype\": \"bytes\", \"shape\": [],\n"
    "   \"compress\": \"flate\", \"align\": 8, \"dict\": null},\n"
    "  {\"id\": 3, \"name\": \"blob\", \"stem\": \"blob\", \"dtype\": \"bytes\", \"shape\": [],\n"
    "   \"compress\": \"raw\", \"align\": 1, \"dict\": null}]}\n";

/* Limits on the records, and the bytes of one, that are read: a hostile dataset may declare any
 * number. */
#define RECORDS 300
#define BYTES ((size_t)1 << 20)

void fuzz_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    abort();
}

static lx_executor *executor;

static void close_executor(void)
{
    lx_executor_close(executor);
}

lx_executor *fuzz_executor(void)
{
    lx_error error = LX_ERROR_INIT;
    if (executor != NULL)
        return executor;
    lx_executor_options *options = need(lx_executor_options_new());
    if (lx_executor_options_set_reader_count(options, 0, &error) != LX_OK ||
        lx_executor_open(options, &executor, &error) != LX_OK)
        fuzz_fail("an executor: %s", error.message);
    lx_executor_options_free(options);
    atexit(close_executor);
    return executor;
}

/* ---- files */

static char *directory;

static void remove_directory(void)
{
    tree_remove(directory);
    free(directory);
}

const char *fuzz_directory(void)
{
    if (directory == NULL) {
        directory = tree_scratch();
        atexit(remove_directory);
    }
    return directory;
}

const char *fuzz_path(const char *name)
{
    static char paths[8][512];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", fuzz_directory(), name);
    return path;
}

void fuzz_write_sparse(const char *name, const void *data, size_t size, uint64_t length)
{
    const char *path = fuzz_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd == -1 || write(fd, data, size) != (ssize_t)size ||
        (length > size && ftruncate(fd, (off_t)length) == -1))
        give_up(path);
    close(fd);
}

void fuzz_write(const char *name, const void *data, size_t size)
{
    fuzz_write_sparse(name, data, size, size);
}

void fuzz_make_dataset(const char *name)
{
    char file[300];
    mkdir(fuzz_path(name), 0777);
    snprintf(file, sizeof file, "%s/chunk", name);
    mkdir(fuzz_path(file), 0777);
    snprintf(file, sizeof file, "%s/LOCK", name);
    fuzz_write(file, "", 0);
    snprintf(file, sizeof file, "%s/meta.json", name);
    size_t size;
    char *whole = stamped(meta, sizeof meta - 1, &size);
    fuzz_write(file, whole, size);
    free(whole);
}

/* ---- input */

uint8_t input_byte(struct input *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

uint32_t input_u16(struct input *input)
{
    uint32_t low = input_byte(input);
    return low | (uint32_t)input_byte(input) << 8;
}

uint32_t input_u32(struct input *input)
{
    uint32_t low = input_u16(input);
    return low | input_u16(input) << 16;
}

const uint8_t *input_bytes(struct input *input, size_t *size)
{
    const uint8_t *bytes = input->data;
    if (*size > input->size)
        *size = input->size;
    input->data += *size;
    input->size -= *size;
    return bytes;
}

/* ---- reading */

static void read_dense(lx_dataset *dataset, size_t field, size_t size, uint64_t length)
{
    uint8_t out[4096];
    uint64_t indices[RECORDS];
    for (uint64_t i = 0; i < length; i++)
        indices[i] = length - 1 - i;
    if (size * length <= sizeof out)
        (void)lx_dataset_gather(dataset, field, indices, (size_t)length, out, size, NULL);
    for (uint64_t i = 0; i < length; i++)
        (void)lx_dataset_gather(dataset, field, &i, 1, out, size, NULL);
}

/** Reads with measure and gather_bytes, which must agree on the size. */
static void read_any(lx_dataset *dataset, size_t field, uint64_t index)
{
    uint64_t offsets[2];
    uint8_t present;
    if (lx_dataset_get_sizes(dataset, field, &index, 1, offsets, &present, NULL) != LX_OK ||
        offsets[1] > BYTES)
        return;
    uint8_t *out = need(malloc((size_t)offsets[1] + 1));
    lx_status status = lx_dataset_gather_bytes(dataset, field, &index, 1, offsets, out, NULL);
    if (status == LX_ERR_MISMATCH)
        fuzz_fail("a record has not the length that was measured");
    free(out);
}

static void read_view(lx_dataset *dataset, size_t field, uint64_t index)
{
    lx_slice slice;
    lx_view *view;
    volatile uint8_t sum = 0;
    if (lx_dataset_view(dataset, field, &index, 1, &slice, &view, NULL) != LX_OK)
        return;
    for (uint64_t i = 0; slice.data != NULL && i < slice.size && i < BYTES; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)slice.data)[i]);
    lx_view_free(view);
}

uint64_t fuzz_read_all(lx_dataset *dataset, bool verify)
{
    lx_storage_stats totals;
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    uint64_t whole = lx_dataset_get_length(dataset), length = whole < RECORDS ? whole : RECORDS;
    for (size_t field = 0; field < lx_schema_get_field_count(schema); field++) {
        uint64_t size = lx_schema_get_field(schema, field)->size;
        if (size <= 64)
            read_dense(dataset, field, (size_t)size, length);
        for (uint64_t i = 0; i < length; i++) {
            read_any(dataset, field, i);
            read_view(dataset, field, i);
        }
    }
    (void)lx_dataset_stat(dataset, &totals, NULL, NULL);
    if (verify && whole <= RECORDS)
        (void)lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, NULL);
    return whole;
}

lx_status fuzz_open_and_read(const char *path, unsigned how, uint64_t *length)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = need(lx_dataset_options_new());
    (void)lx_dataset_options_set_verify_policy(options, (lx_verify_policy)((how & 7) % 3), NULL);
    (void)lx_dataset_options_set_durable(options, (how & 4) != 0, NULL);
    (void)lx_dataset_options_set_access(options, (lx_access)(how >> 3 & 3), NULL);
    lx_status status = lx_dataset_open(path, options, &dataset, &error);
    lx_dataset_options_free(options);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status != LX_OK)
        return status;
    *length = fuzz_read_all(dataset, (how & 4) != 0);
    lx_dataset_close(dataset);
    return LX_OK;
}
