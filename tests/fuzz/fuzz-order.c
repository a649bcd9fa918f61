/* SPDX-License-Identifier: MIT */
/* Tables of orders in files: a byte that chooses the kind of order, a byte of options, the new size
 * of the file if it is truncated, and then pieces that overwrite the file that the library made:
 * two bytes for the offset, one for the length. The order is made from that file and read. It must
 * return the right indices; only if the checksums were corrected for changed numbers may it return
 * any indices below the bound. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <loaderx/mixture.h>
#include <loaderx/parity.h>
#include <loaderx/weighted.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "memory.h"
#include "sampler/core/order.h"
#include "../new-orders.h"

enum {
    REPAIR_HEAD = 1,   /* correct the checksum of the header */
    REPAIR_BLOCKS = 2, /* correct the checksums of the numbers */
    CUT = 4            /* change the size of the file */
};

#define COUNT 60
#define MANY 4100  /* more than one block of numbers */
#define LONG 18000 /* for a mixture: more than PLAN */
#define PLAN 16384 /* positions that one number covers */
#define SOME 48    /* number of indices that are read */
#define SETS 3
/* The format of a table file: doc/orders.md, 15. */
#define DATA 4096
#define BLOCK 16384
/* Smaller offsets are in the header of the file, others in its numbers. */
#define HEAD 512

static uint64_t numbers[MANY];
static double weights[COUNT];

/* ---- kinds of orders */

static lx_status make_mixture(const char *tables, lx_order **order, lx_error *error,
                              lx_exhausted_policy exhausted, uint64_t length)
{
    lx_order *part = NULL;
    lx_mixture *mixture = need(lx_mixture_new());
    lx_status status = lx_order_new_sequential(length, length, length, &part, error);
    for (uint64_t i = 0; status == LX_OK && i < SETS; i++)
        status = lx_mixture_add_part(mixture, part, i * length, i == 1 ? .5 : .25, error);
    if (status == LX_OK)
        status = lx_mixture_set_exhausted_policy(mixture, exhausted, error);
    if (status == LX_OK)
        status = new_greedy(mixture, tables, order, error);
    lx_mixture_free(mixture);
    lx_order_unref(part);
    return status;
}

static lx_status make_greedy(const char *tables, lx_order **order, lx_error *error)
{
    return make_mixture(tables, order, error, LX_EXHAUSTED_REPEAT, COUNT / SETS);
}

static lx_status make_redistributed(const char *tables, lx_order **order, lx_error *error)
{
    return make_mixture(tables, order, error, LX_EXHAUSTED_REDISTRIBUTE, LONG / SETS);
}

static lx_status make_stopping(const char *tables, lx_order **order, lx_error *error)
{
    return make_mixture(tables, order, error, LX_EXHAUSTED_STOP, COUNT / SETS);
}

static lx_status make_nanoset(const char *tables, lx_order **order, lx_error *error)
{
    return new_nanoset((uint64_t[]){30, 20, 45}, NULL, SETS, true, 5, tables, order, error);
}

static lx_status make_weighted(const char *tables, lx_order **order, lx_error *error)
{
    return new_weighted(weights, COUNT, 80, 5, tables, order, error);
}

static lx_status make_weighted_shuffle(const char *tables, lx_order **order, lx_error *error)
{
    return new_weighted_shuffle(weights, COUNT, 50, 5, tables, order, error);
}

static lx_status make_balanced(const char *tables, lx_order **order, lx_error *error)
{
    return new_balanced(numbers, COUNT, 70, 5, tables, order, error);
}

static lx_status make_bucketed(const char *tables, lx_order **order, lx_error *error)
{
    return new_bucketed(numbers, COUNT, 4, 16, 5, tables, order, error);
}

static lx_status make_torch(const char *tables, lx_order **order, lx_error *error)
{
    return new_torch_random(COUNT, 70, false, 5, tables, order, error);
}

static lx_status make_torch_subset(const char *tables, lx_order **order, lx_error *error)
{
    return new_torch_subset(numbers, COUNT, 5, tables, order, error);
}

static lx_status make_subset(const char *tables, lx_order **order, lx_error *error)
{
    lx_order *part;
    lx_status status = lx_order_new_sequential(MANY, MANY, MANY, &part, error);
    if (status != LX_OK)
        return status;
    status = new_subset(part, numbers, MANY, tables, order, error);
    lx_order_unref(part);
    return status;
}

static struct kind {
    lx_status (*make)(const char *tables, lx_order **order, lx_error *error);
    char tables[300];
    uint8_t *bytes, *whole; /* of the mapped file, and of the original */
    size_t size;
    int fd;
    uint64_t right[SOME];
} kinds[] = {{.make = make_greedy},   {.make = make_redistributed}, {.make = make_stopping},
             {.make = make_nanoset},  {.make = make_weighted},      {.make = make_weighted_shuffle},
             {.make = make_balanced}, {.make = make_bucketed},      {.make = make_torch},
             {.make = make_subset},   {.make = make_torch_subset}};
#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- reading */

static lx_status read_some(lx_order *order, uint64_t *indices, lx_error *error)
{
    lx__scratch *scratch;
    uint64_t counts[SETS], length = lx_order_get_length(order);
    /* In the long epoch of a mixture, begin at a position that needs no search. */
    uint64_t first = length > PLAN + SOME ? PLAN : 0;
    if (length == 0)
        return LX_OK;
    lx_status status = lx__scratch_new(order, &scratch, error);
    if (status != LX_OK)
        return status;
    status = lx__order_read(order, scratch, first, first != 0 ? 1 : 1 + (length - 1) / SOME, SOME,
                            indices, error);
    lx__scratch_free(scratch);
    if (status == LX_OK && lx_order_get_part_count(order) == SETS)
        status = lx_order_get_part_lengths(order, first, first + SOME, counts, error);
    return status;
}

static lx_status make_and_read(const struct kind *kind, uint64_t *indices)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = NULL;
    lx_status status = kind->make(kind->tables, &order, &error);
    if (status == LX_OK)
        status = read_some(order, indices, &error);
    bool some = status == LX_OK && lx_order_get_length(order) != 0;
    for (size_t i = 0; some && i < SOME; i++)
        if (indices[i] >= lx__order_get_bound(order))
            fuzz_fail("an index is not below the bound");
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    lx_order_unref(order);
    return status;
}

/* ---- table files */

static int is_table(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/** Finds the first file that the order made. */
static void map_file(struct kind *kind)
{
    struct dirent **list;
    char path[600];
    int count = scandir(kind->tables, &list, is_table, alphasort);
    if (count < 1)
        fuzz_fail("there is no table in %s", kind->tables);
    snprintf(path, sizeof path, "%s/%s", kind->tables, list[0]->d_name);
    while (count > 0)
        free(list[--count]);
    free(list);
    kind->fd = open(path, O_RDWR | O_CLOEXEC);
    kind->size = (size_t)lseek(kind->fd, 0, SEEK_END);
    kind->bytes = mmap(NULL, kind->size, PROT_READ | PROT_WRITE, MAP_SHARED, kind->fd, 0);
    if (kind->fd == -1 || kind->bytes == MAP_FAILED)
        give_up(path);
    kind->whole = need(malloc(kind->size));
    memcpy(kind->whole, kind->bytes, kind->size);
}

static void begin(void)
{
    for (uint64_t i = 0; i < MANY; i++)
        numbers[i] = i * 7919 % 23;
    for (uint64_t i = 0; i < COUNT; i++)
        weights[i] = (double)(i * 31 % 17);
    for (size_t i = 0; i < KINDS; i++) {
        snprintf(kinds[i].tables, sizeof kinds[i].tables, "%s/%zu", fuzz_directory(), i);
        if (make_and_read(&kinds[i], kinds[i].right) != LX_OK)
            fuzz_fail("an order of kind %zu cannot be made", i);
        map_file(&kinds[i]);
    }
}

static void repair_blocks(struct kind *kind)
{
    size_t data = DATA, blocks = (kind->size - DATA + BLOCK + 3) / (BLOCK + 4);
    size_t crcs = kind->size - 4 * blocks;
    for (size_t i = 0; i < blocks; i++, data += BLOCK)
        lx__store_le32(
            kind->bytes + crcs + 4 * i,
            lx__crc32c(0, kind->bytes + data, crcs - data < BLOCK ? crcs - data : BLOCK));
}

static void patch(struct kind *kind, struct input *input, unsigned options)
{
    while (input->size != 0) {
        size_t at = input_u16(input), size = input_byte(input);
        at = at < HEAD ? at : DATA + (at - HEAD) % (kind->size - DATA);
        if (size > kind->size - at)
            size = kind->size - at;
        const uint8_t *bytes = input_bytes(input, &size);
        memcpy(kind->bytes + at, bytes, size);
    }
    if (options & REPAIR_HEAD)
        lx__store_le32(kind->bytes + 12, lx__crc32c(0, kind->bytes + 16, DATA - 16));
    if (options & REPAIR_BLOCKS)
        repair_blocks(kind);
}

static void set_size(const struct kind *kind, size_t size)
{
    if (ftruncate(kind->fd, (off_t)size) == -1)
        give_up("a table");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint64_t indices[SOME] = {0};
    fuzz_json_begin();
    if (kinds[0].bytes == NULL)
        begin();
    struct kind *kind = &kinds[input_byte(&input) % KINDS];
    unsigned options = input_byte(&input);
    size_t cut = options & CUT ? input_u16(&input) % (kind->size + 8) : kind->size;
    patch(kind, &input, options);
    if (cut != kind->size)
        set_size(kind, cut);
    lx_status status = make_and_read(kind, indices);
    if (status != LX_OK && status != LX_ERR_CORRUPT && status != LX_ERR_UNSUPPORTED &&
        status != LX_ERR_MISMATCH)
        fuzz_fail("it is %s of kind %zu", lx_status_get_name(status), (size_t)(kind - kinds));
    if (status == LX_OK && (cut != kind->size || (!(options & REPAIR_BLOCKS) &&
                                                  memcmp(indices, kind->right, sizeof indices))))
        fuzz_fail("another table is taken for the order's");
    if (cut != kind->size)
        set_size(kind, kind->size);
    memcpy(kind->bytes, kind->whole, kind->size);
    fuzz_json_end();
    return 0;
}
