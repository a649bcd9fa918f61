/* SPDX-License-Identifier: MIT */
/* Tables and a chunk, the whole form: see rows.h for the input. The files are made and the dataset
 * is opened again, and read in every way, and verified. fuzz-entry.c takes the same inputs,
 * and has one dataset open, of which it changes the bytes: that is where most executions belong.
 * What only this form finds is what comes of sizes: of chunks, and of tables. */
#include "memory.h"
#include "rows.h"

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
    rows_write("table", &rows);
    unsigned how = (rows.options & ROWS_HOW) | (rows.options >> ROWS_WAY_SHIFT & 3) << 3;
    if (fuzz_open_and_read(fuzz_path("table"), how, &length) != LX_OK || length != rows.count)
        fuzz_fail("a dataset with a log that is right is not opened");
    fuzz_json_end();
    return 0;
}
