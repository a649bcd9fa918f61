/* SPDX-License-Identifier: MIT */
/* LOG in a whole dataset: a byte of options, then its bytes. A reader opens the dataset with its
 * tables and chunks, then a writer opens it and commits, then another reader opens it.
 * fuzz-replay.c only replays the same inputs; use it for most executions. Only this fuzzer tests
 * the entries of updates, recovery, and commits after hostile frames. */
#include "fuzz.h"

#include "frames.h"
#include "memory.h"

/** A writer that opens the dataset can commit to it, and a reader sees the commit. */
static void write_on(const char *path)
{
    static const lx_value values[4] = {
        {"twelve bytes", 12}, {"12345678", 8}, {"text", 4}, {NULL, LX_NONE}};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    uint64_t index, length = 0;
    lx_writer_options *options = need(lx_writer_options_new());
    (void)lx_writer_options_set_executor(options, fuzz_executor(), NULL);
    lx_status status = lx_writer_open(path, options, &writer, &error);
    lx_writer_options_free(options);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status != LX_OK)
        return;
    status = lx_writer_append(writer, values, 4, &index, &error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? &error : NULL);
    if (status != LX_OK || closed != LX_OK)
        return;
    status = fuzz_open_and_read(path, LX_VERIFY_ALWAYS, &length);
    if (status != LX_OK || length != index + 1)
        fuzz_fail("a writer left what is read as %s, %llu records instead of %llu",
                  lx_status_get_name(status), (unsigned long long)length,
                  (unsigned long long)index + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    static uint8_t log[FRAMES_MAX];
    struct input input = {data, size};
    unsigned options = input_byte(&input);
    uint64_t records;
    fuzz_keep_large();
    fuzz_json_begin();
    if (!made)
        fuzz_make_dataset("log");
    made = true;
    frames_write("log", log, frames_make(input.data, input.size, options, log));
    (void)fuzz_open_and_read(fuzz_path("log"), options >> FRAMES_HOW_SHIFT & 7, &records);
    if (!(options & FRAMES_READ_ONLY))
        write_on(fuzz_path("log"));
    fuzz_json_end();
    return 0;
}
