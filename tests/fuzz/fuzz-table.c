/* SPDX-License-Identifier: MIT */
/* Tables and a chunk in a whole dataset: see rows.h for the input. The fuzzer makes the files,
 * opens the dataset, reads it with every call, and verifies it. fuzz-entry.c takes the same inputs
 * and changes the bytes of one open dataset; use it for most executions. Only this fuzzer tests the
 * sizes of chunks and tables. */
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
