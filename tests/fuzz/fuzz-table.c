/* SPDX-License-Identifier: MIT */
/* Tables and a chunk, the whole form: see rows.h for the input. The files are made and the dataset
 * is opened anew, and read in every way, and verified. fuzz-entry.c takes the same inputs,
 * and has one dataset open, of which it changes the bytes: that is where most executions belong.
 * What only this form finds is what comes of sizes: of chunks, and of tables. */
#include "rows.h"

#include "memory.h"
#include "zrecord/format/constants.h"

static void write_tables(const struct rows *rows, size_t field)
{
    char name[64];
    uint8_t offsets[FUZZ_ROWS * LX__OFFSET_ROW] = {0}, checks[FUZZ_ROWS * LX__CHECK_ROW] = {0};
    rows_make(rows, field, offsets, checks);
    snprintf(name, sizeof name, "table/%s.offset", rows_stems[field]);
    fuzz_write(name, offsets, rows->count * LX__OFFSET_ROW);
    snprintf(name, sizeof name, "table/%s.check", rows_stems[field]);
    fuzz_write(name, checks, rows->count * LX__CHECK_ROW);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    struct rows rows;
    uint64_t length;
    if (!rows_take(&rows, data, size))
        return 0;
    fuzz_json_begin();
    if (!made)
        fuzz_make_dataset("table");
    made = true;
    for (size_t i = 0; i < ROWS_FIELDS; i++)
        write_tables(&rows, i);
    fuzz_write("table/chunk/0.zr", rows.chunk, rows.chunk_size);
    rows_write_log("table/LOG", rows.count, rows.chunk_size);
    unsigned how = (rows.options & ROWS_HOW) | (rows.options >> ROWS_WAY_SHIFT & 3) << 3;
    if (fuzz_open_and_read(fuzz_path("table"), how, &length) != LX_OK || length != rows.count)
        fuzz_fail("a dataset with a log that is right is not opened");
    fuzz_json_end();
    return 0;
}
