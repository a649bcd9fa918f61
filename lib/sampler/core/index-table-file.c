/* SPDX-License-Identifier: MIT */
#include "sampler/core/index-table-file.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/mapping.h"

/* ---- format (doc/orders.md, section 15) */

#define MAGIC "LXTABLE"
#define TABLE_VERSION 1
#define BLOCK                                                                                      \
    16384         /* bytes per checksum: if a batch is spread over the table, each of its indices is
                     the first to be read in its block, so larger blocks would slow down reading */
#define PAGE 4096 /* the numbers begin at a multiple of this */
#define TRANSFER ((size_t)1 << 20) /* bytes per write */

enum {
    AT_VERSION = 8,
    AT_CRC = 12, /* the CRC of the bytes that follow it, up to the numbers */
    AT_WIDTH = 16,
    AT_WHAT_SIZE = 20,
    AT_COUNT = 24,
    AT_BOUND = 32,
    AT_WHAT = 40
};

/** Offsets and sizes of a file's parts. */
typedef struct layout {
    uint64_t data, crcs, end;
    uint64_t blocks;
} layout;

/** False if the sizes overflow. */
static bool lay_out(size_t what_size, uint64_t count, size_t width, layout *places)
{
    uint64_t bytes;
    places->data = lx__align_up(AT_WHAT + what_size, PAGE);
    if (!lx__multiply_fits(count, width, &bytes) || bytes > INT64_MAX / 2)
        return false;
    places->blocks = bytes / BLOCK + (bytes % BLOCK != 0);
    places->crcs = places->data + bytes;
    places->end = places->crcs + 4 * places->blocks;
    return true;
}

struct lx__index_table_file {
    char *path;
    lx__mapping mapping;
    layout places;
    unsigned shift;      /* converts the offset of a number to its block */
    atomic_uchar *whole; /* 1 for each block whose checksum was verified */
};

lx_status lx__index_table_file_fail(const lx__index_table_file *file, const char *why,
                                    lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT,
                               "the table file is damaged: %s; delete it to have the table rebuilt",
                               why);
    lx_error_locate(error, file != NULL ? file->path : NULL, NULL, LX_NONE, LX_NONE);
    return status;
}

/* ---- opening */

static lx_status check_machine(lx_error *error)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return lx_fail(
        error, LX_ERR_UNSUPPORTED,
        "table files are little-endian, but this machine is big-endian: use tables in memory");
#else
    (void)error;
    return LX_OK;
#endif
}

/** Reads the header; free it with lx__free(). */
static lx_status read_head(const lx__file *file, const lx__index_table_file *self, uint8_t **head,
                           size_t *what_size, lx_error *error)
{
    uint8_t first[AT_WHAT];
    size_t got;
    lx_status status = lx__file_read_some(file, first, sizeof first, 0, &got, error);
    if (status != LX_OK)
        return status;
    if (got < sizeof first || memcmp(first, MAGIC, sizeof MAGIC) != 0)
        return lx__index_table_file_fail(self, "it is not an order table", error);
    uint32_t version = lx__load_le32(first + AT_VERSION);
    if (version != TABLE_VERSION)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the table has version %" PRIu32 ", but this library reads version %d: "
                       "delete the file",
                       version, TABLE_VERSION);
    *what_size = lx__load_le32(first + AT_WHAT_SIZE);
    if (*what_size > LX__INDEX_TABLE_JSON_MAX)
        return lx__index_table_file_fail(self, "its header is too long", error);
    size_t size = (size_t)lx__align_up(AT_WHAT + *what_size, PAGE);
    *head = lx__alloc(size);
    if (*head == NULL)
        return lx__fail_memory(error, "opening a table");
    status = lx__file_read(file, *head, size, 0, error);
    if (status == LX_OK &&
        lx__load_le32(*head + AT_CRC) != lx__crc32c(0, *head + AT_WIDTH, size - AT_WIDTH))
        status = lx__index_table_file_fail(self, "its header checksum does not match", error);
    return status;
}

/** Copies text for an error message, replacing unprintable characters: the file may contain
 * anything. */
static void print_safely(char *to, size_t size, const uint8_t *text, size_t length)
{
    size_t n = 0;
    for (; n + 1 < size && n < length; n++)
        to[n] = text[n] >= ' ' && text[n] <= '~' ? (char)text[n] : '?';
    to[n] = '\0';
}

/** Compares the header with the expected table. */
static lx_status match(const uint8_t *head, size_t what_size, const lx__index_table_form *form,
                       const lx__index_table_file *self, lx_error *error)
{
    if (what_size != strlen(form->inputs) || memcmp(head + AT_WHAT, form->inputs, what_size) != 0) {
        char theirs[200];
        print_safely(theirs, sizeof theirs, head + AT_WHAT, what_size);
        return lx_fail(
            error, LX_ERR_MISMATCH,
            "the file contains the table of %s, not that of %.199s: it may have been renamed",
            theirs, form->inputs);
    }
    uint64_t count = lx__load_le64(head + AT_COUNT);
    if (lx__load_le32(head + AT_WIDTH) != form->width ||
        lx__load_le64(head + AT_BOUND) != form->bound ||
        (form->count != LX__INDEX_TABLE_ANY && form->count != count))
        return lx__index_table_file_fail(self, "its header describes a different table", error);
    return LX_OK;
}

static lx_status open_file(lx__index_table_file *self, const lx__file *file,
                           lx__index_table_form *form, lx_error *error)
{
    uint8_t *head = NULL;
    size_t what_size = 0;
    uint64_t size = 0;
    lx_status status = read_head(file, self, &head, &what_size, error);
    if (status == LX_OK)
        status = match(head, what_size, form, self, error);
    if (status == LX_OK)
        status = lx__file_size(file, &size, error);
    if (status == LX_OK) {
        form->count = lx__load_le64(head + AT_COUNT);
        if (!lay_out(what_size, form->count, form->width, &self->places) ||
            self->places.end != size)
            status = lx__index_table_file_fail(
                self, "its size differs from the size given in its header", error);
    }
    lx__free(head);
    if (status != LX_OK)
        return status;
    self->shift = form->width == 4 ? 12 : 11;
    self->whole = self->places.blocks < SIZE_MAX
                      ? lx__alloc_array((size_t)self->places.blocks + 1, sizeof *self->whole)
                      : NULL;
    if (self->whole == NULL)
        return lx__fail_memory(error, "opening a table");
    return lx__mapping_open(&self->mapping, file, size, LX__ADVICE_USUAL, error);
}

lx_status lx__index_table_file_open(const lx__file *folder, const char *name,
                                    lx__index_table_form *form, lx__index_table_file **made,
                                    const void **data, lx_error *error)
{
    lx__file file;
    lx_status status = check_machine(error);
    if (status == LX_OK)
        status = lx__file_open(&file, folder, name, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    lx__index_table_file *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL) {
        lx__file_close(&file);
        return lx__fail_memory(error, "opening a table");
    }
    self->path = file.path;
    status = open_file(self, &file, form, error);
    file.path = NULL;
    lx__file_close(&file);
    if (status != LX_OK) {
        lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
        lx__index_table_file_close(self);
        return status;
    }
    *made = self;
    *data = self->mapping.data + self->places.data;
    return LX_OK;
}

void lx__index_table_file_close(lx__index_table_file *file)
{
    if (file == NULL)
        return;
    lx__mapping_close(&file->mapping);
    lx__free(file->whole);
    lx__free(file->path);
    lx__free(file);
}

/* ---- reading */

static uint64_t size_of_block(const layout *places, uint64_t block)
{
    uint64_t left = places->crcs - places->data - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

static lx_status check_block(lx__index_table_file *file, uint64_t block, lx_error *error)
{
    const layout *places = &file->places;
    uint64_t offset = places->data + block * BLOCK;
    uint32_t crc = lx__crc32c(0, file->mapping.data + offset, (size_t)size_of_block(places, block));
    uint32_t wanted = lx__load_le32(file->mapping.data + places->crcs + 4 * block);
    if (crc == wanted) {
        atomic_store_explicit(&file->whole[block], 1, memory_order_relaxed);
        return LX_OK;
    }
    lx_status status = lx__index_table_file_fail(file, "a block checksum does not match", error);
    lx_error_locate(error, NULL, NULL, LX_NONE, offset);
    return status;
}

static lx_status check_once(lx__index_table_file *file, uint64_t block, lx_error *error)
{
    return atomic_load_explicit(&file->whole[block], memory_order_relaxed) != 0
               ? LX_OK
               : check_block(file, block, error);
}

lx_status lx__index_table_file_check(lx__index_table_file *file, const uint64_t *places,
                                     size_t count, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = check_once(file, places[i] >> file->shift, error);
    return status;
}

lx_status lx__index_table_file_check_range(lx__index_table_file *file, uint64_t first,
                                           uint64_t count, lx_error *error)
{
    lx_status status = LX_OK;
    uint64_t last = count != 0 ? (first + count - 1) >> file->shift : 0;
    for (uint64_t i = first >> file->shift; status == LX_OK && count != 0 && i <= last; i++)
        status = check_once(file, i, error);
    return status;
}

/* ---- writing */

static lx_status write_head(const lx__file *file, const lx__index_table_form *form,
                            const layout *places, lx_error *error)
{
    size_t size = (size_t)places->data, what_size = strlen(form->inputs);
    uint8_t *head = lx__alloc_array(1, size);
    if (head == NULL)
        return lx__fail_memory(error, "writing a table");
    memcpy(head, MAGIC, sizeof MAGIC);
    lx__store_le32(head + AT_VERSION, TABLE_VERSION);
    lx__store_le32(head + AT_WIDTH, (uint32_t)form->width);
    lx__store_le32(head + AT_WHAT_SIZE, (uint32_t)what_size);
    lx__store_le64(head + AT_COUNT, form->count);
    lx__store_le64(head + AT_BOUND, form->bound);
    memcpy(head + AT_WHAT, form->inputs, what_size);
    lx__store_le32(head + AT_CRC, lx__crc32c(0, head + AT_WIDTH, size - AT_WIDTH));
    lx_status status = lx__file_write(file, head, size, 0, error);
    lx__free(head);
    return status;
}

/** Writes the numbers, then the checksums of their blocks. */
static lx_status write_numbers(const lx__file *file, const layout *places, const uint8_t *data,
                               lx_error *error)
{
    uint64_t bytes = places->crcs - places->data;
    uint8_t *crcs = lx__alloc_array((size_t)places->blocks + 1, 4);
    lx_status status = crcs != NULL ? LX_OK : lx__fail_memory(error, "writing a table");
    for (uint64_t done = 0; status == LX_OK && done < bytes; done += TRANSFER) {
        size_t step = bytes - done < TRANSFER ? (size_t)(bytes - done) : TRANSFER;
        for (uint64_t block = done / BLOCK; block * BLOCK < done + step; block++)
            lx__store_le32(crcs + 4 * block, lx__crc32c(0, data + block * BLOCK,
                                                        (size_t)size_of_block(places, block)));
        status = lx__file_write(file, data + done, step, places->data + done, error);
    }
    if (status == LX_OK)
        status = lx__file_write(file, crcs, (size_t)(4 * places->blocks), places->crcs, error);
    lx__free(crcs);
    return status;
}

lx_status lx__index_table_file_write(const lx__file *file, const lx__index_table_form *form,
                                     const void *data, lx_error *error)
{
    layout places;
    lx_status status = check_machine(error);
    if (status != LX_OK)
        return status;
    if (strlen(form->inputs) > LX__INDEX_TABLE_JSON_MAX ||
        !lay_out(strlen(form->inputs), form->count, form->width, &places))
        return lx_fail(error, LX_ERR_LIMIT,
                       "the table is too large for a file: use a table in "
                       "memory");
    status = write_head(file, form, &places, error);
    if (status == LX_OK)
        status = write_numbers(file, &places, data, error);
    return status;
}
