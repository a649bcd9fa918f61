/* SPDX-License-Identifier: MIT */
/* Entries and their values. The inputs are those of fuzz-table.c, which tests whole datasets. One
 * dataset stays open; the input replaces the bytes of its tables and chunk. Each value is read by
 * gather_bytes and by one other call, with mmap and with pread, which must agree; and as a document
 * of tokens, if all lengths can be read. */
#include "rows.h"

#include <fcntl.h>
#include <loaderx/tokens.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "memory.h"
#include "zrecord/format/entry.h"

#define HANDLES 8
/* Number of rows that are read with pread. */
#define SLOW_ROWS 3
/* Longer values are not read. */
#define VALUE_MAX ((size_t)1 << 16)

/* The open handles, all of the same files. With FIRST, verified rows stay verified even if their
 * bytes change, so that handle has no reference. pread needs ten system calls for each value, so it
 * reads fewer rows, less often. */
static const struct {
    lx_access access;
    lx_verify_policy verify;
    int reference; /* the handle that must agree with it; -1: none */
} forms[HANDLES] = {{LX_ACCESS_MMAP, LX_VERIFY_FIRST, -1},   {LX_ACCESS_MMAP, LX_VERIFY_ALWAYS, -1},
                    {LX_ACCESS_MMAP, LX_VERIFY_NEVER, -1},   {LX_ACCESS_MMAP, LX_VERIFY_ALWAYS, 6},
                    {LX_ACCESS_MMAP, LX_VERIFY_FIRST, -1},   {LX_ACCESS_MMAP, LX_VERIFY_ALWAYS, -1},
                    {LX_ACCESS_PREAD, LX_VERIFY_ALWAYS, -1}, {LX_ACCESS_MMAP, LX_VERIFY_NEVER, -1}};

static lx_dataset *handles[HANDLES];
static uint8_t *chunk, *offsets[ROWS_FIELDS], *checks[ROWS_FIELDS];

/* ---- one dataset */

static uint8_t *make_file(const char *name, size_t size)
{
    fuzz_write_sparse(name, "", 0, size);
    int fd = open(fuzz_path(name), O_RDWR | O_CLOEXEC);
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd == -1 || bytes == MAP_FAILED)
        give_up(name);
    close(fd);
    return bytes;
}

static lx_dataset *open_one(lx_access access, lx_verify_policy verify)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = need(lx_dataset_options_new());
    if (lx_dataset_options_set_verify_policy(options, verify, &error) != LX_OK ||
        lx_dataset_options_set_access(options, access, &error) != LX_OK ||
        lx_dataset_open(fuzz_path("entry"), options, &dataset, &error) != LX_OK)
        fuzz_fail("a dataset: %s", error.message);
    lx_dataset_options_free(options);
    return dataset;
}

static void begin(void)
{
    char name[64];
    fuzz_make_dataset("entry");
    for (size_t i = 0; i < ROWS_FIELDS; i++) {
        snprintf(name, sizeof name, "entry/%s.offset", rows_stems[i]);
        offsets[i] = make_file(name, FUZZ_ROWS * LX__OFFSET_ROW);
        snprintf(name, sizeof name, "entry/%s.check", rows_stems[i]);
        checks[i] = make_file(name, FUZZ_ROWS * LX__CHECK_ROW);
    }
    chunk = make_file("entry/chunk/0.zr", ROWS_CHUNK_MAX);
    rows_write_log("entry/LOG", FUZZ_ROWS, ROWS_CHUNK_MAX);
    for (size_t i = 0; i < HANDLES; i++)
        handles[i] = open_one(forms[i].access, forms[i].verify);
}

/** Overwrites the bytes of the last input that follow those of this one with zeros. */
static void put(struct rows *rows)
{
    static size_t count, size;
    if (size > rows->chunk_size)
        memset(chunk + rows->chunk_size, 0, size - rows->chunk_size);
    if (rows->chunk_size != 0)
        memcpy(chunk, rows->chunk, rows->chunk_size);
    rows->stored = chunk;
    rows->stored_size = ROWS_CHUNK_MAX;
    for (size_t i = 0; i < ROWS_FIELDS; i++) {
        memset(offsets[i], 0, count * LX__OFFSET_ROW);
        memset(checks[i], 0, count * LX__CHECK_ROW);
        rows_make(rows, i, offsets[i], checks[i]);
    }
    count = rows->count;
    size = rows->chunk_size;
}

/* ---- one value */

struct value {
    bool there; /* it can be read */
    bool present;
    uint64_t size;
    uint8_t *data; /* NULL if its length cannot be read */
};

/** Reads with measure and gather_bytes, which must agree on the size. */
static struct value read_bytes(lx_dataset *dataset, size_t field, uint64_t index,
                               struct guarded *memory)
{
    uint64_t ends[2];
    uint8_t present;
    struct value value = {.there = false};
    if (lx_dataset_get_sizes(dataset, field, &index, 1, ends, &present, NULL) != LX_OK ||
        ends[1] > VALUE_MAX)
        return value;
    value.size = ends[1];
    value.present = present != 0;
    value.data = guarded_take(memory, VALUE_MAX, (size_t)value.size);
    lx_status status = lx_dataset_gather_bytes(dataset, field, &index, 1, ends, value.data, NULL);
    if (status == LX_ERR_MISMATCH)
        fuzz_fail("a record has not the length that was measured");
    value.there = status == LX_OK;
    return value;
}

static void compare_view(lx_dataset *dataset, size_t field, uint64_t index,
                         const struct value *value)
{
    lx_slice slice;
    lx_view *view;
    lx_status status = lx_dataset_view(dataset, field, &index, 1, &slice, &view, NULL);
    bool there = status == LX_OK;
    if (status == LX_ERR_UNSUPPORTED)
        return; /* it is compressed */
    if (there != value->there)
        fuzz_fail("field %zu, record %d: a view shows what cannot be gathered, or the reverse",
                  field, (int)index);
    if (!there)
        return;
    if ((slice.data != NULL) != value->present ||
        (value->present &&
         (slice.size != value->size || memcmp(slice.data, value->data, (size_t)value->size) != 0)))
        fuzz_fail("field %zu, record %d: a view shows other bytes", field, (int)index);
    lx_view_free(view);
}

/** Without verification, gather does not read checks, from which other calls take the length. */
static bool gathers_more(size_t handle)
{
    return forms[handle].verify != LX_VERIFY_ALWAYS;
}

static void compare_dense(size_t handle, size_t field, size_t size, uint64_t index,
                          const struct value *value)
{
    uint8_t out[16] = {0}, right[16] = {0};
    bool there = lx_dataset_gather(handles[handle], field, &index, 1, out, size, NULL) == LX_OK;
    if (!value->there && there && gathers_more(handle))
        return;
    if (value->present && value->there)
        memcpy(right, value->data, size);
    if (there != value->there || (there && memcmp(out, right, size) != 0))
        fuzz_fail("field %zu, record %d: gather gives other bytes", field, (int)index);
}

static void compare_reference(lx_dataset *reference, size_t field, uint64_t index,
                              const struct value *value)
{
    static struct guarded memory;
    struct value other = read_bytes(reference, field, index, &memory);
    if (other.there != value->there ||
        (other.there && (other.size != value->size || other.present != value->present ||
                         memcmp(other.data, value->data, (size_t)value->size) != 0)))
        fuzz_fail("field %zu, record %d: by pread it is another", field, (int)index);
}

/** Reads a value with a handle, and with one of the other calls; returns whether it can be read. */
static bool read_value(size_t handle, size_t field, size_t size, uint64_t index, unsigned way)
{
    static struct guarded memory;
    lx_dataset *dataset = handles[handle];
    int reference = forms[handle].reference;
    struct value value = read_bytes(dataset, field, index, &memory);
    if (value.data == NULL)
        return false;
    if (reference != -1)
        compare_reference(handles[reference], field, index, &value);
    else if (way % 2 == 0 || size == LX_NONE)
        compare_view(dataset, field, index, &value);
    else
        compare_dense(handle, field, size, index, &value);
    return value.there;
}

/** Reads the values as documents of one-byte tokens. */
static void read_tokens(size_t handle, size_t field, size_t count)
{
    static struct guarded memory;
    static uint32_t out[VALUE_MAX];
    lx_tokens *tokens;
    uint64_t first, length;
    if (lx_tokens_new_field(handles[handle], field, LX_UINT8, &tokens, NULL) != LX_OK)
        return;
    for (uint64_t i = 0; i < count; i++) {
        struct value value = read_bytes(handles[handle], field, i, &memory);
        if (lx_tokens_get_document(tokens, i, &first, &length, NULL) != LX_OK)
            fuzz_fail("field %zu: there is no document %d", field, (int)i);
        if (value.data == NULL || length > VALUE_MAX)
            continue;
        if (length != (value.present ? value.size : 0))
            fuzz_fail("field %zu, document %d has another length", field, (int)i);
        lx_status status = lx_tokens_read(tokens, first, length, LX_INT32, out, NULL);
        if (length != 0 && (status == LX_OK) != value.there && !gathers_more(handle))
            fuzz_fail("field %zu, document %d: %s", field, (int)i, lx_status_get_name(status));
        for (uint64_t k = 0; status == LX_OK && value.there && k < length; k++)
            if (lx__load_le32(&out[k]) != value.data[k])
                fuzz_fail("field %zu, document %d has other tokens", field, (int)i);
    }
    lx_tokens_unref(tokens);
}

/** All records of a dense field at once, the last first. */
static void gather_all(size_t handle, size_t field, size_t size, size_t count, bool right)
{
    uint8_t out[16 * FUZZ_ROWS];
    uint64_t indices[FUZZ_ROWS];
    for (size_t i = 0; i < count; i++)
        indices[i] = count - 1 - i;
    bool all = lx_dataset_gather(handles[handle], field, indices, count, out, size, NULL) == LX_OK;
    if (all != right && !(all && gathers_more(handle)))
        fuzz_fail("field %zu: what can be gathered one by one cannot at once, or the reverse",
                  field);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t sizes[ROWS_FIELDS] = {12, 8, LX_NONE, LX_NONE};
    struct rows rows;
    if (!rows_take(&rows, data, size))
        return 0;
    if (chunk == NULL)
        begin();
    put(&rows);
    size_t handle = rows.options & ROWS_HOW;
    unsigned way = rows.options >> ROWS_WAY_SHIFT;
    bool slow = forms[handle].reference != -1 || forms[handle].access == LX_ACCESS_PREAD;
    size_t most = slow ? SLOW_ROWS : FUZZ_ROWS;
    size_t count = rows.count < most ? rows.count + 1 : most;
    for (size_t field = 0; field < ROWS_FIELDS; field++) {
        bool right = true;
        for (uint64_t i = 0; i < count; i++)
            right &= read_value(handle, field, sizes[field], i, (unsigned)i + way);
        if (sizes[field] != LX_NONE)
            gather_all(handle, field, sizes[field], count, right);
        if (!slow && sizes[field] != 8 && way % 4 == 0)
            read_tokens(handle, field, count);
    }
    return 0;
}
